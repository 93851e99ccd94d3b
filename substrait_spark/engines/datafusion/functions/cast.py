"""Casts that DataFusion lacks, or computes in another way than Spark: of numbers, booleans, text and binary, and of lists by their elements."""

from __future__ import annotations

from functools import partial

from ....algebra import types
from ....algebra.expression import Cast, Expression, FieldReference, Lambda, ScalarFunction
from ....algebra.types import FLOATS, INTEGERS, Type
from ....dialects.rewrite import rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ....lowering.expression import lowered_cast
from ..defects.struct_names import has_names, names_of
from ..structs import rebuilt
from .number_cast import (
    FORMS,
    NumberCast,
    integer_to_binary,
    is_finite,
    low_bits,
    whole_part,
    wrapped_decimal,
    wrapped_float,
)

# ---- casts


def _formed(form: NumberCast, e: LoweringBuilder, cast: Cast) -> Expression:
    return form(e, cast.input, cast.type, cast.throws)


def list_to_list(e: LoweringBuilder, cast: Cast) -> Expression:
    """Each element cast by itself: one that fails becomes null, or throws."""
    if has_names(cast.input.type):
        return struct_to_struct(e, cast)
    return e.as_type(_of_elements(e, cast, cast.type.parameters[0]), cast.type)


def struct_to_struct(e: LoweringBuilder, cast: Cast) -> Expression:
    """Each field cast by itself, under the name that it has."""

    def converted(value: Expression, target: Type) -> Expression:
        kind = types.with_nullable(target, value.type.nullable or not cast.throws)
        return lowered_cast(e, Cast(value, kind, cast.throws))

    names = names_of(e, cast.input)
    return e.as_type(rebuilt(e, e.share(cast.input), names, cast.type, names, converted), cast.type)


def list_to_text(e: LoweringBuilder, cast: Cast) -> Expression:
    """The texts of the elements: `[1, null]`."""
    element: Type = cast.input.type.parameters[0]
    texts = cast.input if element.kind == "string" else _of_elements(e, cast, types.STRING)
    joined = e.call("datafusion:array_to_string", texts, e.text(", "), e.text("null"))
    return e.call("string:concat", e.text("["), joined, e.text("]"), null_handling="ACCEPT_NULLS")


def _of_elements(e: LoweringBuilder, cast: Cast, target: Type) -> Expression:
    source: Type = cast.input.type.parameters[0]
    target = types.with_nullable(target, source.nullable or not cast.throws)
    body = lowered_cast(e, Cast(FieldReference(0, source, parameter=0), target, cast.throws))
    return e.call("datafusion:array_transform", cast.input, Lambda((source,), body))


CASTS = {
    **{kinds: partial(_formed, form) for kinds, form in FORMS.items()},
    ("list", "list"): list_to_list,
    ("struct", "struct"): struct_to_struct,
    ("list", "string"): list_to_text,
}


# ---- calls


def wrapped(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """wrap_i8, …: the low bits of a number."""
    (value,) = call.children()
    if value.type.kind in INTEGERS:
        return low_bits(e, value, call.type)
    if value.type.kind in FLOATS:
        return wrapped_float(e, value, call.type)
    return wrapped_decimal(e, value, call.type)


def integer_in_text(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """whole_i8, …: the integer in a text, without a fraction."""
    (text,) = call.children()
    return whole_part(e, text, call.type)


def to_bytes(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    return integer_to_binary(e, *call.children())


def to_scientific(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    (value,) = call.children()
    raise NotInDialect(
        f"Spark may write {value.type} with an exponent in this mode",
        "Cast to a decimal of at most 6 digits behind the point.",
    )


def finite(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    return is_finite(e, *call.children())


CALLS = {
    **{f"spark:wrap_{kind}": wrapped for kind in INTEGERS},
    **{f"spark:whole_{kind}": integer_in_text for kind in INTEGERS},
    "comparison:is_finite": finite,
    "spark:to_bytes": to_bytes,
    "spark:to_scientific": to_scientific,
}

REWRITES = [*rewrites(CASTS), *rewrites(CALLS)]
