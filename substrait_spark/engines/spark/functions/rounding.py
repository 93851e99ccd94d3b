"""Rounding: functions_rounding.yaml and functions_rounding_decimal.yaml."""

from __future__ import annotations

from ....algebra.types import FP64
from ..calls import Call
from ..document import Node
from .rules import Rule, by_option, spark

WHOLE = 2.0**52
"""From here on, every double is a whole number."""


def _to_whole(name: str) -> Rule:
    """Spark's ceil and floor are 64-bit integers, which don't hold all that a double does."""

    def rounded(call: Call) -> Node:
        x = call.cast(call.values[0], FP64)
        is_small = call.spark("<", call.spark("abs", x), call.literal(WHOLE, FP64))
        return call.choice(is_small, call.cast(call.spark(name, x), FP64), x)

    return rounded


def _round(name: str) -> Rule:
    """Spark rounds to a constant number of digits."""

    def rounded(call: Call) -> Node:
        call.constant(1)
        return call.spark(name, *call.values)

    return rounded


_ROUND = by_option("rounding", {"TIE_AWAY_FROM_ZERO": _round("round"), "TIE_TO_EVEN": _round("bround")})

RULES: dict[str, Rule] = {
    "rounding:ceil": _to_whole("ceil"),
    "rounding:floor": _to_whole("floor"),
    "rounding:round": _ROUND,
    "rounding_decimal:ceil": spark("ceil"),
    "rounding_decimal:floor": spark("floor"),
    "rounding_decimal:round": _ROUND,
}
