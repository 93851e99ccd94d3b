"""The order that a plan's rows come in, as sort fields."""

from __future__ import annotations

from ..algebra.expression import SortField
from ..catalyst import tree
from ..catalyst.row_order import RowOrder
from ..expr.builder import ExpressionBuilder
from ..expr.sort_order import sort_field


def sorts_of(e: ExpressionBuilder, order: RowOrder | None) -> tuple[SortField, ...] | None:
    """The keys of an order as sort fields, none of no order.

    Where columns are not at hand any more, or nothing tells the order: None of a stated one, of another what is at hand.
    """
    if order is None:
        return ()
    if order.keys is None:
        return None
    missing = [n for n, key in enumerate(order.keys) if not all(a["exprId"] in e.scope for a in tree.attributes(key))]
    if missing and order.stated:
        return None
    return tuple([_sort_field(e, key) for key in order.keys[: missing[0] if missing else None]])


def _sort_field(e: ExpressionBuilder, key: tree.Expression) -> SortField:
    return sort_field(e, key) if key.name == "SortOrder" else SortField(e.emit(key), True, True)
