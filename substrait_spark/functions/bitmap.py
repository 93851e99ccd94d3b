"""Bitmaps of 32768 bits, which count different integers: numbers of bits and of bitmaps, and the bitmaps themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .measure import AggregateRule, plain_aggregate
from .table import Plain, plain

if TYPE_CHECKING:
    from ..expr.builder import Rule

AGGREGATE: dict[str, AggregateRule] = {
    "BitmapAndAgg": plain_aggregate("spark:bitmap_and_agg"),
    "BitmapConstructAgg": plain_aggregate("spark:bitmap_construct_agg"),
    "BitmapOrAgg": plain_aggregate("spark:bitmap_or_agg"),
}
"""Aggregate functions by Catalyst class."""

SCALAR: dict[str, Plain | Rule] = {
    "StaticInvoke(BitmapExpressionUtils.bitmapBitPosition)": plain("spark:bitmap_bit_position"),
    "StaticInvoke(BitmapExpressionUtils.bitmapBucketNumber)": plain("spark:bitmap_bucket_number"),
    "StaticInvoke(BitmapExpressionUtils.bitmapCount)": plain("spark:bitmap_count"),
}
"""Functions by the Java method that Spark calls."""
