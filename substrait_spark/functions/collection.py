"""Functions on arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Literal
from ..algebra.lists import unified, with_element
from ..algebra.types import FLOATS, INTEGERS, Type
from ..catalyst import tree
from ..catalyst.modes import time_zone
from ..errors import Unsupported
from ..expr.nested import size
from .table import Plain, arguments_of, lossless, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..context import Context
    from ..expr.builder import ExpressionBuilder, Rule


def of_lists(name: str) -> Rule:
    """Concat, and sets: of lists of one type."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        return lossless(e, e.call(f"spark:{name}", *unified(e, *e.emit_all(arguments_of(node)))), node)

    return emit


def of_sets(name: str) -> Rule:
    """ArrayDistinct, ArrayUnion, ArrayExcept, ArrayIntersect, ArraysOverlap: -0.0 equals 0.0 in them."""
    listed = of_lists(name)

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        if _tells_zeros_apart(e.context) and types.holds(e.type_of(arguments_of(node)[0]), FLOATS):
            raise Unsupported(
                "this release of Spark takes -0.0 for another element than 0.0",
                "Use Spark 4.0.5, 4.1.4, or 4.2 or later, or cast the elements to decimals.",
            )
        return listed(e, node)

    return emit


def _tells_zeros_apart(context: Context) -> bool:
    """Whether the Spark that has planned the query lacks the fix of SPARK-54918, which three branches got."""
    return context.is_before(4, 0, 5) or (context.is_before(4, 1, 4) and not context.is_before(4, 1))


def of_value(name: str) -> Rule:
    """ArrayContains, ArrayPosition, ArrayRemove: of a list and a value of its elements' type."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        list, value = with_element(e, *e.emit_all(arguments_of(node)))
        return lossless(e, e.call(f"spark:{name}", list, value), node)

    return emit


def insert(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayInsert: behind the end, nulls fill the gap; position 0 raises. Appending and prepending are forms of it."""
    if node["legacyNegativeIndex"]:
        raise Unsupported("spark.sql.legacy.negativeIndexInArrayInsert is on", "Turn that setting off.")
    list, item = with_element(e, e.emit(node["srcArrayExpr"]), e.emit(node["itemExpr"]))
    return lossless(e, e.call("spark:array_insert", list, e.emit(node["posExpr"]), item), node)


def append(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayAppend, which Spark has before 4.0: an insertion behind the end."""
    list, item = with_element(e, e.emit(node["left"]), e.emit(node["right"]))
    return lossless(e, e.call("spark:array_insert", list, Literal(-1, types.required(types.I32)), item), node)


def concat(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Concat of arrays: null where any of them is."""
    if len(node["children"]) == 1:
        return e.emit(node["children"][0])
    return of_lists("spark_concat")(e, node)


def flatten(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Flatten: null where any of the arrays in the array is."""
    child = e.emit(node["child"])
    wanted = types.of("list", types.nullable(child.type.parameters[0]), nullable=child.type.nullable)
    return e.call("spark:flatten", e.as_type(child, wanted))


def join(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayJoin: nulls are left out, or replaced."""
    given = [part for part in (node["array"], node["delimiter"], node["nullReplacement"]) if part is not None]
    list, *texts = e.emit_all(given)
    list = e.as_type(list, types.of("list", types.nullable(types.STRING), nullable=list.type.nullable))
    return e.call("spark:array_join", list, *texts)


def sort_array(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """SortArray: nulls come first when ascending, last when descending."""
    list, direction = e.emit(node["base"]), node["ascendingOrder"]
    if direction.cls.name != "Literal" or has_parts(list.type.parameters[0]):
        return e.call("spark:sort_array", list, e.emit(direction))
    return e.call("list:sort", list, direction="ASC_NULLS_FIRST" if direction["value"] else "DESC_NULLS_LAST")


def has_parts(type: Type) -> bool:
    """Whether values of a type have parts, which no standard function says the order of."""
    return bool(types.parts(type))


def array_size(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Size of an array or a map; -1 for null under spark.sql.legacy.sizeOfNull."""
    child = e.emit(node["child"])
    count = size(e, e.call("spark:map_keys", child) if child.type.kind == "map" else child)
    return e.coalesce(count, e.i32(-1)) if node["legacySizeOfNull"] else count


def known_elements(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """KnownNotContainsNull: an array that has no nulls."""
    child = e.emit(node["child"])
    return e.as_type(child, e.type_of(node, child.type.nullable))


def sequence(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Sequence: up or down to the end; a step that leads away from it raises."""
    given = [part for part in (node["start"], node["stop"], node["stepOpt"]) if part is not None]
    arguments = e.emit_all(given)
    zone = [] if arguments[0].type.kind in INTEGERS else [e.text(time_zone(node))]
    return e.call("spark:sequence", *arguments, *zone)


SCALAR: dict[str, Plain | Rule] = {
    "ArrayContains": of_value("array_contains"),
    "ArrayAppend": append,
    "ArrayDistinct": of_sets("array_distinct"),
    "ArrayExcept": of_sets("array_except"),
    "ArrayInsert": insert,
    "ArrayIntersect": of_sets("array_intersect"),
    "ArrayJoin": join,
    "ArrayMax": plain("spark:array_max"),
    "ArrayMin": plain("spark:array_min"),
    "ArrayPosition": of_value("array_position"),
    "ArrayRemove": of_value("array_remove"),
    "ArrayRepeat": plain("spark:array_repeat"),
    "ArrayUnion": of_sets("array_union"),
    "ArraysOverlap": of_sets("arrays_overlap"),
    "ArraysZip": plain("spark:arrays_zip", ignoring="names"),
    "Concat(array)": concat,
    "Flatten": flatten,
    "KnownNotContainsNull": known_elements,
    "Reverse(array)": plain("spark:spark_reverse"),
    "Sequence": sequence,
    "Size": array_size,
    "Slice": plain("spark:slice"),
    "SortArray": sort_array,
}
