"""Approximate counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....algebra import types
from ....algebra.aggregate_form import AggregateForm
from ....algebra.expression import Expression, Literal
from ....errors import NotInDialect
from ....lowering.aggregate import LoweredCall
from ....lowering.builder import LoweringBuilder
from ....lowering.rules import AggregateRule
from .hash import hashed

THRESHOLDS = (10, 20, 40, 80, 220, 400, 900, 1800, 3100, 6500, 11500, 20000, 50000, 120000, 350000)
"""By the bits of the registers' numbers, from 4 on: up to which number Spark counts by the registers that are empty."""


def approx_count_distinct(call: LoweredCall) -> AggregateForm:
    """What Spark tells of few values, from how many registers their hashes hit; raises where they are more."""
    e = call.e
    argument, deviation = call.arguments
    bits = _bits(deviation)
    if call.frame is not None or not 4 <= bits < 4 + len(THRESHOLDS):
        raise NotInDialect(f"the dialect {e.dialect.name} has no approx_count_distinct here")
    value = e.key(call.filtered(argument))
    register: Expression = e.call("spark:shiftrightunsigned", hashed(e, value), e.i32(64 - bits))
    if value.type.nullable:
        register = e.if_then(e.is_not_null(value), register, e.null(types.I64))
    counted = e.aggregate("aggregate_generic:count", register, distinct=True)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        number = 2.0**bits
        empty = above.call("arithmetic:subtract", above.fp64(number), above.cast(refs[0], types.FP64))
        ratio = above.call("arithmetic:divide", above.fp64(number), empty, on_division_by_zero="IEEE")
        found = above.share(above.call("arithmetic:multiply", above.fp64(number), above.call("logarithmic:ln", ratio)))
        nearest = above.cast(above.call("arithmetic:add", found, above.fp64(0.5)), types.I64)
        error = above.raises("[UNSUPPORTED_COUNT] so many values are counted by tables", types.I64, refs[0])
        most = above.fp64(float(THRESHOLDS[bits - 4]))
        return above.if_then(above.call("comparison:lte", found, most), nearest, error)

    return AggregateForm((counted,), result)


def _bits(deviation: object) -> int:
    """How many bits the numbers of the registers have; 0 where that is not known."""
    if not isinstance(deviation, Literal) or not deviation.value > 0:
        return 0
    return math.ceil(2 * math.log2(1.106 / deviation.value))


AGGREGATES: dict[str, AggregateRule] = {"spark:spark_approx_count_distinct": approx_count_distinct}
