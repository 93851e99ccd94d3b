"""Lists: functions_list.yaml and functions_set.yaml."""

from __future__ import annotations

from ....algebra.types import BOOLEAN, I64
from ..calls import Call
from ..document import Node
from .rules import Rule, by_option, spark


def _sort(ascending: bool, nulls_first: bool) -> Rule:
    """Spark has nulls first in ascending order and last in descending order; for the others they are put there."""

    def ordered(call: Call) -> Node:
        (values,) = call.values
        in_order = call.spark("sort_array", values, call.literal(ascending, BOOLEAN))
        if ascending == nulls_first:
            return in_order
        known = call.spark("array_compact", in_order)
        count = call.spark("-", call.spark("size", in_order), call.spark("size", known))
        nulls = call.cast(call.spark("array_repeat", call.literal(None, call.type.parameters[0]), count), call.type)
        return call.spark("concat", *((known, nulls) if ascending else (nulls, known)))

    return ordered


def _index_in(call: Call) -> Node:
    """Spark counts from 1, and has 0 for what is not there."""
    needle, haystack = call.values
    position = call.spark("array_position", haystack, needle)
    index = call.spark("-", position, call.literal(1, I64))
    return call.choice(call.spark("=", position, call.literal(0, I64)), call.null(), index)


RULES: dict[str, Rule] = {
    "list:transform": spark("transform"),
    "list:filter": spark("filter"),
    "list:cardinality": spark("size"),
    "list:sort": by_option(
        "direction",
        {
            "ASC_NULLS_FIRST": _sort(True, True),
            "ASC_NULLS_LAST": _sort(True, False),
            "DESC_NULLS_FIRST": _sort(False, True),
            "DESC_NULLS_LAST": _sort(False, False),
        },
    ),
    "list:any_match": spark("exists"),
    "list:all_match": spark("forall"),
    "set:index_in": by_option("nan_equality", {"NAN_IS_NAN": _index_in}),
}
