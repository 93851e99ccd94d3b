"""Arithmetic on decimals: exact, then rounded half up to the type of the result, which is checked to fit.

DataFusion checks less than that, and rounds otherwise: results which may not fit are computed in its wider decimals and
cast back with a check. That takes ten times as long as its own arithmetic, which is right for operands that are small enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ....algebra import types
from ....algebra.expression import Expression, FieldReference, ScalarFunction
from ....algebra.types import Type
from ....dialects.rewrite import Apply, Sees, rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ....lowering.expression import ExpressionLowering
from ..value_bounds import hanging_on, of_call, of_type, scale

ERROR, NULL = "ERROR", "NULL"
"""What is done where there is no result."""

NARROW, WIDE = 38, 76
"""Digits of the decimals of Substrait, and of DataFusion's wider ones."""

TOO_LARGE = 10**NARROW
"""The least magnitude of more digits than Substrait's decimals have."""

SPARK_DIGITS = 39
"""How many digits Spark's quotients have at most where it computes a remainder."""

Operation = Callable[[LoweringBuilder, Expression, Expression, Type, str], Expression]
"""Of two decimals, with the type of the result and what is done where there is none."""


def ruled(operation: Operation, on_failure: str) -> Apply:
    """The rule for calls of an operation on two decimals, whose last argument has the type of the result."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        left, right = call.children()[:2]
        return operation(e, left, right, call.type, on_failure)

    return lower


def operation(name: str) -> Operation:
    """+, - and *, of results that Spark rounds or that may not fit: in wider decimals."""

    def lower(e: LoweringBuilder, left: Expression, right: Expression, wanted: Type, on_failure: str) -> Expression:
        exact = e.call(f"arithmetic_decimal:{name}", left, right)
        if exact.type.parameters != wanted.parameters or SCALES[name](left, right) != scale(wanted):
            return in_wider_decimals(e, name, left, right, wanted, on_failure)
        if isinstance(exact, ScalarFunction) and of_call(exact) < TOO_LARGE:
            return exact
        small = _are_small(e, exact) if isinstance(exact, ScalarFunction) else None
        in_wider = in_wider_decimals(e, name, left, right, wanted, on_failure)
        return in_wider if small is None else e.if_then(small, exact, in_wider)

    return lower


def in_wider_decimals(
    e: LoweringBuilder, name: str, left: Expression, right: Expression, wanted: Type, on_failure: str
) -> Expression:
    """A result in the engine's wider decimals, rounded half up to a type and checked to fit."""
    wide = e.call(f"arithmetic_decimal:{name}", widened(e, left), widened(e, right))
    return e.narrow(wide, wanted, on_failure == ERROR)


def _scale_of_sum(left: Expression, right: Expression) -> int:
    return max(scale(left.type), scale(right.type))


def _scale_of_product(left: Expression, right: Expression) -> int:
    return scale(left.type) + scale(right.type)


SCALES: Mapping[str, Callable[[Expression, Expression], int]] = {
    "add": _scale_of_sum,
    "multiply": _scale_of_product,
    "subtract": _scale_of_sum,
}
"""The scales of exact results."""


def _are_small(e: LoweringBuilder, exact: ScalarFunction) -> Expression | None:
    """Whether the values that a result hangs on are all below the greatest power of ten for which it has at most 38 digits.

    None where there is none, or where they aren't at hand: to compute them once more takes as long as wider decimals.
    """
    values = hanging_on(exact)
    if not values:
        return None
    decimals = [value for value in values if value.type.kind == "decimal"]
    for digits in range(NARROW, 0, -1):
        limits = {value: min(10 ** (digits + scale(value.type)), of_type(value.type) + 1) for value in decimals}
        if of_call(exact, {value: limit - 1 for value, limit in limits.items()}) < TOO_LARGE:
            large = {_place(value): value for value in decimals if limits[value] <= of_type(value.type)}
            return e.and_(*[_is_below(e, value, limits[value]) for value in large.values()]) if large else None
    return None


def _place(value: Expression) -> object:
    """What is the same for references to one column."""
    if isinstance(value, FieldReference):
        return value.ordinal, value.path, value.outer, value.parameter
    return value


def _is_below(e: LoweringBuilder, value: Expression, limit: int) -> Expression:
    """Whether a value's magnitude is below a limit."""
    size = e.call("arithmetic_decimal:abs", value)
    return e.call("comparison:lt", size, e.literal(limit, types.required(value.type)))


def widened(e: LoweringBuilder, value: Expression, precision: int = 0, scale: int = 0) -> Expression:
    """A decimal in the engine's wider decimals, by default with its own precision and scale."""
    own_precision, own_scale = value.type.parameters
    target = f"Decimal256({precision or own_precision}, {scale or own_scale})"
    return e.call("datafusion:arrow_cast", value, e.text(target))


def divide(e: LoweringBuilder, left: Expression, right: Expression, wanted: Type, on_failure: str) -> Expression:
    """By a division that truncates four digits behind the dividend's: one digit more than the result has is enough."""
    (p1, s1), (_, s2), (_, scale) = left.type.parameters, right.type.parameters, wanted.parameters
    divisor = right if on_failure == ERROR else null_for_zero(e, right)
    finer = max(scale - 3, s1)
    needed = p1 - s1 + finer + 4 + s2
    if needed > WIDE:
        raise NotInDialect(f"the dialect {e.dialect.name} can't divide {left.type} by {right.type} to {scale} digits")
    if needed <= NARROW:
        dividend = e.cast(left, types.of("decimal", p1 - s1 + finer, finer, nullable=False))
    else:
        dividend, divisor = widened(e, left, p1 - s1 + finer, finer), widened(e, divisor)
    return e.narrow(e.call("datafusion:divide", dividend, divisor), wanted, on_failure == ERROR)


def null_for_zero(e: LoweringBuilder, divisor: Expression) -> Expression:
    """A divisor with null in the place of zero."""
    return e.call("comparison:nullif", divisor, e.literal(0, types.required(divisor.type)))


def remainder(e: LoweringBuilder, left: Expression, right: Expression, wanted: Type, on_failure: str) -> Expression:
    """%: with the sign of the dividend."""
    throws = on_failure == ERROR
    divisor = right if throws else null_for_zero(e, right)
    return e.narrow(_modulus(e, left, divisor), wanted, throws)


def _modulus(e: LoweringBuilder, left: Expression, right: Expression) -> Expression:
    (p1, s1), (p2, s2) = left.type.parameters, right.type.parameters
    if p1 - s1 + s2 >= SPARK_DIGITS:
        raise NotInDialect(
            f"Spark raises for quotients of too many digits in {left.type} % {right.type}",
            "Cast the operands to decimals of fewer digits.",
        )
    if max(p1 - s1, p2 - s2) + max(s1, s2) > NARROW:
        left, right = widened(e, left), widened(e, right)
    return e.call("datafusion:modulus", left, right)


def positive_remainder(
    e: LoweringBuilder, left: Expression, right: Expression, wanted: Type, on_failure: str
) -> Expression:
    """pmod: ((left % right) + right) % right where the remainder is negative."""
    (p1, s1), (p2, s2) = left.type.parameters, right.type.parameters
    if max(p1, p2) > 36 or max(p1 - s1, p2 - s2) + max(s1, s2) + 1 > NARROW:
        raise NotInDialect(f"the dialect {e.dialect.name} has no pmod of {left.type} and {right.type}")
    throws = on_failure == ERROR
    divisor = e.share(right if throws else null_for_zero(e, right))
    result = e.share(_modulus(e, left, divisor))
    shifted = _modulus(e, e.call("arithmetic_decimal:add", result, divisor), divisor)
    negative = e.call("comparison:lt", result, e.literal(0, types.required(result.type)))
    return e.if_then(negative, e.narrow(shifted, wanted, throws), e.narrow(result, wanted, throws))


def integral_quotient(
    e: LoweringBuilder, left: Expression, right: Expression, wanted: Type, on_failure: str
) -> Expression:
    """div: the quotient without its fraction, of which Spark keeps the low 64 bits."""
    (p1, s1), (_, s2) = left.type.parameters, right.type.parameters
    if p1 - s1 + s2 > 18 or p1 + 4 + s2 > NARROW:
        raise NotInDialect(f"the quotient of {left.type} and {right.type} may have more than 64 bits")
    throws = on_failure == ERROR
    divisor = right if throws else null_for_zero(e, right)
    return e.cast(e.call("datafusion:divide", left, divisor), wanted, throws)


def standard_operation(name: str) -> Apply:
    """The standard operation, which raises on overflow."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        if dict(call.options) != {"overflow": ERROR}:
            return e.native_form(call)
        left, right = call.children()
        return operation(name)(e, left, right, call.type, ERROR)

    return lower


def rounded_operation(name: str) -> Apply:
    """The standard operation of a type with fewer digits behind the point than the engine's own result has."""

    def lower(lowering: ExpressionLowering, call: ScalarFunction) -> Expression | None:
        if scale(call.type) == SCALES[name](*call.children()):
            return None
        left, right = lowering.lower_all(call.children())
        # The standard function leaves open how it rounds: half up is as good as any.
        return in_wider_decimals(lowering.e, name, left, right, call.type, ERROR)

    return lower


REWRITES = rewrites({f"arithmetic_decimal:{name}": rounded_operation(name) for name in SCALES}, sees=Sees.BOTH)
REWRITES += rewrites(
    {
        "arithmetic_decimal:add": standard_operation("add"),
        "arithmetic_decimal:divide": ruled(divide, ERROR),
        "arithmetic_decimal:multiply": standard_operation("multiply"),
        "arithmetic_decimal:subtract": standard_operation("subtract"),
        "spark:spark_divide": ruled(divide, ERROR),
        "spark:try_divide": ruled(divide, NULL),
    }
)
