"""bitmap_bit_position and bitmap_bucket_number: where a number goes in a bitmap, and in which of them."""

from __future__ import annotations

from collections.abc import Callable

from ....algebra.expression import Expression, ScalarFunction
from ....dialects.rewrite import Apply, rewrites
from ....lowering.builder import LoweringBuilder

BITS = 32768
"""Bits of a bitmap."""

Computed = Callable[[LoweringBuilder, Expression], Expression]


def bucketed(positive: Computed, other: Computed) -> Apply:
    """A number from the one before a number above zero, or from a number that is not."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        number = e.share(*call.children())
        before = e.call("datafusion:subtract", number, e.i64(1))
        return e.if_then(e.call("comparison:gt", number, e.i64(0)), positive(e, before), other(e, number))

    return lower


def _rest(e: LoweringBuilder, number: Expression) -> Expression:
    return e.call("datafusion:modulus", number, e.i64(BITS))


def _negative_rest(e: LoweringBuilder, number: Expression) -> Expression:
    return e.call("datafusion:subtract", e.i64(0), _rest(e, number))


def _quotient(e: LoweringBuilder, number: Expression) -> Expression:
    return e.call("datafusion:divide", number, e.i64(BITS))


def _next_quotient(e: LoweringBuilder, number: Expression) -> Expression:
    return e.call("datafusion:add", _quotient(e, number), e.i64(1))


REWRITES = rewrites(
    {
        "spark:bitmap_bit_position": bucketed(_rest, _negative_rest),
        "spark:bitmap_bucket_number": bucketed(_next_quotient, _quotient),
    }
)
