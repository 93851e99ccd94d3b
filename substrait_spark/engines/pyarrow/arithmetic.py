"""Arithmetic that Acero does otherwise, or has in parts: division by zero, remainders, sums that become null."""

from __future__ import annotations

from ...algebra import types
from ...algebra.expression import Cast, Expression, Literal, ScalarFunction
from ...algebra.types import FLOATS, INTEGERS
from ...dialects.rewrite import Apply, rewrites
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from .cast import narrowed

ERROR, NULL, SILENT = "ERROR", "NULL", "SILENT"
"""What is done where there is no result; SILENT integers wrap around."""

MOST_DIGITS = 38

WIDER = {"i8": types.of("i16"), "i16": types.I32, "i32": types.I64}
"""A type in which one addition, subtraction or multiplication of the type's values can't overflow."""


def nonzero(e: LoweringBuilder, left: Expression, right: Expression, on_zero: str) -> Expression:
    """The divisor; in place of a zero null, or what raises unless the dividend is null."""
    if isinstance(right, Literal) and right.value:
        return right
    divisor = e.share(right)
    zero = e.literal(0.0 if right.type.kind in FLOATS else 0, types.required(right.type))
    is_zero = e.call("comparison:equal", divisor, zero)
    if on_zero != ERROR:
        return e.if_then(is_zero, e.null(right.type), divisor)
    problem = e.raises("[DIVIDE_BY_ZERO]", right.type, divisor)
    if left.type.nullable:
        return e.if_then(e.is_null(left), e.null(right.type), is_zero, problem, divisor)
    return e.if_then(is_zero, problem, divisor)


def divide(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """/ on floating-point numbers."""
    left, right = call.children()
    options = dict(call.options)
    on_zero = options.get("on_division_by_zero")
    if left.type.kind not in FLOATS or on_zero not in (ERROR, NULL) or options.get("on_domain_error", "NAN") != "NAN":
        return e.general(call)
    dividend = e.share(left)
    return e.call("arithmetic:divide", dividend, nonzero(e, dividend, right, on_zero), on_division_by_zero="IEEE")


def quotient(on_zero: str) -> Apply:
    """div on 64-bit integers: of the least number by -1 it wraps around."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        left, right = _integers(e, call)
        dividend, divisor = e.share(left), e.share(nonzero(e, e.share(left), right, on_zero))
        return e.if_then(_is_minus_one(e, divisor), _negated(e, dividend), _whole(e, dividend, divisor))

    return rule


def remainder(on_zero: str) -> Apply:
    """% on integers."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        left, right = _integers(e, call)
        dividend = e.share(left)
        return _remainder(e, dividend, e.share(nonzero(e, dividend, right, on_zero)))

    return rule


def _remainder(e: LoweringBuilder, dividend: Expression, divisor: Expression) -> Expression:
    """What the dividend is above the divisor times the whole quotient, which for -1 may not fit."""
    product = e.call("arithmetic:multiply", _whole(e, dividend, divisor), divisor, overflow=SILENT)
    rest = e.call("arithmetic:subtract", dividend, product, overflow=SILENT)
    none = e.call("arithmetic:subtract", dividend, dividend, overflow=SILENT)
    return e.if_then(_is_minus_one(e, divisor), none, rest)


def positive_remainder(on_zero: str) -> Apply:
    """pmod on integers: ((left % right) + right) % right where the remainder is negative."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        left, right = _integers(e, call)
        dividend = e.share(left)
        divisor = nonzero(e, dividend, right, on_zero)
        if call.type.kind in ("i8", "i16"):  # the addition is of 32 bits
            dividend, divisor = e.share(e.cast(dividend, types.I32)), e.cast(divisor, types.I32)
        divisor = e.share(divisor)
        rest = e.share(_remainder(e, dividend, divisor))
        shifted = e.share(e.call("arithmetic:add", rest, divisor, overflow=SILENT))
        is_negative = e.call("comparison:lt", rest, e.literal(0, types.required(rest.type)))
        return e.cast(e.if_then(is_negative, _remainder(e, shifted, divisor), rest), call.type)

    return rule


def modulus(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """% on integers."""
    options = {"overflow": SILENT, **dict(call.options)}
    on_zero = options.pop("on_domain_error", "")
    if options != {"division_type": "TRUNCATE", "overflow": SILENT} or on_zero not in (ERROR, NULL):
        return e.general(call)
    result: Expression = remainder(on_zero)(e, call)
    return result


def _integers(e: LoweringBuilder, call: ScalarFunction) -> tuple[Expression, Expression]:
    left, right = call.children()[:2]
    if left.type.kind not in INTEGERS:
        raise NotInDialect(f"the dialect {e.dialect.name} has no {call.declaration.name} of {left.type}")
    return left, right


def _whole(e: LoweringBuilder, dividend: Expression, divisor: Expression) -> Expression:
    return e.call("arithmetic:divide", dividend, divisor, overflow=SILENT, on_division_by_zero=ERROR)


def _negated(e: LoweringBuilder, value: Expression) -> Expression:
    return e.call("arithmetic:negate", value, overflow=SILENT)


def _is_minus_one(e: LoweringBuilder, value: Expression) -> Expression:
    return e.call("comparison:equal", value, e.literal(-1, types.required(value.type)))


def wrapping(name: str) -> Apply:
    """An operation on integers that wraps around."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        _require_integers(e, call)
        return e.call(f"arithmetic:{name}", *call.children(), overflow=SILENT)

    return rule


def operation_or_null(name: str) -> Apply:
    """An operation on integers, null where the result doesn't fit: computed in a type that holds it."""

    def rule(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        _require_integers(e, call)
        wide = WIDER.get(call.type.kind)
        if wide is None:
            raise NotInDialect(f"the dialect {e.dialect.name} has no {call.declaration.name} of {call.type}")
        operands = [e.cast(operand, wide) for operand in call.children()]
        return narrowed(e, Cast(e.call(f"arithmetic:{name}", *operands, overflow=SILENT), call.type, False))

    return rule


def fitting_decimals(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """An operation on decimals whose result has no more digits than there may be."""
    (left, left_scale), (right, right_scale) = [operand.type.parameters for operand in call.children()]
    if call.declaration.name == "multiply":
        digits = left + right + 1
    else:
        digits = max(left - left_scale, right - right_scale) + max(left_scale, right_scale) + 1
    if digits > MOST_DIGITS:
        raise NotInDialect(f"the dialect {e.dialect.name} has no {call.declaration.name} of {digits} digits")
    return call


def _require_integers(e: LoweringBuilder, call: ScalarFunction) -> None:
    kind = call.children()[0].type
    if kind.kind not in INTEGERS:
        raise NotInDialect(f"the dialect {e.dialect.name} has no {call.declaration.name} of {kind} as Spark rounds it")


CALLS = {
    "arithmetic:divide": divide,
    "arithmetic:modulus": modulus,
    "spark:div": quotient(ERROR),
    "spark:mod": remainder(ERROR),
    "spark:negative": wrapping("negate"),
    "spark:pmod": positive_remainder(ERROR),
    "spark:spark_abs": wrapping("abs"),
    "spark:spark_add": wrapping("add"),
    "spark:spark_multiply": wrapping("multiply"),
    "spark:spark_subtract": wrapping("subtract"),
    "spark:try_add": operation_or_null("add"),
    "spark:try_div": quotient(NULL),
    "spark:try_mod": remainder(NULL),
    "spark:try_pmod": positive_remainder(NULL),
    "spark:try_multiply": operation_or_null("multiply"),
    "spark:try_subtract": operation_or_null("subtract"),
}

FITTING = {f"arithmetic_decimal:{name}": fitting_decimals for name in ("add", "multiply", "subtract")}

REWRITES = [*rewrites(CALLS), *rewrites(FITTING, defect="decimal_digits")]
