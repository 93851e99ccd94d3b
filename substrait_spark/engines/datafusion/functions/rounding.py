"""Rounding, of floating-point numbers by their shortest text, as Spark does."""

from __future__ import annotations

from collections.abc import Callable

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction
from ....algebra.types import FLOATS, INTEGERS
from ....dialects.rewrite import Apply, rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from .names import named
from .number_cast import decimal_text

FULL = 38
"""Digits of the widest decimals."""


# ---- half up


def round_decimal(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """round: DataFusion's casts of decimals round half away from zero."""
    value, scale = call.children()
    if dict(call.options) not in ({}, {"rounding": "TIE_AWAY_FROM_ZERO"}):
        return e.native_form(call)
    digits = _scale(e, scale)
    precision, finer = value.type.parameters
    if digits < 0:
        return _rounded_before_the_point(e, call, value, scale)
    if digits >= finer:
        return e.cast(value, call.type)
    rounded = e.cast(value, types.of("decimal", precision - finer + digits + 1, digits, nullable=False))
    return e.cast(rounded, call.type)


def round_half_up(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """round_half_up: with a result of the call's type."""
    value, scale, _ = call.children()
    if _scale(e, scale) < 0:
        return _rounded_before_the_point(e, call, value, scale)
    return e.cast(value, call.type)


def _rounded_before_the_point(
    e: LoweringBuilder, call: ScalarFunction, value: Expression, scale: Expression
) -> Expression:
    if value.type.parameters[0] >= FULL:
        raise NotInDialect(f"the dialect {e.dialect.name} doesn't check that a rounded {value.type} fits")
    rounded = e.call("datafusion:round", value, scale)
    # Of a decimal with digits behind the point it has fewer than declared.
    return e.narrow(rounded, call.type, True) if value.type.parameters[1] else rounded


def _scale(e: LoweringBuilder, scale: Expression) -> int:
    if not isinstance(scale, Literal) or scale.value is None:
        raise NotInDialect(f"the dialect {e.dialect.name} rounds to literal numbers of digits only")
    return int(scale.value)


def round_number(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """spark_round of a floating-point number, or of an integer, which wraps around."""
    value, scale, *_ = call.children()
    if value.type.kind in INTEGERS:
        return e.call("datafusion:round", value, scale)
    digits = _scale(e, scale)
    if value.type.kind not in FLOATS or not 0 <= digits <= 15:
        raise NotInDialect(f"the dialect {e.dialect.name} can't round {value.type} to {digits} digits as Spark does")
    return _by_text(e, value, lambda text: e.cast(text, types.of("decimal", FULL, digits, nullable=False)))


def _by_text(e: LoweringBuilder, number: Expression, rounded: Callable[[Expression], Expression]) -> Expression:
    """A floating-point number rounded in its shortest text; what is whole, infinite or NaN stays."""
    number = e.share(number)
    value = e.share(e.cast(number, types.FP64))
    whole = e.call("comparison:gte", e.call("arithmetic:abs", value), e.fp64(2.0**52))
    by_text = e.cast(e.cast(rounded(decimal_text(e, value)), types.STRING), number.type)
    return e.if_then(e.or_(e.call("comparison:is_nan", value), whole), number, by_text)


# ---- half even


def bround(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """bround, of decimals with a result of the call's type."""
    value, scale, *_ = call.children()
    digits = _scale(e, scale)
    if value.type.kind == "decimal":
        return e.cast(half_even(e, value, digits), call.type)
    return _bround_float(e, value, digits)


def _bround_float(e: LoweringBuilder, value: Expression, scale: int) -> Expression:
    """With 20 digits behind the point, no number gets half way to another one of up to 3 that is not there by its text."""
    if value.type.kind != "fp64" or not 0 <= scale <= 3:
        raise NotInDialect(f"the dialect {e.dialect.name} can't round {value.type} half even to {scale} digits")
    exact = types.of("decimal", 36, 20, nullable=False)
    return _by_text(e, value, lambda text: half_even(e, e.cast(text, exact, throws=False), scale))


def half_even(e: LoweringBuilder, value: Expression, scale: int) -> Expression:
    """A decimal with fewer digits behind the point: rounded half up, and one unit back where it was half way to an odd one."""
    precision, digits = value.type.parameters
    if not 0 <= scale < digits or precision > 36:
        raise NotInDialect(f"the dialect {e.dialect.name} doesn't round {value.type} half even to {scale} digits")
    value = e.share(value)
    up = e.share(e.cast(value, types.of("decimal", precision - digits + scale + 1, scale, nullable=False)))
    moved = e.share(e.call("arithmetic_decimal:subtract", up, value))
    half = e.literal(5 * 10 ** (digits - scale - 1), types.required(moved.type))
    odd = e.call("datafusion:regexp_like", e.cast(up, types.STRING), e.text("[13579]$"), e.text(""))
    unit = e.literal(1, types.of("decimal", scale + 1, scale, nullable=False))

    def back(name: str) -> Expression:
        return e.cast(e.call(f"arithmetic_decimal:{name}", up, unit), up.type)

    zero = e.literal(0, types.required(moved.type))
    tie = e.equal(e.call("arithmetic_decimal:abs", moved), half)
    positive = e.call("comparison:gt", moved, zero)
    return e.if_then(e.and_(tie, odd, positive), back("subtract"), e.and_(tie, odd), back("add"), up)


# ---- to whole numbers


def whole_decimal(name: str) -> Apply:
    """ceil, floor of decimals."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        (value,) = call.children()
        return e.narrow(e.call(f"datafusion:{name}", value), call.type, True)

    return lower


def checked_whole(name: str) -> Apply:
    """checked_ceil, checked_floor: Spark's functions saturate where these raise."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        value = e.share(*call.children())
        high, low = e.call("comparison:gte", value, e.fp64(2.0**63)), e.call("comparison:lt", value, e.fp64(-(2.0**63)))
        return e.if_then(
            e.call("comparison:is_nan", value),
            e.i64(0),
            e.or_(high, low),
            e.raises("[ARITHMETIC_OVERFLOW]", types.I64, value),
            e.call(f"datafusion:{name}", value),
        )

    return lower


REWRITES = rewrites(
    {
        "rounding_decimal:ceil": whole_decimal("ceil"),
        "rounding_decimal:floor": whole_decimal("floor"),
        "rounding_decimal:round": round_decimal,
        "spark:bround": bround,
        "spark:checked_ceil": checked_whole("ceil"),
        "spark:checked_floor": checked_whole("floor"),
        "spark:spark_ceil": named("datafusion:ceil"),
        "spark:spark_floor": named("datafusion:floor"),
        "spark:spark_round": round_number,
        "spark:round_half_up": round_half_up,
        "spark:try_bround": bround,
    }
)
