"""Standard aggregate functions: those of functions_arithmetic.yaml, functions_arithmetic_decimal.yaml,
functions_aggregate_generic.yaml and functions_aggregate_approx.yaml."""

from __future__ import annotations

from ....algebra import types
from ....algebra.types import BOOLEAN, FLOATS, FP64, I32, INTEGERS
from ....errors import Unsupported
from ..calls import ANSI, LEGACY, Call
from ..document import Node
from .order import values_in_order
from .rules import Rule, aggregate, by_enum, by_kind, by_option

WHOLE = types.of("decimal", 20, 0)
"""What holds each integer of 64 bits, and sums of ten more digits."""

_SUM = by_option("overflow", {"ERROR": aggregate("sum"), "SILENT": aggregate("sum", LEGACY)})


def _sum0(call: Call) -> Node:
    zero = call.cast(call.literal(0, I32), call.type)
    return call.spark("coalesce", call.cast(_SUM(call), call.type), zero)


def _whole_average(call: Call) -> Node:
    """The mean of integers, cut off behind the point. It never overflows: their sum is one of decimals."""
    (x,) = (call.cast(value, WHOLE) for value in call.values)
    count = call.cast(call.over_rows(call.spark("count", x)), WHOLE)
    return call.spark("div", call.over_rows(call.spark("sum", x)), count, mode=LEGACY)


def _in_doubles(name: str, mode: str = ANSI) -> Rule:
    """An aggregate that Spark computes in double precision."""
    return lambda call: call.over_rows(call.spark(name, *(call.cast(value, FP64) for value in call.values), mode=mode))


def _distribution(sample: str, population: str) -> Rule:
    """A statistic of a sample or of a population, as the first argument says, or an option in plans of older releases."""
    by_name = {"SAMPLE": _in_doubles(sample), "POPULATION": _in_doubles(population)}

    def computed(call: Call) -> Node:
        return (by_enum(by_name) if call.enums else by_option("distribution", by_name))(call)

    return by_option("rounding", {"TIE_TO_EVEN": computed})


def _median(call: Call) -> Node:
    if call.type.kind not in FLOATS:
        raise Unsupported(f"{call.key} of integers is not run: how it rounds between two values is an option")
    return call.over_rows(call.spark("median", call.cast(call.values[0], FP64)))


def _product(call: Call) -> Node:
    """1 for no rows, where Spark's is null."""
    if call.type.kind not in FLOATS:
        raise Unsupported(f"{call.key} of integers is not run: Spark multiplies doubles")
    product = call.over_rows(call.new("Product", call.cast(call.values[0], FP64)))
    return call.spark("coalesce", product, call.literal(1.0, FP64))


def _count(call: Call) -> Node:
    return call.over_rows(call.spark("count", *(call.values or [call.literal(1, I32)])))


def _any_value(ignore_nulls: bool) -> Rule:
    return lambda call: call.over_rows(call.spark("any_value", *call.values, call.literal(ignore_nulls, BOOLEAN)))


def _string_agg(call: Call) -> Node:
    values = values_in_order(call, ignore_nulls=True)
    is_empty = call.spark("=", call.spark("size", values), call.literal(0, I32))
    return call.choice(is_empty, call.null(), call.spark("array_join", values, call.values[1]))


RULES: dict[str, Rule] = {
    "arithmetic:sum": _SUM,
    "arithmetic:sum0": _sum0,
    "arithmetic:avg": by_kind(dict.fromkeys(INTEGERS, _whole_average), aggregate("avg")),
    "arithmetic:min": aggregate("min"),
    "arithmetic:max": aggregate("max"),
    "arithmetic:std_dev": _distribution("stddev_samp", "stddev_pop"),
    "arithmetic:variance": _distribution("var_samp", "var_pop"),
    "arithmetic:corr": by_option("rounding", {"TIE_TO_EVEN": _in_doubles("corr", LEGACY)}),
    "arithmetic:mode": aggregate("mode"),
    "arithmetic:product": by_option("rounding", {"TIE_TO_EVEN": _product}),
    "arithmetic:median": by_option("rounding", {"TIE_TO_EVEN": _median}),
    "arithmetic_decimal:sum": _SUM,
    "arithmetic_decimal:sum0": _sum0,
    "arithmetic_decimal:avg": by_option("overflow", {"ERROR": aggregate("avg"), "SILENT": aggregate("avg")}),
    "arithmetic_decimal:min": aggregate("min"),
    "arithmetic_decimal:max": aggregate("max"),
    "aggregate_generic:count": _count,
    "aggregate_generic:any_value": by_option("ignore_nulls", {"FALSE": _any_value(False), "TRUE": _any_value(True)}),
    "string:string_agg": _string_agg,
    "aggregate_approx:approx_count_distinct": aggregate("approx_count_distinct"),
}
