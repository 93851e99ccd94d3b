"""Aggregate functions that sketch: approximate counts and sets in a form of their own, and bitmaps."""

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
