"""Spark's equality of floating-point values: NaN equals NaN, and -0.0 equals 0.0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Expression, Literal
from ..algebra.types import FLOATS, Type
from ..errors import NotInDialect

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


def comparable(e: ExpressionBuilder, value: Expression) -> Expression:
    """The value to compare, for engines that tell one NaN's bits from another's; else the value itself."""
    if not e.dialect.quirks.nan_payloads or not holds_float(value.type) or isinstance(value, Literal):
        return value
    _require_flat(e, value)
    return _one_nan(e, value)


def groupable(e: ExpressionBuilder, value: Expression) -> Expression:
    """The value to group, partition or sort by: with one NaN and one zero, as Spark's result has them."""
    if not e.dialect.quirks.nan_payloads or not holds_float(value.type):
        return value
    _require_flat(e, value)
    if isinstance(value, Literal):
        return e.literal(0.0, value.type) if value.value == 0.0 else value
    zero = e.literal(0.0, types.required(value.type))
    return _one_nan(e, e.call("arithmetic:add", value, zero))


def _one_nan(e: ExpressionBuilder, value: Expression) -> Expression:
    return e.call("datafusion:nanvl", value, e.literal(float("nan"), types.required(value.type)))


def _require_flat(e: ExpressionBuilder, value: Expression) -> None:
    if value.type.kind not in FLOATS:
        raise NotInDialect(
            f"the dialect {e.dialect.name} compares floating-point numbers inside {value.type} by their bits",
            "Compare the fields or elements by themselves.",
        )


def holds_float(type: Type) -> bool:
    """Whether a type is, or has somewhere inside, a floating-point type."""
    return type.kind in FLOATS or any(isinstance(p, Type) and holds_float(p) for p in type.parameters)
