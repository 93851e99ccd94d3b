"""Time zones as Spark names them, and the ways between instants and local times.

A session's zone is the text that its user set. Java resolves it: short names such as PST stand for regions, EST, MST
and HST for fixed offsets.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ..algebra import types
from ..errors import Unsupported

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

_NAMES_OF_UTC = "UTC UCT GMT GMT0 Zulu Universal Greenwich".split()
UTC_NAMES = frozenset(("Z", "UT", *_NAMES_OF_UTC, *(f"Etc/{name}" for name in _NAMES_OF_UTC)))
"""Names of the offset 0."""

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(?:(\d\d?)(?::(\d\d?)|:(\d\d):(\d\d))?|(\d\d)(\d\d)(\d\d)?)", re.ASCII)
"""Hours, minutes and seconds, with colons between them or without. Spark fills up hours and minutes of one digit before a colon or behind one."""

_ETC = re.compile(r"Etc/GMT(\+(?:\d|1[0-2])|-(?:\d|1[0-4]))", re.ASCII)
LONGEST_OFFSET = 18 * HOUR
_REGION = re.compile(r"[A-Za-z][A-Za-z0-9~/._+-]+")


class Zone(NamedTuple):
    """A time zone: its IANA name or offset as text, and the offset in microseconds where it never changes."""

    name: str
    offset: int | None


@lru_cache(maxsize=256)
def zone(text: str) -> Zone:
    """The zone that Java understands by a text. Raises Unsupported for what is no offset and can be no region's name."""
    name = SHORT_NAMES.get(text, text)
    if name in UTC_NAMES:
        return Zone("UTC", 0)
    if match := _ETC.fullmatch(name):
        return _fixed(int(match[1]) * -3600)
    if match := _OFFSET.fullmatch(name):
        sign, *parts = match.groups()
        hours, minutes, seconds = [*(int(part) for part in parts if part is not None), 0, 0][:3]
        size = hours * 3600 + minutes * 60 + seconds
        if minutes < 60 and seconds < 60 and size * SECOND <= LONGEST_OFFSET:
            return _fixed(-size if sign == "-" else size)
    if not _REGION.fullmatch(name):
        raise Unsupported(f"{text!r} is no time zone of Java's", "Set spark.sql.session.timeZone to a region.")
    return Zone(name, None)


def _fixed(seconds: int) -> Zone:
    if seconds == 0:
        return Zone("UTC", 0)
    minutes, rest = divmod(abs(seconds), 60)
    text = f"{'-' if seconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}" + (f":{rest:02}" if rest else "")
    return Zone(text, seconds * SECOND)


# ---- the ways between instants and local times


def local(e: ExpressionBuilder, instant: Expression, where: Zone) -> Expression:
    """The local time of an instant, as a timestamp without a zone."""
    return e.call("datetime:local_timestamp", instant, e.text(where.name))


def instant(e: ExpressionBuilder, value: Expression, where: Zone) -> Expression:
    """The instant of a local time, or of the start of a day."""
    return e.call("spark:timestamp", value, e.text(where.name))
