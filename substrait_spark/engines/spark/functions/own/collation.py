"""Collated strings of functions_spark.yaml."""

from __future__ import annotations

from .....algebra.types import STRING
from ...calls import Call
from ...document import Node
from ..rules import Rule


def _collated(call: Call) -> Node:
    return call.cast(call.values[0], call.type)


RULES: dict[str, Rule] = {
    "spark:collate": _collated,
    "spark:uncollated": lambda call: call.cast(call.values[0], STRING),
    "spark:collation_key": lambda call: call.new("CollationKey", call.values[0]),
}
