"""Mathematical functions on doubles, and a few on integers.

Engines' logarithms, exponentials and trigonometric functions differ from Java's in the last digit: no dialect has them
unless it says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Literal
from ..catalyst import tree
from ..errors import NotInDialect
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def sqrt(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Sqrt: NaN for negative numbers."""
    child = e.emit(node["child"])

    def guarded() -> Expression:
        value = e.share(child)
        negative = e.call("comparison:lt", value, e.fp64(0.0))
        return e.call("arithmetic:sqrt", e.if_then(negative, e.fp64(float("nan")), value), on_domain_error="ERROR")

    return e.first(lambda: e.call("arithmetic:sqrt", child, on_domain_error="NAN"), guarded)


def logarithm(name: str, least: float) -> Rule:
    """Log, Log10, Log2, Log1p: null at and below where they are defined."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value = e.share(e.emit(node["child"]))
        undefined = e.call("comparison:lte", value, e.fp64(least))
        return e.if_then(undefined, e.null(types.FP64), e.call(f"logarithmic:{name}", value))

    return emit


def signum(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Signum: zeros and NaN as they are."""
    value = e.share(e.emit(node["child"]))
    zero = e.fp64(0.0)
    return e.if_then(
        e.call("comparison:is_nan", value),
        value,
        e.call("comparison:gt", value, zero),
        e.fp64(1.0),
        e.call("comparison:lt", value, zero),
        e.fp64(-1.0),
        value,
    )


def power(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Pow: by a small literal, by multiplication, which is exact."""
    base, exponent = e.emit(node["left"]), e.emit(node["right"])

    def multiplied() -> Expression:
        if isinstance(exponent, Literal) and exponent.value == 2.0:
            value = e.share(base)
            return e.call("arithmetic:multiply", value, value)
        if isinstance(exponent, Literal) and exponent.value == 1.0:
            return base
        raise NotInDialect(
            f"the dialect {e.dialect.name} has powers that differ from Java's in the last digit",
            "Multiply instead, or compute this column in Spark.",
        )

    return e.first(lambda: e.call("spark:power", base, exponent), multiplied)


def width_bucket(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """WidthBucket: counts from the other end where the bounds are in descending order."""
    arguments = [e.emit(node[name]) for name in ("value", "minValue", "maxValue", "numBucket")]
    return e.call("spark:width_bucket", *arguments)


def trigonometric(name: str) -> Plain:
    return plain(f"arithmetic:{name}")


SCALAR: dict[str, Plain | Rule] = {
    "Acos": plain("arithmetic:acos", on_domain_error="NAN"),
    "Acosh": plain("arithmetic:acosh", on_domain_error="NAN"),
    "Asin": plain("arithmetic:asin", on_domain_error="NAN"),
    "Asinh": trigonometric("asinh"),
    "Atan": trigonometric("atan"),
    "Atan2": plain("spark:atan2"),
    "Atanh": plain("arithmetic:atanh", on_domain_error="NAN"),
    "Bin": plain("spark:bin"),
    "Cbrt": plain("spark:cbrt"),
    "Cos": trigonometric("cos"),
    "Cosh": trigonometric("cosh"),
    "Cot": plain("spark:cot"),
    "Csc": plain("spark:csc"),
    "Exp": plain("arithmetic:exp"),
    "Expm1": plain("spark:expm1"),
    "Factorial": plain("spark:factorial"),
    "Hypot": plain("spark:hypot"),
    "Log": logarithm("ln", 0.0),
    "Log10": logarithm("log10", 0.0),
    "Log1p": logarithm("log1p", -1.0),
    "Log2": logarithm("log2", 0.0),
    "Logarithm": plain("spark:log"),
    "Pow": power,
    "Rint": plain("spark:rint"),
    "Sec": plain("spark:sec"),
    "Signum": signum,
    "Sin": trigonometric("sin"),
    "Sinh": trigonometric("sinh"),
    "Sqrt": sqrt,
    "Tan": trigonometric("tan"),
    "Tanh": trigonometric("tanh"),
    "ToDegrees": trigonometric("degrees"),
    "ToRadians": trigonometric("radians"),
    "WidthBucket": width_bucket,
}
