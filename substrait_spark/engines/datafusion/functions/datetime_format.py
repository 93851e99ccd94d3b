"""Dates and timestamps as texts by patterns, from texts by patterns, and from parts.

DataFusion formats by patterns of the chrono library; it reads too leniently, so that texts are first matched with a
regular expression made from the pattern, brought into ISO form, and then cast.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction
from ....algebra.types import Type
from ....dialects.rewrite import Apply, rewrites
from ....errors import NotInDialect
from ....functions.time_zone import DATE, DAY, HOUR, INSTANT, LOCAL, LONGEST_OFFSET, SECOND, Zone, zone
from ....lowering.builder import LoweringBuilder
from ....lowering.general.raise_error import raised
from . import time_zone as tz
from .datetime import between, date_part, is_date, make
from .time_zone import constant, zone_of

# ---- patterns


def tokens(pattern: str) -> Iterator[tuple[str, str]]:
    """A Java pattern's runs of a letter, `("field", "yyyy")`, and its texts, `("text", "-")`."""
    for match in re.finditer(r"([A-Za-z])\1*|''|'((?:[^']|'')*)'|([^A-Za-z'])|'", pattern):
        whole = match[0]
        if match[1]:
            yield "field", whole
        elif whole == "''":
            yield "text", "'"
        elif match[2] is not None:
            yield "text", match[2].replace("''", "'")
        elif whole in ("'", *"[]{}#"):
            raise NotInDialect(f"the dialect has no form for {whole} in the pattern {pattern!r}")
        else:
            yield "text", whole


WRITTEN = {
    "yyyy": "%Y", "yy": "%y", "MM": "%m", "LL": "%m", "M": "%-m", "L": "%-m", "MMM": "%b", "LLL": "%b", "MMMM": "%B",
    "LLLL": "%B", "dd": "%d", "d": "%-d", "DDD": "%j", "D": "%-j", "E": "%a", "EE": "%a", "EEE": "%a", "EEEE": "%A",
    "HH": "%H", "H": "%-H", "hh": "%I", "h": "%-I", "mm": "%M", "m": "%-M", "ss": "%S", "s": "%-S", "a": "%p",
    "SSS": "%3f", "SSSSSS": "%6f", "SSSSSSSSS": "%9f", "Q": "%q", "q": "%q", "QQ": "0%q", "qq": "0%q", "QQQ": "Q%q",
    "qqq": "Q%q",
}  # fmt: skip
"""Java's fields that chrono writes alike."""


WRITTEN_OFFSETS = ("XX", "XXX", "xx", "xxx", "Z", "ZZ", "ZZZ")
"""Fields of offsets that Python writes as Java does."""


def require_written(pattern: str, kind: str) -> None:
    """Raise NotInDialect where Python doesn't write values of a kind by a pattern as Java does."""
    for token, text in tokens(pattern):
        known = text in WRITTEN or (text in WRITTEN_OFFSETS and kind == "precision_timestamp_tz")
        if token == "field" and (not known or (kind == "date" and text[0] in "HhmsSa")):
            raise NotInDialect(f"no {kind} is written by {text} in the pattern {pattern!r}")


def chrono(pattern: str) -> str:
    """The chrono format that writes the same. Raises NotInDialect where there is none."""
    parts = []
    for kind, text in tokens(pattern):
        if kind == "field" and text not in WRITTEN:
            raise NotInDialect(f"the dialect doesn't write {text} in the pattern {pattern!r} as Java does")
        parts.append(WRITTEN[text] if kind == "field" else text.replace("%", "%%"))
    return "".join(parts)


MONTHS = "January February March April May June July August September October November December".split()

READ = {
    "yyyy": "([0-9]{4})", "yy": "([0-9]{2})", "MM": "([0-9]{2})", "dd": "([0-9]{2})", "HH": "([0-9]{2})",
    "mm": "([0-9]{2})", "ss": "([0-5][0-9])", "hh": "(0[1-9]|1[0-2])", "M": "0{0,17}([0-9]{1,2})",
    "d": "0{0,17}([0-9]{1,2})", "H": "0{0,17}([0-9]{1,2})", "h": "0{0,17}(1[0-2]|[1-9])", "m": "0{0,17}([0-9]{1,2})",
    "s": "0{0,17}([0-5]?[0-9])", **{"S" * n: f"([0-9]{{1,{n}}})" for n in range(1, 7)},
}  # fmt: skip
"""Java's fields of digits that can be read, as regular expressions."""

_HOURS, _MINUTES = "([+-](?:0[0-9]|1[0-8]))", "([0-5][0-9])"
_OFFSETS = {"x": f"{_HOURS}{_MINUTES}?", "xx": f"{_HOURS}{_MINUTES}", "xxx": f"{_HOURS}:{_MINUTES}"}

READ_WORDS = {
    "MMM": f"((?i:{'|'.join(month[:3] for month in MONTHS)}))",
    "MMMM": f"((?i:{'|'.join(MONTHS)}))",
    "a": "((?i:AM|PM))",
    **dict.fromkeys(("Z", "ZZ", "ZZZ"), _OFFSETS["xx"]),
    **_OFFSETS,
    **{field.upper(): f"(?:{offset}|[Zz])" for field, offset in _OFFSETS.items()},
}
"""Java's other fields; an offset has a group for its hours with a sign, and one for its minutes."""

MONTH_NUMBERS = "".join(f"{month[:3].upper()}{number:02}" for number, month in enumerate(MONTHS, 1))
"""The beginning of each month's name, with its number behind it."""


class Reading(NamedTuple):
    """How to read texts by a pattern: what they must match, and what to replace them by to have ISO form."""

    matches: str
    iso: str
    signed: str | None
    """What texts match that have a sign before the year, which Java reads and engines may not."""
    month: int | None
    """The group with the name of the month, whose number comes where `iso` has the mark `NAMED`."""
    hour: int | None
    """The group with the hour, where it is one from 1 to 12, or where AM or PM is told."""
    from_twelve: bool
    """Whether the hour is one from 1 to 12, which count as from 0 to 11 if AM is told or nothing."""
    half: int | None
    """The group with AM or PM."""
    offset: int | None
    """The group with the hours of an offset, before that with its minutes."""


NAMED = "?"
"""Stands for the number of a month that has a name."""


def reading(pattern: str) -> Reading:
    """How to read by a Java pattern. Raises NotInDialect where it can't be done exactly."""
    refused = NotInDialect(f"the dialect doesn't read the pattern {pattern!r} as Java does")
    groups: dict[str, int] = {}
    regex, before, count, named, century = "", "", 0, False, ""
    for kind, text in tokens(pattern):
        if kind == "text":
            plain = re.sub(r"([\\.+*?()|^$\[\]{}#&~])", r"\\\1", text)
            regex += f"(?i:{plain})" if text.lower() != text.upper() else plain
            before = ""
            continue
        field = text.replace("L", "M")
        letter = "Z" if field[0] in "Xx" else field[0]
        word = field in READ_WORDS
        varies = not word and (len(field) == 1 or letter == "S")
        # Java splits digits of adjacent fields by their widths, which must be fixed.
        if letter in groups or not (word or field in READ) or (before and varies) or (before == "varies" and not word):
            raise refused
        groups[letter] = count + 1
        regex += READ_WORDS[field] if word else READ[field]
        count += 2 if letter == "Z" else 1
        named = named or field in ("MMM", "MMMM")
        century = "20" if field == "yy" else century
        before = "" if word else "varies" if varies else "fixed"
    if {"h", "H"} <= set(groups):
        raise refused

    def part(letter: str, default: str) -> str:
        return f"${{{groups[letter]}}}" if letter in groups else default

    date = f"{century}{part('y', '1970')}-{NAMED if named else part('M', '01')}-{part('d', '01')}"
    time = f"{part('h', part('H', '00'))}:{part('m', '00')}:{part('s', '00')}"
    fraction = f".{part('S', '')}" if "S" in groups else ""
    signed = "^" + regex.replace(READ["yyyy"], "[+-][0-9]{4,}", 1) + "$" if "y" in groups and not century else None
    return Reading(
        f"^{regex}$",
        f"{date} {time}{fraction}",
        signed,
        groups["M"] if named else None,
        groups.get("h", groups.get("H") if "a" in groups else None),
        "h" in groups,
        groups.get("a"),
        groups.get("Z"),
    )


def needs_zone(pattern: Expression) -> bool:
    """Whether the local date may not be the one in the text: it has a time of day, which clocks may skip, but no offset."""
    fields = {text[0] for kind, text in tokens(constant(pattern) or "") if kind == "field"}
    return bool(fields.intersection("HhKkmsSa")) and not fields.intersection("ZXx")


# ---- to text


def date_format(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The local time of an instant by a pattern."""
    value, pattern, zone = call.children()
    return formatted(e, tz.local(e, value, zone_of(zone)), pattern)


def formatted(e: LoweringBuilder, local: Expression, pattern: Expression) -> Expression:
    text = constant(pattern)
    if text is None:
        return e.null(types.STRING)
    return e.call("datafusion:to_char", local, e.text(chrono(text)))


def from_unixtime(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Seconds to text; microseconds wrap around."""
    value, pattern, zone = call.children()
    local = tz.local_micros(e, tz.times(e, value, SECOND), zone_of(zone))
    return formatted(e, tz.from_micros(e, local, LOCAL), pattern)


# ---- from text


def to_timestamp(throws: bool) -> Apply:
    """A text read by a pattern; what doesn't fit raises or gives null."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        value, pattern, *zone = call.children()
        return read(e, value, pattern, types.required(call.type), zone_of(*zone), throws)

    return lower


def unix_timestamp(throws: bool) -> Apply:
    """Seconds, rounded towards zero: of a timestamp, or of a text by a pattern."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        value, *how = call.children()
        if how:
            value = read(e, value, how[0], INSTANT, zone_of(how[1]), throws)
        return tz.quotient(e, tz.micros(e, value), SECOND)

    return lower


def read(
    e: LoweringBuilder, value: Expression, pattern: Expression, target: Type, where: Zone, throws: bool
) -> Expression:
    """A text read by a literal pattern, as a timestamp or, without a way through the time zone, a date."""
    text = constant(pattern)
    if text is None:
        return e.null(target)
    how, value = reading(text), e.share(value)
    if how.offset is not None and target.kind == "precision_timestamp":
        raise NotInDialect(f"the dialect reads no offset in the pattern {text!r} of a timestamp without a time zone")
    padded = e.call(
        "datafusion:regexp_replace", _iso(e, value, how), e.text(r"([- :])([0-9])\b"), e.text("${1}0${2}"), e.text("g")
    )
    cast = e.cast(padded, types.nullable(LOCAL), throws=False)
    local = e.if_then(matches(e, value, how.matches), cast, e.null(LOCAL))
    local = e.share(_offset_checked(e, value, how, _at_hour(e, value, how, e.share(local))))
    result = local
    if how.offset is not None:
        result = tz.from_micros(
            e, tz.minus(e, tz.micros(e, local), _offset(e, value, how.matches, how.offset)), INSTANT
        )
    elif target.kind == "precision_timestamp_tz":
        result = tz.instant(e, local, where)
    if target.kind == "date":
        result = e.cast(local, DATE) if how.offset is None else tz.date_of(e, result, where)
    failed = [e.is_null(local), *([e.is_not_null(value)] if value.type.nullable else [])]
    if not throws:
        if how.signed is None:
            return result
        failed.append(matches(e, value, how.signed))
    return e.if_then(e.and_(*failed), raised(e, "CANNOT_PARSE_TIMESTAMP", result.type, value), result)


def _group(e: LoweringBuilder, value: Expression, regex: str, *groups: int) -> Expression:
    """What some groups hold of a value that matches."""
    return _replaced(e, value, regex, "".join(f"${{{group}}}" for group in groups))


def _iso(e: LoweringBuilder, value: Expression, how: Reading) -> Expression:
    """A value that matches, in ISO form."""
    if how.month is None:
        return _replaced(e, value, how.matches, how.iso)
    name = e.call("string:upper", _group(e, value, how.matches, how.month), char_set="UTF8")
    beginning = e.call("datafusion:substring", name, e.i32(1), e.i32(3))
    at = e.call("spark:instr", e.text(MONTH_NUMBERS), beginning)
    number = e.call("datafusion:substring", e.text(MONTH_NUMBERS), e.call("datafusion:add", at, e.i32(3)), e.i32(2))
    before, after = [_replaced(e, value, how.matches, part) for part in how.iso.split(NAMED)]
    return e.call("string:concat", before, number, after, null_handling="ACCEPT_NULLS")


def _at_hour(e: LoweringBuilder, value: Expression, how: Reading, local: Expression) -> Expression:
    """A local time whose hour was read as one from 0 to 23: moved by half a day, or null, as AM or PM says."""
    if not how.from_twelve and how.half is None:
        return local
    afternoon: Expression = e.false()
    if how.half is not None:
        half = e.call("string:upper", _group(e, value, how.matches, how.half), char_set="UTF8")
        afternoon = e.share(e.equal(half, e.text("PM")))
    hour = e.share(e.i64(0) if how.hour is None else _number(e, _group(e, value, how.matches, how.hour)))
    late = e.call("comparison:gte", hour, e.i64(12))
    count = tz.micros(e, local)
    if how.hour is not None and not how.from_twelve:
        return e.if_then(e.equal(late, afternoon), local, e.null(LOCAL))
    earlier, later = tz.minus(e, count, e.i64(12 * HOUR)), tz.plus(e, count, 12 * HOUR)
    moved = e.if_then(e.and_(late, e.not_(afternoon)), earlier, e.and_(afternoon, e.not_(late)), later, count)
    return tz.from_micros(e, moved, LOCAL)


def _number(e: LoweringBuilder, digits: Expression) -> Expression:
    """Digits, with a sign or without, as a number; 0 without any."""
    return e.coalesce(e.cast(digits, types.nullable(types.I64), throws=False), e.i64(0))


def _offset(e: LoweringBuilder, value: Expression, regex: str, group: int) -> Expression:
    """The offset in a value that matches, in microseconds."""
    hours = tz.times(e, _number(e, _group(e, value, regex, group)), HOUR)
    sign = _group(e, value, regex, group)
    minutes = tz.times(e, _number(e, _group(e, value, regex, group + 1)), 60 * SECOND)
    negative = e.call("string:starts_with", sign, e.text("-"), case_sensitivity="CASE_SENSITIVE")
    return e.if_then(negative, tz.minus(e, hours, minutes), tz.plus(e, hours, minutes))


def _offset_checked(e: LoweringBuilder, value: Expression, how: Reading, local: Expression) -> Expression:
    """Null for an offset of more than 18 hours."""
    if how.offset is None:
        return local
    offset = e.share(_offset(e, value, how.matches, how.offset))
    fits = between(e, offset, e.i64(-LONGEST_OFFSET), e.i64(LONGEST_OFFSET))
    return e.if_then(fits, local, e.null(LOCAL))


def matches(e: LoweringBuilder, value: Expression, regex: str) -> Expression:
    return e.call("datafusion:regexp_like", value, e.text(regex), e.text("s"))


def _replaced(e: LoweringBuilder, value: Expression, regex: str, by: str) -> Expression:
    return e.call("datafusion:regexp_replace", value, e.text(regex), e.text(by), e.text("s"))


# ---- from parts


def make_timestamp(throws: bool, zoned: bool) -> Apply:
    """A timestamp of its parts: what is no time raises or gives null; a second of 60 is the next minute's 0."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        parts = call.children()[:6]
        local = e.share(_made(e, parts))
        if zoned:
            name = constant(call.children()[6])
            if name is None:
                return e.null(INSTANT)
            timestamp = tz.from_micros(e, tz.instant_micros(e, local, zone(name)), INSTANT)
        else:
            timestamp = tz.from_micros(e, local, LOCAL)
        if not throws:
            return timestamp
        known = [e.is_not_null(part) for part in parts if part.type.nullable]
        failed = e.and_(e.is_null(local), *known)
        witness = next((part for part in parts if not isinstance(part, Literal)), parts[0])
        return e.if_then(failed, raised(e, "DATETIME_FIELD_OUT_OF_BOUNDS", timestamp.type, witness), timestamp)

    return lower


def _made(e: LoweringBuilder, parts: Sequence[Expression]) -> Expression:
    """Microseconds of a local time, null for what is none."""
    year, month, day, hour, minute, second = map(e.share, parts)
    million = e.literal(SECOND, types.of("decimal", 7, 0, nullable=False))
    product = e.call("arithmetic_decimal:multiply", second, million)
    micros = e.share(e.cast(product, types.I64, throws=False))
    valid = e.and_(
        is_date(e, year, month, day),
        between(e, hour, e.i32(0), e.i32(23)),
        between(e, minute, e.i32(0), e.i32(59)),
        between(e, micros, e.i64(0), e.i64(60 * SECOND)),
    )
    start = tz.micros(e, make(e, year, month, day))

    def wide(value: Expression, size: int) -> Expression:
        return tz.times(e, e.cast(value, types.I64), size)

    total = tz.plus(e, tz.plus(e, tz.plus(e, start, wide(hour, HOUR)), wide(minute, 60 * SECOND)), micros)
    return e.if_then(valid, total, e.null(types.I64))


# ---- months between


def months_between(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The months between two instants, rounded to 8 digits or not."""
    end, start, rounded, zone = call.children()
    where = zone_of(zone)
    if isinstance(rounded, Literal):
        known = rounded.value is not None
        return _months(e, end, start, where, rounded=bool(rounded.value)) if known else e.null(types.FP64)
    end, start, rounded = map(e.share, (end, start, rounded))
    exact, near = (_months(e, end, start, where, rounded=digits) for digits in (False, True))
    return e.if_then(e.is_null(rounded), e.null(types.FP64), rounded, near, exact)


def _months(e: LoweringBuilder, end: Expression, start: Expression, where: Zone, rounded: bool) -> Expression:
    last_day, last_second = _day_and_second(e, end, where)
    first_day, first_second = _day_and_second(e, start, where)

    def part(name: str, day: Expression) -> Expression:
        return date_part(e, name, day)

    def number(day: Expression) -> Expression:
        return tz.plus(e, tz.times(e, _wide(e, part("year", day)), 12), _wide(e, part("month", day)))

    days = [e.share(part("day", day)) for day in (last_day, first_day)]
    months = e.share(e.cast(tz.minus(e, number(last_day), number(first_day)), types.FP64))
    ends = [
        e.equal(day, part("day", e.call("spark:last_day", date)))
        for day, date in zip(days, (last_day, first_day), strict=True)
    ]
    whole = e.or_(e.equal(*days), e.and_(*ends))
    between_days = tz.times(e, tz.minus(e, _wide(e, days[0]), _wide(e, days[1])), DAY // SECOND)
    seconds = e.cast(tz.plus(e, between_days, tz.minus(e, last_second, first_second)), types.FP64)

    def divide(left: Expression, right: float) -> Expression:
        return e.call("arithmetic:divide", left, e.fp64(right), on_division_by_zero="IEEE")

    value: Expression = e.call("arithmetic:add", months, divide(seconds, 31 * 86400.0))
    if rounded:
        value = divide(_nearest(e, e.call("arithmetic:multiply", value, e.fp64(1e8))), 1e8)
    return e.if_then(whole, months, value)


def _wide(e: LoweringBuilder, value: Expression) -> Expression:
    return e.cast(value, types.I64)


def _nearest(e: LoweringBuilder, value: Expression) -> Expression:
    """floor(x + 0.5) as a double."""
    return e.cast(e.call("datafusion:floor", e.call("arithmetic:add", value, e.fp64(0.5))), types.FP64)


def _day_and_second(e: LoweringBuilder, value: Expression, where: Zone) -> tuple[Expression, Expression]:
    """The local date of an instant, and the seconds since that day began."""
    instant = e.share(tz.micros(e, value))
    day = e.share(tz.from_micros(e, tz.local_micros(e, instant, where), DATE))
    return day, tz.quotient(e, tz.minus(e, instant, tz.start_micros(e, day, where)), SECOND)


REWRITES = rewrites(
    {
        "spark:from_unixtime": from_unixtime,
        "spark:months_between": months_between,
        "spark:to_timestamp": to_timestamp(throws=True),
        "spark:to_timestamp_ntz": to_timestamp(throws=True),
        "spark:try_to_timestamp": to_timestamp(throws=False),
        "spark:try_to_timestamp_ntz": to_timestamp(throws=False),
        "spark:try_unix_timestamp": unix_timestamp(throws=False),
        "spark:unix_timestamp": unix_timestamp(throws=True),
    }
)
