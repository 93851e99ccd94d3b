"""Rounding: round, bround, ceil and floor. A scale is a literal; a negative one counts digits before the point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Literal
from ..algebra.types import DIGITS, FLOATS, INTEGERS
from ..catalyst import tree
from ..catalyst.modes import ANSI, eval_mode
from ..errors import Unsupported
from .table import Plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

FULL = 38
"""Digits of the widest decimals."""


def round_(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Round: half up."""
    child, scale = e.emit(node["child"]), _scale(e, node)
    if child.type.kind in INTEGERS:
        return child if scale.value >= 0 else _round_integer(e, node, child, scale)
    if child.type.kind in FLOATS:
        return e.call("spark:spark_round", child, scale)
    return _round_decimal(e, node, child, scale)


def _scale(e: ExpressionBuilder, node: tree.Expression) -> Literal:
    scale = e.emit(node["scale"])
    if not isinstance(scale, Literal) or scale.value is None:
        raise Unsupported("the scale to round to is no literal")
    return scale


def _round_integer(e: ExpressionBuilder, node: tree.Expression, child: Expression, scale: Literal) -> Expression:
    """An overflow raises in ANSI mode, else wraps around."""
    if eval_mode(node) != ANSI:
        return e.call("spark:spark_round", child, scale)
    exact = e.cast(child, types.of("decimal", DIGITS[child.type.kind], 0, nullable=False))
    return e.cast(e.call("rounding_decimal:round", exact, scale, rounding="TIE_AWAY_FROM_ZERO"), child.type)


def _round_decimal(e: ExpressionBuilder, node: tree.Expression, child: Expression, scale: Literal) -> Expression:
    """By the standard function, but where its result, which keeps the scale, may need more digits than there are."""
    wanted = e.type_of(node, child.type.nullable)
    if child.type.parameters[0] == FULL and scale.value < child.type.parameters[1]:
        return e.call("spark:round_half_up", child, scale, e.literal(0, types.required(wanted)))
    return e.cast(e.call("rounding_decimal:round", child, scale, rounding="TIE_AWAY_FROM_ZERO"), wanted)


def bround(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """BRound: half even. A decimal that does not fit raises in every mode."""
    child, scale = e.emit(node["child"]), _scale(e, node)
    if child.type.kind == "decimal":
        return e.call("spark:bround", child, scale, e.literal(0, e.type_of(node, False)))
    if child.type.kind in FLOATS:
        return e.call("spark:bround", child, scale)
    if scale.value >= 0:
        return child
    return e.call("spark:bround" if eval_mode(node) == ANSI else "spark:try_bround", child, scale)


def ceil_or_floor(name: str) -> Rule:
    """Ceil, Floor: of doubles as bigint, where NaN is 0 and what doesn't fit raises in ANSI mode, else saturates.

    Before Spark 4.3 they have no mode, and saturate in any.
    """

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        child = e.emit(node["child"])
        if child.type.kind in INTEGERS:
            return child
        if child.type.kind == "decimal":
            return e.call(f"rounding_decimal:{name}", child)
        has_mode = len(node.cls.fields) > 1
        return e.call(f"spark:{'checked' if has_mode and eval_mode(node) == ANSI else 'spark'}_{name}", child)

    return emit


def whole_to_scale(name: str) -> Rule:
    """RoundCeil, RoundFloor: to a number of digits."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.call(
            f"spark:spark_{name}", e.emit(node["child"]), _scale(e, node), e.literal(0, e.type_of(node, False))
        )

    return emit


SCALAR: dict[str, Plain | Rule] = {
    "BRound": bround,
    "Ceil": ceil_or_floor("ceil"),
    "Floor": ceil_or_floor("floor"),
    "Round": round_,
    "RoundCeil": whole_to_scale("ceil"),
    "RoundFloor": whole_to_scale("floor"),
}
