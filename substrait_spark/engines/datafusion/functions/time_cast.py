"""Casts between dates, timestamps, texts and numbers. Local times are in the zone that the call names."""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra import types
from ....algebra.expression import Cast, Expression, ScalarFunction
from ....algebra.types import INTEGERS, Type
from ....dialects.rewrite import Apply, Sees, rewrites
from ....functions.time_zone import DATE, INSTANT, LOCAL, SECOND, Zone
from ....lowering.builder import LoweringBuilder
from ....lowering.expression import ExpressionLowering
from ....lowering.general.raise_error import raised, raising
from . import time_zone as tz
from .datetime_format import needs_zone, read
from .time_zone import SKIPPED_DAY, constant, zone_of

# ---- among dates and timestamps


def counted(e: LoweringBuilder, cast: Cast) -> Expression:
    """Dates as the local times of their midnights, and local times as the dates that they are in."""
    return e.cast(cast.input, cast.type)


READING = {"to_timestamp": True, "try_to_timestamp": False}
"""Functions that read a text by a pattern, and whether they raise for what they can't read."""


def text_to_date(lowering: ExpressionLowering, cast: Cast) -> Expression | None:
    """The local date of an instant that a text says by a pattern: the date in the text, unless clocks skip that time."""
    local = cast.input
    if not isinstance(local, ScalarFunction) or local.declaration.name != "local_timestamp":
        return None
    text, here = local.children()
    if not isinstance(text, ScalarFunction) or text.declaration.name not in READING:
        return None
    value, pattern, there = text.children()
    where = zone_of(here)
    if constant(here) != constant(there):
        return None
    if where.offset is None and (where.name in SKIPPED_DAY or needs_zone(pattern)):
        return None
    throws = READING[text.declaration.name]
    return read(lowering.e, lowering.lower(value), lowering.lower(pattern), DATE, where, throws)


# ---- to text


def to_text(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Fractions of seconds without zeros at their end; a plus before years of five digits."""
    value, *zone = call.children()
    if value.type.kind == "date":
        return e.call("datafusion:to_char", value, e.text("%Y-%m-%d"))
    local = e.share(tz.local(e, value, zone_of(*zone)) if zone else value)
    whole = e.equal(tz.rest(e, tz.micros(e, local), SECOND), e.i64(0))
    seconds = "%Y-%m-%d %H:%M:%S"
    fraction = e.call("datafusion:to_char", local, e.text(seconds + "%.6f"))
    return e.if_then(
        whole,
        e.call("datafusion:to_char", local, e.text(seconds)),
        e.call("string:rtrim", fraction, e.text("0")),
    )


# ---- instants


def instant(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The instant of a local time or of a day's start, that a text says, or of a number of seconds since 1970."""
    value, *zone = call.children()
    if value.type.kind == "i64":
        return _from_integer(e, value)
    if value.type.kind == "fp64":
        return _from_float(e, value)
    if value.type.kind == "string":
        return _read_time(e, value, True, INSTANT, zone_of(*zone))
    return tz.instant(e, value, zone_of(*zone))


def _from_integer(e: LoweringBuilder, seconds: Expression) -> Expression:
    """Seconds out of range give the first or the last timestamp there is."""
    product = tz.times(e, seconds, SECOND)
    if isinstance(seconds, Cast) and seconds.input.type.kind in INTEGERS:
        return tz.from_micros(e, product, INSTANT)
    most = (2**63 - 1) // SECOND
    bounded = e.if_then(
        e.call("comparison:gt", seconds, e.i64(most)), e.i64(2**63 - 1),
        e.call("comparison:lt", seconds, e.i64(-most)), e.i64(-(2**63)),
        product,
    )  # fmt: skip
    return tz.from_micros(e, bounded, INSTANT)


def _from_float(e: LoweringBuilder, seconds: Expression) -> Expression:
    """NaN, infinities and what is out of range raise."""
    product = e.call("arithmetic:multiply", seconds, e.fp64(1e6))
    return tz.from_micros(e, e.cast(product, types.I64), INSTANT)


# ---- from text

BLANK = r"[\x00-\x20\x7f]*"
"""What Spark trims from a text before it reads a date or a timestamp."""
_AFTER_YEAR = rf"(-[0-9]{{1,2}}(-[0-9]{{1,2}}([ T].*)?)?)?{BLANK}$"
_DATE_TEXT = rf"^{BLANK}[+-]?[0-9]{{4,7}}{_AFTER_YEAR}"
_LONG_YEAR = rf"^{BLANK}[+-]?[0-9]{{6,7}}{_AFTER_YEAR}"


def to_date(throws: bool) -> Apply:
    """A year, a month and a day; without a month or a day, the first; what follows a blank or a T is not read."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        (value,) = call.children()
        return _read_date(e, value, throws)

    return lower


def _read_date(e: LoweringBuilder, value: Expression, throws: bool) -> Expression:
    value = e.share(value)
    padded = _replace(e, value, rf"^{BLANK}([+-]?[0-9]+)(-[0-9]+)?(-[0-9]+)?.*$", "${1}${2}${3}-1-1")
    three = _replace(e, padded, "^(-?[^-]*)-([0-9]+)-([0-9]+)(-.*)?$", "${1}-${2}-${3}")
    signed = _replace(e, three, "^([0-9])", "+${1}")
    read = e.cast(signed, types.nullable(DATE), throws=False)
    fits = e.call("datafusion:regexp_like", value, e.text(_DATE_TEXT), e.text("s"))
    date = e.share(e.if_then(fits, read, e.null(DATE)))
    unread = e.call("datafusion:regexp_like", value, e.text(_LONG_YEAR), e.text("s"))
    return _or_raise(e, date, date, value, throws, [unread], "a date in a year of six digits")


def _replace(e: LoweringBuilder, value: Expression, pattern: str, by: str) -> Expression:
    return e.call("datafusion:regexp_replace", value, e.text(pattern), e.text(by), e.text("s"))


def _or_raise(
    e: LoweringBuilder,
    value_or_null: Expression,
    known: Expression,
    value: Expression,
    throws: bool,
    unread: Sequence[Expression],
    which: str,
) -> Expression:
    """What was read, else an error where it is text that the engine can't read, and where it can't be null for any text.

    `known` is null where `value_or_null` is, and nests less deep.
    """
    missing = [e.is_null(known), *([e.is_not_null(value)] if value.type.nullable else [])]
    error = raising(e, f"[UNSUPPORTED_FORMAT] {which}", value_or_null.type, value)
    if not throws:
        return e.if_then(e.and_(*missing, *unread), error, value_or_null)
    invalid = raised(e, "CAST_INVALID_INPUT", value_or_null.type, value)
    return e.if_then(e.and_(*missing, *unread), error, e.and_(*missing), invalid, value_or_null)


_TIME_TEXT = (
    rf"^{BLANK}[0-9]{{4}}(-[0-9]{{1,2}}(-[0-9]{{1,2}}"
    rf"([ T][0-9]{{1,2}}:[0-9]{{1,2}}(:[0-5]?[0-9](\.[0-9]*)?)?)?)?)?{BLANK}$"
)
"""Texts that are read as timestamps, if there is such a time."""
_OFFSET = r"([+-])(?:(0?[0-9]|1[0-7])(?::([0-5]?[0-9]))?|(0[0-9]|1[0-7])([0-5][0-9]))"
"""As Java's ZoneOffset reads one, and Spark where hours or minutes have one digit, up to 17:59."""
_WITH_OFFSET = (
    rf"^({BLANK}[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}[ T][0-9]{{1,2}}:[0-9]{{1,2}}:[0-5]?[0-9](?:\.[0-9]*)?)"
    rf"[ ]*(?:Z|UTC|GMT|UT|(?:UTC|GMT|UT)?{_OFFSET}){BLANK}$"
)
"""Texts that are read as timestamps with the offset of their time zone: its sign, its hours and minutes, or both in four digits."""
_UNREAD = (
    rf"^{BLANK}([+-]?[0-9]{{4,6}}-[0-9]{{1,2}}-[0-9]{{1,2}}[ T][0-9]{{1,2}}(:[0-9]{{1,2}}(:[0-5]?[0-9](\.[0-9]*)?)?)?"
    rf"([ ]*[A-Za-z+-].*)?|[+-][0-9]{{4,6}}.*|[0-9]{{5,6}}(-.*)?|T[0-9]{{1,2}}.*|[0-9]{{1,2}}:.*){BLANK}$"
)
"""Texts that Spark may read as timestamps and engines can't: with a region, without a date, with a long year."""

UNREAD_TIMES = "a time in a zone by its region's name, without a date, or in a year of more than four digits"


def to_local(throws: bool) -> Apply:
    """An offset in a text is not read, as in Spark."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        (value,) = call.children()
        return _read_time(e, value, throws, LOCAL, zone_of())

    return lower


def try_instant(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The instant that a text says. Without a time zone it says a local time."""
    value, zone = call.children()
    return _read_time(e, value, False, INSTANT, zone_of(zone))


def _before_offset(e: LoweringBuilder, value: Expression, local: Expression) -> Expression:
    """The instant of a local time with an offset in its text."""

    def signed(groups: str) -> Expression:
        digits = _replace(e, value, _WITH_OFFSET, "${2}" + groups)
        return e.coalesce(e.cast(digits, types.nullable(types.I64), throws=False), e.i64(0))

    hours, minutes = signed("${3}${5}"), signed("${4}${6}")
    offset = e.call("datafusion:add", tz.times(e, hours, 3600 * SECOND), tz.times(e, minutes, 60 * SECOND))
    return tz.from_micros(e, e.call("datafusion:subtract", tz.micros(e, local), offset), INSTANT)


def _read_time(e: LoweringBuilder, value: Expression, throws: bool, target: Type, where: Zone) -> Expression:
    """Texts in the usual forms; others that Spark may read raise. What is missing is the first of its kind."""
    value = e.share(value)
    given = e.share(_replace(e, value, _WITH_OFFSET, "${1}"))
    whole = rf"^{BLANK}([0-9]+)(-[0-9]+)?(-[0-9]+)?[ T]?([0-9:.]*){BLANK}$"
    longer = _replace(e, given, whole, "${1}${2}${3}-1-1 0${4}:0:0")
    six = r"^([0-9]+)-([0-9]+)-([0-9]+)[-0-9]* 0*([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2}(\.[0-9]{1,6})?).*$"
    cut = _replace(e, longer, six, "${1}-${2}-${3} ${4}:${5}:${6}")
    padded = e.call("datafusion:regexp_replace", cut, e.text(r"([- :])([0-9])\b"), e.text("${1}0${2}"), e.text("g"))
    fits = e.call("datafusion:regexp_like", given, e.text(_TIME_TEXT), e.text("s"))
    local = e.share(e.if_then(fits, e.cast(padded, types.nullable(LOCAL), throws=False), e.null(LOCAL)))
    time: Expression = local
    if target == INSTANT:
        zoned = e.call("datafusion:regexp_like", value, e.text(_WITH_OFFSET), e.text("s"))
        time = e.if_then(zoned, _before_offset(e, value, local), tz.instant(e, local, where))
    unread = [e.call("datafusion:regexp_like", value, e.text(_UNREAD), e.text("s")), e.not_(fits)]
    return _or_raise(e, time, local, value, throws, unread, UNREAD_TIMES)


CALLS = {
    "spark:date": to_date(throws=True),
    "spark:timestamp": instant,
    "spark:timestamp_ntz": to_local(throws=True),
    "spark:try_date": to_date(throws=False),
    "spark:try_timestamp": try_instant,
    "spark:try_timestamp_ntz": to_local(throws=False),
}

CASTS = {
    ("date", "precision_timestamp"): counted,
    ("precision_timestamp", "date"): counted,
}

UNLOWERED_CASTS = {("precision_timestamp", "date"): text_to_date}

REWRITES = [*rewrites(CALLS), *rewrites(CASTS), *rewrites(UNLOWERED_CASTS, sees=Sees.ORIGINAL)]
