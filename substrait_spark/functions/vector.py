"""Vectors: lists of 32-bit floating-point numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.lists import unified
from ..catalyst import tree
from .measure import AggregateRule, plain_aggregate
from .table import Plain, lossless

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def of_two(name: str) -> Rule:
    """A function of two vectors; Spark's last argument is the name that its errors show."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        left, right, _ = node["arguments"]
        return e.call(f"spark:{name}", *unified(e, e.emit(left), e.emit(right)))

    return emit


def by_norm(name: str) -> Rule:
    """A function of a vector and the degree of a norm."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        vector, degree, _ = node["arguments"]
        return lossless(e, e.call(f"spark:{name}", e.emit(vector), e.emit(degree)), node)

    return emit


AGGREGATE: dict[str, AggregateRule] = {
    "VectorAvg": plain_aggregate("spark:vector_avg"),
    "VectorSum": plain_aggregate("spark:vector_sum"),
}
"""Aggregate functions by Catalyst class."""

SCALAR: dict[str, Plain | Rule] = {
    "StaticInvoke(VectorFunctionImplUtils.vectorCosineSimilarity)": of_two("vector_cosine_similarity"),
    "StaticInvoke(VectorFunctionImplUtils.vectorInnerProduct)": of_two("vector_inner_product"),
    "StaticInvoke(VectorFunctionImplUtils.vectorL2Distance)": of_two("vector_l2_distance"),
    "StaticInvoke(VectorFunctionImplUtils.vectorNorm)": by_norm("vector_norm"),
    "StaticInvoke(VectorFunctionImplUtils.vectorNormalize)": by_norm("vector_normalize"),
}
"""Functions by the Java method that Spark calls."""
