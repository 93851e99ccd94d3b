"""Aggregate functions that Acero does otherwise: sums that overflow in silence, means that are rounded, extremes beside NaN."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra import types
from ...algebra.aggregate_form import AggregateForm
from ...algebra.expression import Expression
from ...algebra.types import FLOATS, INTEGERS
from ...dialects.rewrite import Apply, rewrites
from ...errors import NotInDialect
from ...lowering.aggregate import LoweredCall
from ...lowering.builder import LoweringBuilder

MOST_DIGITS, DIGITS_OF_ROWS = 38, 10
"""Of decimals; and of the number of rows that fit into memory."""

DIGITS_IN_DOUBLES = 10
"""Of decimals that are added up in doubles: sums of a million of these are exact."""


def total(call: LoweredCall) -> AggregateForm:
    """A sum of numbers. One of 64-bit integers is computed in decimals, which hold it, beside the sum of the sizes.

    Together they tell the sums of the gains and of the losses: if these fit, no sum of some of the values overflows.
    Acero's own wraps around, which is right where it may do so silently.
    """
    (value,) = call.arguments
    if value.type.kind != "i64" or dict(call.function.options) == {"overflow": "SILENT"}:
        return call.one("arithmetic:sum", value)
    e = call.e
    whole = e.share(e.cast(value, types.with_nullable(types.of("decimal", 19, 0), value.type.nullable)))
    sums = (
        call.call("arithmetic_decimal:sum", whole),
        call.call("arithmetic_decimal:sum", e.call("arithmetic_decimal:abs", whole)),
    )

    def result(above: LoweringBuilder, found: Sequence[Expression]) -> Expression:
        summed, size = (above.share(above.cast(each, types.of("decimal", 19 + DIGITS_OF_ROWS, 0))) for each in found)
        gains = above.call("arithmetic_decimal:add", size, summed)
        losses = above.call("arithmetic_decimal:subtract", size, summed)
        kind = types.required(gains.type)
        overflows = above.or_(
            above.call("comparison:gt", gains, above.literal(2 * (2**63 - 1), kind)),
            above.call("comparison:gt", losses, above.literal(2 * 2**63, kind)),
        )
        error = above.raises("[ARITHMETIC_OVERFLOW] a sum has too many digits", types.I64, size)
        fitting = above.if_then(overflows, above.null(summed.type), summed)
        return above.if_then(overflows, error, above.cast(fitting, types.I64))

    return AggregateForm(sums, result)


def wrapping_total(call: LoweredCall) -> AggregateForm:
    """A sum of integers that wraps around, as Acero's does."""
    (value,) = call.arguments
    if value.type.kind not in INTEGERS:
        raise NotInDialect(f"the dialect {call.e.dialect.name} has no sum of {value.type}")
    return call.one("arithmetic:sum", value)


def decimal_total(call: LoweredCall) -> AggregateForm:
    """A sum of decimals. Acero's wraps around beyond 38 digits, which a sum of sizes in doubles tells."""
    (value,) = call.arguments
    precision, scale = value.type.parameters
    if precision + DIGITS_OF_ROWS <= MOST_DIGITS:
        return call.one("arithmetic_decimal:sum", value)
    e = call.e
    value = e.share(value)
    size = e.call("arithmetic:abs", e.cast(value, types.FP64))
    parts = (call.call("arithmetic_decimal:sum", value), call.call("arithmetic:sum", size))

    def result(above: LoweringBuilder, sums: Sequence[Expression]) -> Expression:
        total, size = sums
        size = above.share(size)
        overflow = above.raises("[ARITHMETIC_OVERFLOW] a sum may have too many digits", total.type, size)
        is_large = above.call("comparison:gt", size, above.fp64(0.99 * 10.0 ** (MOST_DIGITS - scale)))
        return above.if_then(above.is_null(size), above.null(total.type), is_large, overflow, total)

    return AggregateForm(parts, result)


def decimal_mean(call: LoweredCall) -> AggregateForm:
    """The sum of decimals by their number, rounded half up."""
    (value,) = call.arguments
    total = decimal_total(call)
    number = call.call("aggregate_generic:count", value)
    wanted = call.function.type

    def result(above: LoweringBuilder, found: Sequence[Expression]) -> Expression:
        *sums, count = found
        divisor = above.cast(count, types.of("decimal", 19, 0))
        return above.call("arrow:spark_divide", total.result(above, sums), divisor, above.null(wanted))

    return AggregateForm((*total.calls, number), result)


def mean_in_doubles(call: LoweredCall) -> AggregateForm:
    """What Spark's optimizer makes of means of few digits, which Python computes of the sum and the count."""
    (value,) = call.arguments
    if value.type.parameters[0] > DIGITS_IN_DOUBLES:
        raise NotInDialect(
            f"Spark averages {value.type} in doubles, whose sum hangs on the order of the rows",
            "Cast the argument to a decimal of 10, or of 12 or more digits.",
        )
    total = decimal_total(call)
    number = call.call("aggregate_generic:count", value)
    wanted = call.function.type

    def result(above: LoweringBuilder, found: Sequence[Expression]) -> Expression:
        *sums, count = found
        return above.call("arrow:spark_mean_in_doubles", total.result(above, sums), count, above.null(wanted))

    return AggregateForm((*total.calls, number), result)


def fitting_total(call: LoweredCall) -> AggregateForm:
    """A sum of decimals that is null where it overflows: of so few digits that it never does."""
    (value,) = call.arguments
    if value.type.kind != "decimal" or value.type.parameters[0] + DIGITS_OF_ROWS > MOST_DIGITS:
        raise NotInDialect(
            f"the dialect {call.e.dialect.name} has no sum of {value.type} that is null where it overflows"
        )
    wanted = call.function.type
    return AggregateForm((call.call("arithmetic_decimal:sum", value),), lambda above, sums: above.cast(sums[0], wanted))


def extreme(name: str) -> Apply:
    """The greatest or the least value. Acero leaves out NaN, which is greater than any number."""

    def rule(call: LoweredCall) -> AggregateForm:
        (value,) = call.arguments
        e = call.e
        if value.type.kind not in (*FLOATS, *INTEGERS):
            raise NotInDialect(f"the dialect {e.dialect.name} has no {name} of {value.type}")
        if value.type.kind not in FLOATS:
            return call.one(f"arithmetic:{name}", value)
        value = e.share(value)
        number = e.if_then(e.call("comparison:is_nan", value), e.null(value.type), value)
        found = (
            call.call(f"arithmetic:{name}", number),
            call.call("aggregate_generic:count", value),
            call.call("aggregate_generic:count", number),
        )

        def result(above: LoweringBuilder, parts: Sequence[Expression]) -> Expression:
            best, present, numbers = parts
            nan = above.literal(float("nan"), types.required(value.type))
            has_nan = above.call("comparison:gt", present, numbers)
            if name == "max":
                return above.if_then(has_nan, nan, best)
            return above.if_then(above.and_(has_nan, above.equal(numbers, above.i64(0))), nan, best)

        return AggregateForm(found, result)

    return rule


REWRITES = rewrites(
    {
        "arithmetic:max": extreme("max"),
        "arithmetic:min": extreme("min"),
        "arithmetic:sum": total,
        "arithmetic_decimal:avg": decimal_mean,
        "arithmetic_decimal:sum": decimal_total,
        "spark:avg_in_doubles": mean_in_doubles,
        "spark:spark_max": extreme("max"),
        "spark:spark_min": extreme("min"),
        "spark:spark_sum": wrapping_total,
        "spark:try_sum": fitting_total,
    }
)
