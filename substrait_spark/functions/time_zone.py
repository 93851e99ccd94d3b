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

UTC_NAMES = frozenset("UTC UCT GMT GMT0 UT Z Zulu Universal Greenwich".split())
"""Names of the offset 0; all but Z also with Etc/ before them."""

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d\d?)(?::?(\d\d?)(?::?(\d\d))?)?")
_ETC = re.compile(r"Etc/GMT([+-])(\d\d?)")
_REGION = re.compile(r"[A-Za-z][A-Za-z0-9~/._+-]+")


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
    match = _OFFSET.fullmatch(name)
    if match:
        sign, hours, minutes, seconds = match.groups()
        size = int(hours) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
        return _fixed(-size if sign == "-" else size)
    match = _ETC.fullmatch(name)
    if match:
        return _fixed(int(match[2]) * (-3600 if match[1] == "+" else 3600))
    if not _REGION.fullmatch(name):
        raise Unsupported(f"the time zone {text!r} has no IANA name", "Set spark.sql.session.timeZone to a region.")
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
