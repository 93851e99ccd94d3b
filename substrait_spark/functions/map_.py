"""Functions on maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..catalyst import tree
from ..expr.nested import duplicate_keys, map_from_lists
from .table import Plain, lossless, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def from_arrays(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MapFromArrays: arrays of different lengths, null keys and equal keys raise."""
    return map_from_lists(e, e.type_of(node), e.emit(node["left"]), e.emit(node["right"]))


def from_entries(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MapFromEntries: null where any entry is. A map's keys are never null."""
    child = e.emit(node["child"])
    wanted = types.of("list", types.nullable(child.type.parameters[0]), nullable=child.type.nullable)
    call = e.call("spark:map_from_entries", e.as_type(child, wanted), duplicate_keys=duplicate_keys(e))
    return e.cast(call, e.type_of(node))


def concat(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MapConcat: null where any map is."""
    maps = e.emit_all(node["children"])
    if len(maps) == 1:
        return maps[0]
    alike = [e.as_type(map, e.type_of(node, map.type.nullable)) for map in maps]
    return e.call("spark:map_concat", *alike, duplicate_keys=duplicate_keys(e))


def from_text(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """StringToMap: the delimiters are regular expressions."""
    arguments = e.emit_all([node["text"], node["pairDelim"], node["keyValueDelim"]])
    return lossless(e, e.call("spark:str_to_map", *arguments, duplicate_keys=duplicate_keys(e)), node)


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
