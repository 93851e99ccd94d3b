"""Pivots: one value of a group per value of the pivot column, as a list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import AggregateFunction, Expression
from ..catalyst import tree
from ..errors import Unsupported
from .measure import AggregateForm, AggregateRule, EmittedCall

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


def pivot_first(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """PivotFirst: for each value in question, the one value of the group's rows with that in the pivot column."""
    e = call.e
    pivot, value = e.emit_all([node["pivotColumn"], node["valueColumn"]])
    wanted = node["pivotColumnValues"]
    if any(isinstance(key, tree.Opaque) for key in wanted):
        raise Unsupported(
            f"pivot values of the type {node['pivotColumn'].type} can't be read",
            "Cast the pivot column to a string or an integer.",
        )
    found = e.share(pivot)

    def value_of(key: object) -> AggregateFunction:
        return call.call("aggregate_generic:any_value", value, where=_is(e, found, key), ignore_nulls="TRUE")

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        return above.list_of(types.nullable(value.type), refs)

    return AggregateForm(tuple(map(value_of, wanted)), result)


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
