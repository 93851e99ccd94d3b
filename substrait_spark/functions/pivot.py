"""Pivots: one value of a group per value of the pivot column, as a list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import AggregateFunction, Expression
from ..catalyst import tree
from ..errors import Unsupported
from ..expr.nested import list_of
from .measure import AggregateRule, Measured, Site

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


def pivot_first(site: Site, node: tree.Expression) -> Measured:
    """PivotFirst: for each value in question, the one value of the group's rows with that in the pivot column."""
    e = site.e
    pivot, value = e.emit_all([node["pivotColumn"], node["valueColumn"]])
    wanted = node["pivotColumnValues"]
    if any(isinstance(key, tree.Opaque) for key in wanted):
        raise Unsupported(
            f"pivot values of the type {node['pivotColumn'].type} can't be read",
            "Cast the pivot column to a string or an integer.",
        )
    found = e.share(pivot)

    def call(key: object) -> AggregateFunction:
        same = _is(e, found, key)
        return e.first(
            lambda: site.call("aggregate_generic:any_value", value, where=same, ignore_nulls="TRUE"),
            lambda: site.call("datafusion:first_value", value, where=e.and_(same, e.is_not_null(value))),
        )

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        return list_of(above, types.of("list", types.nullable(value.type), nullable=False), refs)

    return Measured(tuple(map(call, wanted)), result)


def _is(e: ExpressionBuilder, pivot: Expression, key: object) -> Expression:
    """Whether the pivot column has a value, as Java's hash maps see it: NaN is none of them, both zeros are one."""
    if isinstance(key, float):
        if math.isnan(key):
            return e.literal(False, types.BOOLEAN)
        key += 0.0
    literal = e.literal(key, types.with_nullable(pivot.type, key is None))
    return e.call("comparison:is_not_distinct_from", pivot, literal)


AGGREGATE: dict[str, AggregateRule] = {"PivotFirst": pivot_first}
"""Aggregate functions by Catalyst class."""
