"""Window functions of functions_spark.yaml, but for those that aggregates are too."""

from __future__ import annotations

from ...calls import Call
from ...document import Node
from ..rules import Rule, aggregate


def _nth_value(call: Call) -> Node:
    return call.over_rows(call.new("NthValue", *call.values, True))


def _neighbour(name: str) -> Rule:
    """The value of a row before or after the current one, of those where it is not null."""

    def rule(call: Call) -> Node:
        value, offset, *default = call.values
        otherwise = default[0] if default else call.literal(None, call.types[0])
        return call.over_rows(call.new(name, value, offset, otherwise, True))

    return rule


RULES: dict[str, Rule] = {
    "spark:nth_value_ignore_nulls": _nth_value,
    "spark:lag_ignore_nulls": _neighbour("Lag"),
    "spark:lead_ignore_nulls": _neighbour("Lead"),
    "spark:counter_diff": aggregate("counter_diff"),
}
