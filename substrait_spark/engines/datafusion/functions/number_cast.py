"""What casts between numbers, booleans, text and binary consist of, where DataFusion's own differ from Spark's.

Each form takes the value, the target type and whether what fails throws; else it gives null. White space around numbers
in text is what Java's `trim` and Spark's UTF8String take for it, and text becomes a number only where Spark reads one.
"""

from __future__ import annotations

from collections.abc import Callable

from ....algebra import types
from ....algebra.expression import Expression
from ....algebra.types import FLOATS, INTEGERS, Type
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder

NumberCast = Callable[["LoweringBuilder", "Expression", Type, bool], "Expression"]

WIDTH = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}
CONTROLS = r"\x00-\x20"
"""What is trimmed off text before it is read as a floating-point number or a decimal, as a class of characters."""
SPACE = CONTROLS + r"\x7f"
"""What is trimmed off text before it is read as an integer or a boolean."""

FAILED = "[CAST_INVALID_INPUT]"
INFINITY = float("inf")


# ---- to integers


def low_bits(e: LoweringBuilder, value: Expression, target: Type) -> Expression:
    """The low bits of an i64, as a smaller integer."""
    bits = WIDTH[target.kind]
    value = e.share(e.cast(value, types.I64))
    low = e.call("arithmetic:bitwise_and", value, e.i64(2**bits - 1))
    sign = e.call("arithmetic:bitwise_and", value, e.i64(2 ** (bits - 1)))
    signed = e.call("datafusion:subtract", low, e.call("datafusion:multiply", sign, e.i64(2)))
    return e.cast(signed, target)


def float_to_integer(e: LoweringBuilder, value: Expression, target: Type, throws: bool) -> Expression:
    """Spark takes 2^63 for the greatest i64."""
    value = e.share(e.cast(value, types.FP64))
    cast = e.cast(value, types.I64, throws)
    return e.if_then(e.equal(value, e.fp64(2.0**63)), e.i64(2**63 - 1), cast)


def wrapped_float(e: LoweringBuilder, value: Expression, target: Type) -> Expression:
    """What is beyond 32 or 64 bits becomes the nearest of so many bits; of that, the low bits."""
    value = e.share(e.cast(value, types.FP64))
    bits = 64 if target.kind == "i64" else 32
    top, full = 2 ** (bits - 1), types.I64 if bits == 64 else types.I32
    saturated = e.cast(
        e.if_then(
            is_nan(e, value),
            e.i64(0),
            e.call("comparison:gte", value, e.fp64(float(top))),
            e.i64(top - 1),
            e.call("comparison:lte", value, e.fp64(-float(top))),
            e.i64(-top),
            e.cast(value, types.I64, False),
        ),
        full,
    )
    return saturated if WIDTH[target.kind] >= 32 else low_bits(e, saturated, target)


def decimal_to_integer(e: LoweringBuilder, value: Expression, target: Type, throws: bool) -> Expression:
    """Spark goes through double for integers of up to 32 bits."""
    if value.type.parameters[0] > 18 and target.kind != "i64":
        value = e.cast(e.cast(value, types.STRING), types.FP64)
    return e.cast(value, target, throws)


def wrapped_decimal(e: LoweringBuilder, value: Expression, target: Type) -> Expression:
    precision, scale = value.type.parameters
    if precision - scale > 18:
        raise NotInDialect(f"{value.type} has values of more than 64 bits, which Spark wraps around")
    whole = e.cast(value, types.I64)
    return whole if target.kind == "i64" else low_bits(e, whole, target)


def text_to_integer(e: LoweringBuilder, value: Expression, target: Type, throws: bool) -> Expression:
    return e.cast(trimmed(e, value, SPACE), target, throws)


def whole_part(e: LoweringBuilder, value: Expression, target: Type) -> Expression:
    """The integer that a text holds, null where it holds none; digits behind a point are cut off."""
    text = e.share(trimmed(e, value, SPACE))
    whole = e.call("datafusion:split_part", text, e.text("."), e.i32(1))
    return e.if_then(
        matches(e, text, r"^[+-]?[.][0-9]*$"),
        e.literal(0, types.required(target)),
        matches(e, text, r"^[+-]?[0-9]+[.][0-9]*$"),
        e.cast(whole, target, False),
        e.cast(text, target, False),
    )


# ---- to floating-point numbers


def decimal_to_float(e: LoweringBuilder, value: Expression, target: Type, throws: bool) -> Expression:
    """Through text, because engines divide what has more digits than a double."""
    if value.type.parameters[0] <= 15 and target.kind == "fp64":
        return e.cast(value, target)
    return e.cast(e.cast(value, types.STRING), target)


FLOAT_TEXT = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?[fFdD]?$"
HEXADECIMAL_FLOAT = r"^[+-]?0[xX][0-9a-fA-F]*[.]?[0-9a-fA-F]*[pP][+-]?[0-9]+[fFdD]?$"


def text_to_float(e: LoweringBuilder, value: Expression, target: Type, throws: bool) -> Expression:
    """As Java reads it, with its suffixes; hexadecimal floating-point numbers raise."""
    value = e.share(value)
    plain = e.share(trimmed(e, value, CONTROLS))
    word = e.share(e.call("string:lower", trimmed(e, value, SPACE), char_set="UTF8"))
    kind = types.required(target)
    parts = [
        matches(e, plain, FLOAT_TEXT),
        e.cast(e.call("string:rtrim", plain, e.text("fFdD")), target),
        one_of(e, word, "inf", "+inf", "infinity", "+infinity"),
        e.literal(INFINITY, kind),
        one_of(e, word, "-inf", "-infinity"),
        e.literal(-INFINITY, kind),
        e.or_(one_of(e, word, "nan"), one_of(e, plain, "+NaN", "-NaN")),
        e.literal(float("nan"), kind),
    ]
    if throws:
        return e.if_then(e.is_null(value), e.null(target), *parts, e.raises(FAILED, target, value))
    unread = e.raises("[UNSUPPORTED_FORMAT] a hexadecimal floating-point number", target, value)
    return e.if_then(*parts, matches(e, plain, HEXADECIMAL_FLOAT), unread, e.null(target))


# ---- to decimals


def boolean_to_decimal(e: LoweringBuilder, value: Expression, target: Type, throws: bool) -> Expression:
    return e.cast(e.cast(value, types.I32), target, throws)


def float_to_decimal(e: LoweringBuilder, value: Expression, target: Type, throws: bool) -> Expression:
    """Spark rounds the shortest text of the number. What is no finite number is too great."""
    precision, scale = target.parameters
    if precision - scale > 16:
        raise NotInDialect(
            f"what digits Spark sees in great values of {value.type} depends on its Java version",
            "Cast to a decimal of at most 16 digits before the point.",
        )
    value = e.share(e.cast(value, types.FP64))
    size = e.share(e.call("arithmetic:abs", value))
    too_great = e.call("comparison:gte", size, e.fp64(1e16))
    read = e.cast(decimal_text(e, value), target, throws)
    if throws:
        return e.if_then(too_great, e.raises("[NUMERIC_VALUE_OUT_OF_RANGE]", target, value), read)
    null = e.null(target)
    return e.if_then(e.or_(is_nan(e, value), e.equal(size, e.fp64(INFINITY))), null, too_great, null, read)


def decimal_text(e: LoweringBuilder, value: Expression) -> Expression:
    """The shortest text of a double below 1e16, without an exponent."""
    text = e.share(e.cast(value, types.STRING))
    exponent = e.share(e.cast(_replaced(e, text, "^[^e]*(e-)?"), types.I64, False))
    zeros = e.if_then(
        e.call("comparison:gt", exponent, e.i64(45)), e.i64(45), e.call("datafusion:subtract", exponent, e.i64(1))
    )
    digits = _replaced(e, e.call("string:ltrim", text, e.text("-")), "e.*$")
    sign = e.if_then(e.call("comparison:lt", value, e.fp64(0.0)), e.text("-"), e.text(""))
    small = e.call(
        "string:concat",
        sign,
        e.text("0."),
        e.call("string:repeat", e.text("0"), zeros),
        e.call("string:replace", digits, e.text("."), e.text(""), case_sensitivity="CASE_SENSITIVE"),
        null_handling="ACCEPT_NULLS",
    )
    return e.if_then(e.call("string:contains", text, e.text("e-"), case_sensitivity="CASE_SENSITIVE"), small, text)


def _replaced(e: LoweringBuilder, text: Expression, pattern: str) -> Expression:
    """A text without what matches first."""
    return e.call("datafusion:regexp_replace", text, e.text(pattern), e.text(""), e.text("s"))


PLAIN_DECIMAL = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)$"
ANY_DECIMAL = r"^[+-]?([\p{Nd}]+[.]?[\p{Nd}]*|[.][\p{Nd}]+)([eE][+-]?[\p{Nd}]+)?$"


EXPONENT_DECIMAL = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,6})?$"


def text_to_decimal(e: LoweringBuilder, value: Expression, target: Type, throws: bool) -> Expression:
    """Digits, which may have an exponent. Other scripts' digits raise, and so do exponents and texts that are very long."""
    value = e.share(value)
    text = e.share(trimmed(e, value, CONTROLS))
    size = e.share(e.call("spark:length", text))
    readable = e.and_(matches(e, text, PLAIN_DECIMAL), e.call("comparison:lte", size, e.i32(70)))
    long = e.and_(matches(e, text, EXPONENT_DECIMAL), e.call("comparison:lte", size, e.i32(LONGEST)))
    parts = [readable, e.cast(text, target, throws), long, _with_exponent(e, text, target, throws)]
    unread = e.raises("[UNSUPPORTED_FORMAT] a number in a form that is not read here", target, value)
    parts += [matches(e, text, ANY_DECIMAL), unread]
    if throws:
        return e.if_then(e.is_null(value), e.null(target), *parts, e.raises(FAILED, target, value))
    return e.if_then(*parts, e.null(target))


LONGEST = 200
"""How many characters of a text with an exponent are read."""

FARTHEST = 500
"""An exponent that makes each number of so many digits zero or too great."""


def _with_exponent(e: LoweringBuilder, text: Expression, target: Type, throws: bool) -> Expression:
    """A number of digits and an exponent, by its text with the point where it belongs.

    To round it takes one digit more than there are behind the point, and to tell that it is too great one more before it.
    """
    precision, scale = target.parameters
    number = r"^[+-]?([0-9]*)[.]?([0-9]*)(?:[eE][+]?(-?[0-9]+))?$"

    def group(name: str) -> Expression:
        return e.share(e.call("datafusion:regexp_replace", text, e.text(number), e.text(f"${{{name}}}"), e.text("s")))

    def total(name: str, left: Expression, right: Expression) -> Expression:
        return e.call(f"datafusion:{name}", left, right)

    before, behind = group("1"), group("2")
    digits = e.share(joined(e, before, behind))
    said = e.share(e.coalesce(e.cast(group("3"), types.nullable(types.I32), False), e.i32(0)))
    exponent = e.share(
        e.if_then(
            e.call("comparison:gt", said, e.i32(FARTHEST)),
            e.i32(FARTHEST),
            e.call("comparison:lt", said, e.i32(-FARTHEST)),
            e.i32(-FARTHEST),
            said,
        )
    )
    room = FARTHEST + LONGEST
    zeros = e.call("string:repeat", e.text("0"), e.i64(room))
    padded = e.share(joined(e, zeros, digits, zeros))
    place = e.share(total("add", total("add", e.call("spark:length", before), exponent), e.i32(room)))
    whole = e.call("string:ltrim", e.call("datafusion:substring", padded, e.i32(1), place), e.text("0"))
    fraction = e.call("datafusion:substring", padded, total("add", place, e.i32(1)), e.i32(scale + 1))
    most = e.i32(precision - scale + 1)
    sign = _replaced(e, text, "[^-].*$")
    shown = joined(e, sign, e.call("datafusion:substring", whole, e.i32(1), most), e.text("."), fraction)
    # Releases of Spark count the places of a zero, of which 0e40 has more than a decimal may.
    zero = e.not_(matches(e, digits, "[1-9]"))
    places = total("subtract", total("add", said, e.i32(1)), e.call("spark:length", behind))
    beyond = e.and_(zero, e.call("comparison:gt", places, e.i32(38)))
    unread = e.raises("[UNSUPPORTED_FORMAT] a zero with a great exponent", target, text)
    return e.if_then(beyond, unread, e.cast(shown, target, throws))


# ---- to booleans, text and binary


def decimal_to_boolean(e: LoweringBuilder, value: Expression, target: Type, throws: bool) -> Expression:
    return e.not_(e.equal(value, e.literal(0, types.required(value.type))))


def text_to_boolean(e: LoweringBuilder, value: Expression, target: Type, throws: bool) -> Expression:
    value = e.share(value)
    word = e.share(e.call("string:lower", trimmed(e, value, SPACE), char_set="UTF8"))
    parts = [
        one_of(e, word, "t", "true", "y", "yes", "1"),
        e.true(),
        one_of(e, word, "f", "false", "n", "no", "0"),
        e.false(),
    ]
    if throws:
        raised = e.equal(e.raises(FAILED, types.I64, value), e.i64(0))
        return e.if_then(e.is_null(value), e.null(target), *parts, raised)
    return e.if_then(*parts, e.null(target))


def double_to_text(e: LoweringBuilder, value: Expression) -> Expression:
    """As Java writes it; the digits of great values and of subnormals depend on its version, so that these raise."""
    value = e.share(value)
    size = e.share(e.call("arithmetic:abs", value))
    text = e.share(e.cast(size, types.STRING))
    sign = e.if_then(e.call("comparison:lt", value, e.fp64(0.0)), e.text("-"), e.text(""))
    whole = e.share(part(e, text, ".", 1))
    fraction = e.share(part(e, text, ".", 2))
    mantissa = e.share(part(e, text, "e", 1))
    significant = e.share(e.call("string:ltrim", fraction, e.text("0")))

    def length(text: Expression) -> Expression:
        return e.cast(e.call("spark:length", text), types.I64)

    def shown(number: Expression) -> Expression:
        return e.cast(number, types.STRING)

    zeros = e.call("datafusion:subtract", length(fraction), length(significant))
    no_point = e.not_(e.call("string:contains", mantissa, e.text("."), case_sensitivity="CASE_SENSITIVE"))
    return e.if_then(
        is_nan(e, value),
        e.text("NaN"),
        e.equal(size, e.fp64(INFINITY)),
        joined(e, sign, e.text("Infinity")),
        e.equal(value, e.fp64(0.0)),
        shown(value),
        e.or_(
            e.call("comparison:gte", size, e.fp64(2.0**53)),
            e.call("comparison:lt", size, e.fp64(2.2250738585072014e-308)),
        ),
        e.raises("[UNSUPPORTED_FORMAT] digits that depend on the Java version", types.STRING, value),
        e.call("string:contains", text, e.text("e"), case_sensitivity="CASE_SENSITIVE"),
        joined(e, sign, mantissa, e.if_then(no_point, e.text(".0"), e.text("")), e.text("E"), part(e, text, "e", 2)),
        e.call("comparison:gte", size, e.fp64(1e7)),
        joined(
            e,
            sign,
            _mantissa(e, joined(e, whole, fraction)),
            e.text("E"),
            shown(e.call("datafusion:subtract", length(whole), e.i64(1))),
        ),
        e.call("comparison:lt", size, e.fp64(1e-3)),
        joined(e, sign, _mantissa(e, significant), e.text("E-"), shown(e.call("datafusion:add", zeros, e.i64(1)))),
        shown(value),
    )


def _mantissa(e: LoweringBuilder, digits: Expression) -> Expression:
    """Digits as a number between 1 and 10."""
    digits = e.share(digits)
    rest = e.share(
        e.call("string:rtrim", e.call("datafusion:substring", digits, e.i32(2), e.i32(2**31 - 1)), e.text("0"))
    )
    first = e.call("datafusion:substring", digits, e.i32(1), e.i32(1))
    return joined(e, first, e.text("."), e.if_then(e.equal(rest, e.text("")), e.text("0"), rest))


def integer_to_binary(e: LoweringBuilder, value: Expression) -> Expression:
    """The bytes, highest first."""
    digits = WIDTH[value.type.kind] // 4
    shown = e.call("spark:hex", e.cast(value, types.I64))
    padded = e.call("string:concat", e.text("0" * digits), shown, null_handling="ACCEPT_NULLS")
    return e.call("spark:unhex", e.call("datafusion:substring", padded, e.i32(-digits), e.i32(digits)))


# ---- parts


def is_finite(e: LoweringBuilder, value: Expression) -> Expression:
    """Whether a number is neither NaN nor infinite, null for null."""
    value = e.share(value)
    infinity = e.literal(INFINITY, types.required(value.type))
    return e.not_(e.or_(is_nan(e, value), e.equal(e.call("arithmetic:abs", value), infinity)))


def is_nan(e: LoweringBuilder, value: Expression) -> Expression:
    """Whether a number is NaN, null for null."""
    return e.call("comparison:is_nan", value)


def trimmed(e: LoweringBuilder, text: Expression, characters: str) -> Expression:
    """Text without such characters at its ends. They are not listed, because engines make names of literals."""
    ends = f"^[{characters}]+|[{characters}]+$"
    return e.call("datafusion:regexp_replace", text, e.text(ends), e.text(""), e.text("g"))


def matches(e: LoweringBuilder, text: Expression, expression: str) -> Expression:
    return e.call("datafusion:regexp_like", text, e.text(expression), e.text(""))


def one_of(e: LoweringBuilder, text: Expression, *words: str) -> Expression:
    return e.or_(*(e.equal(text, e.text(word)) for word in words))


def part(e: LoweringBuilder, text: Expression, separator: str, position: int) -> Expression:
    return e.call("datafusion:split_part", text, e.text(separator), e.i32(position))


def joined(e: LoweringBuilder, *parts: Expression) -> Expression:
    return e.call("string:concat", *parts, null_handling="ACCEPT_NULLS")


def by_engine(e: LoweringBuilder, value: Expression, target: Type, throws: bool) -> Expression:
    """The engine's own cast, of values of which it has Spark's result. Bytes that are no UTF-8, which Spark keeps, raise."""
    return e.cast(value, target)


FORMS: dict[tuple[str, str], NumberCast] = {
    **{(source, target): float_to_integer for source in FLOATS for target in INTEGERS},
    **{("decimal", target): decimal_to_integer for target in INTEGERS},
    **{("string", target): text_to_integer for target in INTEGERS},
    **{("decimal", target): decimal_to_float for target in FLOATS},
    **{("string", target): text_to_float for target in FLOATS},
    **{(source, "decimal"): float_to_decimal for source in FLOATS},
    ("binary", "string"): by_engine,
    ("boolean", "decimal"): boolean_to_decimal,
    ("decimal", "boolean"): decimal_to_boolean,
    ("decimal", "string"): by_engine,
    ("fp64", "string"): lambda e, value, target, throws: double_to_text(e, value),
    ("string", "boolean"): text_to_boolean,
    ("string", "decimal"): text_to_decimal,
}
"""By the kinds of the value and of the target."""
