"""Functions that write values by a pattern: DataFusion has one of them, for some conversions of integers."""

from __future__ import annotations

import re

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction
from ....algebra.types import FLOATS, INTEGERS
from ....dialects.rewrite import rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from .number_cast import decimal_text, double_to_text, is_nan, joined
from .rounding import half_even

CONVERSION = re.compile(
    r"%(?:(?P<index>[0-9]+)\$)?(?P<flags>[-0+,]*)(?P<width>[1-9][0-9]{0,3})?(?:\.(?P<digits>[0-9]{1,2}))?(?P<kind>[sdxXofn%])"
)
"""The conversions that can be composed: strings, integers and numbers with a fixed number of decimals."""

PORTABLE = re.compile(r"%(?:([-0]?[1-9][0-9]{0,3}|[+,])?d|[xXo])")
"""The conversions of integers that mean the same everywhere: `%d` with a width or one flag, `%x` and `%o`."""


def format_string(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A pattern that is a literal, as its texts and what its conversions write, one behind the other."""
    arguments = call.children()
    pattern = arguments[0].value if isinstance(arguments[0], Literal) else None
    if pattern is None:
        raise NotInDialect("the format is no literal")
    if "%" in CONVERSION.sub("", pattern):
        raise NotInDialect("the format has conversions that engines treat in different ways")
    parts: list[Expression] = []
    end = ordinary = 0
    for conversion in CONVERSION.finditer(pattern):
        before = pattern[end : conversion.start()]
        end = conversion.end()
        if conversion["kind"] in "n%":
            if conversion[0] not in ("%n", "%%"):
                raise NotInDialect(f"the conversion {conversion[0]} has no form")
            parts.append(e.text(before + {"n": "\n", "%": "%"}[conversion["kind"]]))
            continue
        ordinary += not conversion["index"]
        position = int(conversion["index"] or ordinary)
        if not 0 < position < len(arguments):
            raise NotInDialect(f"the format has no argument for {conversion[0]}")
        parts += [e.text(before), _converted(e, conversion, arguments[position])]
    return e.call("string:concat", *parts, e.text(pattern[end:]), null_handling="ACCEPT_NULLS")


def _converted(e: LoweringBuilder, conversion: re.Match[str], value: Expression) -> Expression:
    """What a conversion writes for an argument, which is never null."""
    kind, flags, digits = conversion["kind"], conversion["flags"], conversion["digits"]
    alone = conversion[0].replace(f"{conversion['index']}$", "")
    if value.type.kind in INTEGERS and PORTABLE.fullmatch(alone):
        return e.call("datafusion:format_string", e.text(alone), value)
    if kind == "s" and digits is None and flags in ("", "-"):
        return _padded(e, e.coalesce(_shown(e, value), e.text("null")), conversion["width"], "-" in flags)
    if kind == "f" and value.type.kind in FLOATS and len(set(flags)) == len(flags) and not {"-", "0"} <= set(flags):
        return _fixed(e, flags, conversion["width"], int(digits or 6), value)
    raise NotInDialect(f"engines write {value.type} with {conversion[0]} in different ways")


def _shown(e: LoweringBuilder, value: Expression) -> Expression:
    """A value as Java shows it."""
    kind = value.type.kind
    if kind in FLOATS:
        if kind == "fp32":
            raise NotInDialect("the digits of a FLOAT's text depend on the engine")
        return double_to_text(e, value)
    if kind == "string" or kind in (*INTEGERS, "boolean") or (kind == "decimal" and value.type.parameters[1] <= 6):
        return e.cast(value, types.STRING)
    raise NotInDialect(f"engines write {value.type} with %s in different ways")


def _padded(e: LoweringBuilder, shown: Expression, width: str | None, left: bool) -> Expression:
    """A text of at least so many UTF-16 units, filled up with spaces."""
    if width is None:
        return shown
    shown = e.share(shown)
    pairs = e.call("datafusion:regexp_count", shown, e.text("[\U00010000-\U0010ffff]"))
    length = e.share(e.call("datafusion:add", e.cast(e.call("spark:length", shown), types.I64), pairs))
    missing = e.call("datafusion:subtract", e.i64(int(width)), length)
    blanks = e.if_then(
        e.call("comparison:lt", length, e.i64(int(width))),
        e.call("string:repeat", e.text(" "), missing),
        e.text(""),
    )
    parts = (shown, blanks) if left else (blanks, shown)
    return e.call("string:concat", *parts, null_handling="ACCEPT_NULLS")


LARGEST = 2.0**53
"""From here on the digits of a double's text depend on the version of Java."""


def _fixed(e: LoweringBuilder, flags: str, width: str | None, digits: int, value: Expression) -> Expression:
    """A floating-point number with so many decimals, of its text rounded half up."""
    if digits > 20:
        raise NotInDialect("the format has too many decimals")
    value = e.share(e.cast(value, types.FP64))
    size = e.share(e.call("arithmetic:abs", value))
    decimal = types.of("decimal", 38, digits, nullable=False)
    written = e.cast(e.cast(decimal_text(e, size), decimal), types.STRING)
    if "," in flags:
        written = _in_groups(e, e.share(written), digits)
    sign = e.if_then(_negative(e, value), e.text("-"), e.text("+" if "+" in flags else ""))
    infinite = e.equal(size, e.fp64(float("inf")))
    large = e.call("comparison:gte", size, e.fp64(LARGEST))
    if "0" in flags:
        if width is None:
            raise NotInDialect("the format pads with zeros to no width")
        digits_wanted = e.call("datafusion:subtract", e.i32(int(width)), e.call("spark:length", sign))
        written = e.share(written)
        short = e.call("comparison:lt", e.call("spark:length", written), digits_wanted)
        written = e.if_then(short, e.call("string:lpad", written, digits_wanted, e.text("0")), written)
    shown = e.if_then(
        e.is_null(value), e.text("null"[:digits] if digits else ""),
        is_nan(e, value), e.text("NaN"),
        infinite, joined(e, sign, e.text("Infinity")),
        large, e.raises("[UNSUPPORTED_FORMAT] digits that depend on the Java version", types.STRING, value),
        joined(e, sign, written),
    )  # fmt: skip
    return _padded(e, e.coalesce(shown, e.text("")), width, "-" in flags)


def _negative(e: LoweringBuilder, value: Expression) -> Expression:
    """Whether a double has a minus, which -0.0 has too."""
    zero = e.equal(value, e.fp64(0.0))
    turned = e.call("arithmetic:divide", e.fp64(1.0), value, on_division_by_zero="IEEE")
    return e.or_(
        e.call("comparison:lt", value, e.fp64(0.0)), e.and_(zero, e.call("comparison:lt", turned, e.fp64(0.0)))
    )


def _in_groups(e: LoweringBuilder, written: Expression, decimals: int) -> Expression:
    """Digits with a fixed number of decimals, those before the point in groups of three."""

    def part(pattern: str) -> Expression:
        return e.call("datafusion:regexp_replace", written, e.text(pattern), e.text(""), e.text("s"))

    whole = part("[.].*$") if decimals else written
    groups = e.call(
        "datafusion:regexp_replace", e.call("string:reverse", whole), e.text("([0-9]{3})"), e.text("${1},"), e.text("g")
    )
    grouped = e.call("string:ltrim", e.call("string:reverse", groups), e.text(","))
    if not decimals:
        return grouped
    return joined(e, grouped, part("^[^.]*"))


def format_number(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """With thousands separators and a fixed number of decimals, rounded half even."""
    value, digits = call.children()
    decimals = digits.value if isinstance(digits, Literal) and digits.type.kind == "i32" else None
    if decimals is None or not 0 <= decimals <= 10:
        raise NotInDialect("the number of decimals is no literal from 0 to 10")
    if value.type.kind in FLOATS:
        return _grouped_float(e, e.share(e.cast(value, types.FP64)), decimals)
    if value.type.kind not in (*INTEGERS, "decimal"):
        raise NotInDialect(f"the dialect {e.dialect.name} writes no {value.type} in groups")
    value = e.share(value)
    scale = value.type.parameters[1] if value.type.kind == "decimal" else 0
    rounded = half_even(e, value, decimals) if decimals < scale else value
    written: Expression = e.call("string:ltrim", e.cast(rounded, types.STRING), e.text("-"))
    missing = decimals - min(scale, decimals)
    if missing:
        written = joined(e, written, e.text(("" if scale else ".") + "0" * missing))
    sign = e.if_then(e.call("comparison:lt", value, _zero(e, value)), e.text("-"), e.text(""))
    return joined(e, sign, _in_groups(e, e.share(written), decimals))


def _grouped_float(e: LoweringBuilder, value: Expression, decimals: int) -> Expression:
    """Java rounds the number itself half even, not its text: which differs where the text is half way.

    Numbers half way between two results have few enough digits below `most` that each has its own double.
    """
    size = e.share(e.call("arithmetic:abs", value))
    most = 10.0 ** (14 - decimals)
    factor = 2 * 10.0**decimals
    decimal = types.of("decimal", 38, decimals, nullable=False)
    up = e.cast(e.cast(decimal_text(e, size), decimal, throws=False), types.STRING)
    units = e.call("string:replace", up, e.text("."), e.text(""), case_sensitivity="CASE_SENSITIVE")
    above = e.share(e.cast(units, types.I64, throws=False))
    doubled = e.share(e.call("datafusion:subtract", e.call("datafusion:multiply", above, e.i64(2)), e.i64(1)))
    half_way = e.share(e.cast(doubled, types.FP64))
    ties = e.equal(e.call("arithmetic:divide", half_way, e.fp64(factor), on_division_by_zero="IEEE"), size)
    rest = e.share(_rest_of_product(e, size, factor, half_way))
    even = e.equal(e.call("datafusion:modulus", above, e.i64(2)), e.i64(1))
    below = e.or_(e.call("comparison:lt", rest, e.fp64(0.0)), e.and_(e.equal(rest, e.fp64(0.0)), even))
    lower = e.and_(e.call("comparison:lt", size, e.fp64(most)), ties, below)
    rounded = e.call("datafusion:subtract", above, e.if_then(lower, e.i64(1), e.i64(0)))
    digits: Expression = e.cast(rounded, types.STRING)
    if decimals:
        padded = e.share(digits)
        short = e.call("comparison:lte", e.call("spark:length", padded), e.i32(decimals))
        digits = e.if_then(short, e.call("string:lpad", padded, e.i32(decimals + 1), e.text("0")), padded)
        pattern = f"^([0-9]+)([0-9]{{{decimals}}})$"
        digits = e.call("datafusion:regexp_replace", digits, e.text(pattern), e.text("${1}.${2}"), e.text("s"))
    sign = e.share(e.if_then(_negative(e, value), e.text("-"), e.text("")))
    whole = e.equal(e.cast(e.cast(size, types.I64, throws=False), types.FP64), size)
    unread = e.or_(
        e.call("comparison:gte", size, e.fp64(LARGEST)),
        e.and_(e.call("comparison:gte", size, e.fp64(most)), e.not_(whole)),
    )
    return e.if_then(
        is_nan(e, value), e.text("NaN"),
        e.equal(size, e.fp64(float("inf"))), joined(e, sign, e.text("∞")),
        unread, e.raises("[UNSUPPORTED_FORMAT] more digits than are known to be right", types.STRING, value),
        joined(e, sign, _in_groups(e, e.share(digits), decimals)),
    )  # fmt: skip


def _rest_of_product(e: LoweringBuilder, value: Expression, factor: float, near: Expression) -> Expression:
    """value * factor - near, as if computed exactly, but for its size: Dekker's product, where `near` is close to it."""

    def call(name: str, left: Expression, right: Expression) -> Expression:
        return e.call(f"arithmetic:{name}", left, right)

    product = e.share(call("multiply", value, e.fp64(factor)))
    shifted = e.share(call("multiply", value, e.fp64(2.0**27 + 1)))
    high = e.share(call("subtract", shifted, call("subtract", shifted, value)))
    low = e.share(call("subtract", value, high))
    top = factor * (2.0**27 + 1)
    factor_high = top - (top - factor)
    factor_low = factor - factor_high
    error = call("subtract", call("multiply", high, e.fp64(factor_high)), product)
    error = call("add", error, call("multiply", high, e.fp64(factor_low)))
    error = call("add", error, call("multiply", low, e.fp64(factor_high)))
    error = call("add", error, call("multiply", low, e.fp64(factor_low)))
    return call("add", call("subtract", product, near), error)


def _zero(e: LoweringBuilder, value: Expression) -> Expression:
    return e.literal(0, types.required(value.type))


REWRITES = rewrites(
    {
        "spark:format_number": format_number,
        "spark:format_string": format_string,
    }
)
