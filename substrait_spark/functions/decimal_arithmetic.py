"""Arithmetic on decimals: exact, then rounded half up to the type that Spark gives the result.

Engines round otherwise and check less, so that results which may not fit are computed in wider decimals where an engine
has them (`datafusion:arrow_cast`), and cast to Spark's type with a check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Expression, Literal
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.modes import ANSI, eval_mode
from ..errors import NotInDialect

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder

NARROW, WIDE = 38, 76
"""Digits of the decimals of Substrait, and of those that engines may compute in."""

SPARK_DIGITS = 39
"""How many digits of a product or remainder Spark keeps before it rounds to the result's type."""

Operation = Callable[["ExpressionBuilder", tree.Expression, Expression, Expression], Expression]


def own(e: ExpressionBuilder, name: str, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """Our own function: `name` raises in ANSI mode, `try_name` gives null; its result is typed as its last argument."""
    result = e.type_of(node, False)
    prefix = "" if eval_mode(node) == ANSI else "try_"
    return e.call(f"spark:{prefix}{name}", left, right, e.literal(0, result))


def plain_operation(name: str) -> Operation:
    """+, - and *."""

    def emit(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
        if _exact(name, left.type, right.type) == node.type.parameters:
            return e.call(f"arithmetic_decimal:{name}", left, right)
        return e.first(
            lambda: own(e, name, node, left, right),
            lambda: _rounded(e, name, node, left, right),
        )

    return emit


def _exact(name: str, left: Type, right: Type) -> tuple[int, int]:
    """The precision and scale that hold every result."""
    (p1, s1), (p2, s2) = left.parameters, right.parameters
    if name == "multiply":
        return p1 + p2 + 1, s1 + s2
    return max(p1 - s1, p2 - s2) + max(s1, s2) + 1, max(s1, s2)


def _rounded(e: ExpressionBuilder, name: str, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """A result that Spark rounds or that may not fit, from wider decimals."""
    loses_digits = _exact(name, left.type, right.type)[1] > node.type.parameters[1]
    if name == "multiply" and loses_digits and _digits(left) + _digits(right) > SPARK_DIGITS:
        raise NotInDialect(
            f"Spark rounds a product of {left.type} and {right.type} twice, the dialect {e.dialect.name} once",
            "Cast the factors to decimals of fewer digits.",
        )
    wide = e.call(f"arithmetic_decimal:{name}", widened(e, left), widened(e, right))
    return e.narrow(wide, e.type_of(node), eval_mode(node) == ANSI)


def _digits(value: Expression) -> int:
    """How many significant digits a value has at most."""
    if isinstance(value, Literal) and value.value is not None:
        return len(str(abs(value.value)).rstrip("0"))
    return int(value.type.parameters[0])


def widened(e: ExpressionBuilder, value: Expression, precision: int = 0, scale: int = 0) -> Expression:
    """A decimal in the engine's wider decimals, by default with its own precision and scale."""
    own_precision, own_scale = value.type.parameters
    target = f"Decimal256({precision or own_precision}, {scale or own_scale})"
    return e.call("datafusion:arrow_cast", value, e.text(target))


def divide(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """/: the quotient to 38 digits behind the point, rounded half down, then rounded half up to the result's type."""
    return e.first(
        lambda: own(e, "divide", node, left, right),
        lambda: _divided(e, node, left, right),
    )


def _divided(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """By a division that truncates four digits behind the dividend's: one digit more than the result has is enough."""
    throws = eval_mode(node) == ANSI
    (p1, s1), (_, s2), (_, scale) = left.type.parameters, right.type.parameters, node.type.parameters
    divisor = _divisor_rounded_once(e, node, left, right)
    if not throws:
        divisor = null_for_zero(e, divisor)
    finer = max(scale - 3, s1)
    needed = p1 - s1 + finer + 4 + s2
    if needed > WIDE:
        raise NotInDialect(f"the dialect {e.dialect.name} can't divide {left.type} by {right.type} to {scale} digits")
    if needed <= NARROW:
        dividend = e.cast(left, types.of("decimal", p1 - s1 + finer, finer, nullable=False))
    else:
        dividend, divisor = widened(e, left, p1 - s1 + finer, finer), widened(e, divisor)
    return e.narrow(e.call("datafusion:divide", dividend, divisor), e.type_of(node), throws)


def null_for_zero(e: ExpressionBuilder, divisor: Expression) -> Expression:
    """A divisor with null in the place of zero."""
    return e.call("comparison:nullif", divisor, e.literal(0, types.required(divisor.type)))


def _divisor_rounded_once(
    e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression
) -> Expression:
    """The divisor, if by its size rounding to 38 digits first changes nothing; greater ones raise.

    A quotient that isn't half way between two results is at least 10^-digits / divisor away from there, which must be
    more than half of the 38th digit.
    """
    (_, s1), (p2, s2), (_, scale) = left.type.parameters, right.type.parameters, node.type.parameters
    digits = max(s1, scale + 1 + s2)
    limit = NARROW - digits  # divisors below 2 * 10^limit are safe
    if limit >= p2 - s2:
        return right
    if isinstance(right, Literal) and (right.value is None or abs(right.value) < 2 * 10 ** (limit + s2)):
        return right
    if limit < min(p2 - s2, 9) or scale >= NARROW or isinstance(right, Literal):
        raise NotInDialect(
            f"Spark rounds a quotient of {left.type} and {right.type} twice, the dialect {e.dialect.name} once",
            "Cast the operands to decimals of fewer digits.",
        )
    divisor = e.share(right)
    greatest = e.literal(2 * 10 ** (limit + s2) - 1, types.required(right.type))
    least = e.literal(1 - 2 * 10 ** (limit + s2), types.required(right.type))
    too_long = e.or_(e.call("comparison:gt", divisor, greatest), e.call("comparison:lt", divisor, least))
    problem = e.raises("[NUMERIC_OUT_OF_SUPPORTED_RANGE] a divisor of too many digits", right.type, divisor)
    return e.if_then(too_long, problem, divisor)


def remainder(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """%: with the sign of the dividend."""
    return e.first(
        lambda: own(e, "mod", node, left, right),
        lambda: _remainder(e, node, left, right),
    )


def _remainder(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    throws = eval_mode(node) == ANSI
    divisor = right if throws else null_for_zero(e, right)
    return e.narrow(_modulus(e, left, divisor), e.type_of(node), throws)


def _modulus(e: ExpressionBuilder, left: Expression, right: Expression) -> Expression:
    (p1, s1), (p2, s2) = left.type.parameters, right.type.parameters
    if p1 - s1 + s2 >= SPARK_DIGITS:
        raise NotInDialect(
            f"Spark raises for quotients of too many digits in {left.type} % {right.type}",
            "Cast the operands to decimals of fewer digits.",
        )
    if max(p1 - s1, p2 - s2) + max(s1, s2) > NARROW:
        left, right = widened(e, left), widened(e, right)
    return e.call("datafusion:modulus", left, right)


def positive_remainder(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """pmod: ((left % right) + right) % right where the remainder is negative."""
    return e.first(
        lambda: own(e, "pmod", node, left, right),
        lambda: _positive_remainder(e, node, left, right),
    )


def _positive_remainder(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    (p1, s1), (p2, s2) = left.type.parameters, right.type.parameters
    if max(p1, p2) > 36 or max(p1 - s1, p2 - s2) + max(s1, s2) + 1 > NARROW:
        raise NotInDialect(f"the dialect {e.dialect.name} has no pmod of {left.type} and {right.type}")
    throws = eval_mode(node) == ANSI
    divisor = e.share(right if throws else null_for_zero(e, right))
    result = e.share(_modulus(e, left, divisor))
    shifted = _modulus(e, e.call("arithmetic_decimal:add", result, divisor), divisor)
    wanted = e.type_of(node)
    negative = e.call("comparison:lt", result, e.literal(0, types.required(result.type)))
    return e.if_then(negative, e.narrow(shifted, wanted, throws), e.narrow(result, wanted, throws))


def integral_quotient(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """div: the quotient without its fraction, of which Spark keeps the low 64 bits."""
    throws = eval_mode(node) == ANSI
    (p1, s1), (_, s2) = left.type.parameters, right.type.parameters

    def truncated() -> Expression:
        if p1 - s1 + s2 > 18 or p1 + 4 + s2 > NARROW:
            raise NotInDialect(f"the quotient of {left.type} and {right.type} may have more than 64 bits")
        divisor = right if throws else null_for_zero(e, right)
        return e.cast(e.call("datafusion:divide", left, divisor), types.I64, throws)

    return e.first(lambda: e.call("spark:div" if throws else "spark:try_div", left, right), truncated)


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
