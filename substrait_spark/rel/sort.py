"""SortRel: https://substrait.io/relations/logical_relations/#sort-operation."""

from __future__ import annotations

from ..algebra.expression import SortField
from ..algebra.relation import Sort
from ..catalyst import tree
from ..errors import Unsupported
from ..expr.builder import ExpressionBuilder
from ..functions.floating import groupable
from .builder import RelationBuilder
from .output import Output


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Sort: a global sort. A sort within partitions orders no relation: partitions have no meaning in a plan."""
    input = r.emit(node["child"])
    if not node["global"]:
        return input
    e = r.expressions(input.scope())
    return Output(Sort(input.relation, [sort_field(e, order) for order in node["order"]]), input.ids)


def sort_field(e: ExpressionBuilder, order: tree.Expression) -> SortField:
    """SortOrder."""
    ascending = {"Ascending": True, "Descending": False}.get(order["direction"])
    nulls_first = {"NullsFirst": True, "NullsLast": False}.get(order["nullOrdering"])
    if ascending is None or nulls_first is None:
        raise Unsupported(f"the order {order['direction']} {order['nullOrdering']} is not known")
    return SortField(groupable(e, e.emit(order["child"])), ascending, nulls_first)


HANDLERS = {"Sort": emit}
