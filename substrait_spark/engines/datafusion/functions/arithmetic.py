"""Arithmetic operators on integers and floating-point numbers; decimals have a module of their own.

DataFusion's integers wrap around on overflow. Where that is to raise or to give null, and the operands may be great enough, numbers
are computed in a wider type, where nothing overflows, and cast back with a check. Sums and differences of 64 bits that are to raise are
those of a timestamp and a duration: these are 64 bits as well, which DataFusion checks, in a tenth of the time that decimals take.
"""

from __future__ import annotations

from collections.abc import Callable

from ....algebra import types
from ....algebra.expression import Cast, Expression, Literal, ScalarFunction
from ....algebra.types import FLOATS, INTEGERS, Type
from ....dialects.rewrite import Apply, rewrites
from ....errors import NotInDialect
from ....functions.time_zone import LOCAL
from ....lowering.builder import LoweringBuilder
from ..value_bounds import magnitude, of_type
from . import decimal_arithmetic

ERROR, NULL, SILENT = decimal_arithmetic.ERROR, decimal_arithmetic.NULL, "SILENT"
"""What is done where there is no result; SILENT integers wrap around."""

NULL_FOR_ZERO = {"division_type": "TRUNCATE", "overflow": SILENT, "on_domain_error": NULL}
"""The options of a modulus that is null for a zero divisor."""

WIDER = {
    "i8": types.of("i16", nullable=False),
    "i16": types.of("i32", nullable=False),
    "i32": types.I64,
    "i64": types.of("decimal", 19, 0, nullable=False),
}
"""A type in which one addition, subtraction or multiplication of the type's values can't overflow."""

SCALA_DIGITS = 34
"""Spark negates decimals with a rounding to so many digits."""

Operation = Callable[[LoweringBuilder, Expression, Expression, str], Expression]
"""Of two numbers, with what is done where there is no result."""


# ---- + - * on integers


def integer_operation(e: LoweringBuilder, name: str, left: Expression, right: Expression, overflow: str) -> Expression:
    """The sum, the difference or the product of two integers: add, subtract or multiply."""
    plain = e.call(f"datafusion:{name}", left, right)
    if overflow == SILENT or _greatest(name, left, right) < of_type(left.type):
        return plain
    if left.type.kind == "i64" and name != "multiply" and overflow == ERROR:
        return checked_operation(e, name, left, right, LOCAL)
    wide = WIDER[left.type.kind]
    alias = "arithmetic_decimal" if wide.kind == "decimal" else "datafusion"
    result = e.call(f"{alias}:{name}", e.cast(left, wide), e.cast(right, wide))
    return e.cast(result, left.type, overflow == ERROR)


def checked_operation(e: LoweringBuilder, name: str, left: Expression, right: Expression, type: Type) -> Expression:
    """The sum or the difference of integers of 64 bits, which raises where these don't hold it: of a type of timestamps with a duration."""
    duration = e.call("datafusion:arrow_cast", right, e.text("Duration(Microsecond)"))
    return e.cast(e.call(f"datafusion:{name}", counted(e, left, type), duration), types.I64)


def counted(e: LoweringBuilder, count: Expression, type: Type) -> Expression:
    """What a number counts, in a type of timestamps: the number may have come of just that."""
    if isinstance(count, Cast) and types.required(count.input.type) == type:
        return count.input
    return e.cast(count, type)


def _greatest(name: str, left: Expression, right: Expression) -> int:
    """The greatest magnitude that the result of an operation may have."""
    sizes = magnitude(left), magnitude(right)
    return sizes[0] * sizes[1] if name == "multiply" else sum(sizes)


def wrapping(name: str) -> Operation:
    """An operation on integers that wrap around."""
    return lambda e, left, right, on_failure: integer_operation(e, name, left, right, SILENT)


def standard_operation(name: str) -> Apply:
    """The standard operation on integers."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        left, right = call.children()
        overflow = _option(call, "overflow", SILENT)
        if left.type.kind not in INTEGERS or overflow not in (ERROR, SILENT):
            return e.native_form(call)
        return integer_operation(e, name, left, right, overflow)

    return lower


def operation_or_null(name: str) -> Apply:
    """Spark's own, with null for an overflow."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        left, right, *like = call.children()
        if like:
            return decimal_arithmetic.operation(name)(e, left, right, call.type, NULL)
        return integer_operation(e, name, left, right, NULL)

    return lower


def _option(call: ScalarFunction, name: str, default: str = "") -> str:
    """What a call says of an option; the default where it leaves it open."""
    return dict(call.options).get(name, default)


def negate(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The negative of an integer: of the least it overflows."""
    (value,) = call.children()
    overflow = _option(call, "overflow", SILENT)
    if value.type.kind not in INTEGERS or overflow not in (ERROR, SILENT):
        return e.native_form(call)
    return _negated(e, value, overflow)


def wrapping_negate(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """negative: wraps around."""
    (value,) = call.children()
    if value.type.kind == "decimal":
        raise _rounds(e, value.type)
    return _negated(e, value, SILENT)


def _negated(e: LoweringBuilder, value: Expression, overflow: str) -> Expression:
    return integer_operation(e, "subtract", e.literal(0, types.required(value.type)), value, overflow)


def absolute(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The absolute value of an integer: of the least it overflows."""
    (value,) = call.children()
    overflow = _option(call, "overflow", SILENT)
    if value.type.kind not in INTEGERS or overflow not in (ERROR, SILENT):
        return e.native_form(call)
    if overflow == SILENT:
        return e.call("datafusion:abs", value)
    wide = WIDER[value.type.kind]
    name = "arithmetic_decimal:abs" if wide.kind == "decimal" else "datafusion:abs"
    return e.cast(e.call(name, e.cast(value, wide)), value.type)


def wrapping_absolute(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """abs of an integer, which wraps around; or of a decimal, which Spark rounds."""
    (value,) = call.children()
    if value.type.kind == "decimal":
        raise _rounds(e, value.type)
    return e.call("datafusion:abs", value)


def _rounds(e: LoweringBuilder, type: Type) -> NotInDialect:
    return NotInDialect(
        f"Spark rounds this value of {type} to {SCALA_DIGITS} digits, the dialect {e.dialect.name} doesn't",
        f"Cast the value to a decimal of at most {SCALA_DIGITS} digits.",
    )


# ---- / div % pmod


def nonzero(e: LoweringBuilder, left: Expression, right: Expression, on_zero: str) -> Expression:
    """The divisor; in place of a zero null, or what raises unless the dividend is null."""
    zero = e.literal(0.0 if right.type.kind in FLOATS else 0, types.required(right.type))
    if isinstance(right, Literal) and right.value:
        return right
    if on_zero != ERROR:
        if right.type.kind in FLOATS:
            right = e.call("arithmetic:add", right, zero)  # so that -0.0 is 0.0 bit by bit
        return e.call("comparison:nullif", right, zero)
    divisor = e.share(right)
    problem = e.raises("[DIVIDE_BY_ZERO]", right.type, left if isinstance(right, Literal) else divisor)
    parts = [e.equal(divisor, zero), problem, divisor]
    if left.type.nullable:
        parts[:2] = [e.is_null(left), e.null(right.type), *parts[:2]]
    return e.if_then(*parts)


def divide(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """/ on floating-point numbers; and on integers, which other producers' plans have."""
    left, right = call.children()
    if left.type.kind in INTEGERS:
        return _standard_quotient(e, call, left, right)
    on_zero = _option(call, "on_division_by_zero")
    if left.type.kind not in FLOATS or on_zero not in (ERROR, NULL) or _option(call, "on_domain_error", "NAN") != "NAN":
        return e.native_form(call)
    dividend = e.share(left)
    return e.call("arithmetic:divide", dividend, nonzero(e, dividend, right, on_zero), on_division_by_zero="IEEE")


def _standard_quotient(e: LoweringBuilder, call: ScalarFunction, left: Expression, right: Expression) -> Expression:
    """/ on integers. What a call leaves open is an error."""
    on_zero, overflow = _option(call, "on_division_by_zero", ERROR), _option(call, "overflow", ERROR)
    if on_zero not in (ERROR, NULL) or overflow not in (ERROR, SILENT):
        return e.native_form(call)
    quotient = integral_quotient if overflow == SILENT else _checked_quotient
    return quotient(e, left, right, on_zero)


def integral_quotient(e: LoweringBuilder, left: Expression, right: Expression, on_zero: str) -> Expression:
    """div: of the least number by -1 it wraps around."""
    dividend, divisor = e.share(left), e.share(right)
    quotient = _checked_quotient(e, dividend, divisor, on_zero)
    negated = _negated(e, dividend, SILENT)
    if isinstance(right, Literal):
        return negated if right.value == -1 else quotient
    return e.if_then(e.equal(divisor, e.literal(-1, types.required(right.type))), negated, quotient)


def _checked_quotient(e: LoweringBuilder, left: Expression, right: Expression, on_zero: str) -> Expression:
    """The quotient of integers, cut off behind the point: of the least number by -1 it raises."""
    dividend, divisor = e.share(e.cast(left, types.I64)), e.share(e.cast(right, types.I64))
    quotient = e.call(
        "arithmetic:divide",
        dividend,
        nonzero(e, dividend, divisor, on_zero),
        overflow="ERROR",
        on_division_by_zero="ERROR",
    )
    return e.cast(quotient, left.type)


def modulus(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """% on integers, null for a zero divisor."""
    left, right = call.children()
    options = dict(call.options)
    if left.type.kind not in INTEGERS or {"overflow": SILENT, **options} != NULL_FOR_ZERO:
        return e.native_form(call)
    return remainder(e, left, right, NULL)


def remainder(e: LoweringBuilder, left: Expression, right: Expression, on_zero: str) -> Expression:
    """% on integers and floating-point numbers."""
    dividend = e.share(left)
    return _remainder(e, dividend, nonzero(e, dividend, right, on_zero))


def _remainder(e: LoweringBuilder, left: Expression, right: Expression) -> Expression:
    if left.type.kind in FLOATS:
        return e.call("datafusion:modulus", left, right)
    return e.call("arithmetic:modulus", left, right, division_type="TRUNCATE", on_domain_error="ERROR")


def positive_remainder(e: LoweringBuilder, left: Expression, right: Expression, on_zero: str) -> Expression:
    """pmod on integers and floating-point numbers: ((left % right) + right) % right where the remainder is negative."""
    dividend = e.share(left)
    divisor = nonzero(e, dividend, right, on_zero)
    kind = left.type
    if kind.kind in ("i8", "i16"):  # the addition is of 32 bits
        dividend, divisor = e.cast(dividend, types.I32), e.cast(divisor, types.I32)
    divisor = e.share(divisor)
    result = e.share(_remainder(e, dividend, divisor))
    zero = e.literal(0.0 if kind.kind in FLOATS else 0, types.required(result.type))
    add = "arithmetic:add" if kind.kind in FLOATS else "datafusion:add"
    shifted = _remainder(e, e.call(add, result, divisor), divisor)
    return e.cast(e.if_then(e.call("comparison:lt", result, zero), shifted, result), kind)


def own(numbers: Operation, decimals: decimal_arithmetic.Operation, on_failure: str) -> Apply:
    """An operation of Spark's own, whose result of decimals is of the call's type."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        left, right = call.children()[:2]
        if left.type.kind == "decimal":
            return decimals(e, left, right, call.type, on_failure)
        return numbers(e, left, right, on_failure)

    return lower


REWRITES = rewrites(
    {
        "arithmetic:abs": absolute,
        "arithmetic:add": standard_operation("add"),
        "arithmetic:divide": divide,
        "arithmetic:modulus": modulus,
        "arithmetic:multiply": standard_operation("multiply"),
        "arithmetic:negate": negate,
        "arithmetic:subtract": standard_operation("subtract"),
        "spark:spark_abs": wrapping_absolute,
        "spark:spark_add": own(wrapping("add"), decimal_arithmetic.operation("add"), ERROR),
        "spark:spark_multiply": own(wrapping("multiply"), decimal_arithmetic.operation("multiply"), ERROR),
        "spark:spark_subtract": own(wrapping("subtract"), decimal_arithmetic.operation("subtract"), ERROR),
        "spark:div": own(integral_quotient, decimal_arithmetic.integral_quotient, ERROR),
        "spark:mod": own(remainder, decimal_arithmetic.remainder, ERROR),
        "spark:negative": wrapping_negate,
        "spark:pmod": own(positive_remainder, decimal_arithmetic.positive_remainder, ERROR),
        "spark:try_add": operation_or_null("add"),
        "spark:try_div": own(integral_quotient, decimal_arithmetic.integral_quotient, NULL),
        "spark:try_mod": own(remainder, decimal_arithmetic.remainder, NULL),
        "spark:try_multiply": operation_or_null("multiply"),
        "spark:try_pmod": own(positive_remainder, decimal_arithmetic.positive_remainder, NULL),
        "spark:try_subtract": operation_or_null("subtract"),
    }
)
