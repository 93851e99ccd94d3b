"""Aggregates of functions_spark.yaml."""

from __future__ import annotations

from .....algebra import types
from .....algebra.types import BOOLEAN, FP64, I32
from .....catalyst.versions import running
from .....errors import Unsupported
from ...calls import LEGACY, AggregateCall, Call
from ...document import Node
from ..order import sort_orders, values_in_order
from ..rules import Rule, aggregate, by_enum, by_kind
from . import same

_SAME = (
    *("approx_count_distinct", "approx_percentile", "avg", "bit_and", "bit_or", "bit_xor", "collect_union"),
    *("collect_set", "covar_pop", "covar_samp", "histogram_numeric", "kurtosis", "max", "max_by", "min"),
    *("min_by", "regr_intercept", "regr_r2", "regr_slope", "regr_sxx", "regr_sxy", "skewness", "try_avg", "try_sum"),
)
"""Spark's functions of the same name and arguments, in ANSI mode."""

STRAIGHT = (4, 3)
"""The release of Spark from which on a percentile is lower + (upper - lower) * fraction."""


def _of_position(name: str, index: int, ignore_nulls: bool) -> Rule:
    """The first or last value, or such a one that is not null."""

    def rule(call: Call) -> Node:
        if isinstance(call, AggregateCall) and call.keys:
            return call.spark("try_element_at", values_in_order(call, ignore_nulls), call.literal(index, I32))
        return call.over_rows(call.spark(name, *call.values, call.literal(ignore_nulls, BOOLEAN)))

    return rule


def _list(ignore_nulls: bool) -> Rule:
    """The values of all rows."""
    return lambda call: values_in_order(call, ignore_nulls)


def _with_nulls(name: str) -> Rule:
    """One of Spark's classes that collect values, nulls included."""
    return lambda call: call.over_rows(call.new(name, call.values[0], 0, 0, False))


def _listagg(call: Call) -> Node:
    """Bytes one after the other. A null separator is an empty one."""
    orders = sort_orders(call)
    separator = call.spark("coalesce", call.values[1], call.literal(b"", types.of("binary")))
    return call.over_any_rows(call.new("ListAgg", call.values[0], separator, orders, 0, 0))


def _mode(reverse: bool | None) -> Rule:
    """The most frequent value; of several any, the least or the greatest."""
    if reverse is None:
        return aggregate("mode")
    return lambda call: call.over_rows(call.new("Mode", call.values[0], reverse))


def _avg_in_doubles(call: Call) -> Node:
    """The mean of the numbers without their points, in doubles, with the point put back."""
    (x,) = call.values
    scale: int = call.types[0].parameters[1]
    mean = call.over_rows(call.spark("avg", call.new("UnscaledValue", x)))
    return call.cast(call.spark("/", mean, call.literal(10.0**scale, FP64)), call.type)


def _percentile(of_weights: bool) -> Rule:
    """Spark's percentile, where it is this one: Spark 4.3 has another line between two values than the releases before."""

    def rule(call: Call) -> Node:
        if of_weights is not (running() < STRAIGHT):
            raise Unsupported(f"{call.key} is not run by this Spark, whose percentile is another")
        x, p, frequency, _ = call.values
        return call.over_rows(call.new("Percentile", x, p, frequency, 0, 0, call.constant(3)))

    return rule


def _percentile_disc(call: Call) -> Node:
    x, p, _ = call.values
    return call.over_rows(call.new("PercentileDisc", x, p, call.constant(2), 0, 0, False))


RULES: dict[str, Rule] = same(_SAME, aggregate) | {
    # In ANSI mode, Spark before 4.3 divides by zero where the values don't vary.
    "spark:spark_corr": aggregate("corr", LEGACY),
    "spark:spark_sum": by_kind(
        dict.fromkeys(("interval_year", "interval_day"), aggregate("sum")), aggregate("sum", LEGACY)
    ),
    "spark:percentile": _percentile(of_weights=False),
    "spark:percentile_of_weights": _percentile(of_weights=True),
    "spark:percentile_disc": _percentile_disc,
    "spark:avg_in_doubles": _avg_in_doubles,
    "spark:first": _of_position("first", 1, False),
    "spark:spark_first_value": _of_position("first", 1, False),
    **{f"spark:first{suffix}_ignore_nulls": _of_position("first", 1, True) for suffix in ("", "_value")},
    "spark:last": _of_position("last", -1, False),
    "spark:spark_last_value": _of_position("last", -1, False),
    **{f"spark:last{suffix}_ignore_nulls": _of_position("last", -1, True) for suffix in ("", "_value")},
    "spark:collect_list": _list(ignore_nulls=True),
    "spark:collect_list_respect_nulls": _list(ignore_nulls=False),
    "spark:collect_set_respect_nulls": _with_nulls("CollectSet"),
    "spark:collect_union_respect_nulls": _with_nulls("CollectUnion"),
    "spark:listagg": _listagg,
    "spark:spark_mode": by_enum({"ANY": _mode(None), "LEAST": _mode(True), "GREATEST": _mode(False)}),
}
