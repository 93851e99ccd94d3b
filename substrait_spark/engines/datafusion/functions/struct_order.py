"""Compares structs by their fields in turn, where null is less than any value."""

from __future__ import annotations

from ....algebra.expression import Expression, SortField
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ..structs import field_of


def by_fields(e: LoweringBuilder, value: Expression) -> tuple[SortField, ...]:
    """The fields of a struct to sort by, ascending, those of structs inside in their place."""
    keys: list[SortField] = []
    for ordinal in range(len(value.type.parameters)):
        part = field_of(e, value, ordinal)
        if part.type.kind == "struct":
            part = e.share(part)
            keys += [SortField(e.is_not_null(part), True, True), *by_fields(e, part)]
        elif part.type.kind in ("list", "map"):
            raise NotInDialect(f"the dialect {e.dialect.name} orders no structs that hold {part.type}")
        else:
            keys.append(SortField(e.key(part), True, True))
    return tuple(keys)
