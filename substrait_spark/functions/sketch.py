"""Aggregate functions that sketch: approximate counts and sets in a form of their own, and bitmaps."""

from __future__ import annotations

from ..algebra import types
from ..algebra.expression import Expression
from ..catalyst import tree
from .measure import AggregateRule, Measured, Site, plain_aggregate


def approx_count_distinct(site: Site, node: tree.Expression) -> Measured:
    """HyperLogLogPlusPlus: its relative standard deviation decides how much it counts wrong."""
    deviation = site.e.literal(float(node["relativeSD"]), types.FP64)
    return site.one("spark:approx_count_distinct", site.e.emit(node["child"]), deviation)


def kll(name: str, kind: str) -> AggregateRule:
    """KllSketchAgg…, KllMergeAgg…: the parameter k may be left out."""

    def emit(site: Site, node: tree.Expression) -> Measured:
        e = site.e
        child = e.emit(node["child"])
        if child.type.kind != "binary":
            child = e.cast(child, types.of(kind, nullable=False))
        given: list[Expression] = [] if node["kExpr"] is None else [e.emit(node["kExpr"])]
        return site.one(f"spark:{name}", child, *given)

    return emit


AGGREGATE: dict[str, AggregateRule] = {
    "ApproxTopK": plain_aggregate("spark:approx_top_k", skips=None),
    "ApproxTopKAccumulate": plain_aggregate("spark:approx_top_k_accumulate", skips=None),
    "ApproxTopKCombine": plain_aggregate("spark:approx_top_k_combine"),
    "BitmapAndAgg": plain_aggregate("spark:bitmap_and_agg"),
    "BitmapConstructAgg": plain_aggregate("spark:bitmap_construct_agg"),
    "BitmapOrAgg": plain_aggregate("spark:bitmap_or_agg"),
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
    "VectorAvg": plain_aggregate("spark:vector_avg"),
    "VectorSum": plain_aggregate("spark:vector_sum"),
}
"""Aggregate functions by Catalyst class."""
