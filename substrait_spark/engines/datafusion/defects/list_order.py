"""`one_list_order`: refuses aggregates that make lists or joined texts in several orders.

    SELECT string_agg(x, ',' ORDER BY x), string_agg(x, ',' ORDER BY y) FROM (VALUES ('a', 1)) t(x, y)   -- an error

DataFusion makes joined texts in one order only, and lists beside those of DISTINCT values.
"""

from __future__ import annotations

from ....algebra.expression import AggregateFunction, Expression, FieldReference
from ....algebra.relation import Aggregate, Relation
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder

LISTS = ("array_agg", "string_agg")
"""The functions of DataFusion that take all their rows in the order that they ask for."""

Order = tuple[tuple[object, bool, bool], ...]
"""For each key what it is, whether it ascends and whether nulls come first."""


def require_one_order(e: LoweringBuilder, relation: Aggregate) -> Relation:
    """The aggregate. Raises `NotInDialect` unless one order serves all its lists.

    The longest order serves those that are its beginning, or the beginning of its reverse. Beside a list of DISTINCT
    values, no reverse is possible, and first and last values are taken in the list's order too.
    """
    calls = relation.measures
    lists = [call for call in calls if call.declaration.name in LISTS and call.sorts]
    distinct = any(call.distinct for call in lists)
    orders = sorted({_order(call) for call in (calls if distinct else lists) if call.sorts}, key=len)
    longest = orders[-1] if orders else ()
    backwards = tuple([(key, not ascending, not nulls_first) for key, ascending, nulls_first in longest])
    for order in orders:
        if order != longest[: len(order)] and (distinct or order != backwards[: len(order)]):
            raise NotInDialect(
                "DataFusion makes lists and joined texts in one order only in an aggregate",
                "Aggregate in one query for each order, and join these by their keys.",
            )
    return relation


def _order(call: AggregateFunction) -> Order:
    return tuple([(_identity(sort.expression), sort.ascending, sort.nulls_first) for sort in call.sorts])


def _identity(expression: Expression) -> object:
    if isinstance(expression, FieldReference):
        return expression.ordinal, expression.path
    return id(expression)
