"""FilterRel: https://substrait.io/relations/logical_relations/#filter-operation."""

from __future__ import annotations

from ..algebra.relation import Filter
from ..algebra.traversal import is_true
from ..catalyst import tree
from ..expr.boolean import conjuncts, drop_unknown
from .builder import RelationBuilder
from .output import Output


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Filter: rows for which the condition is true, neither false nor null."""
    input = r.emit(node["child"])
    e = r.expressions(input.scope())
    drop_unknown(e, node["condition"])
    parts = [each for each in conjuncts(e, node["condition"]) if not is_true(each)]
    return Output(Filter(input.relation, e.conjunction(parts)), input.ids) if parts else input


HANDLERS = {"Filter": emit}
