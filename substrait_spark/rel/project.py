"""ProjectRel: https://substrait.io/relations/logical_relations/#project-operation."""

from __future__ import annotations

from ..algebra.traversal import columns
from ..catalyst import tree
from .builder import RelationBuilder
from .columns import needed
from .output import Output, ids_of


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Project: columns of the child picked by emit, others computed."""
    input = r.emit(node["child"])
    items = needed(r, node["projectList"])
    e = r.expressions(input.scope())
    return Output(columns(input.relation, e.emit_all(items)), ids_of(items))


HANDLERS = {"Project": emit}
