"""Nested data: building structs, lists and maps, and reaching into them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..algebra import types
from ..algebra.expression import Expression, FieldReference, Literal, Nested, Part
from ..algebra.types import FLOATS, Type
from ..catalyst import tree
from ..catalyst.tree import DataType
from ..catalyst.types import to_substrait
from ..errors import NotInDialect, Unsupported
from ..functions.floating import holds_float
from .builder import ExpressionBuilder, Rule
from .lambda_ import element_of, of_each, positions, transformed

# ---- building


def struct(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CreateNamedStruct: names alternate with values; Substrait's structs are positional."""
    type = e.type_of(node, False)
    values = e.emit_all(node["children"][1::2])
    names = [field.name for field in node.type.parameters]
    return e.first(lambda: _nested(e, type, values), lambda: named_struct(e, type, names, values))


def array(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CreateArray: elements of one type."""
    type = e.type_of(node, False)
    values = e.emit_all(node["children"])
    return list_of(e, type, values) if values else e.literal((), type)


def list_of(e: ExpressionBuilder, type: Type, values: Sequence[Expression]) -> Expression:
    """A list of one or more values."""
    return e.first(lambda: _nested(e, type, values), lambda: e.call_as(type, "datafusion:make_array", *values))


def map_(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """CreateMap: keys and values in turn. Keys that are not known to differ may raise, or the last one wins."""
    type = e.type_of(node, False)
    children = node["children"]
    keys, values = children[::2], e.emit_all(children[1::2])
    if not children:
        return e.literal(((), ()), type)
    if all_differ(keys) and e.dialect.quirks.inline_references:
        parts = [part for key, value in zip(e.emit_all(keys), values, strict=True) for part in (key, value)]
        return _nested(e, type, parts)
    emitted = e.emit_all(keys)
    of_keys = types.of(
        "list", types.with_nullable(type.parameters[0], any(key.type.nullable for key in emitted)), nullable=False
    )
    of_values = types.of("list", type.parameters[1], nullable=False)
    return map_from_lists(e, type, list_of(e, of_keys, emitted), list_of(e, of_values, values))


def all_differ(keys: Sequence[tree.Expression]) -> bool:
    """Whether keys are literals that differ from each other; floating-point keys are normalised first."""
    values = [key["value"] if key.cls.name == "Literal" else None for key in keys]
    flat = all(isinstance(value, str | int | bytes) for value in values)
    return flat and len(set(values)) == len(values)


def map_from_lists(e: ExpressionBuilder, type: Type, keys: Expression, values: Expression) -> Expression:
    """A map of two lists of the same length; Spark's configuration says what equal keys do."""

    def by_engine() -> Expression:
        if duplicate_keys(e) != "ERROR":
            raise NotInDialect("spark.sql.mapKeyDedupPolicy lets the last of several equal keys win")
        if holds_float(type.parameters[0]):
            raise NotInDialect("floating-point keys of maps are compared by their bits")
        return e.call_as(type, "datafusion:map", keys, values)

    return e.first(
        lambda: e.cast(e.call("spark:map_from_arrays", keys, values, duplicate_keys=duplicate_keys(e)), type), by_engine
    )


def duplicate_keys(e: ExpressionBuilder) -> str:
    """What a function that builds maps does with equal keys."""
    policy = e.context.configuration.get("spark.sql.mapKeyDedupPolicy", "").upper() or "EXCEPTION"
    return {"EXCEPTION": "ERROR", "LAST_WIN": "LAST_WINS"}[policy]


def _nested(e: ExpressionBuilder, type: Type, parts: Sequence[Expression]) -> Expression:
    if not e.dialect.allows_expression("NESTED", "nested_types", type.kind.upper()):
        raise NotInDialect(f"the dialect {e.dialect.name} can't build a {type.kind}")
    wanted = type.parameters if type.kind == "struct" else type.parameters * len(parts)
    return Nested(type, tuple([e.as_type(part, kind) for part, kind in zip(parts, wanted, strict=False)]))


def named_struct(e: ExpressionBuilder, type: Type, names: Sequence[str], values: Sequence[Expression]) -> Expression:
    """A struct for engines that know fields by name."""
    require_distinct(names)
    arguments = [part for name, value in zip(names, values, strict=True) for part in (e.text(name), value)]
    return e.call_as(type, "datafusion:named_struct", *arguments)


def require_distinct(names: Sequence[str]) -> None:
    """Refuse structs of which a name doesn't tell the field."""
    if len({name.lower() for name in names}) < len(names):
        raise NotInDialect("two fields of the struct have the same name")


def named_literal(e: ExpressionBuilder, value: Any, type: DataType) -> Expression:
    """A literal that has structs somewhere inside, for engines that know fields by name."""
    kind = to_substrait(type, value is None)
    if value is None:  # the second element of a list of one
        parts = types.of("list", types.required(kind), nullable=False)
        return e.call_as(kind, "datafusion:array_element", list_of(e, parts, [_any_value(e, type)]), e.i64(2))
    if type.name == "struct":
        fields = [_part_of_literal(e, part, field.type) for part, field in zip(value, type.parameters, strict=True)]
        return named_struct(e, kind, [field.name for field in type.parameters], fields)
    if type.name == "array" and value:
        return list_of(e, kind, [_part_of_literal(e, element, type.parameters[0]) for element in value])
    if type.name == "array":
        return empty_list(e, kind, type)
    raise NotInDialect(f"the dialect {e.dialect.name} has no literal of the type {kind}")


def _part_of_literal(e: ExpressionBuilder, value: Any, type: DataType) -> Expression:
    kind = to_substrait(type, value is None)
    return named_literal(e, value, type) if types.holds(kind, ("struct",)) else Literal(value, kind)


def _any_value(e: ExpressionBuilder, type: DataType) -> Expression:
    if type.name == "struct":
        return named_literal(e, [None] * len(type.parameters), type)
    if type.name == "array":
        return named_literal(e, [None], type)
    raise NotInDialect(f"the dialect {e.dialect.name} has no literal of the type {type}")


# ---- reaching in


def struct_field(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """GetStructField: a segment of a field reference; null where the struct is null."""
    return field_of(e, e.emit(node["child"]), node["child"].type, node["ordinal"])


def field_of(e: ExpressionBuilder, value: Expression, struct: DataType, ordinal: int) -> Expression:
    """A field of a struct of a Spark type; null where the struct is null."""
    type = _field_type(value.type, ordinal)
    return e.first(
        lambda: _segment(e, value, ("field", ordinal), type),
        lambda: _by_name(e, value, struct, ordinal),
    )


def _by_name(e: ExpressionBuilder, child: Expression, struct: DataType, ordinal: int) -> Expression:
    """A field by its name. Engines may show what a null struct hides, so its own null comes first."""
    names = [field.name for field in struct.parameters]
    require_distinct(names)
    type = _field_type(child.type, ordinal)
    if not child.type.nullable:
        return e.call_as(type, "datafusion:get_field", child, e.text(names[ordinal]))
    shared = e.share(child)
    field = e.call_as(types.nullable(type), "datafusion:get_field", shared, e.text(names[ordinal]))
    return guarded(e, [shared], lambda: field, struct.parameters[ordinal].type)


def guarded(
    e: ExpressionBuilder, inputs: Sequence[Expression], value: Callable[[], Expression], type: DataType
) -> Expression:
    """A value where no input is null, else null, of a Spark type."""
    maybe_null = [input for input in inputs if input.type.nullable]
    if not maybe_null:
        return value()
    known = e.and_(*[e.is_not_null(input) for input in maybe_null])
    return e.if_then(known, value(), typed_null(e, type))


def typed_null(e: ExpressionBuilder, type: DataType) -> Expression:
    """A null of a Spark type."""
    kind = to_substrait(type, True)
    if e.dialect.quirks.named_structs and types.holds(kind, ("struct",)):
        return named_literal(e, None, type)
    return e.null(kind)


def empty_list(e: ExpressionBuilder, kind: Type, type: DataType) -> Expression:
    """A list without elements, in a type that differs from the Spark type in nullability only."""
    if e.dialect.quirks.named_structs and types.holds(kind, ("struct",)):
        one = list_of(e, kind, [_any_value(e, type.parameters[0])])
        return e.call("datafusion:array_slice", one, e.i64(2), e.i64(1))
    return e.literal((), kind)


def _field_type(struct: Type, ordinal: int) -> Type:
    field: Type = struct.parameters[ordinal]
    return types.with_nullable(field, field.nullable or struct.nullable)


def _segment(e: ExpressionBuilder, child: Expression, segment: tuple[str, Any], type: Type) -> Expression:
    if not e.dialect.quirks.inline_references:
        raise NotInDialect("only columns can be referred to")
    if isinstance(child, FieldReference | Part):
        return child.step(segment, type)
    return Part(child, (segment,), type)


def field_of_elements(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """GetArrayStructFields: a field of each struct in an array."""
    child = e.emit(node["child"])
    element: Type = child.type.parameters[0]
    ordinal = node["ordinal"]

    def by_segment() -> Expression:
        parameter = FieldReference(0, element, parameter=0)
        return transformed(e, child, element, _segment(e, parameter, ("field", ordinal), _field_type(element, ordinal)))

    def by_name() -> Expression:
        at = element_of(e, lambda inner: inner.emit(node["child"]), element)
        struct = node["child"].type.parameters[0]
        return of_each(
            e, positions(e, size(e, child)), lambda inner, steps: _by_name(inner, at(inner, steps), struct, ordinal)
        )

    return e.first(by_segment, by_name)


def array_item(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """GetArrayItem: counts from 0; an index out of range raises in ANSI mode, else gives null."""
    child = e.emit(node["child"])
    fails = node["failOnError"]
    known = literal_index(node["ordinal"])
    index = _index(e, e.emit(node["ordinal"]))

    def by_segment() -> Expression:
        if fails or known is None or known < 0:
            raise NotInDialect("the index may be out of range")
        return _segment(e, child, ("element", known), types.nullable(child.type.parameters[0]))

    def by_engine() -> Expression:
        if index.type.kind != "i32":
            raise NotInDialect("Spark uses the lower 32 bits of an index of 64 bits")
        if not fails and known is not None and known >= 0:
            return element(e, child, e.i64(known + 1))
        value, at = e.share(child), e.share(index)
        within = e.and_(e.call("comparison:gte", at, e.i32(0)), e.call("comparison:lt", at, size(e, value)))
        found = e.call("spark:add", e.cast(at, types.I64), e.i64(1))
        otherwise = _out_of_range(e, "[INVALID_ARRAY_INDEX]", value, at) if fails else (e.null(types.I64),)
        return element(e, value, e.if_then(within, found, *otherwise))

    own = "spark:get_array_item" if fails else "spark:get"
    return e.first(by_segment, lambda: e.call(own, child, index), by_engine)


def element_at(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ElementAt: of an array, from 1 or from -1, where 0 raises in every mode; of a map, null for a key it lacks."""
    if node["defaultValueOutOfBound"] is not None:
        raise Unsupported("it has a value for what is out of range")
    if node["left"].type.name == "map":
        return map_value(e, node, node["left"], node["right"])
    child = e.emit(node["left"])
    fails = node["failOnError"]
    known = literal_index(node["right"])
    index = _index(e, e.emit(node["right"]))

    def by_segment() -> Expression:
        if fails or not known:
            raise NotInDialect("the index may be out of range, or 0")
        return _segment(
            e, child, ("element", known - 1 if known > 0 else known), types.nullable(child.type.parameters[0])
        )

    def by_engine() -> Expression:
        if not fails and known:
            return element(e, child, e.i64(known))
        value, at = e.share(child), e.share(index)
        length = e.share(size(e, value))
        within = e.and_(
            e.call("comparison:lte", at, length),
            e.call("comparison:gte", at, e.call("spark:subtract", e.i32(0), length)),
            e.not_(e.equal(at, e.i32(0))),
        )
        beyond = () if fails else (e.not_(e.equal(at, e.i32(0))), e.null(types.I64))
        otherwise = _out_of_range(e, "[INVALID_ARRAY_INDEX_IN_ELEMENT_AT]", value, at)
        return element(e, value, e.if_then(within, e.cast(at, types.I64), *beyond, *otherwise))

    own = "spark:element_at" if fails else "spark:try_element_at"
    return e.first(by_segment, lambda: e.call(own, child, index), by_engine)


def literal_index(node: tree.Expression) -> int | None:
    """The value of an index that is a literal."""
    value = node["value"] if node.cls.name == "Literal" else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _index(e: ExpressionBuilder, index: Expression) -> Expression:
    return e.cast(index, types.I32) if index.type.kind in ("i8", "i16") else index


def _out_of_range(e: ExpressionBuilder, error: str, value: Expression, index: Expression) -> tuple[Expression, ...]:
    """The end of a CASE for an index that is not in range: null for nulls, else an error."""
    witness = size(e, value) if isinstance(index, Literal) else index
    missing = e.or_(e.is_null(value), e.is_null(index))
    return missing, e.null(types.I64), e.raises(error, types.I64, witness)


def size(e: ExpressionBuilder, value: Expression) -> Expression:
    """The number of elements of a list; null for null."""
    count = e.first(lambda: e.call("list:cardinality", value), lambda: e.call("datafusion:array_length", value))
    return e.cast(count, types.I32)


def element(e: ExpressionBuilder, value: Expression, index: Expression) -> Expression:
    """An element as engines count them: from 1, or from the end; null out of range."""
    return e.call("datafusion:array_element", value, index)


def get_map_value(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """GetMapValue: null for a key that the map lacks."""
    return map_value(e, node, node["child"], node["key"])


def map_value(e: ExpressionBuilder, node: tree.Expression, map: tree.Expression, key: tree.Expression) -> Expression:
    """The value of a key."""
    child, wanted = e.emit(map), e.emit(key)
    type = types.nullable(child.type.parameters[1])

    def by_segment() -> Expression:
        if (
            not isinstance(wanted, Literal)
            or wanted.value is None
            or wanted.type.kind in FLOATS
            or wanted.type.parameters
        ):
            raise NotInDialect("the key is no literal")
        return _segment(e, child, ("key", wanted), type)

    def by_engine() -> Expression:
        if holds_float(wanted.type):
            raise NotInDialect("floating-point keys of maps are compared by their bits")
        return element(e, e.call("datafusion:map_extract", child, wanted), e.i64(1))

    return e.first(by_segment, lambda: e.call("spark:element_at", child, wanted), by_engine)


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
