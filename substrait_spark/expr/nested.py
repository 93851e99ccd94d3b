"""Nested data: building structs, lists and maps, and reaching into them."""

from __future__ import annotations

from typing import Any

from ..algebra import types
from ..algebra.expression import Expression, FieldReference, Nested
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import NotInDialect
from .builder import ExpressionBuilder, Rule


def struct(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CreateNamedStruct: names alternate with values; Substrait's structs are positional."""
    type = e.type_of(node, False)
    values = [e.as_type(e.emit(value), kind) for value, kind in zip(node["children"][1::2], type.parameters, strict=True)]
    return _nested(e, type, values)


def array(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CreateArray: elements of one type."""
    type = e.type_of(node, False)
    values = [e.as_type(value, type.parameters[0]) for value in e.emit_all(node["children"])]
    return e.literal((), type) if not values else _nested(e, type, values)


def _nested(e: ExpressionBuilder, type: Type, parts: list[Expression]) -> Expression:
    if not e.dialect.allows_expression("NESTED", "nested_types", type.kind.upper()):
        raise NotInDialect(f"the dialect {e.dialect.name} can't build a {type.kind}")
    return Nested(type, tuple(parts))


def struct_field(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """GetStructField: a segment on a field reference; null where the struct is null."""
    child = e.emit(node["child"])
    field = child.type.parameters[node["ordinal"]]
    type = types.with_nullable(field, field.nullable or child.type.nullable)
    return _segment(e, child, ("field", node["ordinal"]), type)


def _segment(e: ExpressionBuilder, child: Expression, segment: tuple[str, Any], type: Type) -> Expression:
    if isinstance(child, FieldReference) and e.dialect.quirks.inline_references:
        return child.step(segment, type)
    raise NotInDialect("only fields of columns can be reached into")


RULES: dict[str, Rule] = {
    "CreateNamedStruct": struct,
    "CreateArray": array,
    "GetStructField": struct_field,
}
