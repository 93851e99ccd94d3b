"""The keys that rows are sorted by."""

from __future__ import annotations

from ..algebra.expression import SortField
from ..catalyst import tree
from ..errors import Unsupported
from .builder import ExpressionBuilder


def sort_field(e: ExpressionBuilder, order: tree.Expression) -> SortField:
    """SortOrder. Spark's null is less than any value inside lists and structs, wherever nulls go outside."""
    ascending = {"Ascending": True, "Descending": False}.get(order["direction"])
    nulls_first = {"NullsFirst": True, "NullsLast": False}.get(order["nullOrdering"])
    if ascending is None or nulls_first is None:
        raise Unsupported(f"the order {order['direction']} {order['nullOrdering']} is not known")
    return SortField(e.emit(order["child"]), ascending, nulls_first)
