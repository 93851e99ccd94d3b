"""Functions on dates and timestamps, by DataFusion's own functions and by arithmetic on days and microseconds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from ....algebra import types
from ....algebra.expression import Cast, Expression, Literal, ScalarFunction, Shared, SingularOrList
from ....dialects.rewrite import Apply, Sees, rewrites
from ....functions.time_zone import DATE, DAY, HOUR, INSTANT, LOCAL, SECOND, Zone
from ....lowering.builder import LoweringBuilder
from ....lowering.expression import ExpressionLowering
from ....lowering.general.raise_error import raised
from . import time_zone as tz
from .time_zone import constant, zone_of

# ---- fields

PARTS = {
    ("YEAR",): "year",
    ("QUARTER", "ONE"): "quarter",
    ("MONTH", "ONE"): "month",
    ("DAY", "ONE"): "day",
    ("DAY_OF_YEAR", "ONE"): "doy",
    ("SUNDAY_DAY_OF_WEEK", "ONE"): "dow",
    ("ISO_YEAR",): "isoyear",
    ("ISO_WEEK", "ONE"): "week",
    ("HOUR",): "hour",
    ("MINUTE",): "minute",
    ("SECOND",): "second",
}
"""What DataFusion calls a field, by what it is and what the first is counted as."""


def extract(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A field of a date, or of a timestamp's local time."""
    value, *zone = call.children()
    component = tuple([argument for argument in call.arguments if isinstance(argument, str)])
    if component == ("MONDAY_DAY_OF_WEEK", "ZERO"):
        field: Expression = e.call("datafusion:subtract", date_part(e, "isodow", _local(e, value, zone)), e.i32(1))
    elif component in PARTS and value.type.kind != "precision_time":
        field = date_part(e, PARTS[component], _local(e, value, zone))
    else:
        return e.native_form(call)
    return e.cast(field, types.I64)


def _local(e: LoweringBuilder, value: Expression, zone: list[Expression]) -> Expression:
    """A timestamp in a zone, if it has one; others and dates as they are."""
    return tz.local(e, value, zone_of(*zone)) if zone else value


def date_part(e: LoweringBuilder, part: str, value: Expression) -> Expression:
    """A field of a date or a timestamp; what is beyond DataFusion's calendar, where it is null, raises."""
    if in_calendar(value) or not e.has_defect("calendar_ends"):
        return _date_part(e, part, value)
    value = value if _is_small(value) else e.share(value)
    field = _date_part(e, part, value)
    return e.first(lambda: _or_error_of_last_day(e, part, value, field), lambda: _or_error(e, value, field))


def _or_error_of_last_day(e: LoweringBuilder, part: str, value: Expression, field: Expression) -> Expression:
    """A field, or the error of a function that raises beyond the calendar."""
    day = e.call("spark:last_day", value) if value.type.kind == "date" else e.cast(value, DATE)
    return e.coalesce(field, _date_part(e, part, day))


def _or_error(e: LoweringBuilder, value: Expression, field: Expression) -> Expression:
    """A field, or an error where there is none of a value."""
    beyond = e.and_(e.is_null(field), e.is_not_null(value))
    error = e.raises("[DATETIME_OVERFLOW] a date beyond the engine's calendar", field.type, value)
    return e.if_then(beyond, error, e.share(field))


def _date_part(e: LoweringBuilder, part: str, value: Expression) -> Expression:
    return e.call("datafusion:date_part", e.text(part), value)


FIRST_DAY, LAST_DAY = -96465292, 95026236
"""The first and the last day of DataFusion's calendar: 1 January -262143 and 31 December 262142."""

IN_CALENDAR = ("add_months", "last_day", "make_date")
"""Functions that raise for what is beyond it."""


def in_calendar(value: Expression) -> bool:
    """Whether a value is known to be in DataFusion's calendar: casts of timestamps to dates raise beyond it."""
    while isinstance(value, Shared):
        value = value.value
    if isinstance(value, Literal):
        unit = 1 if value.type.kind == "date" else DAY
        return value.value is None or FIRST_DAY * unit <= value.value < (LAST_DAY + 1) * unit
    if isinstance(value, Cast):
        return value.type.kind == "date" and value.input.type.kind == "precision_timestamp"
    return isinstance(value, ScalarFunction) and value.declaration.name in IN_CALENDAR


SMALL = 16
"""Of no more parts, an expression is written twice rather than computed once, in a project below."""


def _is_small(value: Expression) -> bool:
    parts = [value]
    for part in parts:
        if len(parts) > SMALL:
            return False
        parts.extend(() if isinstance(part, Shared) else part.children())
    return True


FLIPPED = {"equal": "equal", "gt": "lt", "gte": "lte", "lt": "gt", "lte": "gte"}
"""Comparisons, and what they are with their operands the other way round."""


def compared_year(lowering: ExpressionLowering, call: ScalarFunction) -> Expression | None:
    """A comparison of a year with a literal, as one of the date with the year's first or last day: that needs no field.

    DataFusion itself turns it into one, and reads less of a file, where it sees the field as it is.
    """
    left, right = call.children()
    name = call.declaration.name
    if isinstance(left, Literal):
        left, right, name = right, left, FLIPPED[name]
    if not isinstance(left, Cast) or not isinstance(right, Literal) or right.type.kind not in ("i32", "i64"):
        return None
    year = left.input
    if not isinstance(year, ScalarFunction) or year.declaration.name != "extract" or year.arguments[0] != "YEAR":
        return None
    e, (given, *zone) = lowering.e, year.children()
    value = _local(e, lowering.lower(given), zone)
    known = right.value in range(1, 9999) and types.required(value.type) in (DATE, LOCAL)
    return _in_years(e, name, value, right.value) if known and not in_calendar(value) else None


def _in_years(e: LoweringBuilder, name: str, value: Expression, year: int) -> Expression | None:
    kind, unit = types.required(value.type), 1 if value.type.kind == "date" else DAY
    start, end = (date(y, 1, 1).toordinal() - date(1970, 1, 1).toordinal() for y in (year, year + 1))
    first, last = e.literal(start * unit, kind), e.literal(end * unit - 1, kind)
    if name == "equal":
        return between(e, value, first, last) if _is_small(value) else None
    return e.call(f"comparison:{name}", value, last if name in ("gt", "lte") else first)


def second_with_fraction(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The second of the minute as decimal(8, 6)."""
    value, *zone = call.children()
    count = tz.micros(e, _local(e, value, zone))
    return scaled(e, tz.floor_rest(e, count, 60 * SECOND), 8)


def scaled(e: LoweringBuilder, count: Expression, precision: int) -> Expression:
    """A number of millionths as decimal(precision, 6): division would keep fewer digits."""
    whole = types.of("decimal", 20, 0, nullable=False)
    millionth = e.literal(1, types.of("decimal", 6, 6, nullable=False))
    product = e.call("arithmetic_decimal:multiply", e.cast(count, whole), millionth)
    return e.cast(product, types.of("decimal", precision, 6, nullable=False))


# ---- dates


def date_diff(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Days, wrapping around."""
    end, start = call.children()
    return e.call("datafusion:subtract", e.cast(end, types.I32), e.cast(start, types.I32))


WEEKDAYS = ("THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY")
"""From that of 1970-01-01 on; their first two and three letters name them too."""

DAY_NAMES = {name[:size]: number for number, name in enumerate(WEEKDAYS) for size in (2, 3, len(name))}


def next_day(throws: bool) -> Apply:
    """The first date after another that is the named day of the week; what is no day's name raises or gives null."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        start, name = map(e.share, call.children())
        day = _weekday(e, name)
        next = e.null(DATE) if day is None else _later(e, start, day)
        if not throws or isinstance(day, Literal):
            return next
        known = [] if day is None else [e.is_null(day)]
        given = [e.is_not_null(part) for part in (start, name) if part.type.nullable]
        unknown = [*known, *given] or [e.true()]
        witness = start if isinstance(name, Literal) else name
        return e.if_then(e.and_(*unknown), raised(e, "ILLEGAL_DAY_OF_WEEK", next.type, witness), next)

    return lower


def _weekday(e: LoweringBuilder, name: Expression) -> Expression | None:
    """The number of a day of the week by its name; null for other names, None for a literal that is one."""
    if isinstance(name, Literal):
        number = DAY_NAMES.get((constant(name) or "").upper())
        return None if number is None else e.i32(number)
    upper = e.share(e.call("string:upper", name, char_set="UTF8"))
    parts: list[Expression] = []
    for number in range(7):
        names = [e.text(each) for each, of in DAY_NAMES.items() if of == number]
        parts += [e.rewritten(SingularOrList(upper, tuple(names))), e.i32(number)]
    return e.share(e.if_then(*parts, e.null(types.I32)))


def _later(e: LoweringBuilder, start: Expression, day: Expression) -> Expression:
    """As Java computes it: start + 1 + ((day - 1 - start) % 7 + 7) % 7, where a sum wraps around."""

    def rest(dividend: Expression) -> Expression:
        return e.call("datafusion:modulus", dividend, e.i32(7))

    before = (
        e.literal(day.value - 1, day.type) if isinstance(day, Literal) else e.call("datafusion:subtract", day, e.i32(1))
    )
    apart = rest(e.call("datafusion:subtract", before, e.cast(start, types.I32)))
    days = rest(e.call("datafusion:add", apart, e.i32(7)))
    return e.call("spark:date_add", start, e.call("datafusion:add", days, e.i32(1)))


MONTH_UNITS = ("MONTH", "MON", "MM")
YEAR_UNITS = ("YEAR", "YYYY", "YY")


def trunc(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The first day of a unit; null for what is no unit of dates."""
    value, unit = call.children()
    value = e.share(value)
    groups = (YEAR_UNITS, ("QUARTER",), MONTH_UNITS, ("WEEK",))
    return _of_unit(e, unit, groups, lambda name: truncated(e, value, name) or e.null(DATE))


def _of_unit(
    e: LoweringBuilder, unit: Expression, groups: Sequence[Sequence[str]], made: Callable[[str], Expression]
) -> Expression:
    """What is made of a unit: of a literal one, or of the first of the group of names that a column's value is in."""
    if isinstance(unit, Literal):
        return made((constant(unit) or "").upper())
    name = e.share(e.call("string:upper", unit, char_set="UTF8"))
    branches: list[Expression] = []
    for group in groups:
        branches += [e.or_(*[e.equal(name, e.text(each)) for each in group]), made(group[0])]
    return e.if_then(*branches, made(""))


def truncated(e: LoweringBuilder, value: Expression, unit: str) -> Expression | None:
    """The first day of the unit that a date is in; None for what is no unit of dates."""
    if unit == "WEEK":
        value = e.share(value)
        return e.call("spark:date_sub", value, e.call("datafusion:subtract", date_part(e, "isodow", value), e.i32(1)))
    if unit not in (*MONTH_UNITS, *YEAR_UNITS, "QUARTER"):
        return None
    if unit in YEAR_UNITS:
        return make(e, date_part(e, "year", value), e.i32(1))
    value = e.share(value)
    if unit in MONTH_UNITS:
        return make(e, date_part(e, "year", value), date_part(e, "month", value))
    quarter = e.call("datafusion:multiply", date_part(e, "quarter", value), e.i32(3))
    return make(e, date_part(e, "year", value), e.call("datafusion:subtract", quarter, e.i32(2)))


def make(e: LoweringBuilder, year: Expression, month: Expression, day: Expression | None = None) -> Expression:
    """A date that is known to be one."""
    return e.call("datafusion:make_date", year, month, day or e.i32(1))


def make_date(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A date of its parts; what is no date raises."""
    declaration = e.resolve("scalar", "datafusion:make_date", call.arguments)
    made = e.native_form(ScalarFunction(declaration, call.arguments))
    return ScalarFunction(made.declaration, made.arguments, made.options, raising=True)


def try_make_date(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A date of its parts; null for what is no date."""
    year, month, day = map(e.share, call.children())
    return e.if_then(is_date(e, year, month, day), make(e, year, month, day), e.null(DATE))


EARLIEST, LATEST = -999_999_999, 999_999_999
"""The years of java.time. DataFusion's calendar has some of them only; `make` raises for others."""


def is_date(e: LoweringBuilder, year: Expression, month: Expression, day: Expression) -> Expression:
    """Whether there is such a date in Java. Null where a part is null."""

    def literal(value: int) -> Expression:
        return e.literal(value, types.required(year.type))

    def multiple(by: int) -> Expression:
        return e.equal(e.call("datafusion:modulus", year, literal(by)), literal(0))

    leap = e.and_(multiple(4), e.or_(e.not_(multiple(100)), multiple(400)))
    short = e.or_(*(e.equal(month, literal(n)) for n in (4, 6, 9, 11)))
    february = e.if_then(leap, literal(29), literal(28))
    last = e.if_then(e.equal(month, literal(2)), february, short, literal(30), literal(31))
    return e.and_(
        between(e, month, literal(1), literal(12)),
        between(e, day, literal(1), last),
        between(e, year, literal(EARLIEST), literal(LATEST)),
    )


def between(e: LoweringBuilder, value: Expression, least: Expression, most: Expression) -> Expression:
    return e.and_(e.call("comparison:gte", value, least), e.call("comparison:lte", value, most))


def date_name(pattern: str) -> Apply:
    """monthname, dayname: three letters, in English."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        (value,) = call.children()
        return e.call("datafusion:to_char", value, e.text(pattern))

    return lower


# ---- dates and timestamps as numbers


def counted(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The days of a date, the microseconds of a timestamp; or the other way."""
    (value,) = call.children()
    return e.cast(value, call.type)


def whole_units(unit: int) -> Apply:
    """Seconds or milliseconds since 1970, rounded towards negative infinity."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        (value,) = call.children()
        return tz.floor_quotient(e, tz.micros(e, value), unit)

    return lower


def timestamp_of(unit: int) -> Apply:
    """The instant of a number of seconds or milliseconds: an overflow raises in every mode."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        (value,) = call.children()
        if value.type.kind != "i64":
            return e.native_form(call)
        return tz.from_micros(e, checked_times(e, value, unit), INSTANT)

    return lower


def checked_times(e: LoweringBuilder, value: Expression, factor: int) -> Expression:
    """A product that raises where 64 bits don't hold it."""
    value = e.share(value)
    most = (2**63 - 1) // factor
    fits = e.or_(e.is_null(value), between(e, value, e.i64(-most), e.i64(most)))
    return e.if_then(fits, tz.times(e, value, factor), e.raises("[LONG_OVERFLOW]", types.I64, value))


# ---- instants


def date_trunc(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The start of a unit; null for what is no unit."""
    unit, value, zone = call.children()
    value, where = e.share(value), zone_of(zone)
    clock = [(name,) for name in ("MINUTE", "HOUR", "SECOND", "MILLISECOND", "MICROSECOND")]
    groups = (YEAR_UNITS, ("QUARTER",), MONTH_UNITS, ("WEEK",), ("DAY", "DD"), *clock)
    return _of_unit(e, unit, groups, lambda name: _truncated_time(e, value, name, where))


def _truncated_time(e: LoweringBuilder, value: Expression, unit: str, where: Zone) -> Expression:
    if unit == "MICROSECOND":
        return value
    instant = e.share(tz.micros(e, value))
    if unit in ("MILLISECOND", "SECOND"):
        size = 1000 if unit == "MILLISECOND" else SECOND
        return tz.from_micros(e, tz.earlier(e, instant, tz.floor_rest(e, instant, size)), INSTANT)
    local = e.share(tz.local_micros(e, instant, where))
    offset = e.share(tz.minus(e, local, instant)) if where.offset is None else None
    size = {"MINUTE": 60 * SECOND, "HOUR": HOUR, "DAY": DAY, "DD": DAY}.get(unit, 0)
    if size:
        # With rules, times so early that their unit begins before all timestamps have had no local time.
        earlier = tz.minus if where.offset is None else tz.earlier
        start = earlier(e, local, tz.floor_rest(e, local, size))
        return tz.from_micros(e, tz.instant_micros(e, start, where, offset), INSTANT)
    day = truncated(e, tz.from_micros(e, local, DATE), unit)
    return e.null(INSTANT) if day is None else tz.from_micros(e, tz.start_micros(e, day, where, offset), INSTANT)


CALLS = {
    "spark:date_from_unix_date": counted,
    "spark:date_trunc": date_trunc,
    "spark:datediff": date_diff,
    "spark:dayname": date_name("%a"),
    "spark:make_date": make_date,
    "spark:monthname": date_name("%b"),
    "spark:next_day": next_day(throws=True),
    "spark:timestamp_micros": counted,
    "spark:timestamp_millis": timestamp_of(1000),
    "spark:timestamp_ntz_micros": counted,
    "spark:timestamp_seconds": timestamp_of(SECOND),
    "spark:trunc": trunc,
    "spark:try_make_date": try_make_date,
    "spark:try_next_day": next_day(throws=False),
    "spark:unix_date": counted,
    "spark:unix_micros": counted,
    "spark:unix_millis": whole_units(1000),
    "spark:unix_seconds": whole_units(SECOND),
}

ORIGINALS = {f"comparison:{name}": compared_year for name in FLIPPED}

REWRITES = [*rewrites(CALLS), *rewrites(ORIGINALS, "calendar_ends", Sees.BOTH)]
