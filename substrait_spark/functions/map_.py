"""Functions on maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from ..errors import NotInDialect
from ..expr.lambda_ import element_of, of_each, positions
from ..expr.nested import duplicate_keys, field_of, guarded, map_from_lists, size, typed_null
from .collection import is_constant, unified
from .table import Plain, lossless, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def from_arrays(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MapFromArrays: arrays of different lengths, null keys and equal keys raise."""
    keys, values = e.emit(node["left"]), e.emit(node["right"])
    type = e.type_of(node, keys.type.nullable or values.type.nullable)

    def by_engine() -> Expression:
        shared, others = e.share(keys), e.share(values)
        differ = e.not_(e.equal(size(e, shared), size(e, others)))
        witness = size(e, others if is_constant(keys) else shared)  # engines compute what is constant, an error too
        error = e.raises("[MAP_KEY_VALUE_DIFF_SIZES]", types.I64, witness)
        checked = e.call("spark:slice", shared, e.if_then(differ, e.cast(error, types.I32), e.i32(1)), size(e, shared))
        made = types.required(type)
        return guarded(e, [shared, others], lambda: map_from_lists(e, made, checked, others), node.type)

    return e.first(
        lambda: e.cast(e.call("spark:map_from_arrays", keys, values, duplicate_keys=duplicate_keys(e)), type), by_engine
    )


def from_entries(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MapFromEntries: null where any entry is."""
    child = e.emit(node["child"])
    wanted = types.of("list", types.nullable(child.type.parameters[0]), nullable=child.type.nullable)

    def own() -> Expression:
        if not e.dialect.quirks.inline_references:
            raise NotInDialect(f"the dialect {e.dialect.name} can't build a map of entries")
        return _with_key(
            e, e.call("spark:map_from_entries", e.as_type(child, wanted), duplicate_keys=duplicate_keys(e)), node
        )

    return e.first(own, lambda: _of_parts(e, node, e.share(child)))


def _of_parts(e: ExpressionBuilder, node: tree.Expression, entries: Expression) -> Expression:
    """A map of the keys and the values of entries."""
    at = element_of(e, lambda inner: inner.emit(node["child"]), types.required(entries.type.parameters[0]))
    count = e.share(size(e, entries))
    struct = node["child"].type.parameters[0]

    def parts(ordinal: int) -> Expression:
        return of_each(e, positions(e, count), lambda inner, steps: field_of(inner, at(inner, steps), struct, ordinal))

    complete = e.equal(size(e, e.call("datafusion:array_compact", entries)), count)
    made = map_from_lists(e, e.type_of(node, False), parts(0), parts(1))
    return e.if_then(complete, made, typed_null(e, node.type))


def concat(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MapConcat: null where any map is."""
    maps = e.emit_all(node["children"])
    if len(maps) == 1:
        return maps[0]
    alike = [e.as_type(map, e.type_of(node, map.type.nullable)) for map in maps]

    def by_engine() -> Expression:
        shared = [e.share(map) for map in maps]
        keys = unified(e, *[e.call("spark:map_keys", map) for map in shared])
        values = unified(e, *[e.call("spark:map_values", map) for map in shared])
        joined = [e.call("datafusion:array_concat", *lists) for lists in (keys, values)]
        return guarded(e, shared, lambda: map_from_lists(e, e.type_of(node, False), *joined), node.type)

    return e.first(lambda: e.call("spark:map_concat", *alike, duplicate_keys=duplicate_keys(e)), by_engine)


def from_text(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """StringToMap: the delimiters are regular expressions."""
    arguments = e.emit_all([node["text"], node["pairDelim"], node["keyValueDelim"]])
    return lossless(e, e.call("spark:str_to_map", *arguments, duplicate_keys=duplicate_keys(e)), node)


def _with_key(e: ExpressionBuilder, call: Expression, node: tree.Expression) -> Expression:
    """A map in Spark's type, whose keys are never null."""
    return e.cast(call, e.type_of(node, call.type.nullable))


SCALAR: dict[str, Plain | Rule] = {
    "MapConcat": concat,
    "MapEntries": plain("spark:map_entries"),
    "MapFromArrays": from_arrays,
    "MapFromEntries": from_entries,
    "MapKeys": plain("spark:map_keys"),
    "MapSort": plain("spark:map_sort"),
    "MapValues": plain("spark:map_values"),
    "StringToMap": from_text,
}
