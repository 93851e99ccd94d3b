"""Bitmaps of 32768 bits, which count different integers: numbers of bits and of bitmaps, and the bitmaps themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..catalyst import tree
from .measure import AggregateRule, plain_aggregate
from .table import Plain, arguments_of, plain
from .time_zone import minus, plus, quotient, rest

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

BITS = 32768

Computed = Callable[["ExpressionBuilder", "Expression"], "Expression"]


def bucketed(name: str, positive: Computed, other: Computed) -> Rule:
    """bitmap_bit_position, bitmap_bucket_number: numbers above zero are counted from 1, others from 0 downwards."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        (value,) = e.emit_all(arguments_of(node))

        def computed() -> Expression:
            number = e.share(value)
            above = e.call("comparison:gt", number, e.i64(0))
            return e.if_then(above, positive(e, minus(e, number, e.i64(1))), other(e, number))

        return e.first(lambda: e.call(f"spark:{name}", value), computed)

    return emit


AGGREGATE: dict[str, AggregateRule] = {
    "BitmapAndAgg": plain_aggregate("spark:bitmap_and_agg"),
    "BitmapConstructAgg": plain_aggregate("spark:bitmap_construct_agg"),
    "BitmapOrAgg": plain_aggregate("spark:bitmap_or_agg"),
}
"""Aggregate functions by Catalyst class."""

SCALAR: dict[str, Plain | Rule] = {
    "StaticInvoke(BitmapExpressionUtils.bitmapBitPosition)": bucketed(
        "bitmap_bit_position",
        lambda e, before: rest(e, before, BITS),
        lambda e, number: minus(e, e.i64(0), rest(e, number, BITS)),
    ),
    "StaticInvoke(BitmapExpressionUtils.bitmapBucketNumber)": bucketed(
        "bitmap_bucket_number",
        lambda e, before: plus(e, quotient(e, before, BITS), 1),
        lambda e, number: quotient(e, number, BITS),
    ),
    "StaticInvoke(BitmapExpressionUtils.bitmapCount)": plain("spark:bitmap_count"),
}
"""Functions by the Java method that Spark calls."""
