"""Lists, maps and lambdas in functions_spark.yaml."""

from __future__ import annotations

from .....algebra.types import INTEGERS, Type
from .....errors import Unsupported
from ...calls import Call
from ...document import Node
from ..datetime import zone_of
from ..order import compared
from ..rules import Rule, spark
from . import same

_SAME = (
    *("array_contains", "array_distinct", "array_except", "array_insert", "array_intersect", "array_join", "array_max"),
    *("array_min", "array_position", "array_remove", "array_repeat", "array_union", "arrays_overlap"),
    *("arrays_zip", "element_at", "flatten", "get", "reverse", "slice", "sort_array", "try_element_at"),
    *("map_entries", "map_keys", "map_values"),
    *("aggregate", "filter", "map_filter", "map_zip_with", "transform", "transform_values", "zip_with"),
)
"""Spark's functions of the same name and arguments, in ANSI mode."""

_BUILDING = ("map_concat", "map_from_arrays", "map_from_entries", "str_to_map", "transform_keys")
"""Of these, those that build maps of keys which may be equal."""

_POLICY = "spark.sql.mapKeyDedupPolicy"
_POLICIES = {"ERROR": "EXCEPTION", "LAST_WINS": "LAST_WIN"}


def _building(name: str) -> Rule:
    """What equal keys do, Spark asks the session's settings while it runs: they must be as the plan says."""

    def rule(call: Call) -> Node:
        wanted = _POLICIES[call.option("duplicate_keys") or "ERROR"]
        if call.builder.tables.setting(_POLICY).upper() != wanted:
            raise Unsupported(
                f"the session's {_POLICY} is not {wanted}, which the plan wants of equal keys in maps",
                f"Set {_POLICY} to {wanted} for as long as you use the rows.",
            )
        return call.spark(name, *call.values)

    return rule


def _array_sort(call: Call) -> Node:
    """By a comparator, or in ascending order with nulls last."""
    if len(call.values) > 1:
        return call.spark("array_sort", *call.values)
    element: Type = call.types[0].parameters[0]
    comparator = call.lambda_((element, element), lambda a, b: compared(call, a, b, ascending=True, nulls_first=False))
    return call.spark("array_sort", call.values[0], comparator)


def _sequence(call: Call) -> Node:
    """Of dates and times, the last argument is the time zone."""
    if call.types[0].kind in INTEGERS:
        return call.spark("sequence", *call.values)
    return call.spark("sequence", *call.values[:-1], zone=zone_of(call, len(call.values) - 1))


RULES: dict[str, Rule] = {
    **same(_SAME, spark),
    **same(_BUILDING, _building),
    "spark:sequence": _sequence,
    "spark:array_sort": _array_sort,
    # `x[index]` of Spark's SQL.
    "spark:get_array_item": lambda call: call.new("GetArrayItem", *call.values, True),
    "spark:map_sort": lambda call: call.new("MapSort", call.values[0]),
}
