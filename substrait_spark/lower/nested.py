"""Structs, lists and maps of literals as literals, where the dialect has no nested expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..algebra.expression import Expression, Literal, Nested

if TYPE_CHECKING:
    from .builder import LoweringBuilder


def as_literal(e: LoweringBuilder, nested: Nested) -> Expression:
    """The nested expression, or a literal with its value where all of its parts are."""
    if e.dialect.allows_expression("NESTED", *nested.variant()) or not nested.parts:
        return nested
    if not all(isinstance(part, Literal) for part in nested.parts):
        return nested
    values: tuple[Any, ...] = tuple([part.value for part in nested.parts if isinstance(part, Literal)])
    return Literal((values[::2], values[1::2]) if nested.type.kind == "map" else values, nested.type)
