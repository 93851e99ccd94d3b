"""Collated strings of functions_spark.yaml."""

from __future__ import annotations

from .....algebra.types import STRING
from ...calls import Call
from ...document import Node, some
from ..rules import Rule, spark

_SAME = (
    *(
        "contains",
        "endswith",
        "find_in_set",
        "initcap",
        "instr",
        "like",
        "locate",
        "lower",
        "regexp_extract",
        "regexp_extract_all",
    ),
    *(
        "regexp_count",
        "regexp_instr",
        "regexp_replace",
        "replace",
        "rlike",
        "split",
        "split_part",
        "startswith",
        "substring_index",
        "translate",
        "upper",
    ),
)
"""Spark's functions of the same arguments."""


def _collated(call: Call) -> Node:
    return call.cast(call.values[0], call.type)


def _trimmed(name: str) -> Rule:
    def trim(call: Call) -> Node:
        value, *characters = call.values
        return call.new(name, value, some(characters[0]) if characters else None)

    return trim


RULES: dict[str, Rule] = {
    **{f"spark:collated_{name}": spark(name) for name in _SAME},
    "spark:collate": _collated,
    "spark:collated_ltrim": _trimmed("StringTrimLeft"),
    "spark:collated_rtrim": _trimmed("StringTrimRight"),
    "spark:collated_trim": _trimmed("StringTrim"),
    "spark:collation_key": lambda call: call.new("CollationKey", call.values[0]),
    "spark:uncollated": lambda call: call.cast(call.values[0], STRING),
}
