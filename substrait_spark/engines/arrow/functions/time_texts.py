"""Dates and timestamps in texts: as Spark casts texts to them, and by Java's patterns.

Days and microseconds are counted from 1970. `SparkDateTimeUtils` of Spark says what is cast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

from ....functions.time_zone import DAY, HOUR, LONGEST_OFFSET, SECOND
from ...datafusion.functions.datetime_format import MONTHS, NAMED, Reading, reading, tokens
from ..zone_rules import DAYS_OF_CYCLE, EPOCH, YEARS_OF_CYCLE, in_cycle
from .timestamps import LEAST, MOST
from .zones import instant, zone_named

BLANKS = "".join(map(chr, (*range(0x21), 0x7F)))
"""What Spark trims from a text before it reads a date or a timestamp."""

DATE = re.compile(r"([+-]?[0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
_CLOCK = r"([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*)([^0-9].*)?|([^0-9.].*))?)?)?"
TIME = re.compile(rf"([+-]?[0-9]{{4,6}})(?:-([0-9]{{1,2}})(?:-([0-9]{{1,2}})(?:[ T]{_CLOCK})?)?)?", re.DOTALL)
TIME_OF_DAY = re.compile(rf"T{_CLOCK}|(?={_CLOCK})[0-9]{{1,2}}:.*", re.DOTALL)

NUMBER = re.compile(r"([+-]?)0*(\d{1,10})")
"""As Java reads an integer of 32 bits, if it is one of these."""

GREGORIAN_FROM = -141_427
"""The first day of the Gregorian calendar."""

LEAST_DAY, MOST_DAY = -(2**31), 2**31 - 1


# ---- as texts are cast


def cast_date(text: str) -> int | None:
    """The day that a text says; None where it says none."""
    match = DATE.fullmatch(text.strip(BLANKS))
    return None if match is None else _day(*match.groups(default="1"))


def day_or_number(text: str) -> int | None:
    """The day that a text says, or whose number it is, as JSON and CSV had them before Spark 2: without any GMT in it."""
    found = cast_date(text.replace("GMT", ""))
    number = NUMBER.fullmatch(text)
    if found is not None or number is None or not LEAST_DAY <= (days := int(number[1] + number[2])) <= MOST_DAY:
        return found
    if days < GREGORIAN_FROM:
        raise NotImplementedError(f"[UNSUPPORTED_TEXT] {text!r} counts days of the Julian calendar")
    return days


def cast_instant(text: str, zone: str) -> int | None:
    """The instant that a text says; without a time zone it says a local time of the one that is given."""
    return _cast_time(text, lambda local, own: instant(local, own or zone))


def cast_local(text: str) -> int | None:
    """The local time that a text says; None where it has a time zone."""
    return _cast_time(text, lambda local, own: local if own is None else None)


def _cast_time(text: str, placed: Callable[[int, str | None], int | None]) -> int | None:
    match = TIME.fullmatch(text.strip(BLANKS))
    if match is None:
        if TIME_OF_DAY.fullmatch(text.rstrip(BLANKS)):
            raise NotImplementedError(f"[UNSUPPORTED_TEXT] {text!r} is a time without a date")
        return None
    year, month, day, hour, minute, second, fraction, *zones = match.groups()
    found = _local(year, month or "1", day or "1", hour or "0", minute or "0", second or "0", fraction or "")
    named = zones[0] or zones[1]
    own = None if named is None else zone_named(named.strip(BLANKS))
    if found is None or (named is not None and own is None):
        return None
    time = placed(found, own)
    return time if time is not None and LEAST <= time <= MOST else None


def _day(year: str, month: str, day: str) -> int | None:
    cycles, within = divmod(int(year) - 1, YEARS_OF_CYCLE)
    try:
        found = date(within + 1, int(month), int(day))
    except ValueError:
        return None
    return found.toordinal() - EPOCH + cycles * DAYS_OF_CYCLE


def _local(year: str, month: str, day: str, hour: str, minute: str, second: str, fraction: str) -> int | None:
    days = _day(year, month, day)
    if days is None or int(hour) > 23 or int(minute) > 59 or int(second) > 59:
        return None
    seconds = (int(hour) * 60 + int(minute)) * 60 + int(second)
    return days * DAY + seconds * SECOND + int(fraction[:6].ljust(6, "0"))


# ---- by patterns


class Read(NamedTuple):
    """What a text says: a local time, and its offset from UTC if it has one, in microseconds."""

    local: int
    offset: int | None


def reader(pattern: str) -> Callable[[str], Read | None]:
    """What reads texts by one of Java's patterns. Raises NotInDialect for a pattern that it can't read by."""
    how = reading(pattern)
    regex = re.compile(how.matches)
    signed = re.compile(how.signed or r"(?!)")

    def read(text: str) -> Read | None:
        match = regex.fullmatch(text)
        if match is not None:
            return _by_groups(how, match)
        if signed.fullmatch(text):
            raise NotImplementedError(f"[UNSUPPORTED_TEXT] {text!r} has a year with a sign")
        return None

    return read


_ISO = re.compile(r"(\d+)-(\d+)-(\d+) (\d+):(\d+):(\d+)(?:\.(\d*))?")


def _by_groups(how: Reading, match: re.Match[str]) -> Read | None:
    month = "" if how.month is None else str(_SHORT_MONTHS.index(match[how.month][:3].upper()) + 1)
    iso = re.sub(r"\$\{(\d+)\}", lambda group: match[int(group[1])], how.iso.replace(NAMED, month))
    found = _ISO.fullmatch(iso)
    if found is None:
        return None
    year, month, day, given, *rest = found.groups(default="")
    hour = _hour(how, match, int(given))
    time = None if hour is None else _local(year, month, day, str(hour), *rest)
    offset = None if how.offset is None else _offset(match[how.offset], match[how.offset + 1])
    return None if time is None or abs(offset or 0) > LONGEST_OFFSET else Read(time, offset)


def _hour(how: Reading, match: re.Match[str], hour: int) -> int | None:
    """The hour of the day; None where AM or PM contradicts it."""
    afternoon = how.half is not None and match[how.half].upper() == "PM"
    if how.from_twelve or (how.half is not None and how.hour is None):
        return hour % 12 + (12 if afternoon else 0)
    return None if how.half is not None and (hour >= 12) != afternoon else hour


def _offset(hours: str | None, minutes: str | None) -> int:
    if hours is None:
        return 0
    size = abs(int(hours)) * HOUR + int(minutes or 0) * 60 * SECOND
    return -size if hours.startswith("-") else size


_SHORT_MONTHS = [month[:3].upper() for month in MONTHS]
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


class Moment(NamedTuple):
    """A local time, but for some cycles of the calendar; its year; and its offset in microseconds."""

    time: datetime
    year: int
    offset: int


def _moment(local: int, offset: int) -> Moment:
    days, in_day = divmod(local, DAY)
    day, cycles = in_cycle(days)
    time = datetime.fromordinal(day.toordinal()) + timedelta(microseconds=in_day)
    return Moment(time, day.year + cycles * YEARS_OF_CYCLE, offset)


Field = Callable[[Moment], str]


def _of_time(text: Callable[[datetime], str]) -> Field:
    return lambda moment: text(moment.time)


def _year(moment: Moment) -> str:
    sign = "-" if moment.year < 0 else "+" if moment.year > 9999 else ""
    return f"{sign}{abs(moment.year):04}"


def _of_offset(between: str, zero: str) -> Field:
    """An offset by its hours and minutes; seconds, which only times before there were time zones have, don't show."""

    def text(moment: Moment) -> str:
        hours, minutes = divmod(abs(moment.offset) // (60 * SECOND), 60)
        sign = "-" if moment.offset < 0 else "+"
        return f"{sign}{hours:02}{between}{minutes:02}" if hours or minutes else zero

    return text


def _whole_offset(moment: Moment) -> str:
    """An offset that has no seconds, which releases and settings of Spark's write or leave out by its own pattern."""
    if moment.offset % (60 * SECOND):
        raise NotImplementedError(
            "[UNSUPPORTED_FORMAT] a time zone's offset with seconds, as before there were time zones"
        )
    return FIELDS["XXX"](moment)


def _quarter(form: str) -> Callable[[datetime], str]:
    return lambda time: form.format((time.month + 2) // 3)


OF_TIMES: Mapping[str, Callable[[datetime], str]] = {
    **dict.fromkeys(("MM", "LL"), "{:%m}".format),
    **dict.fromkeys(("M", "L"), lambda time: str(time.month)),
    **dict.fromkeys(("MMM", "LLL"), lambda time: MONTHS[time.month - 1][:3]),
    **dict.fromkeys(("MMMM", "LLLL"), lambda time: MONTHS[time.month - 1]),
    "dd": "{:%d}".format,
    "d": lambda time: str(time.day),
    "DDD": "{:%j}".format,
    "D": lambda time: str(int(f"{time:%j}")),
    **dict.fromkeys(("E", "EE", "EEE"), lambda time: DAYS[time.weekday()][:3]),
    "EEEE": lambda time: DAYS[time.weekday()],
    **dict.fromkeys("Qq", _quarter("{}")),
    **dict.fromkeys(("QQ", "qq"), _quarter("0{}")),
    **dict.fromkeys(("QQQ", "qqq"), _quarter("Q{}")),
    "HH": "{:%H}".format,
    "H": lambda time: str(time.hour),
    "hh": "{:%I}".format,
    "h": lambda time: str((time.hour + 11) % 12 + 1),
    "mm": "{:%M}".format,
    "m": lambda time: str(time.minute),
    "ss": "{:%S}".format,
    "s": lambda time: str(time.second),
    "a": lambda time: "AM" if time.hour < 12 else "PM",
    "SSS": lambda time: f"{time.microsecond // 1000:03}",
    "SSSSSS": "{:%f}".format,
    "SSSSSSSSS": "{:%f}000".format,
}
"""What Java's fields write of local times."""

FIELDS: Mapping[str, Field] = {
    "yyyy": _year,
    "yy": lambda moment: f"{abs(moment.year) % 100:02}",
    **{field: _of_time(text) for field, text in OF_TIMES.items()},
    "XXX": _of_offset(":", "Z"),
    "XXXXX": _whole_offset,
    "XX": _of_offset("", "Z"),
    "xxx": _of_offset(":", "+00:00"),
    **dict.fromkeys(("xx", "Z", "ZZ", "ZZZ"), _of_offset("", "+0000")),
}
"""What all of Java's fields write."""


def writer(pattern: str) -> Callable[[int, int], str]:
    """What writes local times with their offsets, in microseconds, by one of Java's patterns."""
    parts = [FIELDS[text] if kind == "field" else text for kind, text in tokens(pattern)]

    def write(local: int, offset: int) -> str:
        moment = _moment(local, offset)
        return "".join(part if isinstance(part, str) else part(moment) for part in parts)

    return write
