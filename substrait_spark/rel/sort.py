"""SortRel: https://substrait.io/relations/logical_relations/#sort-operation."""

from __future__ import annotations

from ..algebra.relation import Sort
from ..catalyst import tree
from ..expr.sort_order import sort_field
from .builder import RelationBuilder
from .output import Output


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Sort: a global sort. A sort within partitions orders no relation: partitions have no meaning in a plan."""
    input = r.emit(node["child"])
    if not node["global"]:
        return input
    e = r.expressions(input.scope())
    return Output(Sort(input.relation, [sort_field(e, order) for order in node["order"]]), input.ids)


HANDLERS = {"Sort": emit}
