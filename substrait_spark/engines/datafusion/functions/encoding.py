"""Functions between text and bytes that DataFusion lacks, or computes in another way than Spark."""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction
from ....algebra.types import Type
from ....dialects.rewrite import rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder

BINARY = types.of("binary", nullable=False)


def to_binary(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """to_binary of hexadecimal digits: `unhex`, which gives null where it must raise."""
    text, format = call.children()
    if not isinstance(format, Literal) or format.value != "hex":
        raise NotInDialect(f"the dialect {e.dialect.name} has no function {call.declaration.compound}")
    bytes = e.call("spark:unhex", text)
    invalid = e.and_(e.is_not_null(text), e.is_null(bytes))
    error = e.cast(e.raises("[CONVERSION_INVALID_INPUT]", types.STRING, text), BINARY)
    return e.if_then(invalid, error, bytes)


def base64(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """base64: DataFusion's knows no lines of 76 characters."""
    value, chunked = call.children()
    if not isinstance(chunked, Literal) or chunked.value is None:
        raise NotInDialect(f"the dialect {e.dialect.name} breaks all of base64 in lines, or none")
    whole = e.call("datafusion:base64", value)
    if not chunked.value:
        return whole
    broken = e.call("datafusion:regexp_replace", whole, e.text("(.{76})"), e.text("${1}\r\n"), e.text("g"))
    return e.call("string:rtrim", broken, e.text("\r\n"))


def encode(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """encode: strings hold UTF-8 already."""
    return _utf8(e, call, BINARY)


def decode(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """decode: malformed bytes raise."""
    return _utf8(e, call, types.STRING)


def _utf8(e: LoweringBuilder, call: ScalarFunction, type: Type) -> Expression:
    value, charset = call.children()
    if not isinstance(charset, Literal) or str(charset.value).lower() != "utf-8":
        raise NotInDialect("the dialect knows no character set but UTF-8")
    return e.cast(value, type)


REWRITES = rewrites(
    {
        "spark:base64": base64,
        "spark:decode": decode,
        "spark:encode": encode,
        "spark:to_binary": to_binary,
    }
)
