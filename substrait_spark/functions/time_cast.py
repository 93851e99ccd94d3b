"""Casts between dates, timestamps, texts and numbers. Local times are in the zone that the cast names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.types import FLOATS, INTEGERS, Type
from ..catalyst import tree
from ..catalyst.modes import ANSI, LEGACY, TRY, eval_mode
from ..catalyst.sql_types import UNITS, sql_type
from ..catalyst.tree import DataType
from ..errors import Unsupported
from . import calendar_interval
from . import time_zone as tz
from .datetime import scaled, zone_argument, zone_of
from .table import NANOSECONDS, in_nanos
from .time_zone import DATE, DAY, HOUR, LOCAL, SECOND

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder

MICROSECONDS = 6
INTERVALS = ("interval_day", "interval_year")
MOMENTS = ("date", "precision_time", "precision_timestamp", "precision_timestamp_tz")
TIMES = frozenset({*MOMENTS, *INTERVALS, "interval_compound"})
TimeCast = Callable[["ExpressionBuilder", tree.Expression, "Expression"], "Expression"]


def time_cast(e: ExpressionBuilder, node: tree.Expression, value: Expression, target: Type) -> Expression | None:
    """A cast of or to a date, a timestamp or an interval; None for other casts."""
    kinds = (value.type.kind, target.kind)
    if not TIMES.intersection(kinds):
        return None
    if types.equal_but_nullability(value.type, target) and target.kind not in INTERVALS:
        return value
    rule = CASTS.get(kinds)
    if rule is None:
        raise Unsupported(
            f"a cast of {value.type} to {target} has no Substrait form", "Use functions that say how to convert."
        )
    return rule(e, node, value)


# ---- among dates and timestamps


def _to_date(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return e.cast(_to_local(e, node, value), DATE)


def _local_to_date(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return e.cast(value, DATE)


def _date_to_local(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return e.cast(value, LOCAL)


def _to_instant(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return tz.instant(e, value, zone_of(node))


def _to_local(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return tz.local(e, value, zone_of(node))


# ---- times of day: what is less than the last digit of their type is cut


def _local_to_time(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return e.cast(value, e.type_of(node))


def _instant_to_time(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return e.cast(_to_local(e, node, value), e.type_of(node))


def _text_to_time(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    if e.context.is_before(4, 3) and e.type_of(node).parameters[0] < MICROSECONDS:
        raise Unsupported(
            "Spark before 4.3 keeps six digits of a text that is cast to a TIME of fewer",
            "Cast it to TIME, and that further.",
        )
    return e.cast(
        e.call(_reading(node, "time"), value, e.null(types.of("precision_time", NANOSECONDS))), e.type_of(node)
    )


def _time_to_integer(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """Whole seconds since midnight."""
    value = in_nanos(e, value)
    seconds = e.call("spark:time_diff", e.text("SECOND"), e.literal(0, types.required(value.type)), value)
    return e.cast(seconds, e.type_of(node), throws=eval_mode(node) == ANSI)


def _time_to_decimal(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    if value.type.parameters[0] > MICROSECONDS:
        raise Unsupported("a TIME of more than six digits is cast to a decimal", "Cast it to TIME(6) first.")
    seconds = e.call("spark:time_to_seconds", in_nanos(e, value))
    return e.cast(seconds, e.type_of(node), throws=eval_mode(node) == ANSI)


# ---- to text


def _to_text(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """Fractions of seconds without zeros at their end; a plus before years of five digits."""
    file = "spark_intervals" if value.type.kind == "interval_compound" else "spark"
    return e.call(f"{file}:string", in_nanos(e, value), *zone_argument(e, node, value))


# ---- to and from numbers: seconds since 1970


def _to_integer(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    seconds = e.call("spark:unix_seconds", value)
    target = e.type_of(node)
    if target.kind == "i64":
        return seconds
    if eval_mode(node) == LEGACY:
        raise Unsupported("a LEGACY cast of a timestamp to a small integer wraps around")
    return e.cast(seconds, target, throws=eval_mode(node) == ANSI)


def _to_float(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    count = e.cast(e.call("spark:unix_micros", value), types.FP64)
    seconds = e.call("arithmetic:divide", count, e.fp64(1e6), on_division_by_zero="IEEE", on_domain_error="NAN")
    return e.cast(seconds, e.type_of(node))


def _to_decimal(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    if e.context.is_before(4, 1):
        raise Unsupported(
            "before Spark 4.1, a timestamp becomes a decimal by way of a double, which has other last digits",
            "Take unix_micros(…) / 1000000 of it.",
        )
    precision, scale = e.type_of(node).parameters
    if scale != 6 or precision < 20:
        raise Unsupported("a cast of a timestamp to a decimal that may not hold it", "Cast it to DECIMAL(20, 6).")
    return scaled(e, e.call("spark:unix_micros", value), precision)


# ---- from intervals: in the units that they end in, as their types say


def _units_to_integer(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """What doesn't fit is an error in LEGACY mode, too."""
    count = _units(e, value, _last_unit(node["child"].type))
    return e.cast(count, e.type_of(node), throws=eval_mode(node) != TRY)


def _units_to_decimal(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """Seconds have six digits behind the point. What doesn't fit is an error in LEGACY mode, too."""
    unit = _last_unit(node["child"].type)
    count = scaled(e, _units(e, value, "MICROSECOND"), 20) if unit == "SECOND" else _units(e, value, unit)
    return e.cast(count, e.type_of(node), throws=eval_mode(node) != TRY)


def _to_interval(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """What is less than the last unit of the new type is left out."""
    if node["child"].type.parameters[1] <= node.type.parameters[1]:
        return value
    unit = _last_unit(node.type)
    one = e.literal(ONE[unit], types.required(value.type))
    return e.call("spark:multiply_interval", one, _units(e, value, unit))


def _interval_to_text(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """The literal that SQL would have for it, in the units of its type."""
    return e.call("spark:interval_text", value, e.text(sql_type(node["child"].type)))


def _units(e: ExpressionBuilder, value: Expression, unit: str) -> Expression:
    return e.call("spark:interval_units", e.text(unit), value)


def _last_unit(kind: DataType) -> str:
    last: str = UNITS[kind.name][kind.parameters[1]]
    return last


ONE = {"DAY": DAY, "HOUR": HOUR, "MINUTE": 60 * SECOND, "YEAR": 12}
"""Units that intervals are cut to, in microseconds or months."""


# ---- to timestamps


def _from_integer(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """Seconds out of range give the first or the last timestamp there is."""
    return e.call("spark:timestamp", e.cast(value, types.I64))


def _from_float(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """NaN, infinities and what is out of range raise in ANSI mode."""
    function = "spark:timestamp" if eval_mode(node) == ANSI else "spark:timestamp_seconds"
    return e.call(function, e.cast(value, types.FP64))


# ---- from text


def _text_to_date(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """A year, a month and a day; without a month or a day, the first; what follows a blank or a T is not read."""
    return e.call(_reading(node, "date"), value)


def _text_to_local(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """The time zone in a text is not read."""
    return e.call(_reading(node, "timestamp_ntz"), value)


def _text_to_instant(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """A text without a time zone says a local time."""
    return e.call(_reading(node, "timestamp"), value, e.text(zone_of(node).name))


def _reading(node: tree.Expression, name: str) -> str:
    return f"spark:{name}" if eval_mode(node) == ANSI else f"spark:try_{name}"


CASTS: dict[tuple[str, str], TimeCast] = {
    ("precision_timestamp_tz", "date"): _to_date,
    ("precision_timestamp", "date"): _local_to_date,
    ("date", "precision_timestamp_tz"): _to_instant,
    ("precision_timestamp", "precision_timestamp_tz"): _to_instant,
    ("precision_timestamp_tz", "precision_timestamp"): _to_local,
    ("date", "precision_timestamp"): _date_to_local,
    ("precision_timestamp_tz", "string"): _to_text,
    ("precision_timestamp", "string"): _to_text,
    ("date", "string"): _to_text,
    ("precision_time", "precision_time"): _local_to_time,
    ("precision_time", "string"): _to_text,
    ("precision_time", "decimal"): _time_to_decimal,
    **{("precision_time", kind): _time_to_integer for kind in INTEGERS},
    ("precision_timestamp", "precision_time"): _local_to_time,
    ("precision_timestamp_tz", "precision_time"): _instant_to_time,
    ("string", "precision_time"): _text_to_time,
    ("string", "interval_compound"): calendar_interval.read,
    ("interval_compound", "string"): _to_text,
    ("string", "date"): _text_to_date,
    ("string", "precision_timestamp"): _text_to_local,
    ("string", "precision_timestamp_tz"): _text_to_instant,
    ("precision_timestamp_tz", "decimal"): _to_decimal,
    **{(kind, kind): _to_interval for kind in INTERVALS},
    **{(kind, "string"): _interval_to_text for kind in INTERVALS},
    **{(kind, "decimal"): _units_to_decimal for kind in INTERVALS},
    **{(kind, number): _units_to_integer for kind in INTERVALS for number in INTEGERS},
    **{("precision_timestamp_tz", kind): _to_integer for kind in INTEGERS},
    **{("precision_timestamp_tz", kind): _to_float for kind in FLOATS},
    **{(kind, "precision_timestamp_tz"): _from_integer for kind in INTEGERS},
    **{(kind, "precision_timestamp_tz"): _from_float for kind in FLOATS},
}
"""By the kinds of types. What is missing is refused: Substrait leaves open what such casts mean."""
