"""Arithmetic on decimals: exact, then rounded half up to the type that Spark gives the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Expression
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.modes import ANSI, eval_mode

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder

Operation = Callable[["ExpressionBuilder", tree.Expression, Expression, Expression], Expression]


def own(name: str, in_other_modes: str) -> Operation:
    """Our own functions, for ANSI mode and for others; the result is typed as their last argument."""

    def emit(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
        function = name if eval_mode(node) == ANSI else in_other_modes
        return e.call(f"spark:{function}", left, right, e.literal(0, e.type_of(node, False)))

    return emit


def plain_operation(name: str) -> Operation:
    """+, - and *: the standard function where Spark's result keeps every digit behind the point."""
    rounded = own(f"spark_{name}", f"try_{name}")

    def emit(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
        digits, scale = _exact(name, left.type, right.type)
        if (digits, scale) == node.type.parameters:
            return e.call(f"arithmetic_decimal:{name}", left, right)
        if scale == node.type.parameters[1] and eval_mode(node) == ANSI:
            call = e.call(f"arithmetic_decimal:{name}", left, right, overflow="ERROR")
            if call.type.parameters == node.type.parameters:
                return call
        return rounded(e, node, left, right)

    return emit


def _exact(name: str, left: Type, right: Type) -> tuple[int, int]:
    """The precision and scale that hold every result."""
    (p1, s1), (p2, s2) = left.parameters, right.parameters
    if name == "multiply":
        return p1 + p2 + 1, s1 + s2
    return max(p1 - s1, p2 - s2) + max(s1, s2) + 1, max(s1, s2)


def integral_quotient(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """div: the quotient without its fraction, of which Spark keeps the low 64 bits."""
    return e.call("spark:div" if eval_mode(node) == ANSI else "spark:try_div", left, right)


# ---- what the optimizer makes of sums of small decimals, where a DISTINCT stands between it and the sum


def unscaled_value(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """UnscaledValue: a decimal without its point."""
    child = e.emit(node["child"])
    scale = child.type.parameters[1]
    unit = e.literal(10**scale, types.of("decimal", scale + 1, 0, nullable=False))
    return e.cast(e.call("arithmetic_decimal:multiply", child, unit) if scale else child, types.I64)


def made_decimal(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MakeDecimal: an integer with a point put in."""
    scale = node["scale"]
    whole = e.cast(e.emit(node["child"]), types.of("decimal", 19, 0, nullable=False))
    unit = e.literal(1, types.of("decimal", scale + 1, scale, nullable=False))
    value = e.call("arithmetic_decimal:multiply", whole, unit) if scale else whole
    return e.cast(value, e.type_of(node), throws=not node["nullOnOverflow"])
