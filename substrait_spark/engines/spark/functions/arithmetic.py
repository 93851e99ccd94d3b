"""Arithmetic of numbers: functions_arithmetic.yaml and functions_arithmetic_decimal.yaml.

Integers wrap around where the overflow is to be silent. Floating-point numbers are rounded to the nearest, ties to even,
as everywhere in Spark. What a decimal function does on overflow, where that is to be silent, is left open: it is an error.
"""

from __future__ import annotations

import math

from ....algebra import types
from ....algebra.types import FLOATS, FP64, I32, I64, INTEGERS, Type
from ....errors import Unsupported
from ..calls import ANSI, LEGACY, Call
from ..document import Node
from .rules import Rule, by_kind, by_option, legacy, spark

EXACT = types.of("decimal", 38, 0)
"""Holds the sum, difference and product of any two integers."""

BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}


def rounded_to_nearest(rule: Rule) -> Rule:
    return by_option("rounding", {"TIE_TO_EVEN": rule})


def saturated(call: Call, exact: Node) -> Node:
    """A decimal as an integer of the call's type, the nearest where that does not hold it."""
    limit = 2 ** (BITS[call.type.kind] - 1)
    least, greatest = (call.literal(value, EXACT) for value in (-limit, limit - 1))
    bounded = call.spark("greatest", call.spark("least", call.cast(exact, EXACT), greatest), least)
    # Spark's least and greatest leave nulls out.
    return call.cast(call.choice(call.new("IsNull", exact), call.literal(None, EXACT), bounded), call.type)


def _saturating(name: str) -> Rule:
    return lambda call: saturated(call, call.spark(name, *(call.cast(value, EXACT) for value in call.values)))


def _operator(name: str) -> Rule:
    """An operator of Spark's that may overflow."""
    integers = by_option("overflow", {"ERROR": spark(name), "SILENT": legacy(name), "SATURATE": _saturating(name)})
    floats = rounded_to_nearest(spark(name))
    return by_kind(dict.fromkeys(INTEGERS, integers) | dict.fromkeys(FLOATS, floats))


def _decimal(name: str) -> Rule:
    return by_option("overflow", {"ERROR": spark(name), "SILENT": spark(name)})


# ---- division


def _zero(call: Call, value: Node, type: Type) -> Node:
    return call.spark("=", value, call.cast(call.literal(0, I32), type))


def _divide_integers(call: Call) -> Node:
    x, y = (call.cast(value, I64) for value in call.values)
    overflow = call.option("overflow") or "ERROR"
    if overflow == "SATURATE":
        quotient = saturated(call, _exact_quotient(call, x, y))
    else:
        mode = ANSI if overflow == "ERROR" else LEGACY
        quotient = call.cast(call.spark("div", x, y, mode=mode), call.type, mode)
    return _unless_zero(call, call.option("on_division_by_zero") or "ERROR", x, _zero(call, y, I64), quotient)


def _exact_quotient(call: Call, x: Node, y: Node) -> Node:
    """The quotient, where i64's least number divided by -1 is no i64."""
    opposite = call.spark("negative", call.cast(x, EXACT))
    quotient = call.cast(call.spark("div", x, y, mode=LEGACY), EXACT)
    return call.choice(call.spark("=", y, call.literal(-1, I64)), opposite, quotient)


def _unless_zero(call: Call, on_zero: str, x: Node, is_zero: Node, result: Node) -> Node:
    """A result; where the divisor is zero and x is not null, the value or the error that the option chooses."""
    if on_zero not in ("NULL", "ERROR"):
        raise Unsupported(f"{call.key} of integers is not run with on_division_by_zero:{on_zero}")
    otherwise = call.null() if on_zero == "NULL" else call.error("Division by zero")
    return call.choice(call.spark("and", is_zero, call.new("IsNotNull", x)), otherwise, result)


def _divide_floats(call: Call) -> Node:
    x, y = (call.cast(value, FP64) for value in call.values)
    nan, infinity = (call.literal(float(value), FP64) for value in ("nan", "inf"))
    signed = call.spark("=", _is_negative(call, x), _is_negative(call, y))
    limit = call.choice(signed, infinity, call.spark("negative", infinity))
    undefined = call.spark("or", _zero(call, x, FP64), call.spark("isnan", x))
    on_zero = {
        "IEEE": lambda: call.choice(undefined, nan, limit),
        "LIMIT": lambda: limit,
        "NULL": lambda: call.literal(None, FP64),
        "ERROR": lambda: call.error("Division by zero", FP64),
    }[call.option("on_division_by_zero") or "IEEE"]()
    is_null = call.spark("or", call.new("IsNull", x), call.new("IsNull", y))
    quotient = call.choice(_zero(call, y, FP64), on_zero, call.spark("/", x, y, mode=LEGACY))
    return call.choice(is_null, call.null(), call.cast(_defined(call, x, y, quotient), call.type))


def _is_negative(call: Call, value: Node) -> Node:
    """Whether a floating-point number has the sign, as the negative zero has too."""
    return call.spark("startswith", call.cast(value, types.STRING), call.literal("-", types.STRING))


def _defined(call: Call, x: Node, y: Node, quotient: Node) -> Node:
    """A quotient; where an operand is NaN or both are infinite, the value or the error that the option chooses."""
    choice = call.option("on_domain_error") or "NAN"
    if choice == "NAN":
        return quotient
    infinity = call.literal(float("inf"), FP64)
    infinite = (call.spark("=", call.spark("abs", value), infinity) for value in (x, y))
    either_nan = call.spark("or", call.spark("isnan", x), call.spark("isnan", y))
    undefined = call.spark("or", either_nan, call.spark("and", *infinite))
    otherwise = call.literal(None, FP64) if choice == "NULL" else call.error("Quotient is not defined", FP64)
    return call.choice(undefined, otherwise, quotient)


def _modulus(call: Call) -> Node:
    x, y = call.values
    remainder = call.spark("%", x, y, mode=LEGACY)
    if call.option("division_type") == "FLOOR":
        signs = [call.spark("sign", call.cast(value, FP64)) for value in (remainder, y)]
        is_least = call.spark("or", _zero(call, remainder, call.type), call.spark("=", *signs))
        remainder = call.choice(is_least, remainder, call.spark("+", remainder, y, mode=LEGACY))
    return _unless_zero(call, call.option("on_domain_error") or "ERROR", x, _zero(call, y, call.types[1]), remainder)


# ---- functions of floating-point numbers


def in_doubles(name: str) -> Rule:
    """A function that Spark computes in double precision."""
    return rounded_to_nearest(lambda call: call.spark(name, *(call.cast(value, FP64) for value in call.values)))


def _domain(name: str) -> Rule:
    """A function of Spark's that is NaN outside of its domain."""

    def error(call: Call) -> Node:
        arguments = [call.cast(value, FP64) for value in call.values]
        result = call.spark(name, *arguments)
        outside = call.spark("and", call.spark("isnan", result), call.spark("not", call.spark("isnan", arguments[0])))
        return call.choice(outside, call.error(f"{name} is not defined for this argument", FP64), result)

    return by_option("on_domain_error", {"NAN": in_doubles(name), "ERROR": rounded_to_nearest(error)})


def _power(call: Call) -> Node:
    if call.types[0].kind == "i64":
        raise Unsupported(f"{call.key} of integers is not run: Spark's power is one of doubles")
    return call.spark("power", *(call.cast(value, FP64) for value in call.values))


def _power_of_decimals(call: Call) -> Node:
    x, y = (call.cast(value, FP64) for value in call.values)
    power = call.spark("power", x, y)
    if call.option("complex_number_result") == "ERROR":
        return call.choice(call.spark("isnan", power), call.error("Power that is a complex number"), power)
    return power


def _opposite(call: Call, x: Node) -> Node:
    """Spark's own negation rounds to 34 digits; text has them all."""
    minus = call.literal("-", types.STRING)
    text = call.cast(x, types.STRING)
    positive = call.spark("substring", text, call.literal(2, I32))
    flipped = call.choice(call.spark("startswith", text, minus), positive, call.spark("concat", minus, text))
    return call.cast(flipped, call.type)


def _magnitude(call: Call) -> Node:
    (x,) = call.values
    is_negative = call.spark("startswith", call.cast(x, types.STRING), call.literal("-", types.STRING))
    return call.choice(is_negative, _opposite(call, x), x)


def _square_root_of_decimal(call: Call) -> Node:
    x = call.cast(call.values[0], FP64)
    is_negative = call.spark("<", x, call.literal(0.0, FP64))
    return call.choice(is_negative, call.error("Square root of a negative number"), call.spark("sqrt", x))


def _factorial_of_decimal(call: Call) -> Node:
    """Of the numbers that a decimal of 38 digits holds the factorial of."""
    x = call.cast(call.values[0], EXACT)
    known = [call.literal(math.factorial(n), EXACT) for n in range(34)]
    least, greatest = (call.literal(bound, EXACT) for bound in (0, 33))
    is_held = call.spark("and", call.spark(">=", x, least), call.spark("<=", x, greatest))
    factorial = call.new("GetArrayItem", call.new("CreateArray", known, False), call.cast(x, I32), False)
    error = call.error("Factorial of a number outside of 0 to 33")
    is_null = call.new("IsNull", x)
    return call.choice(is_null, call.null(), call.choice(is_held, factorial, error))


def _sign(call: Call) -> Node:
    return call.spark("sign", call.cast(call.values[0], FP64))


def _factorial(call: Call) -> Node:
    """Spark's is null for numbers whose factorial is none or no i64."""
    (x,) = call.values
    if call.option("overflow") not in (None, "ERROR"):
        raise Unsupported(f"{call.key} is not run with overflow:{call.option('overflow')}")
    factorial = call.spark("factorial", call.cast(x, I32))
    outside = call.spark("and", call.new("IsNull", factorial), call.new("IsNotNull", x))
    return call.choice(outside, call.error("Factorial of a number outside of 0 to 20", I64), factorial)


RULES: dict[str, Rule] = {
    "arithmetic:add": _operator("+"),
    "arithmetic:subtract": _operator("-"),
    "arithmetic:multiply": _operator("*"),
    "arithmetic:divide": by_kind(dict.fromkeys(FLOATS, rounded_to_nearest(_divide_floats)), _divide_integers),
    "arithmetic:negate": _operator("negative"),
    "arithmetic:modulus": _modulus,
    "arithmetic:power": _power,
    "arithmetic:sqrt": _domain("sqrt"),
    "arithmetic:exp": in_doubles("exp"),
    "arithmetic:cos": in_doubles("cos"),
    "arithmetic:sin": in_doubles("sin"),
    "arithmetic:tan": in_doubles("tan"),
    "arithmetic:cosh": in_doubles("cosh"),
    "arithmetic:sinh": in_doubles("sinh"),
    "arithmetic:tanh": in_doubles("tanh"),
    "arithmetic:acos": _domain("acos"),
    "arithmetic:asin": _domain("asin"),
    "arithmetic:atan": in_doubles("atan"),
    "arithmetic:acosh": _domain("acosh"),
    "arithmetic:asinh": in_doubles("asinh"),
    "arithmetic:atanh": _domain("atanh"),
    "arithmetic:atan2": _domain("atan2"),
    "arithmetic:radians": in_doubles("radians"),
    "arithmetic:degrees": in_doubles("degrees"),
    "arithmetic:abs": _operator("abs"),
    "arithmetic:sign": _sign,
    "arithmetic:factorial": _factorial,
    "arithmetic:bitwise_not": spark("~"),
    "arithmetic:bitwise_and": spark("&"),
    "arithmetic:bitwise_or": spark("|"),
    "arithmetic:bitwise_xor": spark("^"),
    "arithmetic:shift_left": spark("shiftleft"),
    "arithmetic:shift_right": spark("shiftright"),
    "arithmetic:shift_right_unsigned": spark("shiftrightunsigned"),
    "arithmetic_decimal:add": _decimal("+"),
    "arithmetic_decimal:subtract": _decimal("-"),
    "arithmetic_decimal:multiply": _decimal("*"),
    "arithmetic_decimal:divide": _decimal("/"),
    "arithmetic_decimal:modulus": _decimal("%"),
    "arithmetic_decimal:negate": lambda call: _opposite(call, call.values[0]),
    "arithmetic_decimal:abs": _magnitude,
    "arithmetic_decimal:sqrt": _square_root_of_decimal,
    "arithmetic_decimal:factorial": _factorial_of_decimal,
    "arithmetic_decimal:power": _power_of_decimals,
}
