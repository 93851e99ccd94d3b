"""Rounding: round, bround, ceil and floor. A scale is a literal; a negative one counts digits before the point."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Literal
from ..algebra.types import FLOATS, INTEGERS
from ..catalyst import tree
from ..catalyst.modes import ANSI, eval_mode
from ..errors import NotInDialect, Unsupported
from .number_cast import decimal_text
from .table import Plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def round_(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Round: half up."""
    child, scale = e.emit(node["child"]), _scale(e, node)
    if child.type.kind in INTEGERS:
        return child if scale.value >= 0 else _round_integer(e, node, child, scale)
    if child.type.kind in FLOATS:
        return e.first(lambda: e.call("spark:round", child, scale), lambda: _round_float(e, child, scale.value))
    return _round_decimal(e, node, child, scale)


def _scale(e: ExpressionBuilder, node: tree.Expression) -> Literal:
    scale = e.emit(node["scale"])
    if not isinstance(scale, Literal) or scale.value is None:
        raise Unsupported("the scale to round to is no literal")
    return scale


def _round_integer(e: ExpressionBuilder, node: tree.Expression, child: Expression, scale: Literal) -> Expression:
    """An overflow raises in ANSI mode, else wraps around."""
    if eval_mode(node) != ANSI:
        return e.call("spark:round", child, scale)
    exact = e.cast(child, types.of("decimal", 19, 0, nullable=False))
    rounded = e.first(
        lambda: e.call("rounding_decimal:round", exact, scale, rounding="TIE_AWAY_FROM_ZERO"),
        lambda: e.call("datafusion:round", exact, scale),
    )
    return e.cast(rounded, child.type)


def _round_decimal(e: ExpressionBuilder, node: tree.Expression, child: Expression, scale: Literal) -> Expression:
    wanted = e.type_of(node, child.type.nullable)
    fits = wanted.parameters[0] - wanted.parameters[1] > child.type.parameters[0] - child.type.parameters[1]
    throws = fits or types.widens(child.type, wanted) or eval_mode(node) == ANSI

    def by_cast() -> Expression:
        """Engines' casts of decimals round half up."""
        if not e.dialect.allows_cast(child.type, wanted, throws):
            raise NotInDialect(f"the dialect {e.dialect.name} can't round decimals")
        if scale.value >= 0:
            return e.cast(child, wanted, throws)
        if child.type.parameters[0] > 37:
            raise NotInDialect(f"the dialect {e.dialect.name} doesn't check that a rounded {child.type} fits")
        return e.narrow(e.call("datafusion:round", child, scale), wanted, throws)

    def standard() -> Expression:
        call = e.call("rounding_decimal:round", child, scale, rounding="TIE_AWAY_FROM_ZERO")
        return e.cast(call, wanted, throws)

    return e.first(standard, by_cast)


def _round_float(e: ExpressionBuilder, child: Expression, scale: int) -> Expression:
    """Spark rounds the shortest text of the number."""
    if not 0 <= scale <= 15:
        raise NotInDialect(f"the dialect {e.dialect.name} can't round {child.type} to {scale} digits as Spark does")
    return _by_text(e, child, lambda text: e.cast(text, types.of("decimal", 38, scale, nullable=False)))


def _by_text(e: ExpressionBuilder, child: Expression, rounded: Callable[[Expression], Expression]) -> Expression:
    """A floating-point number rounded in its shortest text; what is whole, infinite or NaN stays."""
    child = e.share(child)
    value = e.share(e.cast(child, types.FP64))
    whole = e.call("comparison:gte", e.call("arithmetic:abs", value), e.fp64(2.0**52))
    found = e.cast(e.cast(rounded(decimal_text(e, value)), types.STRING), child.type)
    return e.if_then(e.or_(e.call("comparison:is_nan", value), whole), child, found)


def bround(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """BRound: half even."""
    child, scale = e.emit(node["child"]), _scale(e, node)
    if child.type.kind in INTEGERS and scale.value >= 0:
        return child
    name = "spark:bround" if eval_mode(node) == ANSI or child.type.kind in FLOATS else "spark:try_bround"
    if child.type.kind == "decimal":
        wanted = e.type_of(node, child.type.nullable)
        return e.first(
            lambda: e.call(name, child, scale, e.literal(0, e.type_of(node, False))),
            lambda: e.cast(half_even(e, child, scale.value), wanted, eval_mode(node) == ANSI),
        )
    return e.first(lambda: e.call(name, child, scale), lambda: _bround_float(e, child, scale.value))


def _bround_float(e: ExpressionBuilder, child: Expression, scale: int) -> Expression:
    """With 20 digits behind the point, no number gets half way to another one of up to 3 that is not there by its text."""
    if child.type.kind != "fp64" or not 0 <= scale <= 3:
        raise NotInDialect(f"the dialect {e.dialect.name} can't round {child.type} half even to {scale} digits")
    exact = types.of("decimal", 36, 20, nullable=False)
    return _by_text(e, child, lambda text: half_even(e, e.cast(text, exact, throws=False), scale))


def half_even(e: ExpressionBuilder, value: Expression, scale: int) -> Expression:
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


def whole(name: str) -> Rule:
    """Ceil, Floor: of doubles as bigint, where NaN is 0 and what doesn't fit raises in ANSI mode, else saturates."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        child = e.emit(node["child"])
        if child.type.kind in INTEGERS:
            return child
        if child.type.kind == "decimal":
            return e.first(
                lambda: e.call(f"rounding_decimal:{name}", child),
                lambda: e.narrow(e.call(f"datafusion:{name}", child), e.type_of(node, child.type.nullable), True),
            )
        if eval_mode(node) != ANSI:
            return e.call(f"spark:{name}", child)
        value = e.share(child)
        nan = e.call("comparison:is_nan", value)
        high, low = e.call("comparison:gte", value, e.fp64(2.0**63)), e.call("comparison:lt", value, e.fp64(-(2.0**63)))
        return e.first(
            lambda: e.if_then(nan, e.i64(0), e.cast(e.call(f"rounding:{name}", value), types.I64)),
            lambda: e.if_then(
                nan,
                e.i64(0),
                e.or_(high, low),
                e.raises("[ARITHMETIC_OVERFLOW]", types.I64, value),
                e.call(f"spark:{name}", value),
            ),
        )

    return emit


def whole_to_scale(name: str) -> Rule:
    """RoundCeil, RoundFloor: to a number of digits."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return e.call(f"spark:{name}", e.emit(node["child"]), _scale(e, node), e.literal(0, e.type_of(node, False)))

    return emit


SCALAR: dict[str, Plain | Rule] = {
    "BRound": bround,
    "Ceil": whole("ceil"),
    "Floor": whole("floor"),
    "Round": round_,
    "RoundCeil": whole_to_scale("ceil"),
    "RoundFloor": whole_to_scale("floor"),
}
