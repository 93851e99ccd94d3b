"""Nested data: building structs, lists and maps, and reaching into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra import types
from ..algebra.expression import Expression, FieldReference, Literal, Nested, Part
from ..algebra.lists import with_element
from ..algebra.types import FLOATS, Type
from ..catalyst import tree
from ..errors import Unsupported
from .builder import ExpressionBuilder, Rule
from .lambda_ import transformed

# ---- building


def struct(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CreateNamedStruct: names alternate with values; Substrait's structs are positional."""
    return _nested(e, e.type_of(node, False), e.emit_all(node["children"][1::2]))


def array(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CreateArray: elements of one type."""
    type = e.type_of(node, False)
    values = e.emit_all(node["children"])
    return list_of(e, type, values) if values else e.literal((), type)


def list_of(e: ExpressionBuilder, type: Type, values: Sequence[Expression]) -> Expression:
    """A list of one or more values."""
    return _nested(e, type, values)


def map_(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CreateMap: keys and values in turn. Keys that are not known to differ may raise, or the last one wins."""
    type = e.type_of(node, False)
    children = node["children"]
    if not children:
        return e.literal(((), ()), type)
    keys, values = e.emit_all(children[::2]), e.emit_all(children[1::2])
    if all_differ(children[::2]):
        return _nested(e, type, [part for pair in zip(keys, values, strict=True) for part in pair])
    key, value = type.parameters
    of_keys = types.of("list", types.with_nullable(key, any(part.type.nullable for part in keys)), nullable=False)
    of_values = types.of("list", value, nullable=False)
    return map_from_lists(e, type, list_of(e, of_keys, keys), list_of(e, of_values, values))


def all_differ(keys: Sequence[tree.Expression]) -> bool:
    """Whether keys are literals that differ from each other; floating-point keys are normalised first."""
    values = [key["value"] if key.cls.name == "Literal" else None for key in keys]
    flat = all(isinstance(value, str | int | bytes) for value in values)
    return flat and len(set(values)) == len(values)


def map_from_lists(e: ExpressionBuilder, type: Type, keys: Expression, values: Expression) -> Expression:
    """A map of two lists; Spark's configuration says what equal keys do."""
    return e.cast(e.call("spark:map_from_arrays", keys, values, duplicate_keys=duplicate_keys(e)), type)


def duplicate_keys(e: ExpressionBuilder) -> str:
    """What a function that builds maps does with equal keys."""
    policy = e.context.configuration.get("spark.sql.mapKeyDedupPolicy", "").upper() or "EXCEPTION"
    return {"EXCEPTION": "ERROR", "LAST_WIN": "LAST_WINS"}[policy]


def _nested(e: ExpressionBuilder, type: Type, parts: Sequence[Expression]) -> Expression:
    wanted = type.parameters if type.kind == "struct" else type.parameters * len(parts)
    return Nested(type, tuple([e.as_type(part, kind) for part, kind in zip(parts, wanted, strict=False)]))


# ---- reaching in


def struct_field(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """GetStructField: a segment of a field reference; null where the struct is null."""
    e.type_of(node["child"], True)  # raises for a variant, of which Spark's scans give a struct
    return field_of(e.emit(node["child"]), node["ordinal"])


def field_of(struct: Expression, ordinal: int) -> Expression:
    """A field of a struct; null where the struct is null."""
    field: Type = struct.type.parameters[ordinal]
    return _segment(struct, ("field", ordinal), types.with_nullable(field, field.nullable or struct.type.nullable))


def _segment(value: Expression, segment: tuple[str, Any], type: Type) -> Expression:
    if isinstance(value, FieldReference | Part):
        return value.step(segment, type)
    return Part(value, (segment,), type)


def field_of_elements(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """GetArrayStructFields: a field of each struct in an array."""
    child = e.emit(node["child"])
    element: Type = child.type.parameters[0]
    return transformed(e, child, element, field_of(FieldReference(0, element, parameter=0), node["ordinal"]))


def array_item(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """GetArrayItem: counts from 0; an index out of range raises in ANSI mode, else gives null."""
    child = e.emit(node["child"])
    known = literal_index(node["ordinal"])
    if node["failOnError"]:
        return e.call("spark:get_array_item", child, _known_index(e, node, node["ordinal"], invalid=-1))
    if known is not None and known >= 0:
        return _element(child, known)
    return e.call("spark:get", child, _index(e, node["ordinal"]))


def element_at(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ElementAt: of an array, from 1 or from -1, where 0 raises in every mode; of a map, null for a key it lacks."""
    if node["defaultValueOutOfBound"] is not None:
        raise Unsupported("it has a value for what is out of range")
    if node["left"].type.name == "map":
        return _map_value(e, e.emit(node["left"]), e.emit(node["right"]))
    child = e.emit(node["left"])
    known = literal_index(node["right"])
    if node["failOnError"]:
        return e.call("spark:element_at", child, _known_index(e, node, node["right"], invalid=0))
    if known:
        return _element(child, known - 1 if known > 0 else known)
    return e.call("spark:try_element_at", child, _index(e, node["right"]))


def _element(list: Expression, offset: int) -> Expression:
    return _segment(list, ("element", offset), types.nullable(list.type.parameters[0]))


def literal_index(node: tree.Expression) -> int | None:
    """The value of an index of 32 bits that is a literal. Of wider ones, Spark uses the lower 32 bits."""
    value = node["value"] if node.cls.name == "Literal" else None
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31 else None


def _known_index(e: ExpressionBuilder, node: tree.Expression, ordinal: tree.Expression, invalid: int) -> Expression:
    """The index of a node that raises for one that is out of range, as `invalid` always is. That takes a null's place at times.

    Spark takes the node to be never null where the array and its elements aren't, whatever the index is. Its compiled code then
    doesn't look whether the index is null: SELECT element_at(array(1, 2), CAST(nullif(id, 1) AS INT)) FROM range(1, 2) is 2, and
    with locate('a', CAST(nullif(id, 1) AS STRING)) for the index, it raises. Interpreted, both are null.
    """
    index = _index(e, ordinal)
    if node.nullable or not index.type.nullable:
        return index
    return e.call("comparison:coalesce", index, e.literal(invalid, types.required(index.type)))


def _index(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    index = e.emit(node)
    return e.cast(index, types.I32) if index.type.kind in ("i8", "i16") else index


def size(e: ExpressionBuilder, value: Expression) -> Expression:
    """The number of elements of a list; null for null."""
    return e.cast(e.call("list:cardinality", value), types.I32)


def get_map_value(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """GetMapValue: null for a key that the map lacks."""
    return _map_value(e, e.emit(node["child"]), e.emit(node["key"]))


def _map_value(e: ExpressionBuilder, map: Expression, key: Expression) -> Expression:
    """The value of a key: a segment where that is a literal which is equal to itself alone."""
    if not isinstance(key, Literal) or key.value is None or key.type.kind in FLOATS or key.type.parameters:
        return e.call("spark:element_at", *with_element(e, map, key))
    return _segment(map, ("key", key), types.nullable(map.type.parameters[1]))


RULES: dict[str, Rule] = {
    "CreateArray": array,
    "CreateMap": map_,
    "CreateNamedStruct": struct,
    "ElementAt": element_at,
    "GetArrayItem": array_item,
    "GetArrayStructFields": field_of_elements,
    "GetMapValue": get_map_value,
    "GetStructField": struct_field,
}
