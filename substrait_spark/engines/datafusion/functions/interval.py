"""Intervals, which DataFusion has no exact values for: counted, in expressions and in columns.

Operators, choices and comparisons then are those of the counts. Only in the result are they intervals again.
"""

from __future__ import annotations

from collections.abc import Callable

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction, StandIn
from ....algebra.types import FLOATS, Type
from ....dialects.rewrite import Apply, Conversion, rewrites
from ....errors import NotInDialect
from ....functions.time_zone import DATE, DAY, HOUR, INSTANT, LOCAL, SECOND, Zone
from ....lowering.builder import LoweringBuilder
from ....lowering.general.raise_error import raised
from ..counts import COUNTS
from . import time_zone as tz
from .arithmetic import ERROR, NULL, integer_operation
from .datetime import between, checked_times, date_part, scaled
from .time_zone import constant, zone_of

# ---- counts


def of_counts(rule: Apply) -> Apply:
    """The rule, for intervals that have become counts; an interval that is a column of a table is refused."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        for value in call.children():
            if isinstance(value, StandIn) and value.type.kind in COUNTS:
                return StandIn(types.nullable(call.type))
            if value.type.kind in COUNTS:
                e.dialect.require_type(value.type, column=True)
                raise NotInDialect(f"the dialect {e.dialect.name} counts intervals, but not those of columns")
        result: Expression = rule(e, call)
        return result

    return lower


def operation(name: str, overflow: str = ERROR) -> Apply:
    """The sum or the difference of two intervals."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        left, right = call.children()
        return integer_operation(e, name, left, right, overflow)

    return lower


def negative(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The interval with the other sign."""
    (value,) = call.children()
    if isinstance(value, Literal) and value.value is not None:
        return e.literal(-value.value, value.type)
    return integer_operation(e, "subtract", e.literal(0, types.required(value.type)), value, ERROR)


def absolute(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The interval without its sign."""
    value = e.share(call.children()[0])
    zero = e.literal(0, types.required(value.type))
    negated = integer_operation(e, "subtract", zero, value, ERROR)
    return e.if_then(e.call("comparison:lt", value, zero), negated, value)


LONGEST = {"i32": 10, "i64": 19}
"""How many digits a count has at most."""


def product(throws: bool) -> Apply:
    """An interval times a number, rounded half up."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        value, factor = call.children()
        if factor.type.kind in FLOATS:
            exact = e.call("arithmetic:multiply", e.cast(value, types.FP64), e.cast(factor, types.FP64))
            return _rounded_double(e, exact, value.type, throws)
        if factor.type.kind == "decimal":
            whole = types.of("decimal", LONGEST[value.type.kind], 0, nullable=False)
            if LONGEST[value.type.kind] + factor.type.parameters[0] > WIDEST:
                raise NotInDialect(f"the dialect {e.dialect.name} has no product of an interval and {factor.type}")
            exact = e.call("arithmetic_decimal:multiply", e.cast(value, whole), factor)
            return _rounded_decimal(e, exact, value.type, throws)
        overflow = ERROR if throws else NULL
        wide = integer_operation(e, "multiply", e.cast(value, types.I64), e.cast(factor, types.I64), overflow)
        return e.cast(wide, types.required(value.type), throws=throws)

    return lower


def divided(throws: bool) -> Apply:
    """An interval by a number, rounded half up."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        value, divisor = call.children()
        wanted, divisor = types.required(value.type), e.share(divisor)
        if divisor.type.kind in FLOATS:
            quotient = e.call(
                "arithmetic:divide", e.cast(value, types.FP64), e.cast(divisor, types.FP64), on_division_by_zero="IEEE"
            )
            result = _rounded_double(e, quotient, wanted, throws)
        elif divisor.type.kind == "decimal":
            whole = types.of("decimal", LONGEST[value.type.kind], 0, nullable=False)
            digits, scale = divisor.type.parameters
            if digits > EXACT or LONGEST[value.type.kind] + FURTHER + scale > WIDEST:
                raise NotInDialect(f"the dialect {e.dialect.name} has no quotient of an interval and {divisor.type}")
            # Cut to four digits, it still tells which way to round: those of a half are there.
            quotient = e.call("datafusion:divide", e.cast(value, whole), divisor)
            result = _rounded_decimal(e, quotient, wanted, throws)
        else:
            result = _rounded_integers(e, value, divisor, throws)
        if throws:
            return result
        return e.if_then(e.equal(divisor, e.literal(0, types.required(divisor.type))), e.null(wanted), result)

    return lower


def _rounded_integers(e: LoweringBuilder, value: Expression, divisor: Expression, throws: bool) -> Expression:
    wide, dividend = e.cast(divisor, types.I64), e.share(e.cast(value, types.I64))
    if throws:
        return e.cast(rounded_quotient(e, dividend, wide), types.required(value.type))
    known = e.share(e.if_then(e.equal(wide, e.i64(0)), e.i64(1), wide))
    overflows = e.and_(e.equal(dividend, e.i64(-(2**63))), e.equal(known, e.i64(-1)))
    by_one = e.share(e.if_then(overflows, e.i64(1), known))
    result = e.cast(rounded_quotient(e, dividend, by_one), types.required(value.type), throws=False)
    return e.if_then(overflows, e.null(types.required(value.type)), result)


WIDEST, EXACT, FURTHER = 38, 18, 4
"""Digits of decimals, of the divisors by which Spark's own quotients are exact enough, and of what quotients have in DataFusion."""


def _rounded_double(e: LoweringBuilder, number: Expression, wanted: Type, throws: bool) -> Expression:
    """The count that is nearest to a double, of two the one further from 0."""
    number = e.share(number)
    whole = e.share(e.cast(number, types.I64, throws=throws))
    rest = e.share(e.call("arithmetic:subtract", number, e.cast(whole, types.FP64)))
    step = e.if_then(
        e.call("comparison:gte", rest, e.fp64(0.5)), e.i64(1),
        e.call("comparison:lte", rest, e.fp64(-0.5)), e.i64(-1),
        e.i64(0),
    )  # fmt: skip
    return e.cast(tz.plus(e, whole, step), types.required(wanted), throws=throws)


def _rounded_decimal(e: LoweringBuilder, number: Expression, wanted: Type, throws: bool) -> Expression:
    """The count that is nearest to a decimal, of two the one further from 0."""
    precision, scale = number.type.parameters
    if scale:
        number = e.cast(number, types.of("decimal", min(WIDEST, precision - scale + 1), 0, nullable=False))
    return e.cast(number, types.required(wanted), throws=throws)


def rounded_quotient(e: LoweringBuilder, dividend: Expression, divisor: Expression) -> Expression:
    """The quotient of integers, rounded half away from zero."""
    dividend, divisor = e.share(dividend), e.share(divisor)
    zero, one = e.i64(0), e.i64(1)

    def below_zero(number: Expression) -> Expression:
        """As far from zero: each number has such a negative one."""
        return e.share(e.if_then(e.call("comparison:gt", number, zero), tz.minus(e, zero, number), number))

    rest = below_zero(e.share(e.call("datafusion:modulus", dividend, divisor)))
    up = e.call("comparison:lte", rest, tz.minus(e, below_zero(divisor), rest))
    alike = e.equal(e.call("comparison:lt", dividend, zero), e.call("comparison:lt", divisor, zero))
    step = e.if_then(e.not_(up), zero, alike, one, e.i64(-1))
    return tz.plus(e, e.call("datafusion:divide", dividend, divisor), step)


def made_of_time(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """make_dt_interval: each sum must fit in 64 bits."""
    *parts, seconds = call.children()
    million = e.literal(SECOND, types.of("decimal", 7, 0, nullable=False))
    total = e.cast(e.call("arithmetic_decimal:multiply", seconds, million), types.I64)
    for part, size in zip(parts, (DAY, HOUR, 60 * SECOND), strict=True):
        if not (isinstance(part, Literal) and part.value == 0):
            product = integer_operation(e, "multiply", e.cast(part, types.I64), e.i64(size), ERROR)
            total = integer_operation(e, "add", total, product, ERROR)
    return total


def made_of_months(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """make_ym_interval."""
    years, months = call.children()
    product = integer_operation(e, "multiply", years, e.i32(12), ERROR)
    return integer_operation(e, "add", product, months, ERROR)


def difference(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The time between two timestamps: the difference of the local times."""
    left, right, *zone = call.children()
    where = zone_of(*zone)
    return _between(e, tz.local_count(e, right, where), tz.local_count(e, left, where))


def try_difference(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The time between two timestamps; null where microseconds overflow."""
    left, right, *zone = call.children()
    where = zone_of(*zone)
    return integer_operation(e, "subtract", tz.local_count(e, left, where), tz.local_count(e, right, where), NULL)


def _between(e: LoweringBuilder, start: Expression, end: Expression) -> Expression:
    """The microseconds from one count to another, which raise where 64 bits are too few."""
    return integer_operation(e, "subtract", end, start, ERROR)


def _days_between(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    left, right = (e.cast(e.cast(value, types.I32), types.I64) for value in call.children())
    return e.call("datafusion:subtract", left, right)


def days_between(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The days between two dates, which raise where microseconds overflow."""
    return checked_times(e, _days_between(e, call), DAY)


def try_days_between(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The days between two dates; null where microseconds overflow."""
    return integer_operation(e, "multiply", _days_between(e, call), e.i64(DAY), NULL)


def sign(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """1.0, 0.0 or -1.0."""
    value = e.share(call.children()[0])
    zero = e.literal(0, types.required(value.type))
    return e.if_then(
        e.call("comparison:gt", value, zero),
        e.fp64(1.0),
        e.call("comparison:lt", value, zero),
        e.fp64(-1.0),
        e.equal(value, zero),
        e.fp64(0.0),
        e.null(types.FP64),
    )


def part(unit: int, within: int | None) -> Apply:
    """How often a unit fits in what larger units leave, with the interval's sign."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        value = e.cast(call.children()[0], types.I64)
        whole = tz.quotient(e, value, unit) if unit > 1 else value
        return e.cast(whole if within is None else tz.rest(e, whole, within), call.type)

    return lower


LENGTHS = {"MICROSECOND": 1, "SECOND": SECOND, "MINUTE": 60 * SECOND, "HOUR": HOUR, "DAY": DAY, "MONTH": 1, "YEAR": 12}
"""Units of intervals in what these are counted in."""


def units(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """How often a unit fits in an interval, with the interval's sign."""
    unit, value = call.children()
    count, length = e.cast(value, types.I64), LENGTHS[str(constant(unit))]
    return count if length == 1 else tz.quotient(e, count, length)


def seconds(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The seconds that the minutes leave, as decimal(8, 6)."""
    return scaled(e, tz.rest(e, call.children()[0], 60 * SECOND), 8)


# ---- text

UNITS_IN_ORDER = (("DAY", "HOUR", "MINUTE", "SECOND"), ("YEAR", "MONTH"))

INSIDE = {"HOUR": 24, "MINUTE": 60, "SECOND": 60, "MONTH": 12}
"""How many of a unit the next larger one has."""

BEFORE = {"HOUR": " ", "MINUTE": ":", "SECOND": ":", "MONTH": "-"}
"""What stands between a unit and the next larger one."""


def interval_text(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The literal that SQL has for an interval, in the units of a type such as INTERVAL DAY TO SECOND."""
    value, named = call.children()
    written = str(constant(named)).removeprefix("INTERVAL ")
    first, _, last = written.partition(" TO ")
    names = next(names for names in UNITS_IN_ORDER if first in names)
    shown = names[names.index(first) : names.index(last or first) + 1]
    count = e.share(e.cast(value, types.I64))
    minus = e.if_then(e.call("comparison:lt", count, e.i64(0)), e.text("-"), e.text(""))
    parts = [e.text("INTERVAL '"), minus]
    for unit in shown:
        if unit != first:
            parts.append(e.text(BEFORE[unit]))
        parts.append(_unit_text(e, count, unit, within=unit != first))
    if shown[-1] == "SECOND":
        parts.append(_fraction_text(e, count))
    return _joined(e, *parts, e.text(f"' {written}"))


def _unit_text(e: LoweringBuilder, count: Expression, unit: str, within: bool) -> Expression:
    """How many of a unit there are; hours, minutes and seconds have two digits at least."""
    whole = tz.quotient(e, count, LENGTHS[unit])
    number = _without_sign(e, tz.rest(e, whole, INSIDE[unit]) if within else whole)
    text = e.cast(number, types.STRING)
    if unit in ("DAY", "MONTH", "YEAR"):
        return text
    zero = e.if_then(e.call("comparison:lt", number, e.i64(10)), e.text("0"), e.text(""))
    return _joined(e, zero, text)


def _fraction_text(e: LoweringBuilder, count: Expression) -> Expression:
    """The fraction of a second with its point, without zeros at its end; nothing where there is none."""
    number = _without_sign(e, tz.rest(e, count, SECOND))
    digits = e.call("string:lpad", e.cast(number, types.STRING), e.i32(6), e.text("0"))
    written = _joined(e, e.text("."), e.call("string:rtrim", digits, e.text("0")))
    return e.if_then(e.equal(number, e.i64(0)), e.text(""), written)


def _without_sign(e: LoweringBuilder, count: Expression) -> Expression:
    """The absolute value of a count, which is not the least number."""
    count = e.share(count)
    return e.share(e.if_then(e.call("comparison:lt", count, e.i64(0)), tz.minus(e, e.i64(0), count), count))


def _joined(e: LoweringBuilder, *texts: Expression) -> Expression:
    return e.call("string:concat", *texts, null_handling="ACCEPT_NULLS")


# ---- additions


def add_interval(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The days and months are those of the local calendar, the rest is time that passes."""
    value, amount, *zone = call.children()
    where = zone_of(*zone)
    if amount.type.kind == "i64":
        return added_time(e, value, amount, where)
    if value.type.kind == "date":
        return e.call("spark:add_months", value, amount)
    return added_months(e, value, amount, where)


LAST_YEARS = {"date": (-5_877_641, 5_881_580), "precision_timestamp": (-290_308, 294_247)}
"""The first and the last year that has dates, and timestamps, in Spark. DataFusion's calendar ends before, and raises there."""


def try_add_interval(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """As `add_interval`, but null where that raises, as far as DataFusion's calendar goes."""
    value, amount, *zone = map(e.share, call.children())
    if amount.type.kind == "i64":
        start = tz.micros(e, value)
        total = e.share(integer_operation(e, "add", start, amount, NULL))
        kind = types.required(value.type)
        if value.type.kind == "precision_timestamp":
            return tz.from_micros(e, total, kind)
        fitting = e.share(e.if_then(e.is_null(total), e.i64(0), amount))
        return e.if_then(e.is_null(total), e.null(kind), added_time(e, value, fitting, zone_of(*zone)))
    day = value if value.type.kind == "date" else tz.from_micros(e, tz.micros(e, value), DATE)
    months = tz.plus(e, tz.times(e, e.cast(date_part(e, "year", day), types.I64), 12), _month_number(e, day))
    year = tz.floor_quotient(e, tz.plus(e, months, e.cast(amount, types.I64)), 12)
    first, last = LAST_YEARS["date" if value.type.kind == "date" else "precision_timestamp"]
    fits = e.share(between(e, year, e.i64(first), e.i64(last)))
    fitting = e.share(e.if_then(fits, amount, e.i32(0)))
    if value.type.kind == "date":
        later = e.call("spark:add_months", value, fitting)
    else:
        later = added_months(e, value, fitting, zone_of(*zone))
    return e.if_then(fits, later, e.null(types.required(later.type)))


def _month_number(e: LoweringBuilder, day: Expression) -> Expression:
    """The month, from 0 on."""
    return tz.minus(e, e.cast(date_part(e, "month", day), types.I64), 1)


def added_time(e: LoweringBuilder, value: Expression, amount: Expression, where: Zone) -> Expression:
    """A timestamp later by days of the local calendar, then by the microseconds that are no whole day."""
    start, known = tz.micros(e, value), _known(amount)
    by_count = value.type.kind == "precision_timestamp" or where.offset is not None
    if by_count or (known is not None and abs(known) < DAY):
        return tz.from_micros(e, integer_operation(e, "add", start, amount, ERROR), types.required(value.type))
    start, amount = e.share(start), e.share(amount)
    rest = known - _whole_days(known) if known is not None else tz.rest(e, amount, DAY)
    days = e.i64(_whole_days(known)) if known is not None else tz.minus(e, amount, rest)
    local = e.share(tz.local_micros(e, start, where))
    then = integer_operation(e, "add", local, days, ERROR)
    result = tz.later(e, tz.instant_micros(e, then, where, e.share(tz.minus(e, local, start))), rest)
    if known is None:
        result = e.if_then(e.equal(days, e.i64(0)), integer_operation(e, "add", start, amount, ERROR), result)
    return tz.from_micros(e, result, INSTANT)


def _known(amount: Expression) -> int | None:
    return amount.value if isinstance(amount, Literal) else None


def _whole_days(amount: int) -> int:
    days = abs(amount) // DAY * DAY
    return days if amount >= 0 else -days


def added_months(e: LoweringBuilder, value: Expression, months: Expression, where: Zone) -> Expression:
    """A timestamp later by months of the local calendar, at the same time of day."""
    start = e.share(tz.micros(e, value))
    zoned = value.type.kind == "precision_timestamp_tz"
    local = e.share(tz.local_micros(e, start, where)) if zoned else start
    day = e.call("spark:add_months", tz.from_micros(e, local, DATE), months)
    moved = tz.plus(e, tz.micros(e, day), tz.floor_rest(e, local, DAY))
    if not zoned:
        return tz.from_micros(e, moved, LOCAL)
    offset = e.share(tz.minus(e, local, start)) if where.offset is None else None
    return tz.from_micros(e, tz.instant_micros(e, moved, where, offset), INSTANT)


UNITS = {
    "MICROSECOND": 1, "MILLISECOND": 1000, "SECOND": SECOND, "MINUTE": 60 * SECOND, "HOUR": HOUR, "DAY": DAY,
    "DAYOFYEAR": DAY, "WEEK": 7 * DAY,
}  # fmt: skip
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def timestamp_add(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Units up to hours are time that passes, longer ones move in the local calendar."""
    unit, amount, value, *zone = call.children()
    name, where, amount = _unit(unit), zone_of(*zone), e.share(amount)
    if name in MONTHS:
        months = _product(e, amount, MONTHS[name], types.I32)
        return _checked(e, value, amount, (2**31 - 1) // MONTHS[name], lambda: added_months(e, value, months, where))

    def moved() -> Expression:
        product = _product(e, amount, UNITS[name], types.I64)
        if UNITS[name] >= DAY:
            return added_time(e, value, product, where)
        total = integer_operation(e, "add", tz.micros(e, value), product, ERROR)
        return tz.from_micros(e, total, types.required(value.type))

    return _checked(e, value, amount, (2**63 - 1) // UNITS[name], moved)


def _product(e: LoweringBuilder, amount: Expression, factor: int, kind: Type) -> Expression:
    """A number of units in the type of their count; where that doesn't hold it, whatever takes its place is not used."""
    known, end = _known(amount), 2 ** (31 if kind == types.I32 else 63)
    if known is not None and -end <= known * factor < end:
        return e.literal(known * factor, kind)
    return e.cast(tz.times(e, amount, factor), kind, throws=False)


def _unit(argument: Expression) -> str:
    name = constant(argument)
    if name not in MONTHS and name not in UNITS:
        raise NotInDialect(f"there is no unit {name} of timestamps")
    return str(name)


def _checked(
    e: LoweringBuilder, value: Expression, amount: Expression, most: int, moved: Callable[[], Expression]
) -> Expression:
    """What a timestamp is moved to, where the amount is not too large; an amount matters only with a timestamp."""
    known = _known(amount)
    if known is not None and abs(known) <= most:
        return moved()
    fits = between(e, amount, e.i64(-most), e.i64(most))
    missing = [e.is_null(part) for part in (value, amount) if part.type.nullable]
    result = moved()
    return e.if_then(e.or_(fits, *missing), result, raised(e, "DATETIME_OVERFLOW", result.type, amount))


def timestamp_diff(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Whole units between two local times, rounded towards zero."""
    unit, start, end, *zone = call.children()
    name, where = _unit(unit), zone_of(*zone)
    first, last = tz.local_count(e, start, where), tz.local_count(e, end, where)
    if name in MONTHS:
        return tz.quotient(e, _months_between(e, e.share(first), e.share(last)), MONTHS[name])
    return tz.quotient(e, _between(e, first, last), UNITS[name])


def _months_between(e: LoweringBuilder, first: Expression, last: Expression) -> Expression:
    """Whole months between two local times in microseconds: the later day is not counted while its time is earlier.

    Days are packed as Java does (year * 12 + month) * 32 + day; a quotient by 32 rounds towards zero.
    """
    start, stop = (e.share(tz.from_micros(e, value, DATE)) for value in (first, last))
    time, until = (e.share(tz.floor_rest(e, value, DAY)) for value in (first, last))
    early = e.and_(e.call("comparison:gt", stop, start), e.call("comparison:lt", until, time))
    late = e.and_(e.call("comparison:lt", stop, start), e.call("comparison:gt", until, time))

    def day(by: int) -> Expression:
        return e.call("spark:date_add", stop, e.i32(by))

    moved = e.share(e.if_then(early, day(-1), late, day(1), stop))
    return tz.quotient(e, tz.minus(e, _packed(e, moved), _packed(e, start)), 32)


def _packed(e: LoweringBuilder, day: Expression) -> Expression:

    def part(name: str) -> Expression:
        return e.cast(date_part(e, name, day), types.I64)

    months = tz.plus(e, tz.times(e, part("year"), 12), part("month"))
    return tz.plus(e, tz.times(e, months, 32), part("day"))


OF_INTERVALS: dict[str, Apply] = {
    "spark:abs_interval": absolute,
    "spark:add_interval": add_interval,
    "spark:spark_add_intervals": operation("add"),
    "spark:divide_interval": divided(throws=True),
    "spark:extract_days": part(DAY, None),
    "spark:extract_hours": part(HOUR, 24),
    "spark:extract_minutes": part(60 * SECOND, 60),
    "spark:extract_months": part(1, 12),
    "spark:extract_seconds": seconds,
    "spark:extract_years": part(12, None),
    "spark:interval_text": interval_text,
    "spark:interval_units": units,
    "spark:multiply_interval": product(throws=True),
    "spark:negate_interval": negative,
    "spark:signum": sign,
    "spark:subtract_intervals": operation("subtract"),
    "spark:try_add_interval": try_add_interval,
    "spark:try_add_intervals": operation("add", NULL),
    "spark:try_divide_interval": divided(throws=False),
    "spark:try_multiply_interval": product(throws=False),
    "spark:try_subtract_intervals": operation("subtract", NULL),
}

OF_ANYTHING = (
    *(
        f"comparison:{name}"
        for name in (
            *("coalesce", "equal", "greatest_skip_null", "gt", "gte", "is_not_distinct_from", "is_not_null", "is_null"),
            *("least_skip_null", "lt", "lte", "nullif"),
        )
    ),
    *("spark:hash", "spark:xxhash64"),
)
"""Functions for which counts are as good as what is counted."""

OF_ROWS = (
    *("aggregate_generic:any_value", "aggregate_generic:count", "arithmetic:lag", "arithmetic:lead"),
    *("arithmetic:first_value", "arithmetic:last_value", "arithmetic:nth_value", "datetime:max", "datetime:min"),
    *(
        "spark:first",
        "spark:first_ignore_nulls",
        "spark:last",
        "spark:last_ignore_nulls",
        "spark:max_by",
        "spark:min_by",
    ),
    *("spark:spark_avg", "spark:spark_first_value", "spark:spark_last_value", "spark:spark_sum", "spark:spark_mode"),
    *(
        "spark:spark_approx_count_distinct",
        "spark:percentile",
        "spark:percentile_of_weights",
        "spark:percentile_disc",
    ),
    *(f"spark:{name}_ignore_nulls" for name in ("first_value", "lag", "last_value", "lead", "nth_value")),
)
"""Aggregate and window functions for which counts are as good as what is counted, or that have a rule for them."""

ARROW_INTERVALS = {
    "interval_day": ("Duration(Microsecond)",),
    "interval_year": ("Int32", "Interval(YearMonth)", "Interval(MonthDayNano)"),
}
"""By which of Arrow's types a count becomes an interval, as Spark hands them over."""


def interval(e: LoweringBuilder, count: Expression, type: Type) -> Expression:
    """The interval of a type that has a count."""
    for arrow_type in ARROW_INTERVALS[type.kind]:
        count = e.call("datafusion:arrow_cast", e.cast(count, types.I64), e.text(arrow_type))
    return count


def count_of_column(e: LoweringBuilder, column: Expression) -> Expression:
    """The count of what a table's column holds."""
    return e.call("datafusion:arrow_cast", column, e.text("Int32" if column.type.kind == "interval_year" else "Int64"))


OF_OTHERS_TOO = ("spark:add_interval_to_time", "spark:sequence", "spark:try_add_interval_to_time", "spark:width_bucket")
"""Functions of intervals and of others, whose rules are elsewhere."""

TAKEN = frozenset((*OF_INTERVALS, *OF_OTHERS_TOO, *OF_ANYTHING, *OF_ROWS))
"""Functions that take counts in the place of intervals."""

HINT = "Cast the intervals to numbers, as in cast(x AS BIGINT)."

REWRITES = [
    *(Conversion(kind, COUNTS[kind], interval, TAKEN, HINT, count_of_column) for kind in ARROW_INTERVALS),
    *rewrites(
        {
            **{name: of_counts(rule) for name, rule in OF_INTERVALS.items()},
            "spark:make_dt_interval": made_of_time,
            "spark:make_ym_interval": made_of_months,
            "spark:subtract_dates": days_between,
            "spark:subtract_timestamps": difference,
            "spark:timestampadd": timestamp_add,
            "spark:try_subtract_dates": try_days_between,
            "spark:try_subtract_timestamps": try_difference,
            "spark:timestampdiff": timestamp_diff,
        }
    ),
]
