"""Intervals: adding them to dates and timestamps, taking them from differences, and calculating with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from ..catalyst.modes import ANSI, eval_mode
from ..errors import Unsupported
from .datetime import zone_argument
from .table import Plain, arguments_of, in_nanos, plain, require_no_error

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
    child = node["child"]
    start, interval = arguments_of(child, frozenset(["timeZoneId", "ansiEnabled"]))
    if child.get("ansiEnabled") is False:
        raise Unsupported(
            "the legacy mode adds the time of a calendar interval to midnight of a date, and drops it again",
            "Add a year-month interval or days, or set spark.sql.ansi.enabled.",
        )
    require_no_error(node, start)
    name = "spark_intervals:try_add_compound_interval" if interval.type.name == "interval" else "spark:try_add_interval"
    value = e.emit(start)
    return e.call(name, value, _tried_interval(e, node, interval), *zone_argument(e, child, value))


def tried_added_to_time(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """try_add and try_subtract of a time of day and an interval, which has no more digits than its type says."""
    start, _, interval, *_ = arguments_of(node["child"])
    require_no_error(node, start)
    time, later = in_nanos(e, e.emit(start)), _tried_interval(e, node, interval)
    return e.cast(e.call("spark:try_add_interval_to_time", time, later), e.type_of(node))


def _tried_interval(e: ExpressionBuilder, node: tree.Expression, interval: tree.Expression) -> Expression:
    """An interval, or its negative where there is one; else null."""
    if interval.name != "UnaryMinus":
        require_no_error(node, interval)
        return e.emit(interval)
    require_no_error(node, interval["child"])
    if interval.type.name == "interval" and eval_mode(interval) != ANSI:
        return e.emit(interval)
    value = e.emit(interval["child"])
    file, zero = ("spark_intervals", (0, 0, 0)) if interval.type.name == "interval" else ("spark", 0)
    return e.call(f"{file}:try_subtract_intervals", e.literal(zero, types.required(value.type)), value)


def tried_difference(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """try_subtract of dates."""
    if node["child"]["legacyInterval"]:
        raise Unsupported("a difference is a legacy interval", "Unset spark.sql.legacy.interval.enabled.")
    return e.call("spark:try_subtract_dates", *e.emit_all(arguments_of(node, frozenset(["legacyInterval"]))))


def tried_subtracted(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """try_subtract of timestamps."""
    left, right = e.emit_all(arguments_of(node, frozenset(["timeZoneId", "legacyInterval"])))
    if node["child"]["legacyInterval"]:
        raise Unsupported("a difference is a legacy interval", "Unset spark.sql.legacy.interval.enabled.")
    return e.call("spark:try_subtract_timestamps", left, right, *zone_argument(e, node["child"], left))


def tried_arithmetic(name: str) -> Rule:
    """try_add and try_subtract of intervals."""
    return lambda e, node: e.call(name, *e.emit_all(arguments_of(node, MODES)))


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


def quotient(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """IntegralDivide of two intervals: of microseconds in 64 bits, or of months in 32, which wrap around in every mode."""
    unit = "MONTH" if node["left"].type.name == "yearmonth" else "MICROSECOND"
    parts = e.emit_all([node["left"], node["right"]])
    left, right = [e.share(e.call("spark:interval_units", e.text(unit), part)) for part in parts]
    result = e.call("spark:try_div", left, right)
    if unit == "MONTH":
        result = e.cast(e.call("spark:wrap_i32", result), types.I64)
    if eval_mode(node) != ANSI:
        return result
    error = e.call("arithmetic:divide", left, right, overflow="ERROR", on_division_by_zero="ERROR")
    return e.if_then(e.equal(right, e.i64(0)), *e.alike([error, result]))


ARITHMETIC: dict[str, Plain | Rule] = {
    "IntegralDivide": quotient,
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
        f"TryEval({name})({kind})": tried_arithmetic(f"{file}:try_{name.lower()}_intervals")
        for name in ("Add", "Subtract")
        for kind, file in (*[(kind, "spark") for kind in KINDS], ("interval", "spark_intervals"))
    },
    "TryEval(DateAddInterval)": tried_added,
    "TryEval(DateAddYMInterval)": tried_added,
    "TryEval(StaticInvoke(DateTimeUtils.timeAddInterval))": tried_added_to_time,
    "TryEval(SubtractDates)": tried_difference,
    "TryEval(SubtractTimestamps)": tried_subtracted,
    "TryEval(TimeAdd)": tried_added,
    "TryEval(TimestampAddInterval)": tried_added,
    "TryEval(TimestampAddYMInterval)": tried_added,
    **{
        f"TryEval({name}{kind}Interval)": tried(name.lower())
        for name in ("Divide", "Multiply")
        for kind in ("DT", "YM")
    },
}
