"""Time zones: as Spark names them, and the ways between instants and local times.

A session's zone is the text that its user set. Java resolves it: short names such as PST stand for regions, EST, MST
and HST for fixed offsets.

Where an engine has no function that does as Java does, local times are computed in microseconds. Engines' tables of
transitions end in 2099; the rules that hold then repeat with the calendar, which is the same every 28 years within a
century, so that later times are looked up in the years from 2056 to 2084.
"""

from __future__ import annotations

import importlib.resources
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import yaml

from ..algebra import types
from ..errors import NotInDialect, Unsupported

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder

SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR
LOCAL = types.of("precision_timestamp", 6, nullable=False)
INSTANT = types.of("precision_timestamp_tz", 6, nullable=False)
DATE = types.of("date", nullable=False)

SHORT_NAMES = {
    "ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo", "AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia", "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix", "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh", "EST": "-05:00",
    "MST": "-07:00", "HST": "-10:00",
}  # fmt: skip
"""java.time.ZoneId.SHORT_IDS."""

UTC_NAMES = frozenset("UTC UCT GMT GMT0 UT Z Zulu Universal Greenwich".split())
"""Names of the offset 0; all but Z also with Etc/ before them."""

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d\d?)(?::?(\d\d?)(?::?(\d\d))?)?")
_ETC = re.compile(r"Etc/GMT([+-])(\d\d?)")
_REGION = re.compile(r"[A-Za-z][A-Za-z0-9~/._+-]+")

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


class Zone(NamedTuple):
    """A time zone: its IANA name or offset as text, and the offset in microseconds where it never changes."""

    name: str
    offset: int | None


@lru_cache(maxsize=256)
def zone(text: str) -> Zone:
    """The zone that Java understands by a text."""
    name = SHORT_NAMES.get(text, text)
    if name.removeprefix("Etc/") in UTC_NAMES:
        return Zone("UTC", 0)
    found = _OFFSET.fullmatch(name)
    if found:
        sign, hours, minutes, seconds = found.groups()
        size = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
        return _fixed(-size if sign == "-" else size)
    found = _ETC.fullmatch(name)
    if found:
        return _fixed(int(found[2]) * (-3600 if found[1] == "+" else 3600))
    if not _REGION.fullmatch(name):
        raise Unsupported(f"the time zone {text!r} has no IANA name", "Set spark.sql.session.timeZone to a region.")
    return Zone(name, None)


def _fixed(seconds: int) -> Zone:
    if seconds == 0:
        return Zone("UTC", 0)
    minutes, rest = divmod(abs(seconds), 60)
    text = f"{'-' if seconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}" + (f":{rest:02}" if rest else "")
    return Zone(text, seconds * SECOND)


@lru_cache(maxsize=1)
def _regions() -> dict[str, bool]:
    """The regions that engines with the IANA tables have as Java has them, and whether their rules go on forever."""
    text = importlib.resources.files(__package__).joinpath("zones.yaml").read_text("utf-8")
    kinds: dict[str, str] = yaml.safe_load(text)
    return {name: kind == "recurring" for kind, names in kinds.items() for name in names.split()}


def recurring(region: Zone) -> bool:
    """Whether a region has daylight-saving rules that never end. Raises NotInDialect for one that engines differ in."""
    known = _regions().get(region.name)
    if known is None:
        raise NotInDialect(
            f"the dialect's time zone {region.name} differs from Java's",
            "Set spark.sql.session.timeZone to another region or to UTC.",
        )
    return known


# ---- microseconds


def micros(e: ExpressionBuilder, value: Expression) -> Expression:
    """Microseconds since 1970 of a timestamp, or of a date's midnight."""
    require_counting(e)
    return e.cast(e.cast(value, LOCAL) if value.type.kind == "date" else value, types.I64)


def from_micros(e: ExpressionBuilder, count: Expression, type: types.Type) -> Expression:
    """The timestamp of a number of microseconds since 1970; the date that it is in."""
    if type.kind == "date":
        return e.cast(from_micros(e, count, LOCAL), DATE)
    return e.cast(count, type)


def require_counting(e: ExpressionBuilder) -> None:
    if not e.dialect.quirks.counting_casts:
        raise NotInDialect(f"in the dialect {e.dialect.name}, casts of timestamps don't count microseconds")


def plus(e: ExpressionBuilder, left: Expression, right: Expression | int) -> Expression:
    if isinstance(right, int):
        if not right:
            return left
        right = e.i64(right)
    return e.call("spark:add", left, right)


def minus(e: ExpressionBuilder, left: Expression, right: Expression | int) -> Expression:
    return plus(e, left, -right) if isinstance(right, int) else e.call("spark:subtract", left, right)


def rest(e: ExpressionBuilder, dividend: Expression, divisor: int) -> Expression:
    """The remainder, with the sign of the dividend."""
    return e.call("datafusion:modulus", dividend, e.i64(divisor))


def quotient(e: ExpressionBuilder, dividend: Expression, divisor: int) -> Expression:
    """The quotient, truncated."""
    return e.call("datafusion:divide", dividend, e.i64(divisor))


def times(e: ExpressionBuilder, left: Expression, right: int) -> Expression:
    return left if right == 1 else e.call("spark:multiply", left, e.i64(right))


def floor_rest(e: ExpressionBuilder, dividend: Expression, divisor: int) -> Expression:
    """The remainder, never negative."""
    return rest(e, plus(e, rest(e, dividend, divisor), divisor), divisor)


def floor_quotient(e: ExpressionBuilder, dividend: Expression, divisor: int) -> Expression:
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


def local_micros(e: ExpressionBuilder, instant: Expression, where: Zone) -> Expression:
    """Local time, of an instant."""
    if where.offset is not None:
        return plus(e, instant, where.offset)
    if not recurring(where):
        return _looked_up(e, instant, where)
    instant = e.share(instant)
    like = e.share(_with_same_offset(e, instant))
    return plus(e, instant, minus(e, _looked_up(e, like, where), like))


def _looked_up(e: ExpressionBuilder, instant: Expression, where: Zone) -> Expression:
    return micros(e, e.call("datafusion:from_utc_timestamp", from_micros(e, instant, LOCAL), e.text(where.name)))


def _with_same_offset(e: ExpressionBuilder, time: Expression) -> Expression:
    """A time before 2090 in which recurring rules give the same offset: a year that starts in March is the same but
    for the weekday of its first day, which four years move by 5 days, as a century does that has no leap day at
    its end."""
    elapsed = rest(e, minus(e, time, _MARCH_2000), _YEARS_400)
    centuries = quotient(e, elapsed, _CENTURY)
    in_cycle = rest(e, minus(e, elapsed, times(e, centuries, _CENTURY - _FOUR_YEARS)), _YEARS_28)
    early = e.call("comparison:lt", time, e.i64(_TABLES_END))
    return e.if_then(early, time, plus(e, in_cycle, _MARCH_2056))


def instant_micros(
    e: ExpressionBuilder, local: Expression, where: Zone, preferred: Expression | None = None
) -> Expression:
    """The instant of a local time. One that is skipped is taken to be later by what was skipped; one that occurs twice
    is the earlier, or the one at the preferred offset (java.time.ZonedDateTime.ofLocal)."""
    if where.offset is not None:
        return plus(e, local, -where.offset)
    local = e.share(local)
    like = e.share(_with_same_offset(e, local)) if recurring(where) else local
    before, after = (e.share(_at_offset_of(e, like, where, by)) for by in (-16 * HOUR, 16 * HOUR))
    parts = [e.equal(before, after), before]
    if preferred is not None:
        wanted = e.share(minus(e, like, preferred))
        parts = [e.equal(_looked_up(e, wanted, where), like), wanted, *parts]
    for candidate in (before, after):
        parts += [e.equal(_looked_up(e, candidate, where), like), candidate]
    found = e.if_then(*parts, before)
    return found if like is local else plus(e, local, minus(e, found, like))


def _at_offset_of(e: ExpressionBuilder, local: Expression, where: Zone, by: int) -> Expression:
    """The instant of a local time by the offset that holds some time earlier or later."""
    moved = e.share(plus(e, local, by))
    return minus(e, local, minus(e, _looked_up(e, moved, where), moved))


# ---- the same in the types that Spark has


def zone_text(e: ExpressionBuilder, where: Zone) -> Expression:
    return e.text(where.name)


def local(e: ExpressionBuilder, instant: Expression, where: Zone) -> Expression:
    """The local time of an instant, as a timestamp without a zone."""
    return e.first(
        lambda: e.call("datetime:local_timestamp", instant, e.text(where.name)),
        lambda: from_micros(e, local_micros(e, micros(e, instant), where), LOCAL),
    )


def date_of(e: ExpressionBuilder, value: Expression, where: Zone) -> Expression:
    """The local date of a timestamp of either type."""
    local_time = local(e, value, where) if value.type.kind == "precision_timestamp_tz" else value
    return e.cast(local_time, DATE)


def instant(e: ExpressionBuilder, value: Expression, where: Zone) -> Expression:
    """The instant of a local time, or of the start of a day."""
    return e.first(
        lambda: e.call("spark:timestamp", value, e.text(where.name)),
        lambda: from_micros(e, start_micros(e, value, where), INSTANT),
    )


def start_micros(
    e: ExpressionBuilder, value: Expression, where: Zone, preferred: Expression | None = None
) -> Expression:
    """Microseconds of the instant of a local time, or of the start of a day."""
    count = micros(e, value)
    if value.type.kind != "date" or where.name not in SKIPPED_MIDNIGHT:
        return instant_micros(e, count, where, preferred)
    count = e.share(count)
    midnight, start = e.i64(-1601769600 * SECOND), e.i64(-1601753400 * SECOND)
    return e.if_then(e.equal(count, midnight), start, instant_micros(e, count, where, preferred))
