"""Functions on dates and timestamps: their fields, differences, parts and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from ..catalyst.modes import time_zone
from .table import Plain, arguments_of, plain
from .time_zone import Zone, zone

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def zone_of(node: tree.Expression) -> Zone:
    """The session's time zone when Spark resolved the node."""
    return zone(time_zone(node))


def zone_argument(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> tuple[Expression, ...]:
    """The session's time zone as an argument, where a value is of a type whose local time hangs on it."""
    return (e.text(zone_of(node).name),) if value.type.kind == "precision_timestamp_tz" else ()


def failing(node: tree.Expression, name: str) -> str:
    """The function that raises for what it can't compute, or the one that then gives null."""
    return name if node["failOnError"] else f"try_{name}"


# ---- fields


def field(*component: str) -> Rule:
    """A field of a date, or of a timestamp's local time: what it is and, for some, what the first is counted as."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value = e.emit(node["child"])
        return e.cast(e.call("datetime:extract", *component, value, *zone_argument(e, node, value)), types.I32)

    return emit


def second_with_fraction(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """SecondWithFraction: decimal(8, 6)."""
    value = e.emit(node["child"])
    return e.call("spark:extract_second", value, *zone_argument(e, node, value))


# ---- dates


def date_add(name: str) -> Rule:
    """DateAdd, DateSub: any integer type of days; the result wraps around."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        start, days = e.emit_all(arguments_of(node))
        return e.call(f"spark:{name}", start, e.cast(days, types.I32))

    return emit


def next_day(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """NextDay: a name that is no day's raises in ANSI mode, else gives null."""
    return e.call(f"spark:{failing(node, 'next_day')}", e.emit(node["startDate"]), e.emit(node["dayOfWeek"]))


def make_date(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MakeDate: what is no date raises in ANSI mode, else gives null."""
    parts = e.emit_all([node["year"], node["month"], node["day"]])
    return e.call(f"spark:{failing(node, 'make_date')}", *parts)


# ---- timestamps as numbers


def timestamp_of(name: str) -> Rule:
    """SecondsToTimestamp, MillisToTimestamp, MicrosToTimestamp: integers of any size."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value = e.emit(node["child"])
        count = e.cast(value, types.I64) if value.type.kind in types.INTEGERS else value
        return e.call(f"spark:{name}", count)

    return emit


def precise(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """PreciseTimestampConversion, which window() is made of: microseconds of a timestamp, and back."""
    value = e.emit(node["child"])
    if value.type.kind != "i64":
        return e.call("spark:unix_micros", value)
    zoned = e.type_of(node).kind == "precision_timestamp_tz"
    return e.call("spark:timestamp_micros" if zoned else "spark:timestamp_ntz_micros", value)


def scaled(e: ExpressionBuilder, count: Expression, precision: int) -> Expression:
    """A number of millionths as decimal(precision, 6): division would keep fewer digits."""
    whole = types.of("decimal", 20, 0, nullable=False)
    millionth = e.literal(1, types.of("decimal", 6, 6, nullable=False))
    product = e.call("arithmetic_decimal:multiply", e.cast(count, whole), millionth)
    return e.cast(product, types.of("decimal", precision, 6, nullable=False))


# ---- instants


def date_trunc(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TruncTimestamp: null for a unit that Spark doesn't know."""
    value = e.emit(node["timestamp"])
    return e.call("spark:date_trunc", e.emit(node["format"]), value, e.text(zone_of(node).name))


SCALAR: dict[str, Plain | Rule] = {
    "AddMonths": plain("spark:add_months"),
    "ConvertTimezone": plain("spark:convert_timezone"),
    "DateAdd": date_add("date_add"),
    "DateDiff": plain("spark:datediff"),
    "DateFromUnixDate": plain("spark:date_from_unix_date"),
    "DateSub": date_add("date_sub"),
    "DayName": plain("spark:dayname"),
    "DayOfMonth": field("DAY", "ONE"),
    "DayOfWeek": field("SUNDAY_DAY_OF_WEEK", "ONE"),
    "DayOfYear": field("DAY_OF_YEAR", "ONE"),
    "FromUTCTimestamp": plain("spark:from_utc_timestamp"),
    "Hour": field("HOUR"),
    "LastDay": plain("spark:last_day"),
    "MakeDate": make_date,
    "MicrosToTimestamp": timestamp_of("timestamp_micros"),
    "MillisToTimestamp": timestamp_of("timestamp_millis"),
    "Minute": field("MINUTE"),
    "Month": field("MONTH", "ONE"),
    "MonthName": plain("spark:monthname"),
    "NextDay": next_day,
    "PreciseTimestampConversion": precise,
    "Quarter": field("QUARTER", "ONE"),
    "Second": field("SECOND"),
    "SecondWithFraction": second_with_fraction,
    "SecondsToTimestamp": timestamp_of("timestamp_seconds"),
    "ToUTCTimestamp": plain("spark:to_utc_timestamp"),
    "TruncDate": plain("spark:trunc"),
    "TruncTimestamp": date_trunc,
    "TryEval(DateAdd)": date_add("date_add"),
    "TryEval(DateSub)": date_add("date_sub"),
    "UnixDate": plain("spark:unix_date"),
    "UnixMicros": plain("spark:unix_micros"),
    "UnixMillis": plain("spark:unix_millis"),
    "UnixSeconds": plain("spark:unix_seconds"),
    "WeekDay": field("MONDAY_DAY_OF_WEEK", "ZERO"),
    "WeekOfYear": field("ISO_WEEK", "ONE"),
    "Year": field("YEAR"),
    "YearOfWeek": field("ISO_YEAR"),
}
