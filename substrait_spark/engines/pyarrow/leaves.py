"""Literals, columns and fields of structs, as Acero takes them."""

from __future__ import annotations

from ...algebra.expression import Expression, FieldReference, Literal, Part
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from ...lowering.rules import ExpressionRule
from .builder import require_nameless


def literal(e: LoweringBuilder, value: Expression) -> Expression:
    """A literal. One of a timestamp is its microseconds, which are cast."""
    require_nameless(e, value.type)
    if not isinstance(value, Literal) or value.value is None or not value.type.kind.startswith("precision"):
        return value
    return e.cast(e.i64(value.value), value.type)


def reference(e: LoweringBuilder, value: Expression) -> Expression:
    """A column, or a field of it: not what a list or a map holds."""
    if isinstance(value, FieldReference | Part) and any(kind != "field" for kind, _ in value.path):
        raise NotInDialect(f"the dialect {e.dialect.name} has no elements of lists and no values of maps")
    return value


KINDS: dict[type[Expression], ExpressionRule] = {FieldReference: reference, Literal: literal, Part: reference}
