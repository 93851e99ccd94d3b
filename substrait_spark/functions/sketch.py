"""Sketches, approximate counts, sets and distributions in a form of their own: making, combining and reading them."""

from __future__ import annotations

from ..algebra import types
from ..algebra.expression import Expression
from ..catalyst import tree
from .measure import AggregateForm, AggregateRule, EmittedCall, plain_aggregate
from .table import Plain, plain


def approx_count_distinct(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """HyperLogLogPlusPlus: its relative standard deviation decides how much it counts wrong."""
    e = call.e
    return call.one("spark:spark_approx_count_distinct", e.emit(node["child"]), e.fp64(float(node["relativeSD"])))


def kll(name: str, kind: str) -> AggregateRule:
    """KllSketchAgg…, KllMergeAgg…: the parameter k may be left out."""

    def emit(call: EmittedCall, node: tree.Expression) -> AggregateForm:
        e = call.e
        child = e.emit(node["child"])
        if child.type.kind != "binary":
            child = e.cast(child, types.of(kind, nullable=False))
        given: list[Expression] = [] if node["kExpr"] is None else [e.emit(node["kExpr"])]
        return call.one(f"spark:{name}", child, *given)

    return emit


def frequent_items(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """CollectFrequentItems, of df.stat.freqItems."""
    return call.one("spark:collect_frequent_items", call.e.emit(node["child"]), call.e.i32(node["size"]), skips=None)


AGGREGATE: dict[str, AggregateRule] = {
    "ApproxTopK": plain_aggregate("spark:approx_top_k", skips=None),
    "ApproxTopKAccumulate": plain_aggregate("spark:approx_top_k_accumulate", skips=None),
    "ApproxTopKCombine": plain_aggregate("spark:approx_top_k_combine"),
    "CollectFrequentItems": frequent_items,
    "CountMinSketchAgg": plain_aggregate("spark:count_min_sketch"),
    "HllSketchAgg": plain_aggregate("spark:hll_sketch_agg"),
    "HllUnionAgg": plain_aggregate("spark:hll_union_agg"),
    "HyperLogLogPlusPlus": approx_count_distinct,
    "KllMergeAggBigint": kll("kll_merge_agg_bigint", "i64"),
    "KllMergeAggDouble": kll("kll_merge_agg_double", "fp64"),
    "KllMergeAggFloat": kll("kll_merge_agg_float", "fp32"),
    "KllSketchAggBigint": kll("kll_sketch_agg_bigint", "i64"),
    "KllSketchAggDouble": kll("kll_sketch_agg_double", "fp64"),
    "KllSketchAggFloat": kll("kll_sketch_agg_float", "fp32"),
    "ThetaIntersectionAgg": plain_aggregate("spark:theta_intersection_agg"),
    "ThetaSketchAgg": plain_aggregate("spark:theta_sketch_agg"),
    "ThetaUnionAgg": plain_aggregate("spark:theta_union_agg"),
    "TupleIntersectionAggDouble": plain_aggregate("spark:tuple_intersection_agg_double"),
    "TupleIntersectionAggInteger": plain_aggregate("spark:tuple_intersection_agg_integer"),
    "TupleSketchAggDouble": plain_aggregate("spark:tuple_sketch_agg_double"),
    "TupleSketchAggInteger": plain_aggregate("spark:tuple_sketch_agg_integer"),
    "TupleUnionAggDouble": plain_aggregate("spark:tuple_union_agg_double"),
    "TupleUnionAggInteger": plain_aggregate("spark:tuple_union_agg_integer"),
}
"""Aggregate functions by Catalyst class."""

SCALAR: dict[str, Plain] = {
    "ApproxTopKEstimate": plain("spark:approx_top_k_estimate"),
    "HllSketchEstimate": plain("spark:hll_sketch_estimate"),
    "HllUnion": plain("spark:hll_union"),
    "KllSketchGetNBigint": plain("spark:kll_sketch_get_n_bigint"),
    "KllSketchGetNDouble": plain("spark:kll_sketch_get_n_double"),
    "KllSketchGetNFloat": plain("spark:kll_sketch_get_n_float"),
    "KllSketchGetQuantileBigint": plain("spark:kll_sketch_get_quantile_bigint"),
    "KllSketchGetQuantileDouble": plain("spark:kll_sketch_get_quantile_double"),
    "KllSketchGetQuantileFloat": plain("spark:kll_sketch_get_quantile_float"),
    "KllSketchGetRankBigint": plain("spark:kll_sketch_get_rank_bigint"),
    "KllSketchGetRankDouble": plain("spark:kll_sketch_get_rank_double"),
    "KllSketchGetRankFloat": plain("spark:kll_sketch_get_rank_float"),
    "KllSketchMergeBigint": plain("spark:kll_sketch_merge_bigint"),
    "KllSketchMergeDouble": plain("spark:kll_sketch_merge_double"),
    "KllSketchMergeFloat": plain("spark:kll_sketch_merge_float"),
    "KllSketchToStringBigint": plain("spark:kll_sketch_to_string_bigint"),
    "KllSketchToStringDouble": plain("spark:kll_sketch_to_string_double"),
    "KllSketchToStringFloat": plain("spark:kll_sketch_to_string_float"),
    "ThetaDifference": plain("spark:theta_difference"),
    "ThetaIntersection": plain("spark:theta_intersection"),
    "ThetaSketchEstimate": plain("spark:theta_sketch_estimate"),
    "ThetaUnion": plain("spark:theta_union"),
    "TupleDifferenceDouble": plain("spark:tuple_difference_double"),
    "TupleDifferenceInteger": plain("spark:tuple_difference_integer"),
    "TupleDifferenceThetaDouble": plain("spark:tuple_difference_theta_double"),
    "TupleDifferenceThetaInteger": plain("spark:tuple_difference_theta_integer"),
    "TupleIntersectionDouble": plain("spark:tuple_intersection_double"),
    "TupleIntersectionInteger": plain("spark:tuple_intersection_integer"),
    "TupleIntersectionThetaDouble": plain("spark:tuple_intersection_theta_double"),
    "TupleIntersectionThetaInteger": plain("spark:tuple_intersection_theta_integer"),
    "TupleSketchEstimateDouble": plain("spark:tuple_sketch_estimate_double"),
    "TupleSketchEstimateInteger": plain("spark:tuple_sketch_estimate_integer"),
    "TupleSketchSummaryDouble": plain("spark:tuple_sketch_summary_double"),
    "TupleSketchSummaryInteger": plain("spark:tuple_sketch_summary_integer"),
    "TupleSketchThetaDouble": plain("spark:tuple_sketch_theta_double"),
    "TupleSketchThetaInteger": plain("spark:tuple_sketch_theta_integer"),
    "TupleUnionDouble": plain("spark:tuple_union_double"),
    "TupleUnionInteger": plain("spark:tuple_union_integer"),
    "TupleUnionThetaDouble": plain("spark:tuple_union_theta_double"),
    "TupleUnionThetaInteger": plain("spark:tuple_union_theta_integer"),
}
"""Functions on sketches by Catalyst class."""
