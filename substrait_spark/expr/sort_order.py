"""The keys that rows are sorted by."""

from __future__ import annotations

from ..algebra.expression import SortField
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import NotInDialect, Unsupported
from ..functions.floating import groupable
from .builder import ExpressionBuilder


def sort_field(e: ExpressionBuilder, order: tree.Expression) -> SortField:
    """SortOrder: Spark's null is less than any value inside lists and structs, wherever nulls go outside."""
    ascending = {"Ascending": True, "Descending": False}.get(order["direction"])
    nulls_first = {"NullsFirst": True, "NullsLast": False}.get(order["nullOrdering"])
    if ascending is None or nulls_first is None:
        raise Unsupported(f"the order {order['direction']} {order['nullOrdering']} is not known")
    key = groupable(e, e.emit(order["child"]))
    if e.dialect.quirks.nested_nulls_follow and ascending != nulls_first and _holds_nulls(key.type):
        raise NotInDialect(
            f"the dialect {e.dialect.name} puts the nulls inside a {key.type.kind} where the nulls of the column go",
            "Sort by the fields or elements themselves, or in the default order of nulls.",
        )
    return SortField(key, ascending, nulls_first)


def _holds_nulls(type: Type) -> bool:
    """Whether values of a type may have a null inside."""
    parts = [part for part in type.parameters if isinstance(part, Type)]
    return any(part.nullable or _holds_nulls(part) for part in parts)
