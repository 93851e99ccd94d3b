"""Percentiles, modes, and values by the extremes of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ....algebra import types
from ....algebra.aggregate_form import AggregateForm
from ....algebra.expression import Cast, Expression, Literal, SortField
from ....algebra.types import FLOATS, INTEGERS, Type
from ....dialects.rewrite import Apply, rewrites
from ....errors import NotInDialect
from ....lowering.aggregate import LoweredCall
from ....lowering.builder import LoweringBuilder
from ..counts import COUNTS, counted
from ..defects.floating import comparable
from .nested_order import at_extreme, order_key


def extreme_by(name: str) -> Apply:
    """The value in the row of the greatest or the least ordering value; those in the k such rows."""

    def rule(call: LoweredCall) -> AggregateForm:
        value, order, *number = call.arguments
        if number:
            return extremes_by(call, value, order, number[0], name == "min_by")
        return at_extreme(call, value, order, greatest=name == "max_by")

    return rule


def extremes_by(
    call: LoweredCall, value: Expression, order: Expression, number: Expression, ascending: bool
) -> AggregateForm:
    """The beginning of a sorted list."""
    e = call.e
    key = order_key(e, order) if order.type.kind in ("struct", "list") else e.key(order)
    sort = SortField(key, ascending, ascending)
    listed = call.call("datafusion:array_agg", value, where=e.is_not_null(order), sorts=(sort,))

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        top = above.call("datafusion:array_slice", refs[0], above.i64(1), above.cast(number, types.I64))
        return above.as_type(top, call.function.type)

    return AggregateForm((listed,), result)


def mode(call: LoweredCall) -> AggregateForm:
    """The last value in the order of how often each occurs, which a window over its equals tells."""
    e = call.e
    ties, child = call.arguments
    if types.holds(child.type, (*FLOATS, "list", "map", "struct")):
        raise NotInDialect(f"the dialect {e.dialect.name} has no mode of {child.type}")
    value = e.share(call.filtered(child))
    (number,) = call.below(("aggregate_generic:count", value), within=[value])
    sorts = (SortField(number, True, True), SortField(value, ties == "GREATEST", True))
    return call.one("datafusion:last_value", value, where=e.is_not_null(value), sorts=sorts, skips=None)


# ---- percentiles


def percentile(line: Line) -> Apply:
    """The exact percentile, of values that each occur once."""

    def lower(call: LoweredCall) -> AggregateForm:
        value, percentage, frequency, descending = call.arguments
        if constant(frequency) != 1:
            raise NotInDialect(f"the dialect {call.e.dialect.name} has no percentile of frequencies")
        return of_sorted(call, value, percentage, constant(descending), interpolated(line))

    return lower


def percentile_disc(call: LoweredCall) -> AggregateForm:
    """The discrete percentile."""
    value, percentage, descending = call.arguments
    return of_sorted(call, value, percentage, constant(descending), discrete)


def approx_percentile(call: LoweredCall) -> AggregateForm:
    """Of less than half as many values as its accuracy says, Spark's sketch holds each, and gives the discrete percentile.

    Raises for more values, and for NaN, after which Spark's sketches are in no order.
    """
    e = call.e
    value, percentage, accuracy = call.arguments
    most = constant(accuracy)
    if not isinstance(most, int) or value.type.kind not in (*INTEGERS, *FLOATS):
        exact = "Use percentile_disc(p) WITHIN GROUP (ORDER BY x), which is exact."
        numbers = "Take it of numbers, as in unix_date(x) or unix_micros(x)."
        hint = exact if value.type.kind in ("decimal", *INTEGERS, *FLOATS) else numbers
        raise NotInDialect(f"the dialect {e.dialect.name} has no approx_percentile of {value.type} here", hint)
    number = e.cast(value, types.FP64)
    exact_percentiles = of_sorted(call, number, percentage, False, discrete)
    nans = call.count(e.call("comparison:is_nan", number))

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        *parts, nan = refs
        percentiles = exact_percentiles.result(above, parts)
        few = above.call("comparison:lt", refs[1], above.i64(most // 2))
        known = above.and_(few, above.equal(nan, above.i64(0)))
        error = above.raises("[UNSUPPORTED_COUNT] NaN, or too many values for an exact sketch:", types.I64, refs[1])
        least = above.if_then(known, above.i64(0), error)
        kind = percentiles.type
        checked = above.if_then(above.call("comparison:gte", least, above.i64(0)), percentiles, above.null(kind))
        return above.cast(checked, call.function.type)

    return AggregateForm((*exact_percentiles.calls, nans), result)


def _kind(call: LoweredCall) -> Type:
    """The type of the result, which may be one of counts."""
    return types.nullable(counted(call.function.type))


def constant(value: Expression) -> object:
    """The value of a literal, be it in a cast to a wider type; None for anything else."""
    while isinstance(value, Cast) and types.widens(value.input.type, value.type):
        value = value.input
    return value.value if isinstance(value, Literal) else None


class Sorted(NamedTuple):
    """The values of a group in order, as a list, and how many they are."""

    e: LoweringBuilder
    values: Expression
    size: Expression

    def at(self, position: Expression) -> Expression:
        """The value at a position, counted from 1."""
        return self.e.call("datafusion:array_element", self.values, position)

    def up(self, number: Expression) -> tuple[Expression, Expression]:
        """A number that is not negative without its fraction, and whether it has one."""
        e = self.e
        whole = e.share(e.cast(number, types.I64))
        return whole, e.call("comparison:gt", number, e.cast(whole, types.FP64))


DOUBLES = types.of("list", types.FP64, nullable=False)

Pick = Callable[[Sorted, float], Expression]

Line = Callable[[LoweringBuilder, Expression, Expression, Expression], Expression]
"""The point on the line between two values: of a builder, the lower and the upper value, and the fraction of the way."""


def interpolated(line: Line) -> Pick:
    """The value at position p * (count - 1), counted from 0, in a straight line between those around it."""

    def pick(s: Sorted, p: float) -> Expression:
        e = s.e
        last = e.call("arithmetic:subtract", e.cast(s.size, types.FP64), e.fp64(1.0))
        position = e.share(e.call("arithmetic:multiply", e.fp64(p), last))
        whole, between = s.up(position)
        lower = e.share(s.at(e.call("datafusion:add", whole, e.i64(1))))
        upper = e.share(s.at(e.call("datafusion:add", whole, e.i64(2))))
        fraction = e.call("arithmetic:subtract", position, e.cast(whole, types.FP64))
        between_both = line(e, lower, upper, fraction)
        return e.if_then(e.not_(between), lower, e.equal(lower, upper), lower, between_both)

    return pick


def from_lower(e: LoweringBuilder, lower: Expression, upper: Expression, fraction: Expression) -> Expression:
    """Lower + (upper - lower) * fraction."""
    width = e.call("arithmetic:subtract", upper, lower)
    return e.call("arithmetic:add", lower, e.call("arithmetic:multiply", width, fraction))


def of_weights(e: LoweringBuilder, lower: Expression, upper: Expression, fraction: Expression) -> Expression:
    """Lower * (1 - fraction) + upper * fraction."""
    rest = e.call("arithmetic:subtract", e.fp64(1.0), fraction)
    parts = (e.call("arithmetic:multiply", *pair) for pair in ((rest, lower), (fraction, upper)))
    return e.call("arithmetic:add", *parts)


def discrete(s: Sorted, p: float) -> Expression:
    """The first value whose position, counted from 1, is at least p * count."""
    e = s.e
    whole, more = s.up(e.share(e.call("arithmetic:multiply", e.fp64(p), e.cast(s.size, types.FP64))))
    position = e.share(e.call("datafusion:add", whole, e.if_then(more, e.i64(1), e.i64(0))))
    return s.at(e.if_then(e.equal(position, e.i64(0)), e.i64(1), position))


def of_sorted(
    call: LoweredCall, value: Expression, percentage: Expression, descending: object, pick: Pick
) -> AggregateForm:
    """Percentiles from a sorted list of the values, as doubles."""
    e = call.e
    is_counted = types.holds(call.function.type, tuple(COUNTS))
    if is_counted and percentage.type.kind == "list":
        raise NotInDialect(f"the dialect {e.dialect.name} has no lists of intervals", "Ask for one percentile.")
    if value.type.kind == "i32":
        value = e.cast(value, types.I64)
    if value.type.kind not in ("fp64", "i64") or not isinstance(percentage, Literal):
        raise NotInDialect(f"the dialect {e.dialect.name} has no percentile of {value.type} here")
    order = "DESC" if descending else "ASC"
    collect = "datafusion:array_agg" if call.frame is None else "spark:collect_list"
    calls = (
        call.call(collect, comparable(e, value), where=e.is_not_null(value)),
        call.call("aggregate_generic:count", value),
    )

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        values, count = refs
        if value.type.kind == "i64":
            values = above.cast(values, DOUBLES)
        in_order = above.call("datafusion:array_sort", values, above.text(order), above.text("NULLS FIRST"))
        s = Sorted(above, above.share(in_order), count)
        percentiles = above.null(DOUBLES)
        if percentage.type.kind != "list":
            percentiles = pick(s, percentage.value)
        elif percentage.value:
            percentiles = above.call_as(DOUBLES, "datafusion:make_array", *[pick(s, p) for p in percentage.value])
        found = above.if_then(above.equal(count, above.i64(0)), above.null(percentiles.type), percentiles)
        return above.cast(above.cast(found, types.I64), _kind(call)) if is_counted else found

    return AggregateForm(calls, result)


REWRITES = rewrites(
    {
        "spark:approx_percentile": approx_percentile,
        "spark:max_by": extreme_by("max_by"),
        "spark:min_by": extreme_by("min_by"),
        "spark:spark_mode": mode,
        "spark:percentile": percentile(from_lower),
        "spark:percentile_of_weights": percentile(of_weights),
        "spark:percentile_disc": percentile_disc,
    }
)
