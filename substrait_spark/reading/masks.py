"""Masks: parts of structs, chosen all at once (https://substrait.io/expressions/field_references/#masked-complex-expression).

A struct of one chosen field is that field, unless the mask keeps such structs; a relation's columns stay columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra import types
from ..algebra.builder import CallBuilder
from ..algebra.expression import Expression, FieldReference, Nested, Part
from ..algebra.types import Type
from ..errors import Unsupported


class Mask:
    """A mask of a message, which is applied to columns or to a value."""

    def __init__(self, message: Any, e: CallBuilder) -> None:
        self._select = message.select
        self._keeps = bool(message.maintain_singular_struct)
        self._e = e

    def columns(self, columns: Sequence[Type]) -> list[Expression]:
        """What the mask leaves of a relation's columns."""
        return self._chosen(self._select, [FieldReference(n, kind) for n, kind in enumerate(columns)])

    def record(self, columns: Sequence[Expression]) -> Expression:
        """What the mask leaves of columns taken as one struct."""
        return self._struct(self._select, list(columns))

    def value(self, value: Expression) -> Expression:
        """What the mask leaves of a struct."""
        return self._of_value(self._select, value)

    def _chosen(self, select: Any, fields: Sequence[Expression]) -> list[Expression]:
        chosen = []
        for item in select.struct_items:
            if not 0 <= item.field < len(fields):
                raise Unsupported(f"a mask chooses the field {item.field} of a struct of {len(fields)}")
            field = fields[item.field]
            chosen.append(self._inside(item.child, field) if item.HasField("child") else field)
        if not chosen:
            raise Unsupported("a mask chooses no field of a struct")
        return chosen

    def _inside(self, select: Any, value: Expression) -> Expression:
        kind = select.WhichOneof("type")
        if kind != "struct":
            raise Unsupported(f"masks of what is inside a {kind or 'value'} are not read, only of structs")
        return self._of_value(select.struct, value)

    def _of_value(self, select: Any, value: Expression) -> Expression:
        if value.type.kind != "struct":
            raise Unsupported(f"a mask of fields is for {value.type}, which has none")
        fields = [_field(value, n, kind) for n, kind in enumerate(value.type.parameters)]
        masked = self._struct(select, fields)
        if not value.type.nullable or not isinstance(masked, Nested):
            return masked
        return self._e.if_then(self._e.is_null(value), self._e.null(masked.type), masked)

    def _struct(self, select: Any, fields: Sequence[Expression]) -> Expression:
        kept = self._chosen(select, fields)
        if len(kept) == 1 and not self._keeps:
            return kept[0]
        return Nested(types.of("struct", *[field.type for field in kept]), tuple(kept))


def _field(value: Expression, ordinal: int, type: Type) -> Expression:
    kind = types.with_nullable(type, type.nullable or value.type.nullable)
    segment = ("field", ordinal)
    if isinstance(value, FieldReference | Part):
        return value.step(segment, kind)
    return Part(value, (segment,), kind)
