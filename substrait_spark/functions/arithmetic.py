"""Arithmetic operators: + - * / % div pmod, unary minus and abs.

In ANSI mode what fails raises, in TRY mode it gives null; in LEGACY mode integers wrap around and zero divisors give
null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..algebra.expression import Expression
from ..algebra.types import FLOATS, INTEGERS, NUMBERS
from ..catalyst import tree
from ..catalyst.modes import ANSI, TRY, eval_mode
from ..errors import Unsupported
from . import decimal_arithmetic
from .table import Plain

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder, Rule

Operation = Callable[["ExpressionBuilder", tree.Expression, Expression, Expression], Expression]


def binary(integers: Operation, floats: Operation, decimals: Operation) -> Rule:
    """An operator with a form for each kind of number."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        left, right = e.emit(node["left"]), e.emit(node["right"])
        kind = left.type.kind
        if kind != right.type.kind or kind not in NUMBERS:
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
    if mode == ANSI:
        return e.call(f"arithmetic:{name}", left, right, overflow="ERROR")
    return e.call(f"spark:{'try' if mode == TRY else 'spark'}_{name}", left, right)


def divide_floats(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """/ on doubles, to which Spark casts integers."""
    return e.call("arithmetic:divide", left, right, on_division_by_zero=_on_zero(node), on_domain_error="NAN")


def _on_zero(node: tree.Expression) -> str:
    return "ERROR" if eval_mode(node) == ANSI else "NULL"


def no_form(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    raise Unsupported(f"{node.cls.name} of {left.type} has no Substrait form")


def integral_divide(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """div: also of the least number by -1, which overflows, or wraps in LEGACY mode."""
    if eval_mode(node) == ANSI:
        return e.call("arithmetic:divide", left, right, overflow="ERROR", on_division_by_zero="ERROR")
    return e.call("spark:try_div", left, right)


def integer_remainder(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
    """% on integers."""
    return e.call(
        "arithmetic:modulus", left, right, division_type="TRUNCATE", overflow="SILENT", on_domain_error=_on_zero(node)
    )


def own(name: str) -> Operation:
    """Our own function: `name` raises in ANSI mode, `try_name` gives null."""

    def emit(e: ExpressionBuilder, node: tree.Expression, left: Expression, right: Expression) -> Expression:
        return e.call(f"spark:{name if eval_mode(node) == ANSI else f'try_{name}'}", left, right)

    return emit


def negate(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """UnaryMinus: of the least integer it overflows."""
    child = e.emit(node["child"])
    if child.type.kind in FLOATS:
        return e.call("arithmetic:negate", child)
    if child.type.kind == "decimal":
        return _in_34_digits(e, child, "arithmetic_decimal:negate", "spark:negative")
    if child.type.kind not in INTEGERS:
        raise Unsupported(f"the negative of {child.type} has no Substrait form")
    if eval_mode(node) == ANSI:
        return e.call("arithmetic:negate", child, overflow="ERROR")
    return e.call("spark:negative", child)


def absolute(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Abs: of the least integer it overflows."""
    child = e.emit(node["child"])
    kind = child.type.kind
    if kind in FLOATS:
        return e.call("arithmetic:abs", child)
    if kind == "decimal":
        return _in_34_digits(e, child, "arithmetic_decimal:abs", "spark:spark_abs")
    if kind not in INTEGERS:
        raise Unsupported(f"the absolute value of {child.type} has no Substrait form")
    if eval_mode(node) == ANSI:
        return e.call("arithmetic:abs", child, overflow="ERROR")
    return e.call("spark:spark_abs", child)


SCALA_DIGITS = 34
"""Spark negates decimals with a rounding to so many digits from 4.0 on, where it has a newer Scala."""


def _in_34_digits(e: ExpressionBuilder, child: Expression, standard: str, rounding: str) -> Expression:
    is_exact = child.type.parameters[0] <= SCALA_DIGITS or e.context.is_before(4, 0)
    return e.call(standard if is_exact else rounding, child)


def positive(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """UnaryPositive: the value."""
    return e.emit(node["child"])


SCALAR: dict[str, Plain | Rule] = {
    "Abs": absolute,
    "Add": operator("add"),
    "Divide": binary(no_form, divide_floats, decimal_arithmetic.own("spark_divide", "try_divide")),
    "IntegralDivide": binary(integral_divide, no_form, decimal_arithmetic.integral_quotient),
    "MakeDecimal": decimal_arithmetic.made_decimal,
    "Multiply": operator("multiply"),
    "Pmod": binary(own("pmod"), own("pmod"), decimal_arithmetic.own("pmod", "try_pmod")),
    "Remainder": binary(integer_remainder, own("mod"), decimal_arithmetic.own("mod", "try_mod")),
    "Subtract": operator("subtract"),
    "UnaryMinus": negate,
    "UnaryPositive": positive,
    "UnscaledValue": decimal_arithmetic.unscaled_value,
}
