"""Pivots: one value of a group per value of the pivot column, as a list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import AggregateFunction, Expression, Literal
from ..catalyst import tree
from .measure import AggregateForm, AggregateRule, EmittedCall

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


def pivot_first(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """PivotFirst: for each value in question, the one value of the group's rows with that in the pivot column."""
    e = call.e
    pivot, value = e.emit_all([node["pivotColumn"], node["valueColumn"]])
    kind = node["pivotColumn"].type
    wanted = [e.emit(tree.make("Literal", kind, key is None, value=key)) for key in node["pivotColumnValues"].values]
    column = e.share(pivot)

    def value_of(key: Expression) -> AggregateFunction:
        return call.call("aggregate_generic:any_value", value, where=_is(e, column, key), ignore_nulls="TRUE")

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        return above.list_of(types.nullable(value.type), refs)

    return AggregateForm(tuple(map(value_of, wanted)), result)


def _is(e: ExpressionBuilder, pivot: Expression, key: Expression) -> Expression:
    """Whether the pivot column has a value, as Java's hash maps see it: NaN is none of them, both zeros are one."""
    if isinstance(key, Literal) and isinstance(key.value, float):
        if math.isnan(key.value):
            return e.literal(False, types.BOOLEAN)
        key = e.literal(key.value + 0.0, key.type)
    return e.call("comparison:is_not_distinct_from", pivot, key)


AGGREGATE: dict[str, AggregateRule] = {"PivotFirst": pivot_first}
"""Aggregate functions by Catalyst class."""
