"""Functions that apply lambdas to the elements of arrays and maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..algebra import types
from ..algebra.expression import Lambda
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import Unsupported
from ..expr.lambda_ import NULLABLE_BOOLEAN, lambda_of
from ..expr.nested import duplicate_keys
from .collection import has_parts
from .table import Plain, lossless

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


# ---- arrays


def of_elements(name: str, result: Type | None = None) -> Rule:
    """ArrayTransform, ArrayFilter: by the element, or by the element and its index from 0."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        list = e.emit(node["argument"])
        function = _of_elements(e, node["function"], list, result)
        return e.call(f"{'list:' if len(function.parameters) == 1 else 'spark:spark_'}{name}", list, function)

    return emit


def exists(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayExists: three-valued, but for spark.sql.legacy.followThreeValuedLogicInArrayExists."""
    list = e.emit(node["argument"])
    function = _of_elements(e, node["function"], list, NULLABLE_BOOLEAN)
    if not node["followThreeValuedLogic"]:
        function = Lambda(function.parameters, e.as_type(e.coalesce(function.body, e.false()), NULLABLE_BOOLEAN))
    return e.call("list:any_match", list, function)


def for_all(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayForAll: three-valued."""
    list = e.emit(node["argument"])
    return e.call("list:all_match", list, _of_elements(e, node["function"], list, NULLABLE_BOOLEAN))


def _of_elements(
    e: ExpressionBuilder, function: tree.Expression, list: Expression, result: Type | None = None
) -> Lambda:
    parameters = [list.type.parameters[0], types.I32][: len(function["arguments"])]
    return lambda_of(e, function, parameters, result)


def aggregate(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayAggregate: from a start value on, element by element, and what becomes of the end value."""
    list, zero = e.emit(node["argument"]), e.emit(node["zero"])
    state = e.type_of(node["zero"], True)
    merge = lambda_of(e, node["merge"], [state, list.type.parameters[0]], state)
    finish = lambda_of(e, node["finish"], [state])
    start = e.as_type(zero, types.with_nullable(state, zero.type.nullable))
    return e.call("spark:aggregate", list, start, merge, finish)


def zip_with(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ZipWith: the shorter array is filled up with nulls."""
    left, right = e.emit(node["left"]), e.emit(node["right"])
    parameters = [types.nullable(list.type.parameters[0]) for list in (left, right)]
    return e.call("spark:zip_with", left, right, lambda_of(e, node["function"], parameters))


def sort(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArraySort: nulls come last, or as a comparator says, which must not return null."""
    if node["allowNullComparisonResult"]:
        raise Unsupported("spark.sql.legacy.allowNullComparisonResultInArraySort is on", "Turn that setting off.")
    list = e.emit(node["argument"])
    element: Type = list.type.parameters[0]
    if not _is_default(node["function"]):
        result = types.of("i32", nullable=True)
        return e.call("spark:array_sort", list, lambda_of(e, node["function"], [element, element], result))
    if has_parts(element):
        return e.call("spark:array_sort", list)
    return e.call("list:sort", list, direction="ASC_NULLS_LAST")


_LEFT, _RIGHT = 0.0, 1.0
_NULLS = ("IsNull", _LEFT), ("IsNull", _RIGHT)
_BY_VALUE = ("If", ("LessThan", _LEFT, _RIGHT), -1, ("If", ("GreaterThan", _LEFT, _RIGHT), 1, 0))
_DEFAULT = ("If", ("And", *_NULLS), 0, ("If", _NULLS[0], 1, ("If", _NULLS[1], -1, _BY_VALUE)))
"""The comparator that Spark takes where none is given: nulls last. Integers are literals, floats are parameters.

Spark leaves `_BY_VALUE` of it where no element can be null.
"""


def _is_default(function: tree.Expression) -> bool:
    return any(_has_shape(function["function"], shape, function["arguments"]) for shape in (_DEFAULT, _BY_VALUE))


def _has_shape(node: tree.Expression, shape: Any, parameters: Sequence[tree.Expression]) -> bool:
    if isinstance(shape, float):
        return node.cls.name == "NamedLambdaVariable" and bool(node["exprId"] == parameters[int(shape)]["exprId"])
    if isinstance(shape, int):
        return node.cls.name == "Literal" and bool(node["value"] == shape)
    name, *parts = shape
    children = [value for value in node.values if isinstance(value, tree.Expression)]
    return (
        node.cls.name == name
        and len(children) == len(parts)
        and all(_has_shape(child, part, parameters) for child, part in zip(children, parts, strict=True))
    )


# ---- maps


def transform_keys(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TransformKeys: null keys and equal keys raise."""
    map = e.emit(node["argument"])
    function = _of_entries(e, node["function"], map)
    call = e.call("spark:transform_keys", map, function, duplicate_keys=duplicate_keys(e))
    return e.cast(call, e.type_of(node, call.type.nullable))


def of_entries(name: str, result: Type | None = None) -> Rule:
    """TransformValues, MapFilter."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        map = e.emit(node["argument"])
        return e.call(f"spark:{name}", map, _of_entries(e, node["function"], map, result))

    return emit


def _of_entries(e: ExpressionBuilder, function: tree.Expression, map: Expression, result: Type | None = None) -> Lambda:
    return lambda_of(e, function, map.type.parameters, result)


def map_zip_with(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MapZipWith: over the keys of both maps, null for the value that a map lacks."""
    left, right = e.emit(node["left"]), e.emit(node["right"])
    values = [types.nullable(map.type.parameters[1]) for map in (left, right)]
    function = lambda_of(e, node["function"], [left.type.parameters[0], *values])
    return lossless(e, e.call("spark:map_zip_with", left, right, function), node)


SCALAR: dict[str, Plain | Rule] = {
    "ArrayAggregate": aggregate,
    "ArrayExists": exists,
    "ArrayFilter": of_elements("filter", NULLABLE_BOOLEAN),
    "ArrayForAll": for_all,
    "ArraySort": sort,
    "ArrayTransform": of_elements("transform"),
    "MapFilter": of_entries("map_filter", NULLABLE_BOOLEAN),
    "MapZipWith": map_zip_with,
    "TransformKeys": transform_keys,
    "TransformValues": of_entries("transform_values"),
    "ZipWith": zip_with,
}
