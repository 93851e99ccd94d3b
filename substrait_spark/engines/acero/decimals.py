"""Decimals of so many digits that Acero has no form of its own for them: Python computes these."""

from __future__ import annotations

from ...algebra import types
from ...algebra.expression import Cast, Expression, ScalarFunction
from ...dialects.rewrite import rewrites
from ...lowering.builder import LoweringBuilder
from ..pyarrow import cast as pyarrow


def product(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A product that raises where it has too many digits."""
    if dict(call.options).get("overflow") != "ERROR":
        return e.general(call)
    return e.call("arrow:spark_multiply", *call.children(), e.null(call.type))


def rounded(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A decimal rounded half away from zero, which always fits the type of the result."""
    if dict(call.options) not in ({}, {"rounding": "TIE_AWAY_FROM_ZERO"}):
        return e.general(call)
    return e.call("arrow:spark_round_half_up", *call.children(), e.null(call.type))


def other_decimal(e: LoweringBuilder, cast: Cast) -> Expression:
    """A decimal in a type of other digits: of as many as Acero can't add to, its product with one."""
    name = "arrow:spark_multiply" if cast.throws else "arrow:spark_try_multiply"
    one = e.literal(1, types.of("decimal", 1, 0, nullable=False))
    return e.first(
        lambda: pyarrow.other_decimal(e, cast), lambda: e.call(name, cast.input, one, e.null(types.nullable(cast.type)))
    )


REWRITES = rewrites(
    {
        "arithmetic_decimal:multiply": product,
        "rounding_decimal:round": rounded,
        ("decimal", "decimal"): other_decimal,
    }
)
