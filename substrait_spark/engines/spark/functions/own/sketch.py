"""Sketches, bitmaps and vectors of functions_spark.yaml."""

from __future__ import annotations

from ...calls import Call
from ...document import Node
from ..rules import Rule, aggregate, spark
from . import same

_KINDS = ("bigint", "float", "double")
_SUMMARIES = ("double", "integer")

_SCALAR = (
    *("approx_top_k_estimate", "hll_sketch_estimate", "hll_union"),
    *(
        f"kll_sketch_{name}_{kind}"
        for name in ("get_n", "get_quantile", "get_rank", "merge", "to_string")
        for kind in _KINDS
    ),
    *("theta_sketch_estimate", "theta_union", "theta_intersection", "theta_difference"),
    *(f"tuple_{name}_{kind}" for name in ("union", "intersection", "difference") for kind in _SUMMARIES),
    *(f"tuple_{name}_theta_{kind}" for name in ("union", "intersection", "difference") for kind in _SUMMARIES),
    *(f"tuple_sketch_{name}_{kind}" for name in ("estimate", "theta", "summary") for kind in _SUMMARIES),
    *("bitmap_bit_position", "bitmap_bucket_number", "bitmap_count"),
    *("vector_inner_product", "vector_cosine_similarity", "vector_l2_distance", "vector_norm", "vector_normalize"),
)
"""Spark's functions of the same name and arguments."""

_AGGREGATE = (
    *("approx_top_k", "approx_top_k_accumulate", "count_min_sketch", "hll_sketch_agg", "hll_union_agg"),
    *(f"kll_{name}_agg_{kind}" for name in ("sketch", "merge") for kind in _KINDS),
    *("theta_sketch_agg", "theta_union_agg", "theta_intersection_agg"),
    *(f"tuple_{name}_agg_{kind}" for name in ("sketch", "union", "intersection") for kind in _SUMMARIES),
    *("bitmap_construct_agg", "bitmap_or_agg", "bitmap_and_agg", "vector_sum", "vector_avg"),
)
"""Spark's aggregate functions of the same name and arguments."""


def _top_k_combined(call: Call) -> Node:
    """Spark wants no number for the states' own."""
    state, tracked = call.values
    arguments = (state,) if call.constant(1) == -1 else (state, tracked)
    return call.over_rows(call.spark("approx_top_k_combine", *arguments))


def _frequent_items(call: Call) -> Node:
    """Without an order, what rows come first is left to Spark."""
    return call.over_any_rows(call.new("CollectFrequentItems", call.values[0], call.constant(1)))


RULES: dict[str, Rule] = {
    "spark:collect_frequent_items": _frequent_items,
    **same(_SCALAR, spark),
    **same(_AGGREGATE, aggregate),
    "spark:approx_top_k_combine": _top_k_combined,
}
