"""The ways between instants and local times, computed in microseconds: DataFusion has no function that does as Java does.

DataFusion's tables of transitions end in 2099; the rules that hold then repeat with the calendar, which is the same every
28 years within a century, so that later times are looked up in the years from 2056 to 2084. Casts between timestamps and
i64 count microseconds, those between dates and i32 days; no time zone plays a part.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Callable
from functools import lru_cache

import yaml

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction
from ....dialects.rewrite import rewrites
from ....errors import NotInDialect
from ....functions.time_zone import DATE, DAY, HOUR, INSTANT, LOCAL, SECOND, Zone, zone
from ....lowering.builder import LoweringBuilder
from .arithmetic import checked_operation, counted

# What other families use of the names above.
__all__ = ["DATE", "DAY", "HOUR", "INSTANT", "LOCAL", "SECOND", "Zone", "zone"]

PACKAGE = "substrait_spark.engines.datafusion"

SKIPPED_MIDNIGHT = frozenset(
    "America/Toronto America/Montreal America/Nassau America/Nipigon America/Thunder_Bay Canada/Eastern".split()
)
"""Zones that skipped the time from 23:30 on 1919-03-30 to 00:30. The day began at 00:30 there."""

SKIPPED_DAY = frozenset(
    "America/Anchorage America/Juneau America/Metlakatla America/Nome America/Sitka America/Yakutat Asia/Manila "
    "Kwajalein Pacific/Apia Pacific/Chuuk Pacific/Enderbury Pacific/Fakaofo Pacific/Guam Pacific/Kanton "
    "Pacific/Kiritimati Pacific/Kosrae Pacific/Kwajalein Pacific/Palau Pacific/Pohnpei Pacific/Ponape "
    "Pacific/Saipan Pacific/Truk Pacific/Yap US/Alaska".split()
)
"""Zones that crossed the date line, where a date's first moment may be on another date."""


def constant(argument: Expression) -> str | None:
    """The value of a string literal; None for null. Raises NotInDialect for what is no literal."""
    if not isinstance(argument, Literal):
        raise NotInDialect("the dialect's form needs a literal here", "Write the format or the name as a literal.")
    return None if argument.value is None else str(argument.value)


def zone_of(*arguments: Expression) -> Zone:
    """The zone that a call names in its last argument; UTC for a call without one, whose times are in no zone."""
    name = constant(arguments[0]) if arguments else None
    return zone(name or "UTC")


@lru_cache(maxsize=1)
def settled_regions() -> dict[str, bool]:
    """The regions that DataFusion has as Java has them, and whether their rules go on forever."""
    text = importlib.resources.files(PACKAGE).joinpath("zones.yaml").read_text("utf-8")
    kinds: dict[str, str] = yaml.safe_load(text)
    return {name: kind == "recurring" for kind, names in kinds.items() for name in names.split()}


def recurring(region: Zone) -> bool:
    """Whether a region has daylight-saving rules that never end. Raises NotInDialect for one that differs from Java's."""
    known = settled_regions().get(region.name)
    if known is None:
        raise NotInDialect(
            f"the dialect's time zone {region.name} differs from Java's",
            "Set spark.sql.session.timeZone to another region or to UTC.",
        )
    return known


# ---- counts: 64-bit integers, which wrap around


def micros(e: LoweringBuilder, value: Expression) -> Expression:
    """Microseconds since 1970 of a timestamp, or of a date's midnight."""
    return e.cast(e.cast(value, LOCAL) if value.type.kind == "date" else value, types.I64)


def from_micros(e: LoweringBuilder, count: Expression, type: types.Type) -> Expression:
    """The timestamp of a number of microseconds since 1970; the date that it is in."""
    if type.kind == "date":
        return e.cast(from_micros(e, count, LOCAL), DATE)
    return counted(e, count, type)


def plus(e: LoweringBuilder, left: Expression, right: Expression | int) -> Expression:
    if isinstance(right, int):
        if not right:
            return left
        right = e.i64(right)
    return e.call("datafusion:add", left, right)


def minus(e: LoweringBuilder, left: Expression, right: Expression | int) -> Expression:
    return plus(e, left, -right) if isinstance(right, int) else e.call("datafusion:subtract", left, right)


def rest(e: LoweringBuilder, dividend: Expression, divisor: int) -> Expression:
    """The remainder, with the sign of the dividend."""
    return e.call("datafusion:modulus", dividend, e.i64(divisor))


def quotient(e: LoweringBuilder, dividend: Expression, divisor: int) -> Expression:
    """The quotient, truncated."""
    return e.call("datafusion:divide", dividend, e.i64(divisor))


def times(e: LoweringBuilder, left: Expression, right: int) -> Expression:
    return left if right == 1 else e.call("datafusion:multiply", left, e.i64(right))


def floor_rest(e: LoweringBuilder, dividend: Expression, divisor: int) -> Expression:
    """The remainder, never negative."""
    return rest(e, plus(e, rest(e, dividend, divisor), divisor), divisor)


def floor_quotient(e: LoweringBuilder, dividend: Expression, divisor: int) -> Expression:
    """The quotient, rounded towards negative infinity."""
    dividend = e.share(dividend)
    return quotient(e, minus(e, dividend, floor_rest(e, dividend, divisor)), divisor)


# ---- from instants to local times and back, in microseconds

_TABLES_END = 3786912000 * SECOND
"""2090-01-01, from where on times are looked up in an earlier year."""
_MARCH_2000 = 951868800 * SECOND
_YEARS_28, _CENTURY, _YEARS_400 = 10227 * DAY, 36524 * DAY, 146097 * DAY
_MARCH_2056 = _MARCH_2000 + 2 * _YEARS_28
_FOUR_YEARS = 1461 * DAY


def later(e: LoweringBuilder, time: Expression, by: Expression | int) -> Expression:
    """The count of what is later than a time, or earlier by what is negative; an error where 64 bits don't hold it.

    Nobody is told that it may raise: only what is within a day of the first or the last timestamp does.
    """
    if isinstance(by, int):
        if not by:
            return time
        by = e.i64(by)
    return checked_operation(e, "add", time, by, INSTANT)


def earlier(e: LoweringBuilder, time: Expression, by: Expression) -> Expression:
    """As `later`, of what is earlier."""
    return checked_operation(e, "subtract", time, by, INSTANT)


def local_micros(e: LoweringBuilder, instant: Expression, where: Zone) -> Expression:
    """Local time, of an instant."""
    if where.offset is not None:
        return later(e, instant, where.offset)
    if not recurring(where):
        return _looked_up(e, instant, where)
    instant = e.share(instant)
    like = e.share(_with_same_offset(e, instant))
    return later(e, instant, minus(e, _looked_up(e, like, where), like))


def _looked_up(e: LoweringBuilder, instant: Expression, where: Zone) -> Expression:
    return micros(e, e.call("datafusion:from_utc_timestamp", from_micros(e, instant, LOCAL), e.text(where.name)))


def _with_same_offset(e: LoweringBuilder, time: Expression) -> Expression:
    """A time before 2090 in which recurring rules give the same offset: a year that starts in March is the same but
    for the weekday of its first day, which four years move by 5 days, as a century does that has no leap day at
    its end.
    """
    elapsed = rest(e, minus(e, time, _MARCH_2000), _YEARS_400)
    centuries = quotient(e, elapsed, _CENTURY)
    in_cycle = rest(e, minus(e, elapsed, times(e, centuries, _CENTURY - _FOUR_YEARS)), _YEARS_28)
    early = e.call("comparison:lt", time, e.i64(_TABLES_END))
    return e.if_then(early, time, plus(e, in_cycle, _MARCH_2056))


def instant_micros(
    e: LoweringBuilder, local: Expression, where: Zone, preferred: Expression | None = None
) -> Expression:
    """The instant of a local time. One that is skipped is taken to be later by what was skipped; one that occurs twice
    is the earlier, or the one at the preferred offset (java.time.ZonedDateTime.ofLocal)."""
    if where.offset is not None:
        return later(e, local, -where.offset)
    local = e.share(local)
    like = e.share(_with_same_offset(e, local)) if recurring(where) else local
    before, after = (e.share(_at_offset_of(e, like, where, by)) for by in (-16 * HOUR, 16 * HOUR))
    parts = [e.equal(before, after), before]
    if preferred is not None:
        wanted = e.share(minus(e, like, preferred))
        parts = [e.equal(_looked_up(e, wanted, where), like), wanted, *parts]
    for candidate in (before, after):
        parts += [e.equal(_looked_up(e, candidate, where), like), candidate]
    micros_of_instant = e.if_then(*parts, before)
    return micros_of_instant if like is local else later(e, local, minus(e, micros_of_instant, like))


def _at_offset_of(e: LoweringBuilder, local: Expression, where: Zone, by: int) -> Expression:
    """The instant of a local time by the offset that holds some time earlier or later."""
    moved = e.share(plus(e, local, by))
    return minus(e, local, minus(e, _looked_up(e, moved, where), moved))


# ---- the same in the types that plans have


def local(e: LoweringBuilder, value: Expression, where: Zone) -> Expression:
    """The local time of an instant, as a timestamp without a zone."""
    return from_micros(e, local_micros(e, micros(e, value), where), LOCAL)


def local_count(e: LoweringBuilder, value: Expression, where: Zone) -> Expression:
    """Microseconds of a timestamp's local time."""
    count = micros(e, value)
    return local_micros(e, count, where) if value.type.kind == "precision_timestamp_tz" else count


def date_of(e: LoweringBuilder, value: Expression, where: Zone) -> Expression:
    """The local date of a timestamp of either type."""
    return e.cast(local(e, value, where) if value.type.kind == "precision_timestamp_tz" else value, DATE)


def instant(e: LoweringBuilder, value: Expression, where: Zone) -> Expression:
    """The instant of a local time, or of the start of a day."""
    return from_micros(e, start_micros(e, value, where), INSTANT)


def start_micros(e: LoweringBuilder, value: Expression, where: Zone, preferred: Expression | None = None) -> Expression:
    """Microseconds of the instant of a local time, or of the start of a day."""
    count = micros(e, value)
    if value.type.kind != "date" or where.name not in SKIPPED_MIDNIGHT:
        return instant_micros(e, count, where, preferred)
    count = e.share(count)
    midnight, start = e.i64(-1601769600 * SECOND), e.i64(-1601753400 * SECOND)
    return e.if_then(e.equal(count, midnight), start, instant_micros(e, count, where, preferred))


# ---- functions


def local_timestamp(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The local time of an instant."""
    value, name = call.children()
    return local(e, value, zone_of(name))


def from_utc(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The local time in a zone, as if it were the time in UTC."""
    return _moved(e, call, local_micros)


def to_utc(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The instant at which clocks in a zone show what they show in UTC."""
    return _moved(e, call, instant_micros)


def _moved(
    e: LoweringBuilder, call: ScalarFunction, moved: Callable[[LoweringBuilder, Expression, Zone], Expression]
) -> Expression:
    """An instant whose microseconds are those of another, moved by what clocks in a zone are ahead of UTC."""
    value, argument = call.children()
    name = constant(argument)
    return e.null(INSTANT) if name is None else from_micros(e, moved(e, micros(e, value), zone(name)), INSTANT)


def convert(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """From local time in one zone to local time in another."""
    source, target, value = call.children()
    there, here = constant(source), constant(target)
    if there is None or here is None:
        return e.null(LOCAL)
    micros_of_instant = instant_micros(e, micros(e, value), zone(there))
    return from_micros(e, local_micros(e, micros_of_instant, zone(here)), LOCAL)


REWRITES = rewrites(
    {
        "datetime:local_timestamp": local_timestamp,
        "spark:convert_timezone": convert,
        "spark:from_utc_timestamp": from_utc,
        "spark:to_utc_timestamp": to_utc,
    }
)
