"""Dates, times and intervals: functions_datetime.yaml. A time zone is an argument wherever one matters."""

from __future__ import annotations

from ....algebra import types
from ....algebra.types import I32, I64
from ....errors import Unsupported
from ..calls import Call
from ..document import Node, some
from .rules import Rule, aggregate, by_enum, spark

_NTZ = types.of("precision_timestamp", 6)

_TZ = types.of("precision_timestamp_tz", 6)
_DATE = types.of("date")

_COUNTED_FROM_ONE = {
    "QUARTER": "quarter",
    "MONTH": "month",
    "DAY": "day",
    "DAY_OF_YEAR": "dayofyear",
    "MONDAY_DAY_OF_WEEK": "weekday",
    "SUNDAY_DAY_OF_WEEK": "dayofweek",
    "ISO_WEEK": "weekofyear",
}
"""Components that may be counted from 0 or 1, and Spark's functions, which count from 1, but for `weekday`."""

_YEARS = {"YEAR": "Year", "ISO_YEAR": "YearOfWeek"}
"""Years, and Spark's classes for them."""

_TIME = {"HOUR": "hour", "MINUTE": "minute", "SECOND": "second"}
"""Components of a time of day, and Spark's functions for them."""

_MICROSECONDS = {"MILLISECOND": (1_000_000, 1000), "MICROSECOND": (1000, 1), "SUBSECOND": (1_000_000, 1)}
"""Components of a second: after how many microseconds they begin anew, and how many each is."""


def zone_of(call: Call, index: int) -> str:
    """The time zone that an argument names."""
    return str(call.constant(index))


def _extract(call: Call) -> Node:
    component, *indexing = call.enums
    value, zone = call.values[0], zone_of(call, 1) if len(call.values) > 1 else "UTC"
    if component in _TIME:
        return call.spark(_TIME[component], value, zone=zone)
    if component in _MICROSECONDS:
        every, size = (call.literal(number, I64) for number in _MICROSECONDS[component])
        return call.spark("div", call.spark("pmod", _micros(call, value), every), size)
    if component == "UNIX_TIME":
        return call.spark("unix_seconds", call.cast(value, _TZ))
    if component == "TIMEZONE_OFFSET":
        return _offset(call, value, zone)
    day = call.cast(value, _DATE, zone=zone)
    if component in _YEARS:
        return call.new(_YEARS[component], day)
    if component not in _COUNTED_FROM_ONE:
        raise Unsupported(f"{call.key} of {component} is not run")
    counted = call.spark(_COUNTED_FROM_ONE[component], day)
    shift = (component == "MONDAY_DAY_OF_WEEK") - (indexing == ["ZERO"])
    return call.spark("+", counted, call.literal(shift, I32))


def _micros(call: Call, value: Node) -> Node:
    """The microseconds since 1970, in UTC, of an instant or a local time."""
    return call.spark("unix_micros", call.cast(value, _TZ))


def _offset(call: Call, value: Node, zone: str) -> Node:
    """The seconds by which a time zone is ahead of UTC at an instant."""
    local = call.cast(value, _NTZ, zone=zone)
    difference = call.spark("-", _micros(call, local), _micros(call, value))
    return call.spark("div", difference, call.literal(1_000_000, I64))


def _is_leap_year(call: Call) -> Node:
    zone = zone_of(call, 1) if len(call.values) > 1 else "UTC"
    year = call.new("Year", call.cast(call.values[0], _DATE, zone=zone))
    december = (call.literal(12, I32), call.literal(31, I32))
    return call.spark("=", call.spark("dayofyear", call.spark("make_date", year, *december)), call.literal(366, I32))


def _assume_timezone(call: Call) -> Node:
    """The instant of a local time, or of a date's midnight."""
    return call.cast(call.values[0], _TZ, zone=zone_of(call, 1))


def _local_timestamp(call: Call) -> Node:
    return call.cast(call.values[0], _NTZ, zone=zone_of(call, 1))


def added(sign: str) -> Rule:
    """A date or time with an interval added or subtracted."""

    def add(call: Call) -> Node:
        start, interval = call.values[:2]
        kind, span = call.types[0].kind, call.types[1].kind
        zone = some(zone_of(call, 2) if len(call.values) > 2 else "UTC")
        if sign == "-":
            interval = call.spark("negative", interval)
        if span == "interval_year":
            if kind == "date":
                return call.new("DateAddYMInterval", start, interval)
            return call.new("TimestampAddYMInterval", start, interval, zone)
        if kind == "date":
            start = call.cast(start, _NTZ)
        return call.new("TimestampAddInterval|TimeAdd", start, interval, zone)

    return add


def multiplied(operation: str) -> Rule:
    """An interval multiplied or divided by a number, by one of Spark's classes."""

    def multiply(call: Call) -> Node:
        kinds = [kind.kind for kind in call.types]
        at = next(n for n, kind in enumerate(kinds) if kind.startswith("interval"))
        unit = "YM" if kinds[at] == "interval_year" else "DT"
        return call.new(f"{operation}{unit}Interval", call.values[at], call.values[1 - at])

    return multiply


RULES: dict[str, Rule] = {
    "datetime:extract": _extract,
    "datetime:extract_boolean": by_enum({"IS_LEAP_YEAR": _is_leap_year}),
    "datetime:assume_timezone": _assume_timezone,
    "datetime:local_timestamp": _local_timestamp,
    "datetime:add": added("+"),
    "datetime:subtract": added("-"),
    "datetime:multiply": multiplied("Multiply"),
    "datetime:add_intervals": spark("+"),
    "datetime:lt": spark("<"),
    "datetime:lte": spark("<="),
    "datetime:gt": spark(">"),
    "datetime:gte": spark(">="),
    "datetime:min": aggregate("min"),
    "datetime:max": aggregate("max"),
}
