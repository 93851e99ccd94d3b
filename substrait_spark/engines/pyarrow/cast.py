"""Casts between numbers: Acero's don't raise, and cut off what doesn't fit."""

from __future__ import annotations

from ...algebra import types
from ...algebra.expression import Cast, Expression, ScalarFunction
from ...algebra.types import FLOATS, INTEGERS, Type
from ...dialects.rewrite import rewrites
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder

BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}

DIGITS = {"i8": 3, "i16": 5, "i32": 10, "i64": 19}
"""How many digits Acero wants of a decimal before the point, for any integer of the type."""


def narrowed(e: LoweringBuilder, cast: Cast) -> Expression:
    """An integer in a smaller type, or what there is where it doesn't fit."""
    value = e.share(cast.input)
    top = 2 ** (BITS[cast.type.kind] - 1)
    kind = types.required(value.type)
    fits = e.and_(
        e.call("comparison:gte", value, e.literal(-top, kind)),
        e.call("comparison:lte", value, e.literal(top - 1, kind)),
    )
    return _fitting(e, cast, value, fits)


def whole(e: LoweringBuilder, cast: Cast) -> Expression:
    """A floating-point number without its fraction, or what there is where it doesn't fit."""
    value = e.share(cast.input)
    top = 2.0 ** (BITS[cast.type.kind] - 1)
    kind = types.FP64
    wide = e.share(e.cast(value, kind))
    fits = e.and_(
        e.call("comparison:gt", wide, e.literal(-top - 1, kind)), e.call("comparison:lt", wide, e.literal(top, kind))
    )
    return _fitting(e, cast, value, fits)


def _fitting(e: LoweringBuilder, cast: Cast, value: Expression, fits: Expression) -> Expression:
    result = e.cast(value, cast.type)
    otherwise = e.raises("[CAST_OVERFLOW]", cast.type, value) if cast.throws else e.null(cast.type)
    if not value.type.nullable:
        return e.if_then(fits, result, otherwise)
    return e.if_then(e.is_null(value), e.null(cast.type), fits, result, otherwise)


def to_decimal(e: LoweringBuilder, cast: Cast) -> Expression:
    """An integer as a decimal that holds all integers of its type."""
    precision, scale = cast.type.parameters
    if precision - scale < DIGITS[cast.input.type.kind]:
        raise NotInDialect(
            f"the dialect {e.dialect.name} casts {cast.input.type} only to decimals of {DIGITS[cast.input.type.kind]} "
            "digits before the point"
        )
    return e.cast(cast.input, cast.type)


def wider_decimal(e: LoweringBuilder, cast: Cast) -> Expression:
    """A decimal in a type that has all of its digits."""
    if not types.widens(cast.input.type, cast.type):
        raise NotInDialect(f"the dialect {e.dialect.name} does not round {cast.input.type} to {cast.type}")
    return e.cast(cast.input, cast.type)


def wrapped(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """wrap_i8, …: the low bits of a number, of a floating-point one those of the nearest integer of at least 32 bits."""
    (value,) = call.children()
    if value.type.kind in FLOATS:
        value = nearest(e, e.share(e.cast(value, types.FP64)), types.I64 if call.type.kind == "i64" else types.I32)
    elif value.type.kind not in INTEGERS:
        raise NotInDialect(f"the dialect {e.dialect.name} has no cast of {value.type} to {call.type} that never fails")
    return e.cast(value, call.type)


def nearest(e: LoweringBuilder, value: Expression, kind: Type) -> Expression:
    """The integer of a type that is nearest to a number, without its fraction; 0 for NaN."""
    top = 2 ** (BITS[kind.kind] - 1)
    return e.if_then(
        e.call("comparison:is_nan", value),
        e.literal(0, kind),
        e.call("comparison:gte", value, e.fp64(float(top))),
        e.literal(top - 1, kind),
        e.call("comparison:lt", value, e.fp64(float(-top))),
        e.literal(-top, kind),
        e.cast(value, kind),
    )


CASTS = {
    **{(source, target): narrowed for source in INTEGERS for target in INTEGERS if BITS[target] < BITS[source]},
    **{(source, target): whole for source in FLOATS for target in ("i8", "i16", "i32")},
    **{(source, "decimal"): to_decimal for source in INTEGERS},
    ("decimal", "decimal"): wider_decimal,
}

CALLS = {f"spark:wrap_{kind}": wrapped for kind in INTEGERS}

REWRITES = [*rewrites(CASTS), *rewrites(CALLS)]
