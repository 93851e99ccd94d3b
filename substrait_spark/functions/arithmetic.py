"""Arithmetic operators: + - * / % div pmod, unary minus and abs.

In ANSI mode what fails raises, in TRY mode it gives null; in LEGACY mode integers wrap around and zero divisors give
null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Expression, Literal
from ..algebra.types import FLOATS, INTEGERS
from ..catalyst import tree
from ..catalyst.modes import ANSI, LEGACY, TRY, eval_mode
from ..errors import NotInDialect, Unsupported
from . import decimal_arithmetic
from .table import Plain

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder, Rule

Operation = Callable[["ExpressionBuilder", tree.Expression, Expression, Expression], Expression]

WIDER = {
    "i8": types.of("i16", nullable=False),
    "i16": types.of("i32", nullable=False),
    "i32": types.I64,
    "i64": types.of("decimal", 19, 0, nullable=False),
}
"""A type in which one addition, subtraction or multiplication of the type's values can't overflow."""


def binary(integers: Operation, floats: Operation, decimals: Operation) -> Rule:
    """An operator with a form for each kind of number."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        left, right = e.emit(node["left"]), e.emit(node["right"])
        kind = left.type.kind
        if kind != right.type.kind or kind not in (*INTEGERS, *FLOATS, "decimal"):
            raise Unsupported(f"{node.cls.name} of {left.type} and {right.type} has no Substrait form")
        form = integers if kind in INTEGERS else floats if kind in FLOATS else decimals
        return form(e, node, left, right)

    return emit


def operator(name: str) -> Rule:
    """+, - and *."""

    def integers(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
        return integer_operation(e, name, left, right, eval_mode(node))

    def floats(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
        return e.call(f"arithmetic:{name}", left, right)

    return binary(integers, floats, decimal_arithmetic.plain_operation(name))


def integer_operation(e: ExpressionBuilder, name: str, left: Expression, right: Expression, mode: str) -> Expression:
    """An integer operation with the overflow that the mode asks for."""
    if mode == LEGACY:
        return e.call(f"spark:{name}", left, right)
    return e.first(
        lambda: (
            e.call(f"spark:try_{name}", left, right)
            if mode == TRY
            else e.call(f"arithmetic:{name}", left, right, overflow="ERROR")
        ),
        lambda: _widened(e, name, left, right, mode == ANSI),
    )


def _widened(e: ExpressionBuilder, name: str, left: Expression, right: Expression, throws: bool) -> Expression:
    """Compute where no overflow is possible, then narrow with a check."""
    wide = WIDER[left.type.kind]
    call = "arithmetic_decimal" if wide.kind == "decimal" else "spark"
    return e.cast(e.call(f"{call}:{name}", e.cast(left, wide), e.cast(right, wide)), left.type, throws)


def nonzero(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """The divisor; in place of a zero, it raises in ANSI mode, unless the dividend is null, and else is null."""
    zero = e.literal(0.0 if right.type.kind in FLOATS else 0, types.required(right.type))
    if isinstance(right, Literal) and right.value:
        return right
    if eval_mode(node) != ANSI:
        if right.type.kind in FLOATS:
            right = e.call("arithmetic:add", right, zero)  # so that -0.0 is 0.0 bit by bit
        return e.call("comparison:nullif", right, zero)
    divisor = e.share(right)
    problem = e.raises("[DIVIDE_BY_ZERO]", right.type, left if isinstance(right, Literal) else divisor)
    parts = [e.equal(divisor, zero), problem, divisor]
    if left.type.nullable:
        parts[:2] = [e.is_null(left), e.null(right.type), *parts[:2]]
    return e.if_then(*parts)


def divide_floats(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """/ on doubles, to which Spark casts integers."""
    on_zero = "ERROR" if eval_mode(node) == ANSI else "NULL"

    def guarded() -> Expression:
        dividend = e.share(left)
        return e.call("arithmetic:divide", dividend, nonzero(e, node, dividend, right), on_division_by_zero="IEEE")

    return e.first(lambda: e.call("arithmetic:divide", left, right, on_division_by_zero=on_zero), guarded)


def no_form(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    raise Unsupported(f"{node.cls.name} of {left.type} has no Substrait form")


def integral_divide(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """div: also of the least number by -1, which overflows, or wraps in LEGACY mode."""
    if eval_mode(node) == ANSI:
        return e.call("arithmetic:divide", left, right, overflow="ERROR", on_division_by_zero="ERROR")

    def guarded() -> Expression:
        dividend, divisor = e.share(left), e.share(right)
        quotient = e.call(
            "arithmetic:divide",
            dividend,
            nonzero(e, node, dividend, divisor),
            overflow="ERROR",
            on_division_by_zero="ERROR",
        )
        negated = e.call("spark:subtract", e.literal(0, types.required(left.type)), dividend)
        minus_one = e.literal(-1, types.required(right.type))
        if isinstance(right, Literal):
            return negated if right.value == -1 else quotient
        return e.if_then(e.equal(divisor, minus_one), negated, quotient)

    return e.first(lambda: e.call("spark:try_div", left, right), guarded)


def integer_remainder(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """% on integers."""
    on_zero = "ERROR" if eval_mode(node) == ANSI else "NULL"

    def guarded() -> Expression:
        return _modulus(e, left, nonzero(e, node, left, right))

    return e.first(
        lambda: e.call("arithmetic:modulus", left, right, division_type="TRUNCATE", on_domain_error=on_zero), guarded
    )


def _modulus(e: ExpressionBuilder, left: Expression, right: Expression) -> Expression:
    if left.type.kind in FLOATS:
        return e.call("datafusion:modulus", left, right)
    return e.call("arithmetic:modulus", left, right, division_type="TRUNCATE", on_domain_error="ERROR")


def float_remainder(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """% on floating-point numbers."""
    name = "mod" if eval_mode(node) == ANSI else "try_mod"

    def guarded() -> Expression:
        dividend = e.share(left)
        return _modulus(e, dividend, nonzero(e, node, dividend, right))

    return e.first(lambda: e.call(f"spark:{name}", left, right), guarded)


def positive_remainder(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """pmod on integers and floating-point numbers: ((left % right) + right) % right where the remainder is negative."""
    name = "pmod" if eval_mode(node) == ANSI else "try_pmod"

    def guarded() -> Expression:
        dividend = e.share(left)
        divisor = nonzero(e, node, dividend, right)
        kind = left.type
        if kind.kind in ("i8", "i16"):  # Java computes in 32 bits
            dividend, divisor = e.cast(dividend, types.I32), e.cast(divisor, types.I32)
        divisor = e.share(divisor)
        result = e.share(_modulus(e, dividend, divisor))
        zero = e.literal(0.0 if kind.kind in FLOATS else 0, types.required(result.type))
        add = "arithmetic:add" if kind.kind in FLOATS else "spark:add"
        shifted = _modulus(e, e.call(add, result, divisor), divisor)
        return e.cast(e.if_then(e.call("comparison:lt", result, zero), shifted, result), kind)

    return e.first(lambda: e.call(f"spark:{name}", left, right), guarded)


def negate(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """UnaryMinus: of the least integer it overflows."""
    child = e.emit(node["child"])
    if child.type.kind in FLOATS:
        return e.call("arithmetic:negate", child)
    if child.type.kind == "decimal":
        return _in_34_digits(e, child, "arithmetic_decimal:negate", "spark:negative")
    if child.type.kind not in INTEGERS:
        raise Unsupported(f"the negative of {child.type} has no Substrait form")
    zero = e.literal(0, types.required(child.type))
    mode = eval_mode(node)

    def own() -> Expression:
        if mode == ANSI:
            return e.call("arithmetic:negate", child, overflow="ERROR")
        return e.call("spark:negative", child)

    return e.first(own, lambda: integer_operation(e, "subtract", zero, child, mode))


def absolute(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Abs: of the least integer it overflows."""
    child = e.emit(node["child"])
    kind = child.type.kind
    if kind in FLOATS:
        return e.call("arithmetic:abs", child)
    if kind == "decimal":
        return _in_34_digits(e, child, "arithmetic_decimal:abs", "spark:abs")
    if kind not in INTEGERS:
        raise Unsupported(f"the absolute value of {child.type} has no Substrait form")
    if eval_mode(node) != ANSI:
        return e.call("spark:abs", child)

    def widened() -> Expression:
        wide = WIDER[kind]
        name = "arithmetic_decimal:abs" if wide.kind == "decimal" else "spark:abs"
        return e.cast(e.call(name, e.cast(child, wide)), child.type)

    return e.first(lambda: e.call("arithmetic:abs", child, overflow="ERROR"), widened)


SCALA_DIGITS = 34
"""Spark negates decimals with a rounding to so many digits."""


def _in_34_digits(e: ExpressionBuilder, child: Expression, standard: str, rounding: str) -> Expression:
    if child.type.parameters[0] <= SCALA_DIGITS:
        return e.call(standard, child)
    try:
        return e.call(rounding, child)
    except NotInDialect:
        raise NotInDialect(
            f"Spark rounds this value of {child.type} to {SCALA_DIGITS} digits, the dialect {e.dialect.name} doesn't",
            f"Cast the value to a decimal of at most {SCALA_DIGITS} digits.",
        ) from None


def positive(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """UnaryPositive: the value."""
    return e.emit(node["child"])


SCALAR: dict[str, Plain | Rule] = {
    "Abs": absolute,
    "Add": operator("add"),
    "Divide": binary(no_form, divide_floats, decimal_arithmetic.divide),
    "IntegralDivide": binary(integral_divide, no_form, decimal_arithmetic.integral_quotient),
    "MakeDecimal": decimal_arithmetic.made_decimal,
    "Multiply": operator("multiply"),
    "Pmod": binary(positive_remainder, positive_remainder, decimal_arithmetic.positive_remainder),
    "Remainder": binary(integer_remainder, float_remainder, decimal_arithmetic.remainder),
    "Subtract": operator("subtract"),
    "UnaryMinus": negate,
    "UnaryPositive": positive,
    "UnscaledValue": decimal_arithmetic.unscaled_value,
}
