"""Mathematical functions that DataFusion lacks, or that it computes as C does where Spark computes as Java does."""

from __future__ import annotations

import math

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction
from ....dialects.rewrite import rewrites
from ....lowering.builder import LoweringBuilder
from .number_cast import wrapped_float


def sqrt(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """sqrt: NaN for negative numbers, for which DataFusion raises."""
    (value,) = call.children()
    if value.type.kind != "fp64" or dict(call.options) != {"on_domain_error": "NAN"}:
        return e.native_form(call)
    value = e.share(value)
    negative = e.call("comparison:lt", value, e.fp64(0.0))
    return e.call("arithmetic:sqrt", e.if_then(negative, e.fp64(math.nan), value), on_domain_error="ERROR")


def log2(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """log2: DataFusion's own is none of floating-point numbers."""
    (value,) = call.children()
    if value.type.kind != "fp64" or call.options:
        return e.native_form(call)
    return quotient(e, natural(e, value), e.fp64(math.log(2.0)))


def log1p(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """ln(u) * x / (u - 1) for u = 1 + x: the quotient undoes the rounding of u (W. Kahan)."""
    (value,) = call.children()
    if value.type.kind != "fp64" or call.options:
        return e.native_form(call)
    value = e.share(value)
    rounded = e.share(e.call("arithmetic:add", e.fp64(1.0), value))
    difference = e.call("arithmetic:subtract", rounded, e.fp64(1.0))
    scaled = e.call("arithmetic:multiply", natural(e, rounded), quotient(e, value, difference))
    negligible = e.equal(rounded, e.fp64(1.0))
    return e.if_then(negligible, value, e.equal(value, e.fp64(math.inf)), value, scaled)


def log(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """log: null where the base or the number is zero or less."""
    base, value = map(e.share, call.children())
    undefined = e.or_(e.call("comparison:lte", base, e.fp64(0.0)), e.call("comparison:lte", value, e.fp64(0.0)))
    return e.if_then(undefined, e.null(types.FP64), quotient(e, natural(e, value), natural(e, base)))


def natural(e: LoweringBuilder, value: Expression) -> Expression:
    return e.call("logarithmic:ln", value)


def quotient(e: LoweringBuilder, dividend: Expression, divisor: Expression) -> Expression:
    """A quotient of doubles."""
    return e.call("arithmetic:divide", dividend, divisor, on_division_by_zero="IEEE")


def power(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """power: a square is the product that Java makes of it."""
    base, exponent = call.children()
    if isinstance(exponent, Literal) and exponent.value == 2.0:
        value = e.share(base)
        return e.call("arithmetic:multiply", value, value)
    if isinstance(exponent, Literal) and exponent.value == 1.0:
        return base
    return _power_as_in_java(e, e.share(base), e.share(exponent))


def _power_as_in_java(e: LoweringBuilder, base: Expression, exponent: Expression) -> Expression:
    """C's power, but for NaN, for infinite exponents of 1 and for powers of -0.0."""
    zero, negated = e.fp64(0.0), e.call("arithmetic:negate", exponent)
    inverse = quotient(e, e.fp64(1.0), e.call("datafusion:power", base, negated))
    of_one = e.and_(
        e.equal(e.call("arithmetic:abs", base), e.fp64(1.0)),
        e.equal(e.call("arithmetic:abs", exponent), e.fp64(math.inf)),
    )
    return e.if_then(
        e.or_(e.and_(e.is_not_null(base), e.call("comparison:is_nan", exponent)), of_one),
        e.fp64(math.nan),
        e.and_(e.equal(base, zero), e.call("comparison:lt", exponent, zero)),
        inverse,
        e.call("datafusion:power", base, exponent),
    )


def atan2(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """atan2: -0.0 counts as 0.0."""
    y, x = call.children()
    zero = e.fp64(0.0)
    return e.call("datafusion:atan2", e.call("arithmetic:add", y, zero), e.call("arithmetic:add", x, zero))


def width_bucket(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """width_bucket of a double, by Spark's own steps; it counts from the other end where the bounds descend."""
    *numbers, buckets = call.children()
    value, start, end = (e.share(e.cast(number, types.FP64)) for number in numbers)
    buckets = e.share(buckets)
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
        return e.call("datafusion:add", wrapped_float(e, share, types.I64), e.i64(1))

    before = e.i64(0)
    after = e.call("datafusion:add", buckets, e.i64(1))
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


REWRITES = rewrites(
    {
        "arithmetic:sqrt": sqrt,
        "logarithmic:log1p": log1p,
        "logarithmic:log2": log2,
        "spark:spark_atan2": atan2,
        "spark:log": log,
        "spark:spark_power": power,
        "spark:width_bucket": width_bucket,
    }
)
