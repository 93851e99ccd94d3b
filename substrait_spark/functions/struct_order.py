"""The order of structs: by their fields, nulls being least."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.expression import Expression, SortField
from ..catalyst.tree import DataType
from ..errors import NotInDialect
from ..expr.nested import field_of
from .floating import groupable

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


def by_fields(e: ExpressionBuilder, value: Expression, struct: DataType) -> tuple[SortField, ...]:
    """The fields of a struct of a Spark type to sort by, ascending, those of structs inside in their place."""
    found: list[SortField] = []
    for ordinal, field in enumerate(struct.parameters):
        part = field_of(e, value, struct, ordinal)
        if part.type.kind == "struct":
            part = e.share(part)
            found += [SortField(e.is_not_null(part), True, True), *by_fields(e, part, field.type)]
        elif part.type.kind in ("list", "map"):
            raise NotInDialect(f"the dialect {e.dialect.name} orders no structs that hold {part.type}")
        else:
            found.append(SortField(groupable(e, part), True, True))
    return tuple(found)
