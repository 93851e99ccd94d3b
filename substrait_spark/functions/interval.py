"""Intervals: adding them to dates and timestamps, taking them from differences, and calculating with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from ..errors import Unsupported
from .datetime import zone_argument
from .table import Plain, arguments_of, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

KINDS = ("daytime", "yearmonth")
"""Spark's interval types by name."""


# ---- differences


def subtract(name: str) -> Rule:
    """SubtractTimestamps, SubtractDates: a day-time interval, of local times."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        if node["legacyInterval"]:
            raise Unsupported("a difference is a legacy interval", "Unset spark.sql.legacy.interval.enabled.")
        left, right = e.emit(node["left"]), e.emit(node["right"])
        return e.call(f"spark:{name}", left, right, *zone_argument(e, node, left))

    return emit


# ---- additions


def added(field: str) -> Rule:
    """TimestampAddInterval, DateAddYMInterval, TimestampAddYMInterval: days and months are those of the local calendar."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value, interval = e.emit(node[field]), e.emit(node["interval"])
        return e.call("spark:add_interval", value, interval, *zone_argument(e, node, value))

    return emit


add_interval = added("start")


def timestamp_add(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TimestampAdd: units up to hours are time that passes, longer ones move in the local calendar."""
    amount, value, unit = e.emit(node["quantity"]), e.emit(node["timestamp"]), node["unit"].upper()
    zone = zone_argument(e, node, value)
    return e.call("spark:timestampadd", e.text(unit), e.cast(amount, types.I64), value, *zone)


def timestamp_diff(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TimestampDiff: whole units between two local times, rounded towards zero."""
    start, end, unit = e.emit(node["startTimestamp"]), e.emit(node["endTimestamp"]), node["unit"].upper()
    if unit == "DAYOFYEAR":
        raise Unsupported("timestampdiff has no unit DAYOFYEAR in Spark")
    return e.call("spark:timestampdiff", e.text(unit), start, end, *zone_argument(e, node, start))


MODES = frozenset(["evalMode", "evalContext", "failOnError"])
"""Fields that say how a function fails, which a TryEval around it has settled."""


def tried_added(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """try_add and try_subtract of a date or timestamp and an interval."""
    value, interval = e.emit_all(arguments_of(node, frozenset(["timeZoneId"])))
    return e.call("spark:try_add_interval", value, interval, *zone_argument(e, node["child"], value))


def tried_subtracted(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """try_subtract of timestamps."""
    left, right = e.emit_all(arguments_of(node, frozenset(["timeZoneId", "legacyInterval"])))
    if node["child"]["legacyInterval"]:
        raise Unsupported("a difference is a legacy interval", "Unset spark.sql.legacy.interval.enabled.")
    return e.call("spark:try_subtract_timestamps", left, right, *zone_argument(e, node["child"], left))


def tried_arithmetic(name: str) -> Rule:
    """try_add and try_subtract of intervals."""
    return lambda e, node: e.call(f"spark:{name}", *e.emit_all(arguments_of(node, MODES)))


def time_bucket(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TimeBucket."""
    size, value, origin = e.emit_all(arguments_of(node, frozenset(["timeZoneId"])))
    return e.call("spark:time_bucket", size, value, origin, *zone_argument(e, node, value))


# ---- arithmetic


def calculated(name: str, *fields: str) -> Rule:
    """A function of intervals that raises on overflow in every mode."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.call(f"spark:{name}", *e.emit_all([node[field] for field in fields]))

    return emit


def tried(name: str) -> Rule:
    """A product or a quotient that is null where it overflows, or where the divisor is 0."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        interval, number = arguments_of(node)
        return e.call(f"spark:try_{name}_interval", e.emit(interval), e.emit(number))

    return emit


ARITHMETIC: dict[str, Plain | Rule] = {
    "Abs": calculated("abs_interval", "child"),
    "Add": calculated("spark_add_intervals", "left", "right"),
    "Subtract": calculated("subtract_intervals", "left", "right"),
    "Signum": plain("spark:signum"),
    "UnaryMinus": calculated("negate_interval", "child"),
}

SCALAR: dict[str, Plain | Rule] = {
    **{f"{name}({kind})": rule for name, rule in ARITHMETIC.items() for kind in KINDS},
    "DateAddYMInterval": added("date"),
    "DivideDTInterval": calculated("divide_interval", "interval", "num"),
    "DivideYMInterval": calculated("divide_interval", "interval", "num"),
    **{
        f"ExtractANSIInterval{part}": plain(f"spark:extract_{part.lower()}")
        for part in ("Days", "Hours", "Minutes", "Months", "Seconds", "Years")
    },
    "MakeDTInterval": calculated("make_dt_interval", "days", "hours", "mins", "secs"),
    "MakeYMInterval": calculated("make_ym_interval", "years", "months"),
    "MultiplyDTInterval": calculated("multiply_interval", "interval", "num"),
    "MultiplyYMInterval": calculated("multiply_interval", "interval", "num"),
    "SubtractDates": subtract("subtract_dates"),
    "SubtractTimestamps": subtract("subtract_timestamps"),
    "TimeBucket": time_bucket,
    "TimestampAdd": timestamp_add,
    "TimestampAddYMInterval": added("timestamp"),
    "TimestampDiff": timestamp_diff,
    **{
        f"TryEval({name})({kind})": tried_arithmetic(f"try_{name.lower()}_intervals")
        for name in ("Add", "Subtract")
        for kind in (*KINDS, "interval")
    },
    "TryEval(DateAddYMInterval)": tried_added,
    "TryEval(SubtractTimestamps)": tried_subtracted,
    "TryEval(TimestampAddInterval)": tried_added,
    "TryEval(TimestampAddYMInterval)": tried_added,
    **{
        f"TryEval({name}{kind}Interval)": tried(name.lower())
        for name in ("Divide", "Multiply")
        for kind in ("DT", "YM")
    },
}
