"""Adds legacy calendar intervals, which count months, days and microseconds apart, to dates and timestamps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction
from ....errors import NotInDialect
from ....functions.time_zone import DAY
from . import time_zone as tz
from .arithmetic import ERROR, integer_operation
from .interval import added_months, added_time
from .time_zone import zone_of

if TYPE_CHECKING:
    from ....lowering.builder import LoweringBuilder
    from ....lowering.rules import CallRule


def add(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A value moved by months, then by days of the local calendar, then by time that passes."""
    value, *parts = call.children()
    numbers = [part.value for part in parts[:3] if isinstance(part, Literal) and part.value is not None]
    if len(numbers) < 3 or abs(numbers[1]) * DAY >= 2**62:
        raise NotInDialect(f"the dialect {e.dialect.name} adds literal calendar intervals only")
    if min(numbers) < 0 < max(numbers):
        raise NotInDialect(f"the dialect {e.dialect.name} adds no calendar intervals whose parts differ in sign")
    months, days, micros = numbers
    if value.type.kind == "date":
        return _moved_date(e, value, months, days, micros)
    where = zone_of(*parts[3:])
    if months:
        value = added_months(e, value, e.i32(months), where)
    if days:
        value = added_time(e, value, e.i64(days * DAY), where)
    if micros:
        total = integer_operation(e, "add", tz.micros(e, value), e.i64(micros), ERROR)
        value = tz.from_micros(e, total, types.required(value.type))
    return value


def _moved_date(e: LoweringBuilder, value: Expression, months: int, days: int, micros: int) -> Expression:
    if micros:
        raise NotInDialect(f"the dialect {e.dialect.name} has no error for the time of day in an interval")
    if months:
        value = e.call("spark:add_months", value, e.i32(months))
    return e.call("spark:date_add", value, e.i32(days)) if days else value


CALLS: dict[str, CallRule] = {"spark:add_calendar_interval": add}
