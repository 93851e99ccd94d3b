"""Logarithms: functions_logarithmic.yaml. Spark's are null for arguments that have none; options say what they are."""

from __future__ import annotations

from ....algebra.types import FP64
from ....errors import Unsupported
from ..calls import Call
from ..document import Node
from .arithmetic import rounded_to_nearest
from .rules import Rule


def _logarithm(name: str, zero: float = 0.0) -> Rule:
    """A logarithm that is infinite where its argument is this number, and undefined below it."""

    def computed(call: Call) -> Node:
        (x,) = (call.cast(value, FP64) for value in call.values)
        return _in_domain(call, x, call.spark(name, x), zero)

    return rounded_to_nearest(computed)


def _logb(call: Call) -> Node:
    x, base = (call.cast(value, FP64) for value in call.values)
    return _in_domain(call, x, call.spark("log", base, x), 0.0)


def _in_domain(call: Call, x: Node, result: Node, zero: float) -> Node:
    pole = call.literal(zero, FP64)
    outside = call.choice(call.spark("<", x, pole), _undefined(call), result)
    return call.choice(call.spark("=", x, pole), _of_zero(call), outside)


def _undefined(call: Call) -> Node:
    return _chosen(call, "on_domain_error", {"NULL": None, "NAN": float("nan")})


def _of_zero(call: Call) -> Node:
    return _chosen(call, "on_log_zero", {"MINUS_INFINITY": float("-inf"), "NAN": float("nan")})


def _chosen(call: Call, option: str, values: dict[str, float | None]) -> Node:
    """The value that an option chooses among these, the first where the call leaves it open; or an error, where it asks for one."""
    choice = call.option(option) or next(iter(values))
    if choice == "ERROR":
        return call.error("Logarithm of a number that has none", FP64)
    if choice not in values:
        raise Unsupported(f"{call.key} is not run with {option}:{choice}")
    return call.literal(values[choice], FP64)


RULES: dict[str, Rule] = {
    "logarithmic:ln": _logarithm("ln"),
    "logarithmic:log10": _logarithm("log10"),
    "logarithmic:log2": _logarithm("log2"),
    "logarithmic:logb": rounded_to_nearest(_logb),
    "logarithmic:log1p": _logarithm("log1p", zero=-1.0),
}
