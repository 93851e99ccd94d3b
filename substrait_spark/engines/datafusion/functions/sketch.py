"""approx_count_distinct: HyperLogLog++ as Spark computes it, in aggregates that DataFusion has."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ....algebra import types
from ....algebra.aggregate_form import AggregateForm
from ....algebra.expression import Expression, Literal
from ....dialects.rewrite import rewrites
from ....errors import NotInDialect
from ....lowering.aggregate import LoweredCall
from ....lowering.builder import LoweringBuilder
from . import hyperloglog
from .hash import hashed

LOWEST_BIT = 62
"""The registers' powers of two are summed as multiples of 2^-62, which is less than the least of them."""


_POWER = types.of("decimal", 19, 0, nullable=False)
_REGISTER = types.of("decimal", 6, 0, nullable=False)


def approx_count_distinct(call: LoweredCall) -> AggregateForm:
    """HyperLogLog++ over Spark's hash: each row has the greatest rank of its register's rows, which is summed once."""
    e = call.e
    argument, deviation = call.arguments
    bits = _bits(deviation)
    if call.frame is not None or not 4 <= bits < 4 + len(hyperloglog.THRESHOLDS):
        raise NotInDialect(f"the dialect {e.dialect.name} has no approx_count_distinct here")
    value = e.key(call.filtered(argument))
    hash = e.share(hashed(e, value))
    register: Expression = e.call("spark:shiftrightunsigned", hash, e.i32(64 - bits))
    if value.type.nullable:
        register = e.if_then(e.is_not_null(value), register, e.null(types.I64))
    register = e.share(register)
    (greatest,) = call.below(("arithmetic:max", _rank(e, hash, bits)), within=[register])
    place = e.call("datafusion:subtract", e.i64(LOWEST_BIT), greatest)
    power = e.cast(e.call("spark:shiftleft", e.i64(1), e.cast(place, types.I32)), _POWER)
    number = e.share(
        e.call("arithmetic_decimal:multiply", e.cast(register, _REGISTER), e.literal(2**LOWEST_BIT, _POWER))
    )
    calls = (
        e.aggregate("aggregate_generic:count", register, distinct=True),
        # Each register counts once: its number makes its power differ from those of others.
        e.aggregate("datafusion:sum", e.call("arithmetic_decimal:add", number, power), distinct=True),
        e.aggregate("datafusion:sum", number, distinct=True),
    )

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        hit, with_powers, without = refs
        powers = above.call("arithmetic_decimal:subtract", with_powers, without)
        total = above.call("arithmetic:multiply", above.cast(powers, types.FP64), above.fp64(2.0**-LOWEST_BIT))
        total = above.if_then(above.equal(hit, above.i64(0)), above.fp64(0.0), total)
        estimate = hyperloglog.estimate(above, bits, above.cast(hit, types.FP64), total)
        return above.cast(above.call("arithmetic:add", estimate, above.fp64(0.5)), types.I64)

    return AggregateForm(calls, result)


def _rank(e: LoweringBuilder, hash: Expression, bits: int) -> Expression:
    """The position of the first bit that is set behind those of the register, by the length of the binary number."""
    rest = e.call("arithmetic:bitwise_or", e.call("spark:shiftleft", hash, e.i32(bits)), e.i64(1 << (bits - 1)))
    return e.call("datafusion:subtract", e.i64(65), e.lowered("string:char_length", e.call("spark:bin", rest)))


def _bits(deviation: object) -> int:
    """How many bits the numbers of the registers have; 0 where that is not known."""
    if not isinstance(deviation, Literal) or not deviation.value > 0:
        return 0
    return math.ceil(2 * math.log2(1.106 / deviation.value))


REWRITES = rewrites({"spark:spark_approx_count_distinct": approx_count_distinct})
