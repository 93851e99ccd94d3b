"""Intervals: adding them to dates and timestamps, taking them from differences, and calculating with them.

Where a dialect has no type for them, day-time intervals are counted in microseconds and year-month intervals in
months, inside the expression that uses them (`count`); one that leaves the expression is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.types import INTEGERS
from ..catalyst import tree
from ..catalyst.modes import ANSI
from ..errors import NotInDialect, Unsupported
from . import time_zone as tz
from .arithmetic import integer_operation
from .datetime import between, checked_times, date_part, raised, scaled, zone_of
from .table import Plain, arguments_of
from .time_zone import DATE, DAY, HOUR, INSTANT, LOCAL, SECOND, Zone

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

KINDS = ("daytime", "yearmonth")
"""Spark's interval types by name."""


def lacking(e: ExpressionBuilder, node: tree.Expression) -> bool:
    """Whether an expression is an interval that the dialect has no type for."""
    return node.type.name in KINDS and not e.dialect.allows_type(e.type_of(node))


def emit_operand(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """An operand of what compares: an interval is counted where the dialect has no type for it."""
    return count(e, node) if lacking(e, node) else e.emit(node)


def count(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """An interval's microseconds as i64, or its months as i32."""
    rule = COUNTS.get(node.cls.name)
    if rule is None:
        e.dialect.require_type(e.type_of(node))
        raise NotInDialect(f"{node.cls.name} as an interval has no form in the dialect {e.dialect.name}")
    return rule(e, node)


def _counted_literal(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    return e.literal(node["value"], types.I64 if node.type.name == "daytime" else types.I32)


def _counted_operation(name: str) -> Rule:
    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return integer_operation(e, name, count(e, node["left"]), count(e, node["right"]), ANSI)

    return emit


def _counted_negative(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    value = count(e, node["child"])
    if node["child"].cls.name == "Literal" and node["child"]["value"] is not None:
        return e.literal(-node["child"]["value"], value.type)
    return integer_operation(e, "subtract", e.literal(0, types.required(value.type)), value, ANSI)


def _counted_product(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    factor, value = e.emit(node["num"]), count(e, node["interval"])
    if factor.type.kind not in INTEGERS:
        raise NotInDialect(f"the dialect {e.dialect.name} multiplies intervals by integers only")
    if value.type.kind == "i32":
        product = integer_operation(e, "multiply", e.cast(value, types.I64), e.cast(factor, types.I64), ANSI)
        return e.cast(product, types.I32)
    return integer_operation(e, "multiply", value, e.cast(factor, types.I64), ANSI)


def _counted_difference(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """SubtractTimestamps: the difference of the local times."""
    left, right = (local_count(e, node, e.emit(node[side])) for side in ("left", "right"))
    return tz.minus(e, left, right)


def local_count(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """Microseconds of a timestamp's local time."""
    count = tz.micros(e, value)
    return tz.local_micros(e, count, zone_of(node)) if value.type.kind == "precision_timestamp_tz" else count


def _counted_days(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """SubtractDates: the difference in days, which raises where microseconds overflow."""
    tz.require_counting(e)
    left, right = (e.cast(e.cast(e.emit(node[side]), types.I32), types.I64) for side in ("left", "right"))
    return checked_times(e, e.call("spark:subtract", left, right), DAY)


COUNTS: dict[str, Callable[[ExpressionBuilder, tree.Expression], Expression]] = {
    "Literal": _counted_literal,
    "Add": _counted_operation("add"),
    "Subtract": _counted_operation("subtract"),
    "UnaryMinus": _counted_negative,
    "MultiplyDTInterval": _counted_product,
    "MultiplyYMInterval": _counted_product,
    "SubtractTimestamps": _counted_difference,
    "SubtractDates": _counted_days,
}
"""Interval expressions that can be counted."""


# ---- differences


def subtract(name: str) -> Rule:
    """SubtractTimestamps, SubtractDates: a day-time interval, of local times."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        if node["legacyInterval"]:
            raise Unsupported("a difference is a legacy interval", "Unset spark.sql.legacy.interval.enabled.")
        e.dialect.require_type(e.type_of(node))
        left, right = e.emit(node["left"]), e.emit(node["right"])
        return e.call(f"spark:{name}", left, right, *zone_argument(e, node, left))

    return emit


def zone_argument(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> tuple[Expression, ...]:
    """The session's time zone as an argument, where a value is of a type whose local time hangs on it."""
    return (e.text(zone_of(node).name),) if value.type.kind == "precision_timestamp_tz" else ()


# ---- additions


def add_interval(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TimestampAddInterval: the days are days of the local calendar, the rest is time that passes."""
    value = e.emit(node["start"])
    return _added(e, node, value, lambda: added_time(e, value, count(e, node["interval"]), zone_of(node)))


def _added(
    e: ExpressionBuilder, node: tree.Expression, value: Expression, counted: Callable[[], Expression]
) -> Expression:
    """The sum of a value and an interval, or the form that counts the interval."""
    interval, zone = node["interval"], zone_argument(e, node, value)
    nothing = e.null(e.type_of(interval))
    if lacking(e, interval) or not e.has(lambda: e.call("spark:add_interval", value, nothing, *zone)):
        return counted()
    return e.call("spark:add_interval", value, e.emit(interval), *zone)


def added_time(e: ExpressionBuilder, value: Expression, amount: Expression, where: Zone) -> Expression:
    """A timestamp later by days of the local calendar, then by the microseconds that are no whole day."""
    start = tz.micros(e, value)
    known = _known(amount)
    if value.type.kind == "precision_timestamp" or where.offset is not None:
        return tz.from_micros(e, integer_operation(e, "add", start, amount, ANSI), types.required(value.type))
    if known is not None and abs(known) < DAY:
        return tz.from_micros(e, tz.plus(e, start, known), INSTANT)
    start, amount = e.share(start), e.share(amount)
    rest = e.i64(known - _whole_days(known)) if known is not None else tz.rest(e, amount, DAY)
    days = e.i64(_whole_days(known)) if known is not None else tz.minus(e, amount, rest)
    local = e.share(tz.local_micros(e, start, where))
    moved = tz.instant_micros(e, tz.plus(e, local, days), where, e.share(tz.minus(e, local, start)))
    result = tz.plus(e, moved, rest)
    if known is None:
        result = e.if_then(e.equal(days, e.i64(0)), tz.plus(e, start, amount), result)
    return tz.from_micros(e, result, INSTANT)


def _known(amount: Expression) -> int | None:
    value = getattr(amount, "value", None)
    return value if isinstance(value, int) else None


def _whole_days(amount: int) -> int:
    days = abs(amount) // DAY * DAY
    return days if amount >= 0 else -days


def add_months_interval(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """DateAddYMInterval: the last day of the month where the month is too short."""
    value = e.emit(node["date"])
    return _added(e, node, value, lambda: e.call("spark:add_months", value, count(e, node["interval"])))


def add_months_to_timestamp(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TimestampAddYMInterval: by months of the local calendar, at the same time of day."""
    value = e.emit(node["timestamp"])
    return _added(e, node, value, lambda: added_months(e, value, count(e, node["interval"]), zone_of(node)))


def added_months(e: ExpressionBuilder, value: Expression, months: Expression, where: Zone) -> Expression:
    start = e.share(tz.micros(e, value))
    zoned = value.type.kind == "precision_timestamp_tz"
    local = e.share(tz.local_micros(e, start, where)) if zoned else start
    day = e.call("spark:add_months", tz.from_micros(e, local, DATE), months)
    moved = tz.plus(e, tz.micros(e, day), tz.floor_rest(e, local, DAY))
    if not zoned:
        return tz.from_micros(e, moved, LOCAL)
    offset = e.share(tz.minus(e, local, start)) if where.offset is None else None
    return tz.from_micros(e, tz.instant_micros(e, moved, where, offset), INSTANT)


UNITS = {
    "MICROSECOND": 1, "MILLISECOND": 1000, "SECOND": SECOND, "MINUTE": 60 * SECOND, "HOUR": HOUR, "DAY": DAY,
    "DAYOFYEAR": DAY, "WEEK": 7 * DAY,
}  # fmt: skip
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def timestamp_add(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TimestampAdd: units up to hours are time that passes, longer ones move in the local calendar."""
    amount, value, unit = e.emit(node["quantity"]), e.emit(node["timestamp"]), node["unit"].upper()
    amount = e.share(e.cast(amount, types.I64))
    zone = zone_argument(e, node, value)

    def counted() -> Expression:
        tz.require_counting(e)
        if unit in MONTHS:
            return _checked(e, value, amount, (2**31 - 1) // MONTHS[unit], _moved_by_months)
        return _checked(e, value, amount, (2**63 - 1) // UNITS[unit], _moved_by_time)

    def _moved_by_months() -> Expression:
        months = e.cast(tz.times(e, amount, MONTHS[unit]), types.I32, throws=False)
        return added_months(e, value, months, zone_of(node))

    def _moved_by_time() -> Expression:
        product = tz.times(e, amount, UNITS[unit])
        if UNITS[unit] >= DAY:
            return added_time(e, value, product, zone_of(node))
        total = integer_operation(e, "add", tz.micros(e, value), product, ANSI)
        return tz.from_micros(e, total, types.required(value.type))

    return e.first(lambda: e.call("spark:timestampadd", e.text(unit), amount, value, *zone), counted)


def _checked(
    e: ExpressionBuilder, value: Expression, amount: Expression, most: int, moved: Callable[[], Expression]
) -> Expression:
    """What a timestamp is moved to, where the amount is not too large; an amount matters only with a timestamp."""
    known = _known(amount)
    if known is not None and abs(known) <= most:
        return moved()
    fits = between(e, amount, e.i64(-most), e.i64(most))
    missing = [e.is_null(part) for part in (value, amount) if part.type.nullable]
    result = moved()
    return e.if_then(e.or_(fits, *missing), result, raised(e, "DATETIME_OVERFLOW", result.type, amount))


def timestamp_diff(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TimestampDiff: whole units between two local times, rounded towards zero."""
    start, end, unit = e.emit(node["startTimestamp"]), e.emit(node["endTimestamp"]), node["unit"].upper()
    zone = zone_argument(e, node, start)

    def counted() -> Expression:
        first, last = (local_count(e, node, value) for value in (start, end))
        if unit in MONTHS:
            return tz.quotient(e, _months_between(e, e.share(first), e.share(last)), MONTHS[unit])
        return tz.quotient(e, tz.minus(e, last, first), UNITS[unit])

    if unit == "DAYOFYEAR":
        raise Unsupported("timestampdiff has no unit DAYOFYEAR in Spark")
    return e.first(lambda: e.call("spark:timestampdiff", e.text(unit), start, end, *zone), counted)


def _months_between(e: ExpressionBuilder, first: Expression, last: Expression) -> Expression:
    """Whole months between two local times in microseconds: the later day is not counted while its time is earlier.

    Days are packed as Java does (year * 12 + month) * 32 + day; a quotient by 32 rounds towards zero.
    """
    start, stop = (e.share(tz.from_micros(e, value, DATE)) for value in (first, last))
    time, until = (e.share(tz.floor_rest(e, value, DAY)) for value in (first, last))
    early = e.and_(e.call("comparison:gt", stop, start), e.call("comparison:lt", until, time))
    late = e.and_(e.call("comparison:lt", stop, start), e.call("comparison:gt", until, time))

    def day(by: int) -> Expression:
        return e.call("spark:date_add", stop, e.i32(by))

    moved = e.share(e.if_then(early, day(-1), late, day(1), stop))
    return tz.quotient(e, tz.minus(e, _packed(e, moved), _packed(e, start)), 32)


def _packed(e: ExpressionBuilder, day: Expression) -> Expression:

    def part(name: str) -> Expression:
        return e.cast(date_part(e, name, day), types.I64)

    months = tz.plus(e, tz.times(e, part("year"), 12), part("month"))
    return tz.plus(e, tz.times(e, months, 32), part("day"))


# ---- parts


def extract(name: str, unit: int, within: int | None) -> Rule:
    """ExtractANSIInterval…: how often a unit fits in what larger units leave, with the interval's sign."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        child = node["child"]
        if not lacking(e, child):
            return e.call(f"spark:extract_{name}", e.emit(child))
        value, target = count(e, child), e.type_of(node, nullable=False)
        if target.kind == "decimal":
            return scaled(e, tz.rest(e, value, 60 * SECOND), 8)
        value = e.cast(value, types.I64)
        whole = tz.quotient(e, value, unit) if unit > 1 else value
        return e.cast(whole if within is None else tz.rest(e, whole, within), target)

    return emit


# ---- arithmetic


def calculated(name: str, *fields: str) -> Rule:
    """A function of intervals that raises on overflow in every mode."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        e.dialect.require_type(e.type_of(node))
        return e.call(f"spark:{name}", *e.emit_all([node[field] for field in fields]))

    return emit


def tried(name: str) -> Rule:
    """A product or a quotient that is null where it overflows, or where the divisor is 0."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        e.dialect.require_type(e.type_of(node))
        interval, number = arguments_of(node)
        return e.call(f"spark:try_{name}_interval", e.emit(interval), e.emit(number))

    return emit


def signum(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Signum of an interval, as a double."""
    child = node["child"]
    nothing = e.null(e.type_of(child))
    if e.has(lambda: e.call("spark:signum", nothing)):
        return e.call("spark:signum", e.emit(child))
    value = e.share(count(e, child))
    zero = e.literal(0, types.required(value.type))
    return e.if_then(
        e.call("comparison:gt", value, zero),
        e.fp64(1.0),
        e.call("comparison:lt", value, zero),
        e.fp64(-1.0),
        e.equal(value, zero),
        e.fp64(0.0),
        e.null(types.FP64),
    )


ARITHMETIC = {
    "Abs": calculated("abs_interval", "child"),
    "Add": calculated("add_intervals", "left", "right"),
    "Subtract": calculated("subtract_intervals", "left", "right"),
    "Signum": signum,
    "UnaryMinus": calculated("negate_interval", "child"),
}

SCALAR: dict[str, Plain | Rule] = {
    **{f"{name}({kind})": rule for name, rule in ARITHMETIC.items() for kind in KINDS},
    "DateAddYMInterval": add_months_interval,
    "DivideDTInterval": calculated("divide_interval", "interval", "num"),
    "DivideYMInterval": calculated("divide_interval", "interval", "num"),
    "ExtractANSIIntervalDays": extract("days", DAY, None),
    "ExtractANSIIntervalHours": extract("hours", HOUR, 24),
    "ExtractANSIIntervalMinutes": extract("minutes", 60 * SECOND, 60),
    "ExtractANSIIntervalMonths": extract("months", 1, 12),
    "ExtractANSIIntervalSeconds": extract("seconds", 1, None),
    "ExtractANSIIntervalYears": extract("years", 12, None),
    "MakeDTInterval": calculated("make_dt_interval", "days", "hours", "mins", "secs"),
    "MakeYMInterval": calculated("make_ym_interval", "years", "months"),
    "MultiplyDTInterval": calculated("multiply_interval", "interval", "num"),
    "MultiplyYMInterval": calculated("multiply_interval", "interval", "num"),
    "SubtractDates": subtract("subtract_dates"),
    "SubtractTimestamps": subtract("subtract_timestamps"),
    "TimestampAdd": timestamp_add,
    "TimestampAddYMInterval": add_months_to_timestamp,
    "TimestampDiff": timestamp_diff,
    **{
        f"TryEval({name}{kind}Interval)": tried(name.lower())
        for name in ("Divide", "Multiply")
        for kind in ("DT", "YM")
    },
}
