"""Functions that apply lambdas to the elements of arrays and maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..algebra import types
from ..algebra.expression import FieldReference, Lambda, Literal
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.modes import TRY, eval_mode
from ..errors import NotInDialect, Unsupported
from ..expr.lambda_ import (
    NULLABLE_BOOLEAN,
    Emitted,
    Parameter,
    element_of,
    index,
    lambda_of,
    of_each,
    over_positions,
    positions,
    require_parameters,
)
from ..expr.nested import duplicate_keys, guarded, map_from_lists, size
from .collection import by_bits, flat, side_by_side
from .table import Plain, lossless

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule


def transform(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayTransform: of the element, or of the element and its index from 0."""
    list = e.emit(node["argument"])

    def as_given() -> Expression:
        function = _of_elements(e, node["function"], list)
        if len(function.parameters) == 2:
            return e.call("spark:transform", list, function)
        return e.first(
            lambda: e.call("list:transform", list, function),
            lambda: e.call("datafusion:array_transform", list, function),
        )

    if _takes(e, "spark:transform", node["function"], list):
        return as_given()
    return e.first(lambda: _mapped(e, positions(e, size(e, list)), _by_position(e, node, list)), as_given)


def _mapped(e: ExpressionBuilder, list: Expression, function: Lambda) -> Expression:
    return e.call("datafusion:array_transform", list, function)


def _takes(e: ExpressionBuilder, two: str, function: tree.Expression, list: Expression) -> bool:
    """Whether the dialect has lambdas of these elements, and `two`, a function for those of two parameters."""
    parameters = _parameters(function, list)
    probe = Lambda(tuple(parameters), Literal(None, NULLABLE_BOOLEAN))
    return e.has(lambda: require_parameters(e, parameters)) and (
        len(parameters) == 1 or e.has(lambda: e.call(two, list, probe))
    )


def _parameters(function: tree.Expression, list: Expression) -> Sequence[Type]:
    return [list.type.parameters[0], types.I32][: len(function["arguments"])]


def _by_position(e: ExpressionBuilder, node: tree.Expression, list: Expression, result: Type | None = None) -> Lambda:
    """The function of an element, or of one and its index, as one of the element's position."""
    meanings = [_element(e, node["argument"], list.type.parameters[0]), index]
    return over_positions(e, node["function"], meanings, result)


def filter_(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayFilter: by the element, or by the element and its index from 0."""
    list = e.emit(node["argument"])
    if _has_shape(node["function"]["function"], ("IsNotNull", 0.0), node["function"]["arguments"]):
        compact = partial(e.call, "datafusion:array_compact", list)
        return e.first(lambda: _filtered(e, node, list), compact)
    return _filtered(e, node, list)


def _filtered(e: ExpressionBuilder, node: tree.Expression, list: Expression) -> Expression:
    def as_given() -> Expression:
        function = _of_elements(e, node["function"], list, NULLABLE_BOOLEAN)
        if len(function.parameters) == 2:
            return e.call("spark:filter", list, function)
        return e.first(
            lambda: e.call("list:filter", list, function), lambda: e.call("datafusion:array_filter", list, function)
        )

    def by_position() -> Expression:
        all_positions = positions(e, size(e, list))
        kept = e.call("datafusion:array_filter", all_positions, _by_position(e, node, list, NULLABLE_BOOLEAN))
        return of_each(e, kept, _element(e, node["argument"], list.type.parameters[0]))

    if _takes(e, "spark:filter", node["function"], list):
        return as_given()
    return e.first(by_position, as_given)


def _element(e: ExpressionBuilder, list: tree.Expression, element: Type) -> Parameter:
    return element_of(e, lambda inner: inner.emit(list), element)


def exists(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayExists: three-valued, but for spark.sql.legacy.followThreeValuedLogicInArrayExists."""

    def with_function(list: Expression, function: Lambda) -> Expression:
        if not node["followThreeValuedLogic"]:
            function = Lambda(function.parameters, e.as_type(e.coalesce(function.body, e.false()), NULLABLE_BOOLEAN))
        _all_evaluated(e, function)
        return e.call("list:any_match", list, function)

    return _tested(e, node, with_function)


def for_all(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayForAll: three-valued."""

    def with_function(list: Expression, function: Lambda) -> Expression:
        _all_evaluated(e, function)
        return e.first(
            lambda: e.call("list:all_match", list, function),
            lambda: e.not_(e.call("list:any_match", list, Lambda(function.parameters, e.not_(function.body)))),
        )

    return _tested(e, node, with_function)


def _tested(
    e: ExpressionBuilder, node: tree.Expression, with_function: Callable[[Expression, Lambda], Expression]
) -> Expression:
    """What becomes of a list and a predicate of its elements, or of their positions and a predicate of these."""
    list = e.emit(node["argument"])

    def as_given() -> Expression:
        return with_function(list, _of_elements(e, node["function"], list, NULLABLE_BOOLEAN))

    def by_position() -> Expression:
        return with_function(positions(e, size(e, list)), _by_position(e, node, list, NULLABLE_BOOLEAN))

    if _takes(e, "", node["function"], list):
        return as_given()
    return e.first(by_position, as_given)


def _all_evaluated(e: ExpressionBuilder, function: Lambda) -> None:
    """Refuse what may raise for an element that Spark doesn't come to."""
    if e.dialect.quirks.eager_connectives and function.raises:
        raise NotInDialect(f"the dialect {e.dialect.name} tests all elements, and some test may raise")


def _of_elements(
    e: ExpressionBuilder, function: tree.Expression, list: Expression, result: Type | None = None
) -> Lambda:
    return lambda_of(e, function, _parameters(function, list), result)


def aggregate(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayAggregate: from a start value on, element by element, and what becomes of the end value."""
    list, zero = e.emit(node["argument"]), e.emit(node["zero"])
    state = e.type_of(node["zero"], True)

    def own() -> Expression:
        merge = lambda_of(e, node["merge"], [state, list.type.parameters[0]], state)
        finish = lambda_of(e, node["finish"], [state])
        return e.call(
            "spark:aggregate", list, e.as_type(zero, types.with_nullable(state, zero.type.nullable)), merge, finish
        )

    term = _term(node)
    probe = Lambda((state, list.type.parameters[0]), e.literal(None, state))
    if term is None or e.has(lambda: e.call("spark:aggregate", list, zero, probe, Lambda((state,), probe.body))):
        return own()
    return _summed(e, node, list, term)


def _term(node: tree.Expression) -> tree.Expression | None:
    """What an ArrayAggregate adds up from 0 on, as a lambda of the element; None where it does something else."""
    merge, zero = node["merge"], node["zero"]
    state = merge["arguments"][0]["exprId"]
    if merge["function"].cls.name != "Add" or zero.cls.name != "Literal" or str(zero["value"]) not in ("0", "0.0"):
        return None
    parts = [merge["function"]["left"], merge["function"]["right"]]
    terms = [part for part in parts if not any(_variables(part, state))]
    sums = [part for part in parts if part.cls.name == "NamedLambdaVariable" and part["exprId"] == state]
    if not terms or not sums or eval_mode(merge["function"]) == TRY:
        return None
    term: tree.Expression = merge.replace(function=terms[0], arguments=merge["arguments"][1:])
    return term


def _variables(root: tree.Node, variable: int) -> Iterator[tree.Expression]:
    """The occurrences of a lambda's variable."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.name == "NamedLambdaVariable" and node["exprId"] == variable:
            yield node  # type: ignore[misc]
        stack.extend(node.children())


EXACT = {"i32": 2.0**31 - 1, "i64": 2.0**53 - 1}
"""Up to which sum of the absolute values no sum of some of the values overflows, and a double holds each of them."""


def _summed(e: ExpressionBuilder, node: tree.Expression, list: Expression, term: tree.Expression) -> Expression:
    """The sum of a function of the elements, which is null where the function is for any element; then the finish.

    Sums are doubles, to which those of integers are kept; beyond, it raises where Spark may.
    """
    kind = e.type_of(node["zero"]).kind
    if kind not in (*EXACT, "fp64"):
        raise NotInDialect(f"the dialect {e.dialect.name} adds up no elements as {kind}")
    if e.has(lambda: require_parameters(e, [list.type.parameters[0]])):
        values = e.share(_mapped(e, list, lambda_of(e, term, [list.type.parameters[0]])))
    else:
        function = over_positions(e, term, [_element(e, node["argument"], list.type.parameters[0])])
        values = e.share(_mapped(e, positions(e, size(e, list)), function))
    total: Expression = e.coalesce(e.call("datafusion:array_sum", values), e.fp64(0.0))
    if kind in EXACT:
        number = values.type.parameters[0]
        size_of = e.call("arithmetic:abs", e.cast(FieldReference(0, number, parameter=0), types.FP64))
        most = e.share(e.call("datafusion:array_sum", _mapped(e, values, Lambda((number,), size_of))))
        state = types.of(kind, nullable=False)
        overflow = e.raises("[ARITHMETIC_OVERFLOW] a sum of elements", state, most)
        total = e.if_then(e.call("comparison:gt", most, e.fp64(EXACT[kind])), overflow, e.cast(total, state))
    complete = e.equal(size(e, e.call("datafusion:array_compact", values)), size(e, values))
    ended = e.share(e.if_then(complete, total, e.null(total.type)))
    outer = e.branch()
    for variable in _variables(node["finish"]["function"], node["finish"]["arguments"][0]["exprId"]):
        outer.let(variable, ended)
    return guarded(e, [values], lambda: outer.emit(node["finish"]["function"]), node.type)


def zip_with(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ZipWith: the shorter array is filled up with nulls."""
    left, right = e.emit(node["left"]), e.emit(node["right"])
    parameters = [types.nullable(list.type.parameters[0]) for list in (left, right)]

    def own() -> Expression:
        return e.call("spark:zip_with", left, right, lambda_of(e, node["function"], parameters))

    def by_position() -> Expression:
        def function(meanings: Sequence[Parameter]) -> Lambda:
            return over_positions(e, node["function"], meanings)

        return side_by_side(e, [node["left"], node["right"]], function, node.type)

    probe = Lambda(tuple(parameters), Literal(None, NULLABLE_BOOLEAN))
    if e.has(lambda: e.call("spark:zip_with", left, right, probe)):
        return own()
    return e.first(by_position, own)


def sort(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArraySort: nulls come last, or as a comparator says, which must not return null."""
    if node["allowNullComparisonResult"]:
        raise Unsupported("spark.sql.legacy.allowNullComparisonResultInArraySort is on", "Turn that setting off.")
    list = e.emit(node["argument"])
    element: Type = list.type.parameters[0]
    if not _is_default(node["function"]):
        result = types.of("i32", nullable=True)
        return e.call("spark:array_sort", list, lambda_of(e, node["function"], [element, element], result))

    def by_standard() -> Expression:
        if any(isinstance(part, Type) for part in element.parameters):
            raise NotInDialect("the elements have parts")
        return e.call("list:sort", list, direction="ASC_NULLS_LAST")

    def by_engine() -> Expression:
        by_bits(e, list)
        if element.nullable:
            flat(e, list)
        # Spark puts nulls inside of elements first, DataFusion where it puts null elements.
        return e.call(
            "datafusion:array_sort", list, e.text("ASC"), e.text("NULLS LAST" if element.nullable else "NULLS FIRST")
        )

    return e.first(by_standard, lambda: e.call("spark:array_sort", list), by_engine)


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


def transform_keys(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TransformKeys: null keys and equal keys raise."""
    map = e.emit(node["argument"])

    def own() -> Expression:
        function = _of_entries(e, node["function"], map)
        call = e.call("spark:transform_keys", map, function, duplicate_keys=duplicate_keys(e))
        return e.cast(call, e.type_of(node, call.type.nullable))

    def by_position(keys: Expression, meanings: Sequence[Parameter]) -> Expression:
        changed = _mapped(e, positions(e, size(e, keys)), over_positions(e, node["function"], meanings))
        values = e.call("spark:map_values", e.emit(node["argument"]))
        return map_from_lists(e, e.type_of(node, False), changed, values)

    return _of_map(e, node, "spark:transform_keys", own, by_position)


def transform_values(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TransformValues."""
    map = e.emit(node["argument"])

    def own() -> Expression:
        return e.call("spark:transform_values", map, _of_entries(e, node["function"], map))

    def by_position(keys: Expression, meanings: Sequence[Parameter]) -> Expression:
        values = _mapped(e, positions(e, size(e, keys)), over_positions(e, node["function"], meanings))
        return map_from_lists(e, e.type_of(node, False), keys, values)

    return _of_map(e, node, "spark:transform_values", own, by_position)


def map_filter(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MapFilter."""
    map = e.emit(node["argument"])

    def own() -> Expression:
        return e.call("spark:map_filter", map, _of_entries(e, node["function"], map, NULLABLE_BOOLEAN))

    def by_position(keys: Expression, meanings: Sequence[Parameter]) -> Expression:
        test = over_positions(e, node["function"], meanings, NULLABLE_BOOLEAN)
        kept = e.share(e.call("datafusion:array_filter", positions(e, size(e, keys)), test))
        left = [of_each(e, kept, meaning) for meaning in meanings]
        return map_from_lists(e, e.type_of(node, False), *left)

    return _of_map(e, node, "spark:map_filter", own, by_position)


def _of_map(
    e: ExpressionBuilder,
    node: tree.Expression,
    name: str,
    own: Callable[[], Expression],
    by_position: Callable[[Expression, Sequence[Parameter]], Expression],
) -> Expression:
    """A function of that name, or else what is made of the list of a map's keys, and of a key and its value."""
    map = e.share(e.emit(node["argument"]))
    probe = Lambda(tuple(map.type.parameters), Literal(None, NULLABLE_BOOLEAN))
    if e.has(lambda: e.call(name, map, probe)):
        return own()

    def composed() -> Expression:
        parts = ("spark:map_keys", "spark:map_values")

        def listed(part: str) -> Emitted:
            return lambda inner: inner.call(part, inner.emit(node["argument"]))

        meanings = [
            element_of(e, listed(part), element) for part, element in zip(parts, map.type.parameters, strict=True)
        ]
        keys = e.share(e.call("spark:map_keys", map))
        return guarded(e, [map], lambda: by_position(keys, meanings), node.type)

    return e.first(composed, own)


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
    "ArrayFilter": filter_,
    "ArrayForAll": for_all,
    "ArraySort": sort,
    "ArrayTransform": transform,
    "MapFilter": map_filter,
    "MapZipWith": map_zip_with,
    "TransformKeys": transform_keys,
    "TransformValues": transform_values,
    "ZipWith": zip_with,
}
