"""Dates, times and intervals: functions_datetime.yaml. A time zone is an argument wherever one matters."""

from __future__ import annotations

from ....algebra import types
from ....algebra.types import I32
from ....errors import Unsupported
from ..calls import Call
from ..document import Node, Part
from .rules import Rule, aggregate, spark

_NTZ = types.of("precision_timestamp", 6)

_COUNTED_FROM_ONE = {
    "QUARTER": "quarter",
    "MONTH": "month",
    "DAY": "day",
    "DAY_OF_YEAR": "dayofyear",
    "SUNDAY_DAY_OF_WEEK": "dayofweek",
    "ISO_WEEK": "weekofyear",
}
"""Components that may be counted from 0 or 1, and Spark's functions, which count from 1."""

_PLAIN = {"YEAR": "year", "HOUR": "hour", "MINUTE": "minute", "SECOND": "second"}


def zone_of(call: Call, index: int) -> str:
    """The time zone that an argument names."""
    return str(call.constant(index))


def _extract(call: Call) -> Node:
    component, *indexing = call.enums
    value, zone = call.values[0], zone_of(call, 1) if len(call.values) > 1 else "UTC"
    if component in _PLAIN:
        return call.spark(_PLAIN[component], value, zone=zone)
    if component not in _COUNTED_FROM_ONE:
        raise Unsupported(f"{call.key} of {component} is not run")
    found = call.spark(_COUNTED_FROM_ONE[component], value, zone=zone)
    return call.spark("-", found, call.literal(1, I32)) if indexing == ["ZERO"] else found


def _add(sign: str) -> Rule:
    """A date or time with an interval added or subtracted."""

    def added(call: Call) -> Node:
        start, interval = call.values[:2]
        kind, span = call.types[0].kind, call.types[1].kind
        zone = Part("some", zone_of(call, 2) if len(call.values) > 2 else "UTC")
        if sign == "-":
            interval = call.spark("negative", interval)
        if span == "interval_year":
            if kind == "date":
                return call.new("DateAddYMInterval", start, interval)
            return call.new("TimestampAddYMInterval", start, interval, zone)
        if kind == "date":
            start = call.cast(start, _NTZ)
        return call.new("TimestampAddInterval|TimeAdd", start, interval, zone)

    return added


def _multiply(call: Call) -> Node:
    number, interval = call.values
    name = "MultiplyYMInterval" if call.types[1].kind == "interval_year" else "MultiplyDTInterval"
    return call.new(name, interval, number)


RULES: dict[str, Rule] = {
    "datetime:extract": _extract,
    "datetime:add": _add("+"),
    "datetime:subtract": _add("-"),
    "datetime:multiply": _multiply,
    "datetime:add_intervals": spark("+"),
    "datetime:lt": spark("<"),
    "datetime:lte": spark("<="),
    "datetime:gt": spark(">"),
    "datetime:gte": spark(">="),
    "datetime:min": aggregate("min"),
    "datetime:max": aggregate("max"),
}
