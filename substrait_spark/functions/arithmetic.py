"""Arithmetic operators and mathematical functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.types import FLOATS, INTEGERS, Type
from ..catalyst import tree
from ..catalyst.modes import ANSI, LEGACY, TRY, eval_mode
from ..errors import Unsupported
from .table import Plain, lossless, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

WIDER = {
    "i8": types.of("i16", nullable=False),
    "i16": types.of("i32", nullable=False),
    "i32": types.I64,
    "i64": types.of("decimal", 38, 0, nullable=False),
}
"""A type in which one addition, subtraction or multiplication of the type's values can't overflow."""


def operator(name: str) -> Rule:
    """+, - and *: an overflow raises in ANSI mode, gives null in TRY mode, and wraps integers in LEGACY mode."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        left, right = e.emit(node["left"]), e.emit(node["right"])
        kind = left.type.kind
        if kind in FLOATS:
            return e.call(f"arithmetic:{name}", left, right)
        if kind in INTEGERS:
            return integer_operation(e, name, left, right, eval_mode(node))
        if kind == "decimal":
            return decimal_operation(e, name, node, left, right)
        raise Unsupported(f"{name} of {left.type} and {right.type} has no Substrait form")

    return emit


def integer_operation(
    e: ExpressionBuilder, name: str, left: Expression, right: Expression, mode: str
) -> Expression:
    """An integer operation with the overflow that the mode asks for."""
    if mode == LEGACY:
        return e.call(f"spark:{name}", left, right)
    widened = lambda: _widened(e, name, left, right, mode == ANSI)  # noqa: E731
    if mode == TRY:
        return e.first(lambda: e.call(f"spark:try_{name}", left, right), widened)
    return e.first(lambda: e.call(f"arithmetic:{name}", left, right, overflow="ERROR"), widened)


def _widened(e: ExpressionBuilder, name: str, left: Expression, right: Expression, throws: bool) -> Expression:
    """Compute where no overflow is possible, then narrow with a check."""
    narrow = left.type
    wide = WIDER[narrow.kind]
    if wide.kind == "decimal":
        return _through_decimal(e, name, left, right, throws)
    result = e.call(f"spark:{name}", e.cast(left, wide), e.cast(right, wide))
    return e.cast(result, narrow, throws)


def _through_decimal(e: ExpressionBuilder, name: str, left: Expression, right: Expression, throws: bool) -> Expression:
    digits = types.of("decimal", 19, 0, nullable=False)
    result = e.call(f"arithmetic_decimal:{name}", e.cast(left, digits), e.cast(right, digits), overflow="ERROR")
    return e.cast(result, left.type, throws)


def decimal_operation(
    e: ExpressionBuilder, name: str, node: tree.Expression, left: Expression, right: Expression
) -> Expression:
    """A decimal operation: Spark's result type is the one that Substrait derives."""
    mode = eval_mode(node)
    if mode != ANSI:
        call = e.first(
            lambda: e.call(f"spark:try_{name}", left, right),
            lambda: e.call(f"arithmetic_decimal:{name}", left, right, overflow="ERROR"),
        )
    else:
        call = e.call(f"arithmetic_decimal:{name}", left, right, overflow="ERROR")
    return lossless(e, call, node)


def divide(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """/ on doubles and decimals: a zero divisor raises in ANSI mode, else gives null."""
    left, right = e.emit(node["left"]), e.emit(node["right"])
    throws = eval_mode(node) == ANSI
    if left.type.kind in FLOATS:
        return e.call(
            "arithmetic:divide", left, right, on_division_by_zero="ERROR" if throws else "NULL"
        )
    raise Unsupported("decimal division has no Substrait form yet")


def negate(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Unary minus."""
    child = e.emit(node["child"])
    zero: Type = child.type
    if zero.kind in FLOATS:
        return e.call("arithmetic:negate", child)
    if zero.kind == "decimal":
        return e.call("arithmetic_decimal:negate", child)
    zero_literal = e.literal(0, types.required(zero))
    return integer_operation(e, "subtract", zero_literal, child, eval_mode(node))


SCALAR: dict[str, Plain | Rule] = {
    "Add": operator("add"),
    "Subtract": operator("subtract"),
    "Multiply": operator("multiply"),
    "Divide": divide,
    "UnaryMinus": negate,
    "Sqrt": plain("arithmetic:sqrt", on_domain_error="NAN"),
}
