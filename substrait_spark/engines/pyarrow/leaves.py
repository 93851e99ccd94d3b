"""Literals, columns and fields of structs, as Acero takes them, and types whose values it can't be given."""

from __future__ import annotations

from ...algebra import types
from ...algebra.expression import Cast, Expression, FieldReference, Literal, Part
from ...algebra.types import Type
from ...dialects.rewrite import Rewrite, Sees, rewrites
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from ...lowering.forms import Raised, Root


def literal(e: LoweringBuilder, value: Expression) -> Expression:
    """A literal. One of a timestamp is its microseconds, which are cast."""
    _require_nameless(e, value.type)
    if not isinstance(value, Literal) or value.value is None or not value.type.kind.startswith("precision"):
        return value
    return e.cast(e.i64(value.value), value.type)


def reference(e: LoweringBuilder, value: Expression) -> Expression:
    """A column, or a field of it: not what a list or a map holds."""
    if isinstance(value, FieldReference | Part) and any(kind != "field" for kind, _ in value.path):
        raise NotInDialect(f"the dialect {e.dialect.name} has no elements of lists and no values of maps")
    return value


def nameless(e: LoweringBuilder, value: Expression) -> Expression:
    """A null, of a type without structs."""
    _require_nameless(e, value.type)
    return value


def cast(e: LoweringBuilder, cast: Cast) -> Expression:
    """A cast, of a type without structs, and of no nested type to another nullability."""
    if not types.equal_but_nullability(cast.input.type, cast.type):
        _require_nameless(e, cast.type)
    elif cast.type.parameters and cast.type.kind != "decimal":
        raise NotInDialect(f"the dialect {e.dialect.name} has no {cast.type} of another nullability")
    return cast if cast.throws else Cast(cast.input, cast.type, True)  # those that it lists never fail


def raised(e: LoweringBuilder, form: Raised) -> Expression:
    """What raises where it is chosen: a cast of text that is no number."""
    if form.type.kind == "decimal":  # of few digits, to which Acero casts no integer
        return e.cast(e.text(form.message), form.type)
    return e.cast(e.cast(e.text(form.message), types.I64), form.type)


def named(e: LoweringBuilder, root: Root) -> Root:
    """The values that are asked for. Raises NotInDialect for types that Acero names by what is in them."""
    for kind in root.relation.types:
        if types.holds(kind, ("list", "map", "struct")):
            raise NotInDialect(
                f"the dialect {e.dialect.name} has no expressions of {kind}, which Acero names by what is in it",
                "Use a field or an element, or the column itself.",
            )
    return root


def _require_nameless(e: LoweringBuilder, type: Type) -> None:
    """Refuse a type whose structs would lose the names of their fields."""
    if types.holds(type, ("struct",)):
        raise NotInDialect(
            f"the dialect {e.dialect.name} knows structs by the names of their fields, which {type} doesn't tell",
            "Use the fields by themselves.",
        )


REWRITES = [
    *rewrites({FieldReference: reference, Literal: literal, Part: reference, Raised: raised, Root: named}),
    Rewrite(Literal, nameless, sees=Sees.BUILT),
    Rewrite(Cast, cast, sees=Sees.BUILT),
]
