"""Mathematical functions on doubles, and a few on integers.

The last digit of logarithms, exponentials, powers and trigonometric functions is open: Java's own specification allows
it to differ between machines. A dialect lists those whose error is within that, for every other digit and value.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Literal
from ..catalyst import tree
from ..catalyst.modes import LEGACY
from ..errors import NotInDialect
from .number_cast import float_to_integer
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


def logarithm(name: str) -> Rule:
    """Log, Log10, Log2: null for zero and less."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        value = e.share(e.emit(node["child"]))
        undefined = e.call("comparison:lte", value, e.fp64(0.0))

        def by_the_natural() -> Expression:
            if name != "log2":
                raise NotInDialect(f"the dialect {e.dialect.name} has no logarithmic:{name}")
            return quotient(e, natural(e, value), e.fp64(math.log(2.0)))

        result = e.first(lambda: e.call(f"logarithmic:{name}", value), by_the_natural)
        return e.if_then(undefined, e.null(types.FP64), result)

    return emit


def log1p(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Log1p: null for -1 and less; of small numbers exact to the last digit."""
    value = e.share(e.emit(node["child"]))
    undefined = e.call("comparison:lte", value, e.fp64(-1.0))

    def by_the_logarithm() -> Expression:
        """ln(u) * x / (u - 1) for u = 1 + x: the quotient undoes the rounding of u (W. Kahan)."""
        rounded = e.share(e.call("arithmetic:add", e.fp64(1.0), value))
        difference = e.call("arithmetic:subtract", rounded, e.fp64(1.0))
        scaled = e.call("arithmetic:multiply", natural(e, rounded), quotient(e, value, difference))
        negligible = e.equal(rounded, e.fp64(1.0))
        return e.if_then(negligible, value, e.equal(value, e.fp64(math.inf)), value, scaled)

    result = e.first(lambda: e.call("logarithmic:log1p", value), by_the_logarithm)
    return e.if_then(undefined, e.null(types.FP64), result)


def log_of_base(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Logarithm: null where the base or the number is zero or less."""
    base, value = e.emit(node["left"]), e.emit(node["right"])

    def by_natural_ones() -> Expression:
        left, right = e.share(base), e.share(value)
        undefined = e.or_(e.call("comparison:lte", left, e.fp64(0.0)), e.call("comparison:lte", right, e.fp64(0.0)))
        return e.if_then(undefined, e.null(types.FP64), quotient(e, natural(e, right), natural(e, left)))

    return e.first(lambda: e.call("spark:log", base, value), by_natural_ones)


def natural(e: ExpressionBuilder, value: Expression) -> Expression:
    return e.call("logarithmic:ln", value)


def quotient(e: ExpressionBuilder, dividend: Expression, divisor: Expression) -> Expression:
    """A quotient of doubles."""
    return e.call("arithmetic:divide", dividend, divisor, on_division_by_zero="IEEE")


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
    """Pow: as Java has it, which differs from C for NaN, for infinite exponents of 1 and for powers of -0.0."""
    base, exponent = e.emit(node["left"]), e.emit(node["right"])

    def multiplied() -> Expression:
        if isinstance(exponent, Literal) and exponent.value == 2.0:
            value = e.share(base)
            return e.call("arithmetic:multiply", value, value)
        if isinstance(exponent, Literal) and exponent.value == 1.0:
            return base
        raise NotInDialect("the exponent is neither 1 nor 2")

    return e.first(
        lambda: e.call("spark:power", base, exponent),
        multiplied,
        lambda: power_as_in_c(e, e.share(base), e.share(exponent)),
    )


def power_as_in_c(e: ExpressionBuilder, base: Expression, exponent: Expression) -> Expression:
    """C's power, and Java's where that is another."""
    zero, negated = e.fp64(0.0), e.call("arithmetic:negate", exponent)
    inverse = quotient(e, e.fp64(1.0), e.call("datafusion:power", base, negated))
    of_one = e.and_(
        e.equal(e.call("arithmetic:abs", base), e.fp64(1.0)),
        e.equal(e.call("arithmetic:abs", exponent), e.fp64(math.inf)),
    )
    return e.if_then(
        e.or_(e.call("comparison:is_nan", exponent), of_one),
        e.fp64(math.nan),
        e.and_(e.equal(base, zero), e.call("comparison:lt", exponent, zero)),
        inverse,
        e.call("datafusion:power", base, exponent),
    )


def atan2(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Atan2: -0.0 counts as 0.0."""
    y, x = e.emit(node["left"]), e.emit(node["right"])

    def without_negative_zeros() -> Expression:
        zero = e.fp64(0.0)
        return e.call("datafusion:atan2", e.call("arithmetic:add", y, zero), e.call("arithmetic:add", x, zero))

    return e.first(lambda: e.call("spark:atan2", y, x), without_negative_zeros)


def width_bucket(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """WidthBucket: counts from the other end where the bounds are in descending order."""
    arguments = [e.emit(node[name]) for name in ("value", "minValue", "maxValue", "numBucket")]
    return e.first(lambda: e.call("spark:width_bucket", *arguments), lambda: _computed_bucket(e, arguments))


def _computed_bucket(e: ExpressionBuilder, arguments: list[Expression]) -> Expression:
    """The bucket of a double, by Spark's own steps."""
    if arguments[0].type.kind != "fp64":
        raise NotInDialect(f"the dialect {e.dialect.name} has no width_bucket of {arguments[0].type}")
    value, start, end, buckets = (e.share(argument) for argument in arguments)
    valid = [
        *(e.call("comparison:lt", e.call("arithmetic:abs", bound), e.fp64(math.inf)) for bound in (start, end)),
        e.not_(e.equal(start, end)),
        e.not_(e.call("comparison:is_nan", value)),
        e.call("comparison:gt", buckets, e.i64(0)),
        e.call("comparison:lt", buckets, e.i64(2**63 - 1)),
    ]

    def counted(lower: Expression, upper: Expression, from_lower: bool) -> Expression:
        """Where the value lies in its range: the steps that it is away from where the counting starts."""
        distance = [value, lower] if from_lower else [upper, value]
        steps = e.call("arithmetic:multiply", e.cast(buckets, types.FP64), e.call("arithmetic:subtract", *distance))
        share = quotient(e, steps, e.call("arithmetic:subtract", upper, lower))
        return e.call("spark:add", float_to_integer(e, share, types.I64, LEGACY), e.i64(1))

    before = e.i64(0)
    after = e.call("spark:add", buckets, e.i64(1))
    return e.if_then(
        e.not_(e.coalesce(e.and_(*valid), e.false())),
        e.null(types.I64),
        e.and_(e.call("comparison:lt", start, end), e.call("comparison:lt", value, start)),
        before,
        e.and_(e.call("comparison:lt", start, end), e.call("comparison:gte", value, end)),
        after,
        e.call("comparison:lt", start, end),
        counted(start, end, True),
        e.call("comparison:gt", value, start),
        before,
        e.call("comparison:lte", value, end),
        after,
        counted(end, start, False),
    )


def trigonometric(name: str) -> Plain:
    return plain(f"arithmetic:{name}")


SCALAR: dict[str, Plain | Rule] = {
    "Acos": plain("arithmetic:acos", on_domain_error="NAN"),
    "Acosh": plain("arithmetic:acosh", on_domain_error="NAN"),
    "Asin": plain("arithmetic:asin", on_domain_error="NAN"),
    "Asinh": trigonometric("asinh"),
    "Atan": trigonometric("atan"),
    "Atan2": atan2,
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
    "Log": logarithm("ln"),
    "Log10": logarithm("log10"),
    "Log1p": log1p,
    "Log2": logarithm("log2"),
    "Logarithm": log_of_base,
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
