"""Casts between numbers: Acero's don't raise, and cut off what doesn't fit."""

from __future__ import annotations

from ...algebra import types
from ...algebra.expression import Cast, Expression, ScalarFunction
from ...algebra.types import FLOATS, INTEGERS, Type
from ...dialects.rewrite import rewrites
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder

BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}

MOST_DIGITS = 38

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


def _fitting(
    e: LoweringBuilder, cast: Cast, value: Expression, fits: Expression, result: Expression | None = None
) -> Expression:
    """The result of a cast, by default Acero's, where it fits."""
    result = e.cast(value, cast.type) if result is None else result
    otherwise = e.raises("[CAST_OVERFLOW]", cast.type, value) if cast.throws else e.null(cast.type)
    if not value.type.nullable:
        return e.if_then(fits, result, otherwise)
    return e.if_then(e.is_null(value), e.null(cast.type), fits, result, otherwise)


def to_decimal(e: LoweringBuilder, cast: Cast) -> Expression:
    """An integer as a decimal: as one that holds all integers of its type, then as the wanted one, which may not."""
    precision, scale = cast.type.parameters
    digits = DIGITS[cast.input.type.kind]
    if precision - scale >= digits:
        return e.cast(cast.input, cast.type)
    whole = e.cast(cast.input, types.of("decimal", digits, 0, nullable=cast.input.type.nullable))
    return other_decimal(e, Cast(whole, cast.type, cast.throws))


def other_decimal(e: LoweringBuilder, cast: Cast) -> Expression:
    """A decimal in a type of other digits, rounded half up where it has fewer behind the point."""
    if types.widens(cast.input.type, cast.type):
        return e.cast(cast.input, cast.type)
    (precision, scale), (digits, wanted) = cast.input.type.parameters, cast.type.parameters
    value = cast.input
    if wanted < scale:
        value = _with_half_added(e, value, scale - wanted)
        precision += 1
    if precision - scale <= digits - wanted:
        return e.cast(value, cast.type)
    return _of_so_many_digits(e, cast, e.share(value), digits - wanted)


def _with_half_added(e: LoweringBuilder, value: Expression, dropped: int) -> Expression:
    """A decimal that is right once so many digits are cut off its end: Acero's casts round towards zero."""
    if value.type.parameters[0] == MOST_DIGITS:
        raise NotInDialect(f"the dialect {e.dialect.name} does not round {value.type}")
    value = e.share(value)
    kind = types.required(value.type)
    zero, half = e.literal(0, kind), 5 * 10 ** (dropped - 1)
    addend = e.if_then(e.call("comparison:lt", value, zero), e.literal(-half, kind), e.literal(half, kind))
    return e.call("arithmetic_decimal:add", value, addend)


def _of_so_many_digits(e: LoweringBuilder, cast: Cast, value: Expression, whole: int) -> Expression:
    """A decimal in a type of so many digits before the point: Acero doesn't check that it has no more."""
    kind = types.required(value.type)
    limit = 10 ** (whole + kind.parameters[1])
    fits = e.and_(
        e.call("comparison:gt", value, e.literal(-limit, kind)), e.call("comparison:lt", value, e.literal(limit, kind))
    )
    return _fitting(e, cast, value, fits)


def whole_part(e: LoweringBuilder, cast: Cast) -> Expression:
    """A decimal without its fraction."""
    precision, scale = cast.input.type.parameters
    value, kind = e.share(cast.input), types.required(cast.input.type)
    top = 2 ** (BITS[cast.type.kind] - 1)
    if 10 ** (precision - scale) <= top:
        return e.cast(value, cast.type)
    unit = 10**scale
    fits = e.and_(
        e.call("comparison:gt", value, e.literal(-(top + 1) * unit, kind)),
        e.call("comparison:lt", value, e.literal(top * unit, kind)),
    )
    fits = e.share(fits)
    inside = e.if_then(fits, value, e.null(kind))  # of others, Acero's cast raises
    return _fitting(e, cast, value, fits, e.cast(inside, cast.type))


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
    **{("decimal", target): whole_part for target in INTEGERS},
    ("decimal", "decimal"): other_decimal,
}

CALLS = {f"spark:wrap_{kind}": wrapped for kind in INTEGERS}

REWRITES = [*rewrites(CASTS), *rewrites(CALLS)]
