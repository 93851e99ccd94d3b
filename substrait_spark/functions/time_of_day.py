"""Functions on times of day, which Spark has from 4.1 on, most as methods of Java that they were replaced by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import ContextVariable
from ..catalyst import tree
from . import time_zone as tz
from .datetime import zone_of
from .table import Plain, arguments_of, in_nanos, lossless, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def current_time(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CurrentTime, which the optimizer makes a literal of: the local time of the plan's one timestamp."""
    now = tz.local(e, ContextVariable("current_timestamp"), zone_of(node))
    return e.cast(now, e.type_of(node))


def local_timestamp(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """LocalTimestamp, which the optimizer makes a literal of, too."""
    return tz.local(e, ContextVariable("current_timestamp"), zone_of(node))


def field(component: str) -> Rule:
    """The hour, the minute or the second."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        (value,) = e.emit_all(arguments_of(node))
        return e.cast(e.call("datetime:extract", component, value), types.I32)

    return emit


def of_times(function: str) -> Rule:
    """A function of ours. A time that it gives has no more digits than Spark's type says."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        call = e.call(function, *[in_nanos(e, value) for value in e.emit_all(arguments_of(node))])
        return e.cast(call, e.type_of(node)) if call.type.kind == "precision_time" else lossless(e, call, node)

    return emit


def second_with_fraction(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """The second with its fraction, which has the digits of the time. These are an argument in Spark."""
    value, _ = arguments_of(node)
    return e.cast(e.call("spark:extract_second", in_nanos(e, e.emit(value))), e.type_of(node))


def add_interval(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """The sum of a time and an interval, which has no more digits than its type says: only intervals of seconds have any."""
    time, _, interval, *_ = arguments_of(node)
    return e.cast(e.call("spark:add_interval_to_time", in_nanos(e, e.emit(time)), e.emit(interval)), e.type_of(node))


def parsed(name: str) -> Rule:
    """to_time: the pattern is an argument, or a constant of the object that parses."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        call = node["child"] if node.name == "TryEval" else node
        arguments = e.emit_all(arguments_of(node, frozenset(["targetObject"])))
        pattern = call["targetObject"]["value"]["fmt"]
        constant = () if pattern is None else (e.text(pattern),)
        return lossless(e, e.call(f"spark:{name}", *arguments, *constant), node)

    return emit


def from_integer(name: str) -> Rule:
    """Milliseconds or microseconds since midnight, in integers of any size."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        (value,) = e.emit_all(arguments_of(node))
        return lossless(e, e.call(f"spark:{name}", e.cast(value, types.I64)), node)

    return emit


METHODS: dict[str, Plain | Rule] = {
    "getHoursOfTime": field("HOUR"),
    "getMinutesOfTime": field("MINUTE"),
    "getSecondsOfTime": field("SECOND"),
    "getSecondsOfTimeWithFraction": second_with_fraction,
    "makeTime": plain("spark:make_time"),
    "makeTimestamp": of_times("spark:make_timestamp"),
    "makeTimestampNTZ": of_times("spark:make_timestamp_ntz"),
    "subtractTimes": of_times("spark:subtract_times"),
    "timeAddInterval": add_interval,
    "timeDiff": of_times("spark:time_diff"),
    "timeFromMicros": from_integer("time_from_micros"),
    "timeFromMillis": from_integer("time_from_millis"),
    "timeFromSeconds": plain("spark:time_from_seconds"),
    "timeToMicros": of_times("spark:time_to_micros"),
    "timeToMillis": of_times("spark:time_to_millis"),
    "timeToSeconds": of_times("spark:time_to_seconds"),
    "timeTrunc": of_times("spark:time_trunc"),
}
"""By the method of Java's class DateTimeUtils."""

SCALAR: dict[str, Plain | Rule] = {
    **{f"StaticInvoke(DateTimeUtils.{method})": rule for method, rule in METHODS.items()},
    "CurrentTime": current_time,
    "Invoke(ToTimeParser.parse)": parsed("to_time"),
    "LocalTimestamp": local_timestamp,
    "TryEval(Invoke(ToTimeParser.parse))": parsed("try_to_time"),
    "TryEval(StaticInvoke(DateTimeUtils.makeTimestampNTZ))": of_times("spark:try_make_timestamp_ntz"),
}
