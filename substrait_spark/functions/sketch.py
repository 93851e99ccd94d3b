"""Sketches, approximate counts, sets and distributions in a form of their own: making, combining and reading them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Expression
from ..catalyst import tree
from ..errors import NotInDialect
from .floating import groupable
from .hash import hashed
from .measure import AggregateRule, Measured, Site, plain_aggregate
from .table import Plain, plain

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


def approx_count_distinct(site: Site, node: tree.Expression) -> Measured:
    """HyperLogLogPlusPlus: its relative standard deviation decides how much it counts wrong."""
    e = site.e
    child = e.emit(node["child"])
    deviation = float(node["relativeSD"])
    return e.first(
        lambda: site.one("spark:approx_count_distinct", child, e.fp64(deviation)),
        lambda: _linear_count(site, child, math.ceil(2 * math.log2(1.106 / deviation))),
    )


THRESHOLDS = (10, 20, 40, 80, 220, 400, 900, 1800, 3100, 6500, 11500, 20000, 50000, 120000, 350000)
"""By the bits of the registers' numbers, from 4 on: up to which number Spark counts by the registers that are empty."""


def _linear_count(site: Site, child: Expression, bits: int) -> Measured:
    """What Spark tells of few values, from how many registers their hashes hit; raises where they are more."""
    e = site.e
    if site.frame is not None or not 4 <= bits < 4 + len(THRESHOLDS):
        raise NotInDialect(f"the dialect {e.dialect.name} has no approx_count_distinct here")
    value = groupable(e, site.filtered(child))
    register: Expression = e.call("spark:shiftrightunsigned", hashed(e, value), e.i32(64 - bits))
    if value.type.nullable:
        register = e.if_then(e.is_not_null(value), register, e.null(types.I64))
    call = e.aggregate("aggregate_generic:count", register, distinct=True)

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        number = 2.0**bits
        empty = above.call("arithmetic:subtract", above.fp64(number), above.cast(refs[0], types.FP64))
        ratio = above.call("arithmetic:divide", above.fp64(number), empty, on_division_by_zero="IEEE")
        found = above.share(above.call("arithmetic:multiply", above.fp64(number), above.call("logarithmic:ln", ratio)))
        nearest = above.cast(above.call("arithmetic:add", found, above.fp64(0.5)), types.I64)
        error = above.raises("[UNSUPPORTED_COUNT] so many values are counted by tables", types.I64, refs[0])
        most = above.fp64(float(THRESHOLDS[bits - 4]))
        return above.if_then(above.call("comparison:lte", found, most), nearest, error)

    return Measured((call,), result)


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
