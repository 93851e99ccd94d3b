"""Aggregates of functions_spark.yaml."""

from __future__ import annotations

from .....algebra.types import BOOLEAN, FP64
from ...calls import LEGACY, Call
from ...document import Node
from ..rules import Rule, aggregate, by_kind

_SAME = (
    *("approx_count_distinct", "approx_percentile", "avg", "bit_and", "bit_or", "bit_xor", "collect_list"),
    *("collect_set", "corr", "covar_pop", "covar_samp", "histogram_numeric", "kurtosis", "max", "max_by", "min"),
    *("min_by", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "skewness", "try_avg", "try_sum"),
)
"""Spark's functions of the same name and arguments, in ANSI mode."""


def _of_position(name: str, ignore_nulls: bool) -> Rule:
    """The first or last value, or such a one that is not null."""
    return lambda call: call.over_rows(call.spark(name, *call.values, call.literal(ignore_nulls, BOOLEAN)))


def _collected(name: str) -> Rule:
    """Spark's class that collects values, nulls included."""

    def collected(call: Call) -> Node:
        return call.over_rows(call.new(name, call.values[0], 0, 0, False))

    return collected


def _avg_in_doubles(call: Call) -> Node:
    """The mean of the numbers without their points, in doubles, with the point put back."""
    (x,) = call.values
    scale: int = call.types[0].parameters[1]
    mean = call.over_rows(call.spark("avg", call.new("UnscaledValue", x)))
    return call.cast(call.spark("/", mean, call.literal(10.0**scale, FP64)), call.type)


def _percentile(call: Call) -> Node:
    x, p, frequency, _ = call.values
    return call.over_rows(call.new("Percentile", x, p, frequency, 0, 0, call.constant(3)))


def _percentile_disc(call: Call) -> Node:
    x, p, _ = call.values
    return call.over_rows(call.new("PercentileDisc", x, p, call.constant(2), 0, 0, False))


RULES: dict[str, Rule] = {f"spark:{name}": aggregate(name) for name in _SAME} | {
    "spark:sum": by_kind(dict.fromkeys(("interval_year", "interval_day"), aggregate("sum")), aggregate("sum", LEGACY)),
    "spark:percentile": _percentile,
    "spark:percentile_disc": _percentile_disc,
    "spark:avg_in_doubles": _avg_in_doubles,
    "spark:first": _of_position("first", False),
    "spark:first_ignore_nulls": _of_position("first", True),
    "spark:last": _of_position("last", False),
    "spark:last_ignore_nulls": _of_position("last", True),
    "spark:first_value": _of_position("first", False),
    "spark:first_value_ignore_nulls": _of_position("first", True),
    "spark:last_value": _of_position("last", False),
    "spark:last_value_ignore_nulls": _of_position("last", True),
    "spark:collect_list_respect_nulls": _collected("CollectList"),
    "spark:collect_set_respect_nulls": _collected("CollectSet"),
}
