"""Arithmetic of functions_spark.yaml.

Integers wrap around, as with ANSI mode off, and decimals raise errors, as in it; functions `try_…` give null. A decimal's
last argument only says the type of the result, which the call declares.
"""

from __future__ import annotations

from .....algebra import types
from .....errors import Unsupported
from .....extensions import registry
from ...calls import ANSI, LEGACY, Call
from ...document import Node
from ..rules import Rule, by_kind, legacy, spark


def _of_decimals(name: str, mode: str = ANSI) -> Rule:
    """A function of two decimals; the third says the type."""
    return lambda call: call.spark(name, *call.values[:2], mode=mode)


def _in_type(name: str, mode: str = ANSI) -> Rule:
    """A function of two decimals whose result Spark has in the type of the standard's function: in another, it would be rounded twice."""

    def rule(call: Call) -> Node:
        left, right = (argument.type for argument in call.function.arguments[:2] if not isinstance(argument, str))
        standard = registry.resolved("scalar", f"arithmetic_decimal:{_NAMES[name]}", (left, right))
        wanted = None if standard is None else types.required(standard.result)
        if wanted is None or call.type.parameters != wanted.parameters:
            raise Unsupported(f"Spark has {call.key} of {left} and {right} as {wanted}")
        return call.spark(name, *call.values[:2], mode=mode)

    return rule


def _operator(name: str) -> Rule:
    return by_kind({"decimal": _in_type(name)}, legacy(name))


def _try(name: str) -> Rule:
    """An operator that gives null for what it has no result for: that of decimals does with ANSI mode off."""
    return by_kind({"decimal": _in_type(name, LEGACY)}, spark(f"try_{_NAMES[name]}"))


_NAMES = {"+": "add", "-": "subtract", "*": "multiply"}


def _remainder(name: str, mode: str) -> Rule:
    return by_kind({"decimal": _of_decimals(name, mode)}, spark(name, mode))


def _wrapping(call: Call) -> Node:
    """A cast with ANSI mode off."""
    return call.cast(call.values[0], call.type, LEGACY)


def _to_bytes(call: Call) -> Node:
    return call.cast(call.values[0], types.of("binary"), LEGACY)


def _rounded(name: str, mode: str) -> Rule:
    """Rounds to a constant number of digits; a third argument says the type."""

    def rounded(call: Call) -> Node:
        call.constant(1)
        return call.spark(name, *call.values[:2], mode=mode)

    return rounded


RULES: dict[str, Rule] = {
    "spark:spark_add": _operator("+"),
    "spark:spark_subtract": _operator("-"),
    "spark:spark_multiply": _operator("*"),
    "spark:try_add": _try("+"),
    "spark:try_subtract": _try("-"),
    "spark:try_multiply": _try("*"),
    "spark:spark_divide": _of_decimals("/"),
    "spark:try_divide": _of_decimals("/", LEGACY),
    "spark:mod": _remainder("%", ANSI),
    "spark:try_mod": _remainder("%", LEGACY),
    "spark:pmod": _remainder("pmod", ANSI),
    "spark:try_pmod": _remainder("pmod", LEGACY),
    "spark:div": spark("div"),
    "spark:try_div": legacy("div"),
    "spark:negative": by_kind({"decimal": spark("negative")}, legacy("negative")),
    "spark:spark_abs": by_kind({"decimal": spark("abs")}, legacy("abs")),
    "spark:shiftleft": spark("shiftleft"),
    "spark:shiftright": spark("shiftright"),
    "spark:shiftrightunsigned": spark("shiftrightunsigned"),
    "spark:bit_count": spark("bit_count"),
    "spark:bit_get": spark("bit_get"),
    "spark:wrap_i8": _wrapping,
    "spark:wrap_i16": _wrapping,
    "spark:wrap_i32": _wrapping,
    "spark:wrap_i64": _wrapping,
    "spark:whole_i8": _wrapping,
    "spark:whole_i16": _wrapping,
    "spark:whole_i32": _wrapping,
    "spark:whole_i64": _wrapping,
    "spark:to_bytes": _to_bytes,
    "spark:to_scientific": _wrapping,
    "spark:spark_round": _rounded("round", LEGACY),
    "spark:round_half_up": _rounded("round", ANSI),
    "spark:bround": _rounded("bround", ANSI),
    "spark:try_bround": _rounded("bround", LEGACY),
    "spark:spark_ceil": by_kind({"decimal": _rounded("ceil", ANSI)}, legacy("ceil")),
    "spark:spark_floor": by_kind({"decimal": _rounded("floor", ANSI)}, legacy("floor")),
    "spark:checked_ceil": spark("ceil"),
    "spark:checked_floor": spark("floor"),
    "spark:spark_atan2": spark("atan2"),
    "spark:cbrt": spark("cbrt"),
    "spark:cot": spark("cot"),
    "spark:csc": spark("csc"),
    "spark:sec": spark("sec"),
    "spark:expm1": spark("expm1"),
    "spark:hypot": spark("hypot"),
    "spark:log": spark("log"),
    "spark:spark_power": spark("power"),
    "spark:rint": spark("rint"),
    "spark:spark_factorial": spark("factorial"),
    "spark:bin": spark("bin"),
    "spark:width_bucket": spark("width_bucket"),
    "spark:signum": spark("signum"),
}
