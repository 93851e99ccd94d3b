"""Comparisons: functions_comparison.yaml.

NaN equals NaN and is greater than any number, -0.0 equals 0.0, and strings compare by their bytes: the specification says
none of this, and Spark does all of it.
"""

from __future__ import annotations

from functools import reduce

from ....algebra.types import BOOLEAN, FP64
from ..calls import Call
from ..document import Node
from .rules import Rule, spark


def _not(name: str) -> Rule:
    return lambda call: call.spark("not", call.spark(name, *call.values))


def _between(call: Call) -> Node:
    x, low, high = call.values
    return call.spark("and", call.spark(">=", x, low), call.spark("<=", x, high))


def _is(value: bool, wanted: bool) -> Rule:
    """Whether a value is this one, or is not; never null."""

    def compared(call: Call) -> Node:
        same = call.spark("<=>", call.values[0], call.literal(value, BOOLEAN))
        return same if wanted else call.spark("not", same)

    return compared


def _of_a_number(test: Rule) -> Rule:
    """A test that is null for null."""
    return lambda call: call.choice(call.new("IsNull", call.values[0]), call.null(), test(call))


def _is_infinite(call: Call) -> Node:
    magnitude = call.spark("abs", call.cast(call.values[0], FP64))
    return call.spark("=", magnitude, call.literal(float("inf"), FP64))


def _is_finite(call: Call) -> Node:
    magnitude = call.spark("abs", call.cast(call.values[0], FP64))
    return call.spark("<", magnitude, call.literal(float("inf"), FP64))


def _extreme(name: str, skips_nulls: bool) -> Rule:
    """The least or greatest value. Spark's functions leave nulls out, and take two values or more."""

    def rule(call: Call) -> Node:
        extreme = call.spark(name, *call.values) if len(call.values) > 1 else call.values[0]
        if skips_nulls:
            return extreme
        tests = [call.new("IsNull", value) for value in call.values]
        return call.choice(reduce(lambda a, b: call.spark("or", a, b), tests), call.null(), extreme)

    return rule


RULES: dict[str, Rule] = {
    "comparison:equal": spark("="),
    "comparison:not_equal": _not("="),
    "comparison:is_not_distinct_from": spark("<=>"),
    "comparison:is_distinct_from": _not("<=>"),
    "comparison:lt": spark("<"),
    "comparison:gt": spark(">"),
    "comparison:lte": spark("<="),
    "comparison:gte": spark(">="),
    "comparison:between": _between,
    "comparison:is_true": _is(True, True),
    "comparison:is_not_true": _is(True, False),
    "comparison:is_false": _is(False, True),
    "comparison:is_not_false": _is(False, False),
    "comparison:is_null": spark("isnull"),
    "comparison:is_not_null": spark("isnotnull"),
    "comparison:is_nan": _of_a_number(spark("isnan")),
    "comparison:is_finite": _of_a_number(_is_finite),
    "comparison:is_infinite": _of_a_number(_is_infinite),
    "comparison:nullif": spark("nullif"),
    "comparison:coalesce": spark("coalesce"),
    "comparison:least": _extreme("least", skips_nulls=False),
    "comparison:least_skip_null": _extreme("least", skips_nulls=True),
    "comparison:greatest": _extreme("greatest", skips_nulls=False),
    "comparison:greatest_skip_null": _extreme("greatest", skips_nulls=True),
}
