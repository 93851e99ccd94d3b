"""Mathematical functions on doubles, and a few on integers.

The last digit of logarithms, exponentials, powers and trigonometric functions is open: Java's own specification allows
it to differ between machines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from ..errors import Unsupported
from .table import Plain, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def logarithm(name: str, least: float = 0.0) -> Rule:
    """Log, Log10, Log2, Log1p: null for so much and less."""

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


def trigonometric(name: str) -> Plain:
    return plain(f"arithmetic:{name}")


def inverse_hyperbolic(name: str, formula: str, **options: str) -> Rule:
    """Asinh, Acosh. Before Spark 4.2, they are formulas that lose digits, which engines keep."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        if e.context.is_before(4, 2):
            raise Unsupported(f"before Spark 4.2, {name} loses digits that engines keep", f"Write {formula}.")
        return e.call(f"arithmetic:{name}", e.emit(node["child"]), **options)

    return emit


SCALAR: dict[str, Plain | Rule] = {
    "Acos": plain("arithmetic:acos", on_domain_error="NAN"),
    "Acosh": inverse_hyperbolic("acosh", "ln(x + sqrt(x * x - 1))", on_domain_error="NAN"),
    "Asin": plain("arithmetic:asin", on_domain_error="NAN"),
    "Asinh": inverse_hyperbolic("asinh", "ln(x + sqrt(x * x + 1))"),
    "Atan": trigonometric("atan"),
    "Atan2": plain("spark:spark_atan2"),
    "Atanh": plain("arithmetic:atanh", on_domain_error="NAN"),
    "Bin": plain("spark:bin"),
    "Cbrt": plain("spark:cbrt"),
    "Cos": trigonometric("cos"),
    "Cosh": trigonometric("cosh"),
    "Cot": plain("spark:cot"),
    "Csc": plain("spark:csc"),
    "Exp": plain("arithmetic:exp"),
    "Expm1": plain("spark:expm1"),
    "Factorial": plain("spark:spark_factorial"),
    "Hypot": plain("spark:hypot"),
    "Log": logarithm("ln"),
    "Log10": logarithm("log10"),
    "Log1p": logarithm("log1p", -1.0),
    "Log2": logarithm("log2"),
    "Logarithm": plain("spark:log"),
    "Pow": plain("spark:spark_power"),
    "Rint": plain("spark:rint"),
    "Sec": plain("spark:sec"),
    "Signum": signum,
    "Sin": trigonometric("sin"),
    "Sinh": trigonometric("sinh"),
    "Sqrt": plain("arithmetic:sqrt", on_domain_error="NAN"),
    "Tan": trigonometric("tan"),
    "Tanh": trigonometric("tanh"),
    "ToDegrees": trigonometric("degrees"),
    "ToRadians": trigonometric("radians"),
    "WidthBucket": plain("spark:width_bucket"),
}
