"""Casts between dates, timestamps, texts and numbers. Local times are in the zone that the cast names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.types import FLOATS, INTEGERS, Type
from ..catalyst import tree
from ..catalyst.modes import ANSI, LEGACY, eval_mode
from ..errors import Unsupported
from . import time_zone as tz
from .datetime import raised, scaled, zone_of
from .datetime_format import read
from .time_zone import DATE, INSTANT, LOCAL, SECOND, SKIPPED_DAY

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder

TIMES = frozenset({"date", "precision_timestamp", "precision_timestamp_tz", "interval_year", "interval_day"})
TimeCast = Callable[["ExpressionBuilder", tree.Expression, "Expression"], "Expression"]


def time_cast(e: ExpressionBuilder, node: tree.Expression, value: Expression, target: Type) -> Expression | None:
    """A cast of or to a date, a timestamp or an interval; None for other casts."""
    kinds = (value.type.kind, target.kind)
    if not TIMES.intersection(kinds):
        return None
    if types.equal_but_nullability(value.type, target) and target.kind not in ("interval_year", "interval_day"):
        return value
    rule = CASTS.get(kinds)
    if rule is None:
        raise Unsupported(
            f"a cast of {value.type} to {target} has no Substrait form", "Use functions that say how to convert."
        )
    return rule(e, node, value)


# ---- among dates and timestamps


def _to_date(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    child = node["child"]
    if child.cls.name == "GetTimestamp" and e.dialect.quirks.counting_casts and zone_of(node).name not in SKIPPED_DAY:
        return read(e, child, e.emit(child["left"]), child["right"], DATE)
    return tz.date_of(e, value, zone_of(node))


def _local_to_date(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return e.cast(value, DATE)


def _date_to_local(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return e.cast(value, LOCAL)


def _to_instant(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return tz.instant(e, value, zone_of(node))


def _to_local(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return tz.local(e, value, zone_of(node))


# ---- to text


def _to_text(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """Fractions of seconds without zeros at their end; a plus before years of five digits."""
    zone = (e.text(zone_of(node).name),) if value.type.kind == "precision_timestamp_tz" else ()

    def formatted() -> Expression:
        local = value if value.type.kind == "precision_timestamp" else tz.local(e, value, zone_of(node))
        local = e.share(local)
        whole = e.equal(tz.rest(e, tz.micros(e, local), SECOND), e.i64(0))
        seconds = "%Y-%m-%d %H:%M:%S"
        fraction = e.call("datafusion:to_char", local, e.text(seconds + "%.6f"))
        return e.if_then(
            whole,
            e.call("datafusion:to_char", local, e.text(seconds)),
            e.call("string:rtrim", fraction, e.text("0")),
        )

    return e.first(lambda: e.call("spark:string", value, *zone), formatted)


def _date_to_text(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    return e.first(
        lambda: e.call("spark:string", value), lambda: e.call("datafusion:to_char", value, e.text("%Y-%m-%d"))
    )


# ---- to and from numbers: seconds since 1970


def _to_integer(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    seconds = e.first(
        lambda: e.call("spark:unix_seconds", value),
        lambda: tz.floor_quotient(e, tz.micros(e, value), SECOND),
    )
    target = e.type_of(node)
    if target.kind == "i64":
        return seconds
    if eval_mode(node) == LEGACY:
        raise Unsupported("a LEGACY cast of a timestamp to a small integer wraps around")
    return e.cast(seconds, target, throws=eval_mode(node) == ANSI)


def _to_float(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    count = e.first(lambda: e.call("spark:unix_micros", value), lambda: tz.micros(e, value))
    seconds = e.call("arithmetic:divide", e.cast(count, types.FP64), e.fp64(1e6), on_division_by_zero="IEEE")
    return e.cast(seconds, e.type_of(node))


def _to_decimal(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    precision, scale = e.type_of(node).parameters
    if scale != 6 or precision < 20:
        raise Unsupported("a cast of a timestamp to a decimal that may not hold it", "Cast it to DECIMAL(20, 6).")
    count = e.first(lambda: e.call("spark:unix_micros", value), lambda: tz.micros(e, value))
    return scaled(e, count, precision)


def _from_integer(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """Seconds out of range give the first or the last timestamp there is."""
    seconds = e.cast(value, types.I64)

    def multiplied() -> Expression:
        tz.require_counting(e)
        product = tz.times(e, seconds, SECOND)
        if value.type.kind != "i64":
            return tz.from_micros(e, product, INSTANT)
        most = (2**63 - 1) // SECOND
        bounded = e.if_then(
            e.call("comparison:gt", seconds, e.i64(most)), e.i64(2**63 - 1),
            e.call("comparison:lt", seconds, e.i64(-most)), e.i64(-(2**63)),
            product,
        )  # fmt: skip
        return tz.from_micros(e, bounded, INSTANT)

    return e.first(lambda: e.call("spark:timestamp", seconds), multiplied)


def _from_float(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """NaN, infinities and what is out of range raise in ANSI mode."""
    seconds = e.cast(value, types.FP64)
    if eval_mode(node) != ANSI:
        return e.call("spark:timestamp_seconds", seconds)

    def multiplied() -> Expression:
        tz.require_counting(e)
        return tz.from_micros(e, e.cast(_product(e, seconds), types.I64), INSTANT)

    return e.first(lambda: e.call("spark:timestamp", seconds), multiplied)


def _product(e: ExpressionBuilder, seconds: Expression) -> Expression:
    return e.call("arithmetic:multiply", seconds, e.fp64(1e6))


# ---- from text

BLANK = r"[\x00-\x20\x7f]*"
"""What Spark trims from a text before it reads a date or a timestamp."""
_DATE_TEXT = rf"^{BLANK}[+-]?[0-9]{{4,7}}(-[0-9]{{1,2}}(-[0-9]{{1,2}}([ T].*)?)?)?{BLANK}$"
_LONG_YEAR = rf"^{BLANK}[+-]?[0-9]{{6}}"


def _text_to_date(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """A year, a month and a day; without a month or a day, the first; what follows a blank or a T is not read."""
    throws = eval_mode(node) == ANSI
    return e.first(
        lambda: e.call("spark:date" if throws else "spark:try_date", value), lambda: _read_date(e, value, throws)
    )


def _read_date(e: ExpressionBuilder, value: Expression, throws: bool) -> Expression:
    value = e.share(value)
    padded = _replace(e, value, rf"^{BLANK}([+-]?[0-9]+)(-[0-9]+)?(-[0-9]+)?.*$", "${1}${2}${3}-1-1")
    three = _replace(e, padded, "^(-?[^-]*)-([0-9]+)-([0-9]+)(-.*)?$", "${1}-${2}-${3}")
    signed = _replace(e, three, "^([0-9])", "+${1}")
    read = e.cast(signed, types.nullable(DATE), throws=False)
    fits = e.call("datafusion:regexp_like", value, e.text(_DATE_TEXT), e.text("s"))
    found = e.share(e.if_then(fits, read, e.null(DATE)))
    return _or_raise(e, found, value, throws, _LONG_YEAR)


def _replace(e: ExpressionBuilder, value: Expression, pattern: str, by: str) -> Expression:
    return e.call("datafusion:regexp_replace", value, e.text(pattern), e.text(by), e.text("s"))


def _or_raise(e: ExpressionBuilder, found: Expression, value: Expression, throws: bool, unread: str) -> Expression:
    """What was read; else, where it can't be null, an error: for any text, or for texts that the engine can't read."""
    failed = [e.is_null(found)]
    if value.type.nullable:
        failed.append(e.is_not_null(value))
    if not throws:
        failed.append(e.call("datafusion:regexp_like", value, e.text(unread), e.text("s")))
    return e.if_then(e.and_(*failed), raised(e, "CAST_INVALID_INPUT", found.type, value), found)


_TIME_TEXT = (
    rf"^{BLANK}[0-9]{{4}}(-[0-9]{{1,2}}(-[0-9]{{1,2}}"
    rf"([ T][0-9]{{1,2}}:[0-9]{{1,2}}(:[0-5]?[0-9](\.[0-9]+)?)?)?)?)?{BLANK}$"
)
"""Texts that are read as timestamps, if there is such a time."""
_WITH_OFFSET = (
    rf"^({BLANK}[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}[ T][0-9]{{1,2}}:[0-9]{{1,2}}:[0-5]?[0-9](?:\.[0-9]+)?)"
    rf"(?:Z|([+-])(0[0-9]|1[0-7]):([0-5][0-9])){BLANK}$"
)
"""Texts that are read as timestamps with the offset of their time zone."""
_UNREAD = (
    rf"^{BLANK}([+-]?[0-9]{{4,6}}-[0-9]{{1,2}}-[0-9]{{1,2}}[ T][0-9]{{1,2}}(:[0-9]{{1,2}}(:[0-5]?[0-9](\.[0-9]*)?)?)?"
    rf"([ ]*[A-Za-z+-].*)?|[+-][0-9]{{4,6}}.*|[0-9]{{5,6}}(-.*)?|T[0-9]{{1,2}}.*|[0-9]{{1,2}}:.*){BLANK}$"
)
"""Texts that Spark may read as timestamps and engines can't: with a time zone, without a date, with a long year."""


def _text_to_local(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """The time zone in a text is not read; engines refuse such texts."""
    throws = eval_mode(node) == ANSI
    return e.first(
        lambda: e.call("spark:timestamp_ntz" if throws else "spark:try_timestamp_ntz", value),
        lambda: _read_time(e, node, value, throws, LOCAL),
    )


def _text_to_instant(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """A text without a time zone says a local time."""
    throws, zone = eval_mode(node) == ANSI, e.text(zone_of(node).name)
    return e.first(
        lambda: e.call("spark:timestamp" if throws else "spark:try_timestamp", value, zone),
        lambda: _read_time(e, node, value, throws, INSTANT),
    )


def _before_offset(e: ExpressionBuilder, value: Expression, local: Expression) -> Expression:
    """The instant of a local time with an offset in its text."""

    def signed(group: int) -> Expression:
        digits = _replace(e, value, _WITH_OFFSET, f"${{2}}${{{group}}}")
        return e.coalesce(e.cast(digits, types.nullable(types.I64), throws=False), e.i64(0))

    offset = e.call("spark:add", tz.times(e, signed(3), 3600 * SECOND), tz.times(e, signed(4), 60 * SECOND))
    return tz.from_micros(e, e.call("spark:subtract", tz.micros(e, local), offset), INSTANT)


def _read_time(
    e: ExpressionBuilder, node: tree.Expression, value: Expression, throws: bool, target: Type
) -> Expression:
    """Texts in the usual forms; others that Spark may read raise. What is missing is the first of its kind."""
    value = e.share(value)
    given, zoned = value, None
    if target == INSTANT:
        zoned = e.share(e.call("datafusion:regexp_like", value, e.text(_WITH_OFFSET), e.text("s")))
        given = e.share(_replace(e, value, _WITH_OFFSET, "${1}"))
    whole = rf"^{BLANK}([0-9]+)(-[0-9]+)?(-[0-9]+)?[ T]?([0-9:.]*){BLANK}$"
    longer = _replace(e, given, whole, "${1}${2}${3}-1-1 0${4}:0:0")
    six = r"^([0-9]+)-([0-9]+)-([0-9]+)[-0-9]* 0*([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2}(\.[0-9]{1,6})?).*$"
    cut = _replace(e, longer, six, "${1}-${2}-${3} ${4}:${5}:${6}")
    padded = e.call("datafusion:regexp_replace", cut, e.text(r"([- :])([0-9])\b"), e.text("${1}0${2}"), e.text("g"))
    fits = e.call("datafusion:regexp_like", given, e.text(_TIME_TEXT), e.text("s"))
    local = e.share(e.if_then(fits, e.cast(padded, types.nullable(LOCAL), throws=False), e.null(LOCAL)))
    found = local if target == LOCAL else tz.instant(e, local, zone_of(node))
    if zoned is not None:
        found = e.if_then(zoned, _before_offset(e, value, local), found)
    failed = [e.is_null(local), *([e.is_not_null(value)] if value.type.nullable else [])]
    if not throws:
        unread = e.call("datafusion:regexp_like", value, e.text(_UNREAD), e.text("s"))
        failed += [unread, e.not_(fits)]
    return e.if_then(e.and_(*failed), raised(e, "CAST_INVALID_INPUT", found.type, value), found)


CASTS: dict[tuple[str, str], TimeCast] = {
    ("precision_timestamp_tz", "date"): _to_date,
    ("precision_timestamp", "date"): _local_to_date,
    ("date", "precision_timestamp_tz"): _to_instant,
    ("precision_timestamp", "precision_timestamp_tz"): _to_instant,
    ("precision_timestamp_tz", "precision_timestamp"): _to_local,
    ("date", "precision_timestamp"): _date_to_local,
    ("precision_timestamp_tz", "string"): _to_text,
    ("precision_timestamp", "string"): _to_text,
    ("date", "string"): _date_to_text,
    ("string", "date"): _text_to_date,
    ("string", "precision_timestamp"): _text_to_local,
    ("string", "precision_timestamp_tz"): _text_to_instant,
    ("precision_timestamp_tz", "decimal"): _to_decimal,
    **{("precision_timestamp_tz", kind): _to_integer for kind in INTEGERS},
    **{("precision_timestamp_tz", kind): _to_float for kind in FLOATS},
    **{(kind, "precision_timestamp_tz"): _from_integer for kind in INTEGERS},
    **{(kind, "precision_timestamp_tz"): _from_float for kind in FLOATS},
}
"""By the kinds of types. What is missing is refused: Substrait leaves open what such casts mean."""
