"""Functions of floating-point numbers that Acero has in parts: whole numbers, and angles."""

from __future__ import annotations

import math

from ...algebra import types
from ...algebra.expression import Expression, ScalarFunction
from ...dialects.rewrite import Apply, rewrites
from ...lowering.builder import LoweringBuilder
from .cast import nearest


def whole(rounding: str) -> Apply:
    """spark_ceil, spark_floor: a whole number in 64 bits, the nearest that there is."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        if len(call.children()) > 1:
            return e.general(call)
        return nearest(e, e.share(e.call(f"rounding:{rounding}", *call.children())), types.I64)

    return rule


def checked_whole(rounding: str) -> Apply:
    """checked_ceil, checked_floor: the same, and an error for what is beyond 64 bits."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        value = e.share(e.call(f"rounding:{rounding}", *call.children()))
        top = 2.0**63
        too_small, too_large = e.call("comparison:lt", value, e.fp64(-top)), e.call("comparison:gt", value, e.fp64(top))
        beyond = e.and_(e.or_(too_small, too_large), e.not_(e.call("comparison:is_nan", value)))
        return e.if_then(beyond, e.raises("[ARITHMETIC_OVERFLOW]", call.type, value), nearest(e, value, types.I64))

    return rule


def scaled(factor: float) -> Apply:
    """degrees, radians: as Java has them, a product."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        (angle,) = call.children()
        if angle.type.kind != "fp64":
            return e.general(call)
        return e.call("arithmetic:multiply", angle, e.fp64(factor))

    return rule


def artanh(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """atanh, as Spark computes it: Acero's differs in the last digits."""
    if dict(call.options).get("on_domain_error", "NAN") != "NAN":
        return e.general(call)
    value = e.share(call.children()[0])
    negative = e.call("arithmetic:negate", value)
    logarithms = e.call("logarithmic:log1p", value), e.call("logarithmic:log1p", negative)
    return e.call("arithmetic:multiply", e.fp64(0.5), e.call("arithmetic:subtract", *logarithms))


REWRITES = rewrites(
    {
        "arithmetic:atanh": artanh,
        "arithmetic:degrees": scaled(180 / math.pi),
        "arithmetic:radians": scaled(math.pi / 180),
        "spark:checked_ceil": checked_whole("ceil"),
        "spark:checked_floor": checked_whole("floor"),
        "spark:spark_ceil": whole("ceil"),
        "spark:spark_floor": whole("floor"),
    }
)
