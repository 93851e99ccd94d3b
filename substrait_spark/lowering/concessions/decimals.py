"""Decimals by the standard functions, with a cast to the type that Spark states.

The standard functions leave open how they round, and what they do for a zero divisor. So a divisor that may be zero is looked at before. Where no option and no cast tells Spark's overflow, that takes a concession of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra import types
from ...algebra.builder import CallBuilder
from ...algebra.expression import Expression, Literal, ScalarFunction
from ...algebra.types import Type
from ...dialects.concessions import DECIMAL_ROUNDING, OVERFLOW
from .forms import Aggregated, AggregateForm, AggregateForms, Called, Form, Scalar, ScalarForms

DIGITS = 38
"""The most digits of a decimal."""

ZERO_DIVISOR = "[DIVIDE_BY_ZERO] Division by zero: "
"""What an error says, before the divisor."""


def whole(type: Type) -> int:
    """How many digits a decimal has before the point."""
    precision, scale = type.parameters
    return int(precision - scale)


def scale(type: Type) -> int:
    """How many digits it has behind the point."""
    return int(type.parameters[1])


def needs(rounds: bool, overflows: bool) -> frozenset[str]:
    """The concessions for what may be rounded otherwise, and for what may overflow otherwise."""
    return frozenset(name for name, needed in ((DECIMAL_ROUNDING, rounds), (OVERFLOW, overflows)) if needed)


def standard(
    e: CallBuilder, name: str, operands: Sequence[Expression], most: int, wanted: Type, throws: bool
) -> tuple[Expression, bool]:
    """A standard call, and whether it may overflow otherwise than Spark, where a result has so many digits before the point at most.

    What its type doesn't hold is an error by an option, and null by none. It mostly has room for more than Spark's type does: then the cast
    to that tells.
    """
    value = e.call(f"arithmetic_decimal:{name}", *operands)
    room = whole(value.type)
    if most <= room:
        return value, False
    if throws and room >= whole(wanted):
        return e.call(f"arithmetic_decimal:{name}", *operands, overflow="ERROR"), False
    return value, True


# ---- operators


def quotient(throws: bool) -> Scalar:
    """The quotient, which is null or an error for a zero divisor."""

    def form(e: CallBuilder, call: ScalarFunction) -> Form | None:
        left, right = call.children()[:2]
        is_known = isinstance(right, Literal)
        if isinstance(right, Literal) and not right.value:
            return None
        if not is_known:
            left, right = e.share(left), e.share(right)
        most = whole(left.type) + scale(right.type)
        value, overflows = standard(e, "divide", (left, right), most, call.type, throws)
        result = e.cast(value, call.type, throws)
        if not is_known:
            result = _unless_zero(e, left, right, result, throws)
        return Form(needs(True, overflows), result)

    return form


def _unless_zero(e: CallBuilder, left: Expression, right: Expression, value: Expression, throws: bool) -> Expression:
    """A quotient where the divisor isn't zero. Else it is null, or an error unless the dividend is null."""
    is_zero = e.equal(right, e.literal(0, types.required(right.type)))
    null = e.null(value.type)
    if not throws:
        return e.if_then(is_zero, null, value)
    text = e.call("string:concat", e.text(ZERO_DIVISOR), e.cast(right, types.STRING), null_handling="ACCEPT_NULLS")
    raised = e.cast(e.cast(text, types.I64), value.type)
    if left.type.nullable:
        raised = e.if_then(e.is_not_null(left), raised, null)
    return e.if_then(is_zero, raised, value)


def operation(name: str, throws: bool) -> Scalar:
    """A sum, a difference or a product."""

    def form(e: CallBuilder, call: ScalarFunction) -> Form | None:
        left, right = call.children()[:2]
        if left.type.kind != "decimal":
            return None
        most, exact = _digits(name, left.type, right.type)
        value, overflows = standard(e, name, (left, right), most, call.type, throws)
        rounds = exact > min(scale(value.type), scale(call.type))
        return Form(needs(rounds, overflows), e.cast(value, call.type, throws))

    return form


def _digits(name: str, left: Type, right: Type) -> tuple[int, int]:
    """How many digits an exact result has at most, before the point and behind it."""
    scales = scale(left), scale(right)
    if name == "multiply":
        return whole(left) + whole(right), sum(scales)
    return max(whole(left), whole(right)) + 1, max(scales)


def rounded(e: CallBuilder, call: ScalarFunction) -> Form | None:
    """A decimal of 38 digits rounded to fewer: with two digits less, the standard function's result has room."""
    value, digits = call.children()[:2]
    if not isinstance(digits, Literal) or digits.value is None:
        return None
    kept = scale(value.type) - 2
    if kept < max(digits.value, 0):
        return Form(needs(True, False), e.cast(value, call.type)) if digits.value >= 0 else None
    shorter = e.cast(value, types.of("decimal", DIGITS - 1, kept, nullable=False))
    result = e.call("rounding_decimal:round", shorter, digits, rounding="TIE_AWAY_FROM_ZERO")
    return Form(needs(True, False), e.cast(result, call.type))


# ---- averages


def average_in_doubles(e: CallBuilder, call: Called) -> AggregateForm:
    """An average that Spark computes in doubles, exactly: of so few digits, nothing overflows."""
    argument = _argument(call)
    precision, digits = argument.type.parameters
    finer = types.of("decimal", precision + 4, digits + 4, nullable=False)
    return AggregateForm(needs(True, False), "arithmetic_decimal:avg", e.cast(argument, finer))


def average(throws: bool) -> Aggregated:
    """An average whose sum may need more than 38 digits, of as many digits behind the point as there is room for."""

    def form(e: CallBuilder, call: Called) -> AggregateForm | None:
        argument = _argument(call)
        if argument.type.kind != "decimal":
            return None
        finest = min(scale(call.type), DIGITS - whole(argument.type))
        finer = types.of("decimal", whole(argument.type) + finest, finest, nullable=False)
        return AggregateForm(needs(True, True), "arithmetic_decimal:avg", e.cast(argument, finer), throws=throws)

    return form


def _argument(call: Called) -> Expression:
    (argument,) = [each for each in call.arguments if isinstance(each, Expression)]
    return argument


SCALARS: ScalarForms = {
    "spark:round_half_up": rounded,
    "spark:spark_add": operation("add", throws=True),
    "spark:spark_divide": quotient(throws=True),
    "spark:spark_multiply": operation("multiply", throws=True),
    "spark:spark_subtract": operation("subtract", throws=True),
    "spark:try_add": operation("add", throws=False),
    "spark:try_divide": quotient(throws=False),
    "spark:try_multiply": operation("multiply", throws=False),
    "spark:try_subtract": operation("subtract", throws=False),
}

AGGREGATES: AggregateForms = {
    "spark:avg_in_doubles": average_in_doubles,
    "spark:spark_avg": average(throws=True),
    "spark:try_avg": average(throws=False),
}
