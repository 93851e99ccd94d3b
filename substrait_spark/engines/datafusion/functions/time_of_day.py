"""Times of day, which plans for DataFusion can't have: counted in nanoseconds since midnight, in expressions and in columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....algebra import types
from ....algebra.expression import Cast, Expression, Literal, ScalarFunction, StandIn
from ....algebra.types import FLOATS, INTEGERS, Type
from ....dialects.rewrite import Apply, Conversion, rewrites
from ....errors import NotInDialect
from ....functions.time_zone import DAY, INSTANT, LOCAL
from ....lowering.builder import LoweringBuilder
from ....lowering.general.raise_error import raised
from ..counts import COUNTS
from . import datetime, datetime_format, time_cast
from . import time_zone as tz
from .datetime import between
from .datetime_format import matches, read, tokens
from .interval import OF_ANYTHING, OF_ROWS
from .time_cast import BLANK
from .time_zone import constant, zone_of

NANOSECONDS = 9
MICRO, MILLI, SECOND, MINUTE, HOUR = 1000, 10**6, 10**9, 60 * 10**9, 3600 * 10**9
NANOS_OF_DAY = 24 * HOUR

UNITS = {"HOUR": HOUR, "MINUTE": MINUTE, "SECOND": SECOND, "MILLISECOND": MILLI, "MICROSECOND": MICRO}
"""The units of time_diff and time_trunc, in nanoseconds."""


def is_count(value: Expression) -> bool:
    """Whether a value of a function that takes moments or times is a time: no moment is a 64-bit integer."""
    return value.type.kind == "i64"


def of_times(of_time: Apply, otherwise: Apply) -> Apply:
    """The rule for calls over times, or the one for calls over dates and timestamps."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        rule = of_time if any(map(is_count, call.children())) else otherwise
        result: Expression = rule(e, call)
        return result

    return counted(lower)


def counted(rule: Apply) -> Apply:
    """The rule, for times that have become counts; those inside of lists and other values are refused."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        for value in call.children():
            if value.type.kind == "precision_time":
                if isinstance(value, StandIn):
                    return StandIn(types.nullable(call.type))
                e.dialect.require_type(value.type)
        result: Expression = rule(e, call)
        return result

    return lower


# ---- conversions


def counted_literal(value: Any, type: Type) -> int:
    """The nanoseconds of a literal, which counts the last of its type's digits."""
    return int(value * 10 ** (NANOSECONDS - type.parameters[0]))


def count_of_column(e: LoweringBuilder, column: Expression) -> Expression:
    """The nanoseconds of what a table's column holds."""
    return e.call("datafusion:arrow_cast", column, e.text("Int64"))


def time(e: LoweringBuilder, count: Expression, type: Type) -> Expression:
    """The time of a number of nanoseconds, as Spark hands it over."""
    return e.call("datafusion:arrow_cast", count, e.text("Time64(Nanosecond)"))


# ---- fields

FIELDS = {("HOUR",): (HOUR, 24), ("MINUTE",): (MINUTE, 60), ("SECOND",): (SECOND, 60)}


def extract(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The hour, the minute or the second."""
    component = tuple([argument for argument in call.arguments if isinstance(argument, str)])
    if component not in FIELDS:
        return e.native_form(call)
    unit, within = FIELDS[component]
    return tz.rest(e, tz.quotient(e, call.children()[0], unit), within)


def second_with_fraction(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The second of the minute as decimal(11, 9)."""
    whole = types.of("decimal", 11, 0, nullable=False)
    billionth = e.literal(1, types.of("decimal", 9, 9, nullable=False))
    rest = e.cast(tz.rest(e, call.children()[0], MINUTE), whole)
    return e.cast(e.call("arithmetic_decimal:multiply", rest, billionth), types.of("decimal", 11, 9, nullable=False))


def whole_units(unit: int) -> Apply:
    """How many whole units have passed since midnight."""
    return lambda e, call: tz.quotient(e, call.children()[0], unit)


def seconds(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The seconds since midnight as decimal(14, 6), of which half a microsecond is rounded up."""
    return datetime.scaled(e, tz.quotient(e, tz.plus(e, call.children()[0], MICRO // 2), MICRO), 14)


def by_unit(made: Callable[[LoweringBuilder, Expression, int], Expression], value: Callable[..., Expression]) -> Apply:
    """What is made of a value and a unit, which may be a column's; anything that is no unit raises."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        unit, *times = call.children()
        count = e.share(value(e, *times))
        if isinstance(unit, Literal):
            if unit.value is None:
                return e.null(types.I64)
            size = UNITS.get(str(unit.value).upper())
            return made(e, count, size) if size else _no_unit(e, count, count)
        name = e.share(e.call("string:upper", unit, char_set="UTF8"))
        branches = [
            part for each, size in UNITS.items() for part in (e.equal(name, e.text(each)), made(e, count, size))
        ]
        missing = [e.is_null(part) for part in (name, count) if part.type.nullable]
        nothing = [e.or_(*missing), e.null(types.I64)] if missing else []
        return e.if_then(*nothing, *branches, _no_unit(e, count, name))

    return lower


def _no_unit(e: LoweringBuilder, count: Expression, witness: Expression) -> Expression:
    error = raised(e, "INVALID_PARAMETER_VALUE.TIME_UNIT", types.I64, witness)
    return e.if_then(e.is_not_null(count), error, e.null(types.I64))


def truncated(e: LoweringBuilder, count: Expression, unit: int) -> Expression:
    """The time without what is less than a unit."""
    return tz.minus(e, count, tz.rest(e, count, unit))


def whole_difference(e: LoweringBuilder, start: Expression, end: Expression) -> Expression:
    """The nanoseconds from one time to another."""
    return tz.minus(e, end, start)


# ---- intervals


def difference(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The time between two times, cut to microseconds."""
    left, right = call.children()
    return tz.quotient(e, tz.minus(e, left, right), MICRO)


def later(throws: bool) -> Apply:
    """The time that is an interval later, on the same day."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        time, amount = map(e.share, call.children())
        total = e.share(tz.plus(e, time, tz.times(e, amount, MICRO)))
        fits = e.and_(between(e, amount, e.i64(-DAY), e.i64(DAY)), between(e, total, e.i64(0), e.i64(NANOS_OF_DAY - 1)))
        return _where(e, fits, total, throws, "DATETIME_OVERFLOW", time, amount)

    return lower


def _where(
    e: LoweringBuilder, fits: Expression, result: Expression, throws: bool, error: str, *given: Expression
) -> Expression:
    """The result where it fits; null where something that is given is null; an error or null elsewhere."""
    nothing = e.null(types.I64)
    if not throws:
        return e.if_then(fits, result, nothing)
    missing = [e.is_null(part) for part in given if part.type.nullable]
    unknown = [e.or_(*missing), nothing] if missing else []
    return e.if_then(*unknown, fits, result, raised(e, error, types.I64, given[0]))


# ---- from numbers


def made(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The time of an hour, a minute and a second with its fraction."""
    hour, minute, second = map(e.share, call.children())
    million = e.literal(10**6, types.of("decimal", 7, 0, nullable=False))
    micros = e.share(e.cast(e.call("arithmetic_decimal:multiply", second, million), types.I64))
    fits = e.and_(
        between(e, hour, e.i32(0), e.i32(23)),
        between(e, minute, e.i32(0), e.i32(59)),
        between(e, micros, e.i64(0), e.i64(60 * 10**6 - 1)),
    )
    hours, minutes = tz.times(e, e.cast(hour, types.I64), HOUR), tz.times(e, e.cast(minute, types.I64), MINUTE)
    total = tz.plus(e, tz.plus(e, hours, minutes), tz.times(e, micros, MICRO))
    return _where(e, fits, total, True, "DATETIME_FIELD_OUT_OF_BOUNDS", hour, minute, micros)


def from_count(unit: int) -> Apply:
    """The time that is a whole number of units after midnight."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        number = e.share(e.cast(call.children()[0], types.I64))
        fits = between(e, number, e.i64(0), e.i64(NANOS_OF_DAY // unit - 1))
        return _where(e, fits, tz.times(e, number, unit), True, "DATETIME_FIELD_OUT_OF_BOUNDS", number)

    return lower


def from_seconds(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The time so many seconds after midnight, cut to microseconds."""
    (number,) = call.children()
    if number.type.kind in INTEGERS:
        result: Expression = from_count(SECOND)(e, call)
        return result
    number = e.share(number)
    zero, day = (e.cast(e.i32(n), types.FP64) if number.type.kind in FLOATS else e.i32(n) for n in (0, 86_400))
    if number.type.kind in FLOATS:
        value = e.share(e.cast(number, types.FP64))
        fits = e.and_(e.call("comparison:gte", value, zero), e.call("comparison:lt", value, day))
        product = e.call("arithmetic:multiply", e.if_then(fits, value, e.fp64(0.0)), e.fp64(1e6))
        micros = e.cast(product, types.I64)
    else:
        precision, scale = number.type.parameters
        least = e.literal(0, types.required(number.type))
        most = min(86_400 * 10**scale, 10**precision)
        fits = e.call("comparison:gte", number, least)
        if most < 10**precision:
            fits = e.and_(fits, e.call("comparison:lt", number, e.literal(most, types.required(number.type))))
        within = types.of("decimal", 5 + scale, scale, nullable=False)
        small = e.cast(e.if_then(fits, number, least), within)
        if scale > NANOSECONDS:  # Spark refuses a part of a nanosecond
            small = e.share(small)
            nanos = e.cast(small, types.of("decimal", 5 + NANOSECONDS, NANOSECONDS, nullable=False))
            fits = e.and_(fits, e.equal(e.cast(nanos, within), small))
        million = e.literal(10**6, types.of("decimal", 7, 0, nullable=False))
        micros = e.cast(e.call("arithmetic_decimal:multiply", small, million), types.I64)
    return _where(e, fits, tz.times(e, micros, MICRO), True, "DATETIME_FIELD_OUT_OF_BOUNDS", number)


# ---- casts


def shortened(e: LoweringBuilder, cast: Cast) -> Expression:
    """A time cut to the digits of a type."""
    digits = cast.type.parameters[0]
    return cast.input if digits >= NANOSECONDS else truncated(e, e.share(cast.input), 10 ** (NANOSECONDS - digits))


def of_local(e: LoweringBuilder, cast: Cast) -> Expression:
    """The time of a local timestamp, cut to the digits of a type."""
    count = tz.times(e, tz.floor_rest(e, tz.micros(e, cast.input), DAY), MICRO)
    return shortened(e, Cast(count, cast.type, cast.throws))


# ---- to text


def to_text(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Hours, minutes and seconds, and the fraction without zeros at its end."""
    count = e.share(call.children()[0])

    def padded(number: Expression, digits: int) -> Expression:
        return e.call("string:lpad", e.cast(number, types.STRING), e.i32(digits), e.text("0"))

    parts: list[Expression] = []
    for unit, within in FIELDS.values():
        parts += [padded(tz.rest(e, tz.quotient(e, count, unit), within), 2), e.text(":")]
    rest = e.share(tz.rest(e, count, SECOND))
    digits = e.call("string:rtrim", padded(rest, NANOSECONDS), e.text("0"))
    fraction = e.call("string:concat", e.text("."), digits, null_handling="ACCEPT_NULLS")
    parts[-1] = e.if_then(e.equal(rest, e.i64(0)), e.text(""), fraction)
    return e.call("string:concat", *parts, null_handling="ACCEPT_NULLS")


SHOWN = "HhmsSa"
"""The letters of patterns that are written of times; of a fraction, up to six digits."""


def formatted(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A time by a pattern."""
    count, pattern, *_ = call.children()
    fields = [text for kind, text in tokens(constant(pattern) or "") if kind == "field"]
    if any(field[0] not in SHOWN or len(field) > 6 for field in fields):
        raise NotInDialect(f"the dialect {e.dialect.name} has no such pattern for times of day")
    return datetime_format.formatted(e, tz.from_micros(e, tz.quotient(e, count, MICRO), LOCAL), pattern)


# ---- from text

_TEXT = (
    rf"^{BLANK}T?([0-9]{{1,2}}):([0-9]{{1,2}})(?::([0-9]{{1,2}})(?:\.([0-9]*))?)?"
    rf"(?:[ ]?([AaPp])[Mm])?{BLANK}$"
)
"""Texts that are read as times, if there is such a time."""


def from_text(throws: bool) -> Apply:
    """The time that a text says, as Spark's cast reads it; with a pattern, by that."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        value, *others = call.children()
        pattern = next((each for each in others if each.type.kind == "string"), None)
        if pattern is not None:
            return _by_pattern(e, value, pattern, throws)
        value = e.share(value)
        hour, minute, second, fraction, half = (_group(e, value, n) for n in range(1, 6))
        number = {n: e.share(_number(e, part)) for n, part in enumerate((hour, minute, second))}
        afternoon = e.call("string:lower", half, char_set="UTF8")
        told = e.share(afternoon)
        nanos = _number(e, e.call("datafusion:rpad", fraction, e.i32(NANOSECONDS), e.text("0")))
        clock = e.share(tz.rest(e, number[0], 12))
        of_half = e.if_then(
            e.equal(told, e.text("a")), clock, e.equal(told, e.text("p")), tz.plus(e, clock, 12), number[0]
        )
        fits = e.and_(
            matches(e, value, _TEXT),
            between(e, number[0], e.i64(0), e.i64(23)),
            e.or_(e.equal(told, e.text("")), between(e, number[0], e.i64(1), e.i64(12))),
            between(e, number[1], e.i64(0), e.i64(59)),
            between(e, number[2], e.i64(0), e.i64(59)),
        )
        total = tz.plus(e, tz.times(e, of_half, HOUR), tz.times(e, number[1], MINUTE))
        total = tz.plus(e, tz.plus(e, total, tz.times(e, number[2], SECOND)), nanos)
        return _where(e, fits, total, throws, "CAST_INVALID_INPUT", value)

    return lower


def _group(e: LoweringBuilder, value: Expression, group: int) -> Expression:
    """What a group holds of a text that is a time; the text itself of any other."""
    return e.call("datafusion:regexp_replace", value, e.text(_TEXT), e.text(f"${{{group}}}"), e.text("s"))


def _number(e: LoweringBuilder, digits: Expression) -> Expression:
    return e.coalesce(e.cast(digits, types.nullable(types.I64), throws=False), e.i64(0))


def _by_pattern(e: LoweringBuilder, value: Expression, pattern: Expression, throws: bool) -> Expression:
    fields = [text for kind, text in tokens(constant(pattern) or "") if kind == "field"]
    if any(field[0] not in SHOWN for field in fields):
        raise NotInDialect(f"the dialect {e.dialect.name} reads no such pattern of times of day")
    local = read(e, value, pattern, LOCAL, zone_of(), throws)
    return tz.times(e, tz.floor_rest(e, tz.micros(e, local), DAY), MICRO)


# ---- timestamps of dates and times

MOST_DAYS = 106_751_990
"""No timestamp is on a day further from 1970."""


def timestamp(throws: bool, zoned: bool, otherwise: Apply) -> Apply:
    """The timestamp of a date and a time."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        day, count, *zone = call.children()
        days = e.share(e.cast(e.cast(day, types.I32), types.I64))
        fits = between(e, days, e.i64(-MOST_DAYS), e.i64(MOST_DAYS))
        micros = tz.plus(e, tz.times(e, days, DAY), tz.quotient(e, e.share(count), MICRO))
        local = _where(e, fits, micros, throws, "DATETIME_OVERFLOW", days, count)
        if not zoned:
            return tz.from_micros(e, local, LOCAL)
        return tz.from_micros(e, tz.instant_micros(e, e.share(local), zone_of(*zone)), INSTANT)

    return of_times(lower, otherwise)


OF_TIMES: Mapping[str, Apply] = {
    "spark:add_interval_to_time": later(throws=True),
    "spark:subtract_times": difference,
    "spark:time_diff": by_unit(tz.quotient, whole_difference),
    "spark:time_to_micros": whole_units(MICRO),
    "spark:time_to_millis": whole_units(MILLI),
    "spark:time_to_seconds": seconds,
    "spark:time_trunc": by_unit(truncated, lambda e, time: time),
    "spark:try_add_interval_to_time": later(throws=False),
}

TO_TIMES: Mapping[str, Apply] = {
    "spark:make_time": made,
    "spark:time": from_text(throws=True),
    "spark:time_from_micros": from_count(MICRO),
    "spark:time_from_millis": from_count(MILLI),
    "spark:time_from_seconds": from_seconds,
    "spark:to_time": from_text(throws=True),
    "spark:try_time": from_text(throws=False),
    "spark:try_to_time": from_text(throws=False),
}

ALSO_OF_TIMES: Mapping[str, Apply] = {
    "datetime:extract": of_times(extract, datetime.extract),
    "spark:date_format": of_times(formatted, datetime_format.date_format),
    "spark:extract_second": of_times(second_with_fraction, datetime.second_with_fraction),
    "spark:string": of_times(to_text, time_cast.to_text),
    **{
        f"spark:{prefix}make_timestamp{suffix}": timestamp(
            not prefix, not suffix, datetime_format.make_timestamp(throws=not prefix, zoned=not suffix)
        )
        for prefix in ("", "try_")
        for suffix in ("", "_ntz")
    },
}
"""Functions of dates and timestamps, and of times."""

CASTS = {("precision_time", "precision_time"): shortened, ("precision_timestamp", "precision_time"): of_local}

TAKEN = frozenset((*OF_TIMES, *TO_TIMES, *ALSO_OF_TIMES, *OF_ANYTHING, *OF_ROWS))

HINT = "Take the hour, the minute and the second of it."

REWRITES = [
    Conversion("precision_time", COUNTS["precision_time"], time, TAKEN, HINT, count_of_column, counted_literal),
    *rewrites({**{name: counted(rule) for name, rule in OF_TIMES.items()}, **TO_TIMES, **ALSO_OF_TIMES, **CASTS}),
]
