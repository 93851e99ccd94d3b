"""Functions on dates and timestamps: their fields, differences, parts and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from ..catalyst.modes import time_zone
from ..errors import NotInDialect
from . import time_zone as tz
from .table import Plain, arguments_of, plain
from .time_zone import DATE, DAY, HOUR, INSTANT, LOCAL, SECOND, Zone, zone

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def zone_of(node: tree.Expression) -> Zone:
    """The session's time zone when Spark resolved the node."""
    return zone(time_zone(node))


def constant(node: tree.Expression) -> str | None:
    """The value of a string literal; None for null. Raises NotInDialect for what is no literal."""
    if node.cls.name != "Literal":
        raise NotInDialect("the dialect's form needs a literal here", "Write the format or the name as a literal.")
    return None if node["value"] is None else str(node["value"])


# ---- fields


def field(component: str, indexing: str, part: str) -> Rule:
    """A field of a date, or of a timestamp's local time. `part` is the name that the field has as text."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value = e.emit(node["child"])
        index = (indexing,) if indexing else ()

        def standard() -> Expression:
            if value.type.kind == "precision_timestamp_tz":
                return e.call("datetime:extract", component, *index, value, e.text(zone_of(node).name))
            return e.call("datetime:extract", component, *index, value)

        return e.first(lambda: e.cast(standard(), types.I32), lambda: date_part(e, part, local_time(e, node, value)))

    return emit


def local_time(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """A timestamp in the session's time zone; dates and timestamps without a zone as they are."""
    return tz.local(e, value, zone_of(node)) if value.type.kind == "precision_timestamp_tz" else value


def date_part(e: ExpressionBuilder, part: str, value: Expression) -> Expression:
    return e.call("datafusion:date_part", e.text(part), value)


def weekday(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """WeekDay: 0 is Monday."""
    value = e.emit(node["child"])
    return e.first(
        lambda: e.cast(e.call("datetime:extract", "MONDAY_DAY_OF_WEEK", "ZERO", value), types.I32),
        lambda: e.call("spark:subtract", date_part(e, "isodow", value), e.i32(1)),
    )


def second_with_fraction(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """SecondWithFraction: decimal(8, 6)."""
    value = e.emit(node["child"])

    def counted() -> Expression:
        count = tz.micros(e, local_time(e, node, value))
        return scaled(e, tz.floor_rest(e, count, 60 * SECOND), 8)

    if value.type.kind == "precision_timestamp_tz":
        return e.first(lambda: e.call("spark:extract_second", value, e.text(zone_of(node).name)), counted)
    return e.first(lambda: e.call("spark:extract_second", value), counted)


def scaled(e: ExpressionBuilder, count: Expression, precision: int) -> Expression:
    """A number of millionths as decimal(precision, 6): division would keep fewer digits."""
    whole = types.of("decimal", 20, 0, nullable=False)
    millionth = e.literal(1, types.of("decimal", 6, 6, nullable=False))
    product = e.call("arithmetic_decimal:multiply", e.cast(count, whole), millionth)
    return e.cast(product, types.of("decimal", precision, 6, nullable=False))


# ---- dates


def date_add(name: str) -> Rule:
    """DateAdd, DateSub: any integer type of days; the result wraps around."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        start, days = e.emit_all(arguments_of(node))
        return e.call(f"spark:{name}", start, e.cast(days, types.I32))

    return emit


def date_diff(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """DateDiff: days, wrapping around."""
    end, start = e.emit(node["endDate"]), e.emit(node["startDate"])
    return e.first(lambda: e.call("spark:datediff", end, start), lambda: _days_between(e, end, start))


def _days_between(e: ExpressionBuilder, end: Expression, start: Expression) -> Expression:
    tz.require_counting(e)
    return e.call("spark:subtract", e.cast(end, types.I32), e.cast(start, types.I32))


def add_months(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """AddMonths: the last day of the month where the month is too short."""
    return e.call("spark:add_months", e.emit(node["startDate"]), e.emit(node["numMonths"]))


DAY_NAMES = frozenset(
    "SU SUN SUNDAY MO MON MONDAY TU TUE TUESDAY WE WED WEDNESDAY TH THU THURSDAY FR FRI FRIDAY SA SAT SATURDAY".split()
)


def next_day(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """NextDay: a name that is no day's raises in ANSI mode, else gives null."""
    start, day = e.emit(node["startDate"]), e.emit(node["dayOfWeek"])
    quiet = lambda: e.call("spark:try_next_day", start, day)  # noqa: E731
    if not node["failOnError"]:
        return e.first(quiet, lambda: e.call("datafusion:next_day", start, day))

    def checked() -> Expression:
        found = e.call("datafusion:next_day", start, day)
        literal = node["dayOfWeek"].cls.name == "Literal"
        if literal and (constant(node["dayOfWeek"]) or "").upper() in DAY_NAMES:
            return found
        unknown = e.and_(e.is_null(found), e.is_not_null(start), e.is_not_null(day))
        return e.if_then(unknown, raised(e, "ILLEGAL_DAY_OF_WEEK", found.type, start if literal else day), found)

    return e.first(lambda: e.call("spark:next_day", start, day), checked)


def raised(e: ExpressionBuilder, error: str, type: types.Type, witness: Expression) -> Expression:
    """What raises one of Spark's errors, in a type that text can't be cast to directly."""
    if type.kind == "date":
        return e.cast(e.raises(f"[{error}]", types.I32, witness), type)
    if type.kind.startswith("precision"):
        return e.cast(e.raises(f"[{error}]", types.I64, witness), type)
    return e.raises(f"[{error}]", type, witness)


MONTH_UNITS = ("MONTH", "MON", "MM")
YEAR_UNITS = ("YEAR", "YYYY", "YY")


def trunc(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TruncDate: null for a unit that Spark doesn't know, or that is no unit of dates."""
    value = e.emit(node["date"])
    return e.first(
        lambda: e.call("spark:trunc", value, e.emit(node["format"])),
        lambda: truncated(e, value, (constant(node["format"]) or "").upper()) or e.null(DATE),
    )


def truncated(e: ExpressionBuilder, value: Expression, unit: str) -> Expression | None:
    """The first day of the unit that a date is in; None for what is no unit of dates."""
    if unit == "WEEK":
        value = e.share(value)
        return e.call("spark:date_sub", value, e.call("spark:subtract", date_part(e, "isodow", value), e.i32(1)))
    if unit not in (*MONTH_UNITS, *YEAR_UNITS, "QUARTER"):
        return None
    if unit in YEAR_UNITS:
        return make(e, date_part(e, "year", value), e.i32(1))
    value = e.share(value)
    if unit in MONTH_UNITS:
        return make(e, date_part(e, "year", value), date_part(e, "month", value))
    quarter = e.call("spark:multiply", date_part(e, "quarter", value), e.i32(3))
    return make(e, date_part(e, "year", value), e.call("spark:subtract", quarter, e.i32(2)))


def make(e: ExpressionBuilder, year: Expression, month: Expression, day: Expression | None = None) -> Expression:
    """A date that is known to be one."""
    return e.call("datafusion:make_date", year, month, day or e.i32(1))


def make_date(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MakeDate: what is no date raises in ANSI mode, else gives null."""
    parts = e.emit_all([node["year"], node["month"], node["day"]])
    if node["failOnError"]:
        return e.first(lambda: e.call("spark:make_date", *parts), lambda: e.call("datafusion:make_date", *parts))

    def checked() -> Expression:
        year, month, day = map(e.share, parts)
        return e.if_then(is_date(e, year, month, day), make(e, year, month, day), e.null(DATE))

    return e.first(lambda: e.call("spark:try_make_date", *parts), checked)


EARLIEST, LATEST = -262142, 262141
"""The years that the calendars of engines reach."""


def is_date(e: ExpressionBuilder, year: Expression, month: Expression, day: Expression) -> Expression:
    """Whether there is such a date. Null where a part is null."""

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


def between(e: ExpressionBuilder, value: Expression, least: Expression, most: Expression) -> Expression:
    return e.and_(e.call("comparison:gte", value, least), e.call("comparison:lte", value, most))


def date_name(name: str, pattern: str) -> Rule:
    """MonthName, DayName: three letters, in English."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value = e.emit(node["child"])
        return e.first(
            lambda: e.call(f"spark:{name}", value), lambda: e.call("datafusion:to_char", value, e.text(pattern))
        )

    return emit


# ---- timestamps as numbers


def unix(unit: int, name: str) -> Rule:
    """UnixSeconds, UnixMillis, UnixMicros: rounded towards negative infinity."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value = e.emit(node["child"])
        return e.first(lambda: e.call(f"spark:{name}", value), lambda: whole_units(e, tz.micros(e, value), unit))

    return emit


def whole_units(e: ExpressionBuilder, count: Expression, unit: int) -> Expression:
    return count if unit == 1 else tz.floor_quotient(e, count, unit)


def unix_date(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """UnixDate: days since 1970."""
    value = e.emit(node["child"])
    return e.first(lambda: e.call("spark:unix_date", value), lambda: counted(e, value, types.I32))


def date_from_unix_date(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """DateFromUnixDate."""
    value = e.emit(node["child"])
    return e.first(lambda: e.call("spark:date_from_unix_date", value), lambda: counted(e, value, DATE))


def counted(e: ExpressionBuilder, value: Expression, type: types.Type) -> Expression:
    tz.require_counting(e)
    return e.cast(value, type)


def timestamp_of(unit: int, name: str) -> Rule:
    """SecondsToTimestamp, MillisToTimestamp, MicrosToTimestamp of integers: an overflow raises in every mode."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value = e.emit(node["child"])
        if value.type.kind not in types.INTEGERS:
            return e.call(f"spark:{name}", value)
        value = e.cast(value, types.I64)

        def multiplied() -> Expression:
            tz.require_counting(e)
            return tz.from_micros(e, checked_times(e, value, unit), INSTANT)

        return e.first(lambda: e.call(f"spark:{name}", value), multiplied)

    return emit


def checked_times(e: ExpressionBuilder, value: Expression, factor: int) -> Expression:
    """A product that raises where 64 bits don't hold it."""
    if factor == 1:
        return value
    value = e.share(value)
    most = (2**63 - 1) // factor
    fits = e.or_(e.is_null(value), between(e, value, e.i64(-most), e.i64(most)))
    return e.if_then(fits, tz.times(e, value, factor), e.raises("[LONG_OVERFLOW]", types.I64, value))


def failing(node: tree.Expression, name: str) -> str:
    return name if node["failOnError"] else f"try_{name}"


def precise(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """PreciseTimestampConversion, which window() is made of: microseconds of a timestamp, and back."""
    value = e.emit(node["child"])
    if value.type.kind == "i64":
        target = e.type_of(node)
        name = "timestamp_micros" if target.kind == "precision_timestamp_tz" else "timestamp_ntz_micros"
        return e.first(
            lambda: e.call(f"spark:{name}", value),
            lambda: tz.from_micros(e, counted(e, value, types.I64), target),
        )
    return e.first(lambda: e.call("spark:unix_micros", value), lambda: tz.micros(e, value))


# ---- time zones


def from_utc(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """FromUTCTimestamp: the local time in a zone, as if it were the time in UTC."""
    value, where = e.emit(node["left"]), e.emit(node["right"])

    def shifted() -> Expression:
        name = constant(node["right"])
        if name is None:
            return e.null(INSTANT)
        return tz.from_micros(e, tz.local_micros(e, tz.micros(e, value), zone(name)), INSTANT)

    return e.first(lambda: e.call("spark:from_utc_timestamp", value, where), shifted)


def to_utc(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ToUTCTimestamp: the instant at which clocks in a zone show what they show in UTC."""
    value, where = e.emit(node["left"]), e.emit(node["right"])

    def shifted() -> Expression:
        name = constant(node["right"])
        if name is None:
            return e.null(INSTANT)
        return tz.from_micros(e, tz.instant_micros(e, tz.micros(e, value), zone(name)), INSTANT)

    return e.first(lambda: e.call("spark:to_utc_timestamp", value, where), shifted)


def convert_timezone(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ConvertTimezone: from local time in one zone to local time in another."""
    source, target, value = e.emit_all([node["sourceTz"], node["targetTz"], node["sourceTs"]])

    def converted() -> Expression:
        there, here = constant(node["sourceTz"]), constant(node["targetTz"])
        if there is None or here is None:
            return e.null(LOCAL)
        instant = tz.instant_micros(e, tz.micros(e, value), zone(there))
        return tz.from_micros(e, tz.local_micros(e, instant, zone(here)), LOCAL)

    return e.first(lambda: e.call("spark:convert_timezone", source, target, value), converted)


def date_trunc(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TruncTimestamp: null for a unit that Spark doesn't know."""
    value, where = e.emit(node["timestamp"]), zone_of(node)
    return e.first(
        lambda: e.call("spark:date_trunc", e.emit(node["format"]), value, e.text(where.name)),
        lambda: _truncated_time(e, value, (constant(node["format"]) or "").upper(), where),
    )


def _truncated_time(e: ExpressionBuilder, value: Expression, unit: str, where: Zone) -> Expression:
    if unit == "MICROSECOND":
        return value
    instant = e.share(tz.micros(e, value))
    if unit in ("MILLISECOND", "SECOND"):
        size = 1000 if unit == "MILLISECOND" else SECOND
        return tz.from_micros(e, tz.minus(e, instant, tz.floor_rest(e, instant, size)), INSTANT)
    local = e.share(tz.local_micros(e, instant, where))
    offset = e.share(tz.minus(e, local, instant)) if where.offset is None else None
    size = {"MINUTE": 60 * SECOND, "HOUR": HOUR, "DAY": DAY, "DD": DAY}.get(unit, 0)
    if size:
        start = tz.minus(e, local, tz.floor_rest(e, local, size))
        return tz.from_micros(e, tz.instant_micros(e, start, where, offset), INSTANT)
    day = truncated(e, tz.from_micros(e, local, DATE), unit)
    return e.null(INSTANT) if day is None else tz.from_micros(e, tz.start_micros(e, day, where, offset), INSTANT)


SCALAR: dict[str, Plain | Rule] = {
    "AddMonths": add_months,
    "ConvertTimezone": convert_timezone,
    "DateAdd": date_add("date_add"),
    "DateDiff": date_diff,
    "DateFromUnixDate": date_from_unix_date,
    "DateSub": date_add("date_sub"),
    "DayName": date_name("dayname", "%a"),
    "DayOfMonth": field("DAY", "ONE", "day"),
    "DayOfWeek": field("SUNDAY_DAY_OF_WEEK", "ONE", "dow"),
    "DayOfYear": field("DAY_OF_YEAR", "ONE", "doy"),
    "FromUTCTimestamp": from_utc,
    "Hour": field("HOUR", "", "hour"),
    "LastDay": plain("spark:last_day"),
    "MakeDate": make_date,
    "MicrosToTimestamp": timestamp_of(1, "timestamp_micros"),
    "MillisToTimestamp": timestamp_of(1000, "timestamp_millis"),
    "Minute": field("MINUTE", "", "minute"),
    "Month": field("MONTH", "ONE", "month"),
    "MonthName": date_name("monthname", "%b"),
    "NextDay": next_day,
    "PreciseTimestampConversion": precise,
    "Quarter": field("QUARTER", "ONE", "quarter"),
    "Second": field("SECOND", "", "second"),
    "SecondWithFraction": second_with_fraction,
    "SecondsToTimestamp": timestamp_of(SECOND, "timestamp_seconds"),
    "ToUTCTimestamp": to_utc,
    "TryEval(DateAdd)": date_add("date_add"),
    "TryEval(DateSub)": date_add("date_sub"),
    "TruncDate": trunc,
    "TruncTimestamp": date_trunc,
    "UnixDate": unix_date,
    "UnixMicros": unix(1, "unix_micros"),
    "UnixMillis": unix(1000, "unix_millis"),
    "UnixSeconds": unix(SECOND, "unix_seconds"),
    "WeekDay": weekday,
    "WeekOfYear": field("ISO_WEEK", "ONE", "week"),
    "Year": field("YEAR", "", "year"),
    "YearOfWeek": field("ISO_YEAR", "", "isoyear"),
}
