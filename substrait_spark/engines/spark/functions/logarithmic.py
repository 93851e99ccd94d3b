"""Logarithms: functions_logarithmic.yaml. Spark's are null for arguments that have none; options say what they are."""

from __future__ import annotations

from ....algebra.types import FP64
from ..calls import Call
from ..document import Node
from .arithmetic import rounded_to_nearest
from .rules import Rule


def _logarithm(name: str, zero: float = 0.0) -> Rule:
    """A logarithm that has a pole where its argument is this number, and is not defined below."""

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
    choice = call.option("on_domain_error") or "NULL"
    if choice == "ERROR":
        return call.error("Logarithm of a negative number", FP64)
    return call.literal(None if choice == "NULL" else float("nan"), FP64)


def _of_zero(call: Call) -> Node:
    choice = call.option("on_log_zero") or "MINUS_INFINITY"
    if choice == "ERROR":
        return call.error("Logarithm of zero", FP64)
    return call.literal(float("nan" if choice == "NAN" else "-inf"), FP64)


RULES: dict[str, Rule] = {
    "logarithmic:ln": _logarithm("ln"),
    "logarithmic:log10": _logarithm("log10"),
    "logarithmic:log2": _logarithm("log2"),
    "logarithmic:logb": rounded_to_nearest(_logb),
    "logarithmic:log1p": _logarithm("log1p", zero=-1.0),
}
