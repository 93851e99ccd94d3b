"""Kleene's logic: functions_boolean.yaml."""

from __future__ import annotations

from ....algebra.types import BOOLEAN
from ..calls import Call
from ..document import Node
from .rules import Rule, aggregate, spark


def _connective(name: str, of_none: bool) -> Rule:
    """A connective of any number of values."""

    def connected(call: Call) -> Node:
        values = call.values or [call.literal(of_none, BOOLEAN)]
        while len(values) > 1:  # in pairs, so that many conditions don't nest deeply
            pairs = [values[n : n + 2] for n in range(0, len(values), 2)]
            values = [call.spark(name, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return values[0]

    return connected


def _and_not(call: Call) -> Node:
    x, y = call.values
    return call.spark("and", x, call.spark("not", y))


RULES: dict[str, Rule] = {
    "boolean:and": _connective("and", of_none=True),
    "boolean:or": _connective("or", of_none=False),
    "boolean:and_not": _and_not,
    "boolean:xor": lambda call: call.spark("not", call.spark("=", *call.values)),
    "boolean:not": spark("not"),
    "boolean:bool_and": aggregate("bool_and"),
    "boolean:bool_or": aggregate("bool_or"),
}
