"""Dates, times and intervals of functions_spark.yaml, and functions_spark_intervals.yaml. A time zone is a function's last argument."""

from __future__ import annotations

import json

from .....algebra import types
from .....algebra.types import I32, I64, STRING
from .....catalyst.versions import running
from .....extensions.registry import OWN
from ...calls import ANSI, TRY, Call
from ...document import UTC, Node, some
from ..datetime import added, multiplied, zone_of
from ..rules import Rule, by_kind, by_option, legacy, spark
from . import same

_TZ = types.of("precision_timestamp_tz", 6)

_SAME = (
    *("add_months", "convert_timezone", "date_add", "date_from_unix_date", "date_sub", "datediff", "dayname"),
    *("from_utc_timestamp", "last_day", "make_date", "make_dt_interval", "make_timestamp", "make_timestamp_ntz"),
    *("make_ym_interval", "monthname", "next_day", "timestamp_micros", "timestamp_millis", "timestamp_seconds"),
    *("to_timestamp_ntz", "to_utc_timestamp", "trunc", "unix_date", "unix_millis", "unix_seconds"),
    *("make_time", "time_diff", "time_from_micros", "time_from_millis", "time_from_seconds", "time_to_micros"),
    *("time_to_millis", "time_trunc", "to_time", "try_to_time"),
)
"""Spark's functions of the same name and arguments, in ANSI mode."""

_LENIENT = {
    "try_make_date": "make_date",
    "try_make_timestamp": "make_timestamp",
    "try_next_day": "next_day",
    "try_to_timestamp_ntz": "to_timestamp_ntz",
}
"""Functions that give null in place of an error, as Spark's of these names do with ANSI mode off."""


def _zone(call: Call, count: int) -> str:
    """The time zone behind so many other arguments, where there is one."""
    return zone_of(call, count) if len(call.values) > count else UTC


def _zoned(name: str, count: int) -> Rule:
    """Spark's function of a name, of so many arguments, in the time zone behind them."""
    return lambda call: call.spark(name, *call.values[:count], zone=_zone(call, count))


def _lenient(name: str, count: int) -> Rule:
    return lambda call: call.spark(name, *call.values[:count], mode="LEGACY", zone=_zone(call, count))


def _cast(mode: str) -> Rule:
    """A cast to the type of the result, in the time zone behind the value."""
    return lambda call: call.cast(call.values[0], call.type, mode, _zone(call, 1))


def _unix_micros(call: Call) -> Node:
    return call.spark("unix_micros", call.cast(call.values[0], _TZ))


def _ntz_micros(call: Call) -> Node:
    return call.cast(call.spark("timestamp_micros", call.values[0]), call.type)


def _of_zone(name: str, count: int, *more: object) -> Rule:
    """One of Spark's classes, of so many arguments and the time zone behind them."""
    return lambda call: call.new(name, *call.values[:count], *more, some(_zone(call, count)))


def _of_unit(name: str) -> Rule:
    """One of Spark's classes whose first argument is the name of a unit."""
    return lambda call: call.new(name, call.constant(0), *call.values[1:3], some(_zone(call, 3)))


def _timestampadd(call: Call) -> Node:
    """The number of units is an integer of 32 bits in Spark 3.5."""
    unit, number, start = call.constant(0), *call.values[1:3]
    if running() < (4, 0):
        number = call.cast(number, I32)
    return call.new("TimestampAdd", unit, number, start, some(_zone(call, 3)))


def _seconds_of_time(call: Call) -> Node:
    return call.spark("date_part", call.literal("SECOND", STRING), call.values[0])


def _of_class(name: str) -> Rule:
    """One of Spark's classes, of the same arguments."""
    return lambda call: call.new(name, *call.values)


def _time_to_seconds(call: Call) -> Node:
    """A cast gives these, too, of six digits at most, and was there before the function."""
    return call.spark("time_to_seconds", *call.values) if running() >= (4, 2) else call.cast(call.values[0], call.type)


def _added_to_time(call: Call) -> Node:
    """Spark's sum has the digits of the time, at least six."""
    return call.cast(call.new("TimeAddInterval", *call.values), call.type)


def _cast_to_result(mode: str) -> Rule:
    """A cast of the first argument to the type of the result."""
    return lambda call: call.cast(call.values[0], call.type, mode)


def _subtract_dates(call: Call) -> Node:
    return call.new("SubtractDates", *call.values, False)


def _add_calendar_interval(call: Call) -> Node:
    """Months, days and microseconds are an interval of three parts, as Spark adds it."""
    start, months, days, micros = call.values[:4]
    zero = call.literal(0, I32)
    exact = call.cast(micros, types.of("decimal", 38, 6))
    seconds = call.spark("/", exact, call.literal(1_000_000, types.of("decimal", 7, 0)))
    parts = (zero, months, zero, days, zero, zero, call.cast(seconds, types.of("decimal", 18, 6)))
    interval = call.spark("make_interval", *parts)
    if call.types[0].kind == "date":
        return call.new("DateAddInterval", start, interval, some(UTC), True)
    return call.new("TimestampAddInterval|TimeAdd", start, interval, some(_zone(call, 4)))


def _add_compound_interval(call: Call) -> Node:
    start, interval = call.values[:2]
    if call.types[0].kind == "date":
        return call.new("DateAddInterval", start, interval, some(UTC), True)
    return call.new("TimestampAddInterval|TimeAdd", start, interval, some(_zone(call, 2)))


def _calculated(name: str) -> Rule:
    """Spark's function of a name, of intervals of three parts."""
    return by_option("overflow", {"ERROR": spark(name), "SILENT": legacy(name)})


def _scaled(name: str) -> Rule:
    return lambda call: call.new(name, *call.values, True)


_LENGTHS = {"MICROSECOND": 1, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000, "DAY": 86_400_000_000}
_MONTHS = {"MONTH": 1, "YEAR": 12}
_PARTS = ("Days", "Hours", "Minutes", "Seconds", "Years", "Months")


def _interval_units(call: Call) -> Node:
    """The microseconds are those that the interval is away from 1970, in UTC."""
    unit, value = call.constant(0), call.values[1]
    if call.types[1].kind == "interval_year":
        years, months = (call.cast(call.new(f"ExtractANSIInterval{part}", value), I64) for part in ("Years", "Months"))
        total = call.spark("+", call.spark("*", years, call.literal(12, I64)), months)
        return call.spark("div", total, call.literal(_MONTHS[unit], I64))
    later = call.new("TimestampAddInterval|TimeAdd", call.literal(0, _TZ), value, some(UTC))
    return call.spark("div", call.spark("unix_micros", later), call.literal(_LENGTHS[unit], I64))


def _interval_text(call: Call) -> Node:
    """The text of the interval in the type that an argument names."""
    named = json.dumps(str(call.constant(1)).lower())
    return call.cast(call.builder.document.typed(call.values[0], named), call.type)


def _try(rule: Rule) -> Rule:
    return lambda call: call.new("TryEval", rule(call))


_make_timestamp_ntz = spark("make_timestamp_ntz")
_multiplied = multiplied("Multiply")
_divided = multiplied("Divide")

RULES: dict[str, Rule] = {
    **same(_SAME, spark),
    **{f"spark:{name}": legacy(lenient) for name, lenient in _LENIENT.items()},
    "spark:try_make_timestamp_ntz": by_kind({"date": _try(_make_timestamp_ntz)}, legacy("make_timestamp_ntz")),
    "spark:timestamp": _cast(ANSI),
    "spark:try_timestamp": _cast(TRY),
    "spark:timestamp_ntz": _cast(ANSI),
    "spark:try_timestamp_ntz": _cast(TRY),
    "spark:date": _cast(ANSI),
    "spark:try_date": _cast(TRY),
    "spark:string": _cast(ANSI),
    "spark_intervals:string": _cast(ANSI),
    "spark:extract_second": by_kind({"precision_time": _seconds_of_time}, _of_zone("SecondWithFraction", 1)),
    "spark:time": _cast_to_result(ANSI),
    "spark:time_to_seconds": _time_to_seconds,
    "spark:try_time": _cast_to_result(TRY),
    "spark:subtract_times": _of_class("SubtractTimes"),
    "spark:add_interval_to_time": _added_to_time,
    "spark:try_add_interval_to_time": _try(_added_to_time),
    "spark:date_trunc": _zoned("date_trunc", 2),
    "spark:unix_micros": _unix_micros,
    "spark:timestamp_ntz_micros": _ntz_micros,
    "spark:unix_timestamp": _zoned("unix_timestamp", 2),
    "spark:try_unix_timestamp": _lenient("unix_timestamp", 2),
    "spark:date_format": _zoned("date_format", 2),
    "spark:from_unixtime": _zoned("from_unixtime", 2),
    "spark:to_timestamp": _zoned("to_timestamp", 2),
    "spark:try_to_timestamp": _zoned("try_to_timestamp", 2),
    "spark:months_between": _zoned("months_between", 3),
    "spark:add_interval": added("+"),
    "spark:try_add_interval": _try(added("+")),
    **{f"{file}:try_add_intervals": _try(spark("+")) for file in OWN},
    **{f"{file}:try_subtract_intervals": _try(spark("-")) for file in OWN},
    "spark:try_subtract_timestamps": _try(_of_zone("SubtractTimestamps", 2, False)),
    "spark:time_bucket": _of_zone("TimeBucket", 3),
    "spark:subtract_timestamps": _of_zone("SubtractTimestamps", 2, False),
    "spark:subtract_dates": _subtract_dates,
    "spark:try_subtract_dates": _try(_subtract_dates),
    "spark:add_calendar_interval": _add_calendar_interval,
    "spark_intervals:add_compound_interval": _add_compound_interval,
    "spark_intervals:try_add_compound_interval": _try(_add_compound_interval),
    "spark_intervals:make_interval": spark("make_interval"),
    "spark_intervals:try_make_interval": legacy("make_interval"),
    "spark_intervals:interval": _cast_to_result(ANSI),
    "spark_intervals:try_interval": _cast_to_result(TRY),
    "spark_intervals:add_compound_intervals": _calculated("+"),
    "spark_intervals:subtract_compound_intervals": _calculated("-"),
    "spark_intervals:negate_compound_interval": _calculated("negative"),
    "spark_intervals:multiply_compound_interval": _scaled("MultiplyInterval"),
    "spark_intervals:divide_compound_interval": _scaled("DivideInterval"),
    "spark:timestampadd": _timestampadd,
    "spark:timestampdiff": _of_unit("TimestampDiff"),
    "spark:interval_text": _interval_text,
    "spark:interval_units": _interval_units,
    **{f"spark:extract_{part.lower()}": _of_class(f"ExtractANSIInterval{part}") for part in _PARTS},
    **{f"spark_intervals:extract_{part.lower()}": _of_class(f"ExtractInterval{part}") for part in _PARTS},
    "spark:multiply_interval": _multiplied,
    "spark:divide_interval": _divided,
    "spark:try_multiply_interval": _try(_multiplied),
    "spark:try_divide_interval": _try(_divided),
    "spark:spark_add_intervals": spark("+"),
    "spark:subtract_intervals": spark("-"),
    "spark:negate_interval": spark("negative"),
    "spark:abs_interval": spark("abs"),
}
