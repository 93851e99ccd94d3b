"""Counts, sums, means, extremes, first and last values, collections."""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra import types
from ....algebra.aggregate_form import AggregateForm
from ....algebra.expression import AggregateFunction, Cast, Expression, IfThen, Literal
from ....algebra.traversal import is_null
from ....algebra.types import FLOATS, INTEGERS, Type
from ....dialects.rewrite import Apply, rewrites
from ....errors import NotInDialect
from ....lowering.aggregate import LoweredCall
from ....lowering.builder import LoweringBuilder
from ..counts import COUNTS
from ..defects.floating import comparable
from ..defects.struct_names import names_of
from ..structs import empty_list, is_built, named_struct, size
from ..value_bounds import magnitude, of_type
from .decimal_arithmetic import NARROW, WIDE, widened
from .interval import rounded_quotient
from .nested_order import at_extreme

SUM_DIGITS = 10
"""How many more digits than its argument a sum of decimals has."""

OVERFLOW = "[ARITHMETIC_OVERFLOW] a sum has too many digits"


def plain(call: LoweredCall) -> AggregateForm:
    """The function itself, where the dialect has it."""
    call.e.require_aggregate(call.function, call.frame)
    return call.unchanged


# ---- sums


def number_sum(call: LoweredCall) -> AggregateForm:
    """The standard sum, which must not overflow, or wraps around where it may do so silently."""
    (value,) = call.arguments
    if value.type.kind in FLOATS:
        return float_sum(call)
    if dict(call.function.options) == {"overflow": "SILENT"}:
        return call.e.first(lambda: plain(call), lambda: wrapping_sum(call))
    return call.e.first(lambda: plain(call), lambda: integer_sum(call, value))


def float_sum(call: LoweredCall) -> AggregateForm:
    """The sum of floating-point numbers, in double precision. None is to be had that does otherwise than overflow silently."""
    if not is_of_floats(call):
        return plain(call)
    (argument,) = call.arguments
    value = call.e.share(call.e.cast(argument, types.FP64))
    options = dict(call.function.options)
    return call.e.first(lambda: call.one("arithmetic:sum", value, **options), lambda: summed_in_order(call, value))


def is_of_floats(call: LoweredCall) -> bool:
    """Whether a function of floating-point numbers states nothing but how they overflow, which is silently."""
    return dict(call.function.options) in ({}, {"overflow": "SILENT"})


def sum_or_zero(call: LoweredCall) -> AggregateForm:
    """The standard sum that is 0 of no rows."""
    (value,) = call.arguments
    options = dict(call.function.options)
    if value.type.kind == "decimal":
        form = decimal_sum(call)
    elif value.type.kind in FLOATS:
        form = float_sum(call)
    elif options.get("overflow", "ERROR") == "ERROR":
        form = call.e.first(
            lambda: call.one("arithmetic:sum", value, overflow="ERROR"), lambda: integer_sum(call, value)
        )
    else:
        return plain(call)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        total = form.result(above, refs)
        zero = 0.0 if total.type.kind == "fp64" else 0
        return above.coalesce(total, above.literal(zero, types.required(total.type)))

    return AggregateForm(form.calls, result)


def integer_sum(call: LoweredCall, value: Expression) -> AggregateForm:
    """A sum of 64-bit integers that raises where it overflows."""
    if magnitude(value) * INTEGER_ROWS <= of_type(types.I64):
        return call.one("datafusion:sum", value)
    digits = types.of("decimal", types.DIGITS[value.type.kind], 0, nullable=False)
    forms = [lambda: checked_sum(call, value), lambda: integer_sum_by_size(call, value, digits)]
    # In groups, the engine's function that checks takes ten times as long as its sum.
    if call.group is None or call.group.keys:
        forms.reverse()
    return call.e.first(*forms, lambda: signed_sum(call, value, digits, types.I64, "datafusion:add"))


def integer_sum_by_size(call: LoweredCall, value: Expression, digits: Type) -> AggregateForm:
    """A sum in decimals, with the sum of the absolute values: together they tell those of the gains and of the losses.

    If these fit, no sum of some of the values overflows.
    """
    whole = call.e.share(call.e.cast(value, digits))
    calls = (call.call("datafusion:sum", whole), _sum_of_sizes(call, call.e.call("arithmetic_decimal:abs", whole)))
    most = of_type(types.I64)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        total, size = above.share(refs[0]), refs[1]
        gains = above.call("arithmetic_decimal:add", size, total)
        losses = above.call("arithmetic_decimal:subtract", size, total)
        overflowed = above.or_(
            above.call("comparison:gt", gains, above.literal(2 * (most - 1), types.required(gains.type))),
            above.call("comparison:gt", losses, above.literal(2 * most, types.required(losses.type))),
        )
        return above.if_then(overflowed, above.raises(OVERFLOW, types.I64, size), above.cast(total, types.I64))

    return AggregateForm(calls, result)


def _sum_of_sizes(call: LoweredCall, size: Expression) -> AggregateFunction:
    """The sum of absolute values, where they are all there: those of distinct values may be equal."""
    if call.distinct:
        raise NotInDialect(f"there is no sum of the sizes of distinct values in the dialect {call.e.dialect.name}")
    return call.call("datafusion:sum", size)


def wrapping_sum(call: LoweredCall) -> AggregateForm:
    """Spark's sum of integers, which wraps around, as DataFusion's does; of intervals, which raises on overflow."""
    if call.function.type.kind in COUNTS:
        return interval_sum(call)
    return plain(call) if call.function.type.kind != "i64" else call.one("datafusion:sum", *call.arguments)


def interval_sum(call: LoweredCall) -> AggregateForm:
    """The sum of intervals, by their counts: in 64 bits, then in those that the counts have."""
    (count,) = call.arguments
    return _cast(integer_sum(call, call.e.cast(count, types.I64)), COUNTS[call.function.type.kind])


def interval_average(call: LoweredCall) -> AggregateForm:
    """The sum of intervals by how many they are, rounded half away from zero."""
    total = interval_sum(call)
    number = call.call("aggregate_generic:count", *call.arguments)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        *parts, count = refs
        summed, none = above.cast(total.result(above, parts), types.I64), above.equal(count, above.i64(0))
        divisor = above.if_then(none, above.i64(1), count)
        return above.cast(rounded_quotient(above, summed, divisor), COUNTS[call.function.type.kind])

    return AggregateForm((*total.calls, number), result)


def decimal_sum(call: LoweredCall) -> AggregateForm:
    """The standard sum of decimals, which has 38 digits."""
    (value,) = call.arguments
    return _cast(exact_sum(call, value), call.function.type)


def _cast(form: AggregateForm, wanted: Type) -> AggregateForm:
    return AggregateForm(form.calls, lambda above, refs: above.cast(form.result(above, refs), wanted))


def exact_sum(call: LoweredCall, value: Expression) -> AggregateForm:
    """A sum of decimals in ten more digits, at most 38, which raises where it needs more."""
    if fits(value):
        return call.one("datafusion:sum", value)
    return call.e.first(
        lambda: sum_by_size(call, value),
        lambda: checked_sum(call, value),
        lambda: signed_sum(call, value, None, sum_type(value.type), "arithmetic_decimal:add"),
    )


def sum_by_size(call: LoweredCall, value: Expression) -> AggregateForm:
    """The engine's sum, which wraps around beyond its 128 bits, and the sum of the absolute values, in its wider decimals."""
    value = call.e.share(value)
    calls = (call.call("datafusion:sum", value), _sum_of_sizes(call, _widest(call.e, _size(call.e, value))))

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        total, size = refs
        return above.if_then(_in_any_order(above, total, size), total, above.null(types.nullable(total.type)))

    return AggregateForm(calls, result)


def sum_or_null_by_size(call: LoweredCall, value: Expression) -> AggregateForm:
    """Both sums in the engine's wider decimals: null where the first overflows, an error where it hangs on the order."""
    if magnitude(value) * ROWS_IN_ORDER >= 10**NARROW:
        raise NotInDialect(f"whether few values of {value.type} overflow hangs on their order")
    value, wanted = call.e.share(value), sum_type(value.type)
    calls = (
        call.call("datafusion:sum", _widest(call.e, value)),
        _sum_of_sizes(call, _widest(call.e, _size(call.e, value))),
    )

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        total, size = above.share(above.narrow(refs[0], wanted, False)), refs[1]
        null = above.null(wanted)
        return above.if_then(above.is_null(total), null, _in_any_order(above, total, size), total, null)

    return AggregateForm(calls, result)


def _size(e: LoweringBuilder, value: Expression) -> Expression:
    return e.call("arithmetic_decimal:abs", value)


def _widest(e: LoweringBuilder, value: Expression) -> Expression:
    return widened(e, value, WIDE, value.type.parameters[1])


def _in_any_order(e: LoweringBuilder, total: Expression, size: Expression) -> Expression:
    """True, or an error where a sum of some of the values has more than 38 digits; for no values, false.

    If a sum and that of the absolute values are, both together, at most twice the greatest decimal, then neither that of the
    gains nor that of the losses is greater. Nor has the sum wrapped around then: it would be wrong by 2^128.
    """
    greatest = types.of("decimal", NARROW, total.type.parameters[1], nullable=False)
    both = e.call("arithmetic_decimal:add", size, _size(e, _widest(e, total)))
    excess = e.call("arithmetic_decimal:subtract", both, e.literal(of_type(greatest), greatest))
    return e.is_not_null(e.narrow(excess, greatest, True))


def try_sum(call: LoweredCall) -> AggregateForm:
    """A sum that is null where it overflows."""
    (value,) = call.arguments
    if value.type.kind == "decimal":
        return null_for_overflow(call, value)
    return plain(call)


def null_for_overflow(call: LoweredCall, value: Expression) -> AggregateForm:
    """A sum of decimals that is null where it overflows; those of few digits never do."""
    if fits(value):
        return call.one("datafusion:sum", value)
    return call.e.first(lambda: sum_or_null_by_size(call, value), lambda: call.one("spark:try_sum", value))


INTEGER_ROWS = 2**32
DECIMAL_ROWS = 10_000_000_000
"""No group has more rows of which each has the greatest value that its expression may have."""

ROWS_IN_ORDER = 10**4
"""A sum of fewer rows than this is null for an overflow as the rows come, as Spark's is."""


def fits(value: Expression) -> bool:
    """Whether no sum of a decimal expression's values overflows."""
    return magnitude(value) * DECIMAL_ROWS < int(10**NARROW)


def sum_type(type: Type) -> Type:
    """The type of a sum of decimals."""
    precision, scale = type.parameters
    return types.of("decimal", min(NARROW, precision + SUM_DIGITS), scale, nullable=True)


def checked_sum(call: LoweredCall, value: Expression) -> AggregateForm:
    """A sum that gives null where it overflows, made to raise there."""
    calls = (call.call("spark:try_sum", value), call.call("aggregate_generic:count", value))

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        total, number = refs
        overflowed = above.and_(above.is_null(total), above.call("comparison:gt", number, above.i64(0)))
        return above.if_then(overflowed, above.raises(OVERFLOW, total.type, number), total)

    return AggregateForm(calls, result)


def signed_sum(call: LoweredCall, value: Expression, part: Type | None, wanted: Type, add: str) -> AggregateForm:
    """The sums of the positive and of the other values, which raise where a partial sum in some order might overflow.

    `part` is the decimal type to add in; None for the engine's wider decimals.
    """
    e = call.e
    zero = e.literal(0, types.required(value.type))
    positive = e.call("comparison:gt", value, zero)

    def total(where: Expression) -> AggregateFunction:
        chosen = e.if_then(where, value, e.null(value.type))
        widest = widened(e, chosen, WIDE, value.type.parameters[1]) if part is None else e.cast(chosen, part)
        return call.call("datafusion:sum", widest)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        gains, losses = [above.share(above.narrow(ref, wanted, True)) for ref in refs]
        return above.coalesce(above.cast(above.call(add, gains, losses), wanted), gains, losses)

    return AggregateForm((total(positive), total(e.not_(positive))), result)


def summed_in_order(call: LoweredCall, value: Expression) -> AggregateForm:
    """The sum of floating-point numbers over a frame that loses rows: of a list of them, in the frame's order."""
    values = values_in_frame(call, value)
    return AggregateForm((values,), lambda above, refs: above.call("datafusion:array_sum", refs[0]))


def product(call: LoweredCall) -> AggregateForm:
    """The product of doubles: of a list of them, in the order of the rows; 1 of none."""
    (value,) = call.arguments
    if value.type.kind not in FLOATS or call.function.options:
        return plain(call)
    value = call.e.cast(value, types.FP64)
    values = call.call("datafusion:array_agg" if call.frame is None else "spark:collect_list", value)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        return above.coalesce(above.call("datafusion:array_product", refs[0]), above.fp64(1.0))

    return _cast(AggregateForm((values,), result), call.function.type)


def values_in_frame(call: LoweredCall, value: Expression) -> AggregateFunction:
    """The list of a window frame's values that are not null, or of a group's different ones."""
    if call.frame is None and call.distinct:
        return call.call("spark:collect_set", call.e.key(value))
    if call.frame is None:
        raise NotInDialect(f"the dialect {call.e.dialect.name} has no {call.function.declaration.compound} in groups")
    return call.call("spark:collect_list", value)


# ---- means


def number_average(call: LoweredCall) -> AggregateForm:
    """The mean of doubles, which integers may have been; or of integers, as other producers' plans have it."""
    (value,) = call.arguments
    if value.type.kind in types.INTEGERS:
        return whole_mean(call, value)
    if value.type.kind not in FLOATS or not is_of_floats(call):
        return plain(call)
    value = call.e.cast(value, types.FP64)
    form = call.e.first(lambda: mean_of_numbers(call, value), lambda: mean_in_order(call, value))
    return _cast(form, call.function.type)


def mean_of_numbers(call: LoweredCall, value: Expression) -> AggregateForm:
    """The sum as a double by the count; sums of integers that doubles hold are exact, as Spark's are."""
    whole = as_integers(call.e, value)
    if whole is None:
        total = call.call("arithmetic:sum", value)
    elif whole.type.kind != "i64":
        total = call.call("arithmetic:sum", whole, overflow="ERROR")
    elif whole is value:
        total = _exact_sum(call, whole)
    else:
        total = call.e.first(lambda: call.call("arithmetic:sum", value), lambda: _exact_sum(call, whole))
    number = call.call("aggregate_generic:count", widened_from(value) if whole is None else whole)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        total, number = refs
        if total.type.kind == "decimal":  # by way of text, because engines round this cast to doubles twice
            total = above.cast(total, types.STRING)
        return quotient(above, above.cast(total, types.FP64), number)

    return AggregateForm((total, number), result)


def whole_mean(call: LoweredCall, value: Expression) -> AggregateForm:
    """The mean of integers, cut off behind the point: their exact sum by the count, so that no option of overflow matters."""
    calls = (_exact_sum(call, value), call.call("aggregate_generic:count", value))

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        total, number = refs
        count = above.cast(number, types.of("decimal", 19, 0, nullable=False))
        return above.cast(above.call("datafusion:divide", total, count), value.type)

    return AggregateForm(calls, result)


def _exact_sum(call: LoweredCall, value: Expression) -> AggregateFunction:
    return call.call("datafusion:sum", call.e.cast(value, types.of("decimal", 19, 0, nullable=False)))


def as_integers(e: LoweringBuilder, value: Expression) -> Expression | None:
    """The integers that numbers are, or numbers and nulls by a condition; None where they are not known to be any."""
    if not isinstance(value, IfThen):
        return _integers_cast(value)
    if len(value.clauses) > 1 or not is_null(value.otherwise):
        return None
    ((condition, chosen),) = value.clauses
    whole = _integers_cast(chosen)
    return None if whole is None else e.if_then(condition, whole, e.null(whole.type))


def _integers_cast(value: Expression) -> Expression | None:
    """The integers in a cast to doubles, or in one of that to a type that differs in nullability only."""
    while isinstance(value, Cast) and types.equal_but_nullability(value.input.type, value.type):
        value = value.input
    if isinstance(value, Cast) and value.type.kind == "fp64":
        value = value.input
    return value if value.type.kind in INTEGERS else None


def widened_from(value: Expression) -> Expression:
    """What a value was before a cast to a wider type, which is null for the same rows."""
    return value.input if isinstance(value, Cast) and types.widens(value.input.type, value.type) else value


def mean_in_order(call: LoweredCall, value: Expression) -> AggregateForm:
    """The sum over a frame that loses rows, by the number of its terms."""
    values = values_in_frame(call, value)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        return quotient(above, above.call("datafusion:array_sum", refs[0]), size(above, refs[0]))

    return AggregateForm((values,), result)


def quotient(e: LoweringBuilder, dividend: Expression, divisor: Expression) -> Expression:
    """A double by a number."""
    return e.call("arithmetic:divide", dividend, e.cast(divisor, types.FP64), on_division_by_zero="IEEE")


def standard_decimal_average(call: LoweredCall) -> AggregateForm:
    """The standard average, which keeps the scale of its argument: of what was brought to that scale, if it was."""
    (value,) = call.arguments
    wanted = call.function.type
    if widened_from(value).type.kind == "decimal":
        value, wanted = widened_from(value), types.nullable(value.type)
    return _cast(divided_average(call, value, exact_sum(call, value), wanted, True), call.function.type)


def average(throws: bool) -> Apply:
    """Spark's averages: of decimals with four more digits, null or an error where it overflows; of integers in doubles."""

    def rule(call: LoweredCall) -> AggregateForm:
        (value,) = call.arguments
        if call.function.type.kind in COUNTS:
            return interval_average(call)
        if value.type.kind in INTEGERS:
            return mean_of_numbers(call, value)
        if value.type.kind != "decimal":
            return plain(call)
        total = exact_sum(call, value) if throws else null_for_overflow(call, value)
        return divided_average(call, value, total, call.function.type, throws)

    return rule


def divided_average(
    call: LoweredCall, value: Expression, total: AggregateForm, wanted: Type, throws: bool
) -> AggregateForm:
    """The sum by the count, with two digits more than the result: a division that truncates is rounded right then."""
    number = call.call("aggregate_generic:count", value)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        *parts, number = refs
        dividend = total.result(above, parts)
        precision, scale = dividend.type.parameters
        divisor = above.cast(number, types.of("decimal", 19, 0, nullable=False))
        if precision + 2 + 4 <= NARROW:
            dividend = above.cast(dividend, types.of("decimal", precision + 2, scale + 2, nullable=False))
        else:
            dividend, divisor = widened(above, dividend, WIDE, scale + 2), widened(above, divisor)
        return above.narrow(above.call("datafusion:divide", dividend, divisor), wanted, throws)

    return AggregateForm((*total.calls, number), result)


def average_in_doubles(call: LoweredCall) -> AggregateForm:
    """The sum without its point, as a double, by the count, by the power of ten; then rounded as Spark does."""
    (value,) = call.arguments
    _, scale = value.type.parameters
    if digits(value) > 10:
        raise NotInDialect(
            f"Spark averages {value.type} in doubles and rounds their text, which this dialect can't repeat",
            "Cast the argument to a decimal of 10, or of 12 or more digits.",
        )
    calls = (call.call("datafusion:sum", value), call.call("aggregate_generic:count", value))

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        total, number = refs
        shift = above.literal(10**scale, types.of("decimal", scale + 1, 0, nullable=False))
        unscaled = above.call("arithmetic_decimal:multiply", total, shift) if scale else total
        mean = quotient(above, above.cast(above.cast(unscaled, types.I64), types.FP64), number)
        return shortest_rounded(above, quotient(above, mean, above.fp64(10.0**scale)), total, call.function.type)

    return AggregateForm(calls, result)


INTEGER_DIGITS = {"i8": 3, "i16": 5, "i32": 10, "i64": 19}


def digits(value: Expression) -> int:
    """How many digits the values of a decimal expression have at most, with as many behind the point as its type."""
    most, (_, scale) = 0, value.type.parameters
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, IfThen):
            stack += [*[result for _, result in part.clauses], part.otherwise]
        elif isinstance(part, Cast) and part.input.type.kind == "decimal" and part.input.type.parameters[1] <= scale:
            stack.append(part.input)
        else:
            most = max(most, _whole_digits(part) + scale)
    return most


def _whole_digits(value: Expression) -> int:
    """How many digits there are at most before the point."""
    precision, scale = map(int, value.type.parameters)
    if isinstance(value, Literal):
        return len(str(abs(value.value or 0) // 10**scale))
    if isinstance(value, Cast) and value.input.type.kind in INTEGER_DIGITS:
        return min(precision - scale, INTEGER_DIGITS[value.input.type.kind])
    return precision - scale


def shortest_rounded(e: LoweringBuilder, value: Expression, sign: Expression, wanted: Type) -> Expression:
    """A double as a decimal of at most 14 digits: its shortest decimal form, rounded half up.

    Numbers half way between two results have at most 15 digits, so that each has its own double, whose shortest form
    it is: the form of `value` is at least that number where `value` is at least its double. So the result counts how
    many of the numbers half way, of the two nearest, `value` reaches. `sign` has the sign of the value.
    """
    digits, scale = wanted.parameters
    size = e.share(e.call("arithmetic:abs", value))
    unit = 10.0**scale
    floor = e.share(e.cast(e.call("arithmetic:multiply", size, e.fp64(unit)), types.I64))

    def reached(units: Expression, halves: int) -> Expression:
        """1 where the value is at least so many units and `halves` half ones."""
        doubled = e.call("arithmetic:multiply", e.cast(units, types.FP64), e.fp64(2.0))
        half_way = quotient(e, e.call("arithmetic:add", doubled, e.fp64(float(halves))), e.fp64(2 * unit))
        return e.if_then(e.call("comparison:gte", size, half_way), e.i64(1), e.i64(0))

    rounded = e.call("datafusion:add", e.call("datafusion:add", floor, e.i64(-1)), reached(floor, -1))
    rounded = e.call("datafusion:add", rounded, reached(floor, 1))
    negative = e.call("comparison:lt", sign, e.literal(0, types.required(sign.type)))
    signed = e.call("datafusion:multiply", rounded, e.if_then(negative, e.i64(-1), e.i64(1)))
    whole = e.cast(signed, types.of("decimal", digits, 0, nullable=False))
    step = e.literal(1, types.of("decimal", scale + 1, scale, nullable=False))
    return e.cast(e.call("arithmetic_decimal:multiply", whole, step), wanted)


# ---- extremes


def extreme(name: str) -> Apply:
    """The least or the greatest value."""

    def rule(call: LoweredCall) -> AggregateForm:
        (value,) = call.arguments
        if value.type.kind in FLOATS:
            return float_extreme(call, name, value)
        if value.type.kind in ("struct", "list"):
            value = call.e.share(value)
            return at_extreme(call, value, value, greatest=name == "max")
        if value.type.kind in ("boolean", "string", "binary"):
            return call.one(f"datafusion:{name}", value)
        return plain(call)

    return rule


def time_extreme(name: str) -> Apply:
    """The standard function of times, and of intervals that are counts."""

    def rule(call: LoweredCall) -> AggregateForm:
        counts = call.arguments[0].type.kind in INTEGERS
        return call.one(f"arithmetic:{name}", *call.arguments) if counts else plain(call)

    return rule


def logical_extreme(name: str) -> Apply:
    """Whether all or any of the values are true: the least or the greatest of them."""
    return lambda call: call.one(f"datafusion:{name}", *call.arguments)


def float_extreme(call: LoweredCall, name: str, argument: Expression) -> AggregateForm:
    """The extreme of the values but for infinities and NaN, which DataFusion loses, and counts of these.

    SELECT min(x) FROM (VALUES ('Infinity'::double)) t(x)   -- the greatest number below
    """
    e = call.e
    required = types.required(argument.type)
    null = e.null(required)
    infinity = e.literal(float("inf") if name == "min" else float("-inf"), required)
    value = e.share(comparable(e, argument))
    nan = e.equal(value, e.literal(float("nan"), required))
    inside = e.call("comparison:lt" if name == "min" else "comparison:gt", value, infinity)
    calls = (
        call.call(f"datafusion:{name}", e.if_then(nan, null, inside, value, null)),
        call.count(nan),
        call.call("aggregate_generic:count", argument),
    )

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        finite_extreme, nans, number = refs
        no_value = above.equal(number, above.i64(0))
        only_nan = above.equal(number, nans)
        any_nan = above.call("comparison:gt", nans, above.i64(0))
        not_a_number = above.literal(float("nan"), required)
        return above.if_then(
            no_value,
            above.null(required),
            only_nan if name == "min" else any_nan,
            not_a_number,
            above.is_null(finite_extreme),
            infinity,
            finite_extreme,
        )

    return AggregateForm(calls, result)


# ---- rows


def any_value(call: LoweredCall) -> AggregateForm:
    """The value of any row: of the first one that comes.

    Of a struct, first values of its fields, which are of the same row, and much cheaper. There is a row in every group.
    """
    ignores_nulls = dict(call.function.options).get("ignore_nulls") == "TRUE"
    (value,) = call.arguments
    never_empty = call.group is not None and call.group.keys and call.filter is None
    if ignores_nulls or call.distinct or not never_empty or not is_built(value):
        return value_of_row(call, "first", ignores_nulls)
    wanted = types.required(call.function.type)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        kind = types.of("struct", *(ref.type for ref in refs), nullable=False)
        names = [name.value for name in value.children()[::2]]
        return above.as_type(named_struct(above, kind, names, refs), wanted)

    return AggregateForm(tuple([call.call("datafusion:first_value", part) for part in value.children()[1::2]]), result)


def end(name: str, ignores_nulls: bool) -> Apply:
    """The value of the first or the last row, of all or of those where it is not null."""
    return lambda call: value_of_row(call, name, ignores_nulls)


def value_of_row(call: LoweredCall, name: str, ignores_nulls: bool) -> AggregateForm:
    """The value of the first or the last row by the order of the call."""
    (value,) = call.arguments
    where = call.e.is_not_null(value) if ignores_nulls else None
    return call.one(f"datafusion:{name}_value", value, where=where, sorts=call.sorts, skips=None)


# ---- collections


def collect_list(respects_nulls: bool) -> Apply:
    """The values as a list. DataFusion's own gives null where there is none, and some of it hangs on the order."""

    def rule(call: LoweredCall) -> AggregateForm:
        return call.e.first(lambda: plain(call), lambda: listed(call, respects_nulls))

    return rule


def listed(call: LoweredCall, respects_nulls: bool) -> AggregateForm:
    """The values as a list, an empty one where there is none."""
    (value,) = call.arguments
    wanted = call.function.type
    where = None if respects_nulls else call.e.is_not_null(value)
    values = call.call("datafusion:array_agg", value, where=where, sorts=call.sorts)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        nothing = empty_list(above, types.required(refs[0].type), names_of(above, refs[0]))
        return above.as_type(above.coalesce(refs[0], nothing), wanted)

    return AggregateForm((values,), result)


def collect_set(call: LoweredCall) -> AggregateForm:
    """The different values as a list."""
    return call.one(f"spark:{call.function.declaration.name}", *map(call.e.key, call.arguments))


def collect_union(call: LoweredCall) -> AggregateForm:
    """The different elements of all lists."""
    (value,) = call.arguments
    wanted = call.function.type

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        (list,) = refs[0].type.parameters  # of which collect_list has none that is null
        kind = types.of("list", *list.parameters, nullable=False)
        elements: Expression = above.call_as(kind, "datafusion:flatten", refs[0])
        if not call.function.declaration.name.endswith("respect_nulls"):
            elements = above.call("datafusion:array_compact", elements)
        return above.as_type(above.call("spark:array_distinct", elements), wanted)

    return AggregateForm((call.call("spark:collect_list", value),), result)


def of_list(call: LoweredCall) -> AggregateForm:
    """What Python computes from the list of the values that are not null."""
    (value,) = call.arguments
    name = f"arrow:spark_{call.function.declaration.name}"
    return AggregateForm((call.call("spark:collect_list", value),), lambda above, refs: above.call(name, *refs))


OF_LISTS = ("bitmap_and_agg", "bitmap_construct_agg", "bitmap_or_agg", "vector_avg", "vector_sum")

REWRITES = rewrites(
    {
        **{f"spark:{name}": of_list for name in OF_LISTS},
        "aggregate_generic:any_value": any_value,
        "arithmetic:avg": number_average,
        "arithmetic:max": extreme("max"),
        "arithmetic:min": extreme("min"),
        "arithmetic:sum": number_sum,
        "arithmetic:sum0": sum_or_zero,
        "arithmetic_decimal:avg": standard_decimal_average,
        "arithmetic_decimal:sum": decimal_sum,
        "arithmetic_decimal:sum0": sum_or_zero,
        "datetime:max": time_extreme("max"),
        "datetime:min": time_extreme("min"),
        "boolean:bool_and": logical_extreme("min"),
        "boolean:bool_or": logical_extreme("max"),
        "spark:spark_avg": average(True),
        "spark:avg_in_doubles": average_in_doubles,
        "arithmetic:product": product,
        "spark:collect_list": collect_list(False),
        "spark:collect_list_respect_nulls": collect_list(True),
        "spark:collect_set": collect_set,
        "spark:collect_set_respect_nulls": collect_set,
        "spark:collect_union": collect_union,
        "spark:collect_union_respect_nulls": collect_union,
        "spark:first": end("first", False),
        "spark:first_ignore_nulls": end("first", True),
        "spark:last": end("last", False),
        "spark:last_ignore_nulls": end("last", True),
        "spark:spark_max": extreme("max"),
        "spark:spark_min": extreme("min"),
        "spark:spark_sum": wrapping_sum,
        "spark:try_avg": average(False),
        "spark:try_sum": try_sum,
    }
)
