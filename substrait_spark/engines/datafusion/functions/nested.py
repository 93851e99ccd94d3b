"""Structs, lists and maps: building them, and reaching into them, which DataFusion does by functions."""

from __future__ import annotations

from typing import Any

from ....algebra import types
from ....algebra.expression import Cast, Expression, FieldReference, Literal, Nested, Part, ScalarFunction
from ....algebra.types import FLOATS, Type
from ....dialects.rewrite import Sees, rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ....lowering.expression import ExpressionLowering
from ..defects.floating import groupable
from ..defects.same_names import as_wanted
from ..defects.struct_names import Names, has_names, own_names, parts
from ..defects.wanted_names import WantedNames
from ..structs import bare, constant, element, field_of, list_of, named_struct, size

# ---- building


def nested(lowering: ExpressionLowering, original: Nested) -> Expression:
    """A struct, with the names that its fields have in the result; a list; a map whose keys are known to differ."""
    e = lowering.e
    values = lowering.lower_all(list(map(bare, original.parts)))
    names: Names = ()
    if has_names(original.type):
        names = e.lowering.memory(WantedNames).of(original)
        wanted = parts(original.type, names)
        values = [as_wanted(e, value, wanted[n % len(wanted)]) for n, value in enumerate(values)]
    if original.type.kind == "struct":
        return named_struct(e, original.type, own_names(original.type, names), values)
    if original.type.kind == "list":
        return list_of(e, original.type, values)
    lists = [types.of("list", part, nullable=False) for part in original.type.parameters]
    return map_of(e, original.type, *[list_of(e, kind, values[n::2]) for n, kind in enumerate(lists)])


def map_of(e: LoweringBuilder, type: Type, keys: Expression, values: Expression) -> Expression:
    """A map of two lists of the same length; null and equal keys raise. Its keys are never null."""
    key, value = type.parameters
    if types.holds(key, FLOATS) and e.has_defect("nan_payloads"):
        raise NotInDialect("floating-point keys of maps are compared by their bits")
    kind = types.of("map", types.required(key), value, nullable=type.nullable)
    return e.call_as(kind, "datafusion:map", keys, values)


def literal(lowering: ExpressionLowering, original: Literal) -> Expression | None:
    """A literal that has structs somewhere inside: what builds it."""
    if not has_names(original.type):
        return None
    e = lowering.e
    e.dialect.require_type(original.type)
    return constant(e, original.value, original.type, e.lowering.memory(WantedNames).of(original))


# ---- reaching in


def reference(lowering: ExpressionLowering, original: FieldReference) -> Expression | None:
    """A column with a path into it."""
    if not original.path or original.outer:
        return None
    e = lowering.e
    value = lowering.root(original)
    for n, segment in enumerate(original.path):
        if original.parameter is not None:
            value = _step(e, value, *segment)
            continue
        way = (original.ordinal, *original.path[: n + 1])
        reached = e.memory(_reached)
        if way not in reached:
            reached[way] = _step(e, value, *segment)
        value = reached[way]
    return value


def _reached(e: LoweringBuilder) -> dict[tuple[Any, ...], Expression]:
    """The parts of columns, by the ways to them, so that what several ways begin with is there once."""
    return {}


def part(lowering: ExpressionLowering, original: Part) -> Expression:
    """A path into any other value."""
    e = lowering.e
    value = lowering.lower(original.root)
    for segment in original.path:
        value = _step(e, value, *segment)
    return value


def _step(e: LoweringBuilder, value: Expression, kind: str, where: Any) -> Expression:
    """The value one segment further in."""
    if kind == "field":
        return field_of(e, value, where)
    if kind == "element":
        return element(e, value, e.i64(where + 1 if where >= 0 else where))
    return _map_value(e, value, where)


def _map_value(e: LoweringBuilder, map: Expression, key: Expression) -> Expression:
    """The value of a key; null for a key that the map lacks."""
    if types.holds(key.type, FLOATS) and e.has_defect("nan_payloads"):
        map, key = groupable(e, map), e.key(key)
    return element(e, e.call("datafusion:map_extract", map, key), e.i64(1))


# ---- elements


def item(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """get, get_array_item: an element counted from 0; out of range, null or an error."""
    list, index = call.children()
    if index.type.kind != "i32":
        raise NotInDialect("Spark uses the lower 32 bits of an index of 64 bits")
    fails = call.declaration.name == "get_array_item"
    value, at = e.share(list), e.share(index)
    within = e.and_(e.call("comparison:gte", at, e.i32(0)), e.call("comparison:lt", at, size(e, value)))
    found = e.call("datafusion:add", e.cast(at, types.I64), e.i64(1))
    otherwise = _out_of_range(e, "[INVALID_ARRAY_INDEX]", value, at) if fails else (e.null(types.I64),)
    return element(e, value, e.if_then(within, found, *otherwise))


def element_at(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """element_at, try_element_at: of a map; of a list, from 1 or from -1, where 0 raises."""
    whole, index = call.children()
    if whole.type.kind == "map":
        return _map_value(e, whole, index)
    value, at = e.share(whole), e.share(index)
    length = e.share(size(e, value))
    within = e.and_(
        e.call("comparison:lte", at, length),
        e.call("comparison:gte", at, e.call("datafusion:subtract", e.i32(0), length)),
        e.not_(e.equal(at, e.i32(0))),
    )
    fails = call.declaration.name == "element_at"
    beyond = () if fails else (e.not_(e.equal(at, e.i32(0))), e.null(types.I64))
    otherwise = _out_of_range(e, "[INVALID_ARRAY_INDEX_IN_ELEMENT_AT]", value, at)
    return element(e, value, e.if_then(within, e.cast(at, types.I64), *beyond, *otherwise))


def _out_of_range(e: LoweringBuilder, error: str, value: Expression, index: Expression) -> tuple[Expression, ...]:
    """The end of a CASE for an index that is not in range: null for nulls, else an error."""
    witness = size(e, value) if isinstance(index, Literal) else index
    missing = e.or_(e.is_null(value), e.is_null(index))
    return missing, e.null(types.I64), e.raises(error, types.I64, witness)


def cardinality(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """How many elements a list has: DataFusion counts in unsigned integers."""
    length = e.call("datafusion:array_length", *call.children())
    return Cast(length, length.type, throws=True)


CALLS = {
    "list:cardinality": cardinality,
    "spark:element_at": element_at,
    "spark:get": item,
    "spark:get_array_item": item,
    "spark:try_element_at": element_at,
}

ORIGINALS = {
    FieldReference: reference,
    Literal: literal,
    Nested: nested,
    Part: part,
}

REWRITES = [*rewrites(CALLS), *rewrites(ORIGINALS, sees=Sees.BOTH)]
