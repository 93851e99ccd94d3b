"""Adds legacy calendar intervals, which count months, days and microseconds apart, to dates and timestamps."""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction
from ....dialects.rewrite import rewrites
from ....lowering.builder import LoweringBuilder
from ....lowering.general.raise_error import raised

UNITS = ("MONTH", "DAY", "MICROSECOND")
"""What the parts of an interval count."""


def add(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A value moved by months, then by days of the local calendar, then by time that passes."""
    value, *parts = call.children()
    parts, zone = parts[:3], parts[3:]
    if value.type.kind == "date":
        return _moved_date(e, value, *parts)
    for unit, part in zip(UNITS, parts, strict=True):
        if not _is_zero(part):
            amount = e.literal(part.value, types.I64) if isinstance(part, Literal) else e.cast(part, types.I64)
            value = e.lowered("spark:timestampadd", e.text(unit), amount, value, *zone)
    return value


def _moved_date(
    e: LoweringBuilder, value: Expression, months: Expression, days: Expression, micros: Expression
) -> Expression:
    """A date moved by months and days; a time of day is an error."""
    start = value = e.share(value)
    if not _is_zero(months):
        value = e.call("spark:add_months", value, months)
    if not _is_zero(days):
        value = e.call("spark:date_add", value, days)
    if _is_zero(micros):
        return value
    micros = e.share(micros)
    error = raised(e, "INVALID_INTERVAL_WITH_MICROSECONDS_ADDITION", value.type, micros)
    missing = e.or_(*(e.is_null(part) for part in (start, micros)))
    return e.if_then(missing, e.null(value.type), e.equal(micros, e.i64(0)), value, error)


def _is_zero(part: Expression) -> bool:
    return isinstance(part, Literal) and part.value == 0


REWRITES = rewrites({"spark:add_calendar_interval": add})
