"""Functions in Python over batches and groups of rows, as extension relations: mapInPandas, applyInPandas, cogroup and their like."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import types
from ..algebra.expression import AggregateFunction, Expression, FieldReference
from ..algebra.flat_map import FlatMap, FlatMapCoGroups
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.refusals import name_of, no_relation
from ..catalyst.types import to_substrait
from ..errors import Unsupported
from ..user_functions.declared import (
    RowsGiven,
    UserFunction,
    declaration_of,
    options_over_rows,
    require_default_conversions,
)
from ..user_functions.spark_function import METHODS
from .builder import RelationBuilder
from .output import Output, ids_of


def mapped(r: RelationBuilder, node: tree.Plan) -> Output:
    """MapInPandas, MapInArrow: the rows that a function makes of all others, of which it gets a part at a time."""
    if node.get("isBarrier") or node.get("profile") is not None:
        raise Unsupported(
            f"{node.name} asks for tasks that start together, or for resources of their own, and a plan has no tasks",
            "Leave out barrier and profile.",
        )
    function = _function(r, node)
    input = r.emit(node["child"])
    made = _call(r, node, function, _columns(input.relation.types), ())
    return Output(FlatMap(input.relation, made, ()), ids_of(node["output"]))


def grouped(r: RelationBuilder, node: tree.Plan) -> Output:
    """FlatMapGroupsInPandas, FlatMapGroupsInArrow: the rows that a function makes of those of each group."""
    function = _function(r, node)
    input = r.emit(node["child"])
    count = len(node["groupingAttributes"])
    columns = _columns(input.relation.types)
    made = _call(r, node, function, columns[count:], (range(count),))
    return Output(FlatMap(input.relation, made, columns[:count]), ids_of(node["output"]))


def cogrouped(r: RelationBuilder, node: tree.Plan) -> Output:
    """FlatMapCoGroupsInPandas, FlatMapCoGroupsInArrow: the rows that a function makes of those that two inputs have for a key."""
    function = _function(r, node)
    left, right = r.emit(node["left"], "left: "), r.emit(node["right"], "right: ")
    count, others = node["leftGroupingLen"], node["rightGroupingLen"]
    columns = _columns((*left.relation.types, *right.relation.types))
    width = len(left.relation.types)
    keys = (range(count), range(width, width + others))
    arguments = (*columns[count:width], *columns[width + others :])
    made = _call(r, node, function, arguments, keys)
    inputs = (left.relation, right.relation)
    return Output(
        FlatMapCoGroups(inputs, made, columns[:count], columns[width : width + others]), ids_of(node["output"])
    )


def _columns(kinds: Sequence[Type]) -> tuple[Expression, ...]:
    return tuple([FieldReference(n, kind) for n, kind in enumerate(kinds)])


def _udf(node: tree.Plan) -> tree.Expression:
    """The call of the function: what its inputs have, it gets, whatever columns the call names."""
    return next(child for child in node.children() if isinstance(child, tree.Expression) and child.name == "PythonUDF")


def _function(r: RelationBuilder, node: tree.Plan) -> UserFunction:
    """The function that the caller declares. Raises Unsupported for another."""
    udf, context = _udf(node), r.context
    functions = context.settings.functions
    function = functions.over_rows(node, name_of(udf)) if functions else None
    if function is None:
        raise no_relation(node, context.root)
    if udf["evalType"] not in METHODS:
        raise Unsupported(f"{node.name} calls its function in a way that isn't known, by number {udf['evalType']}")
    if function.spark is not None:
        require_default_conversions(context.configuration)
    return function


def _call(
    r: RelationBuilder,
    node: tree.Plan,
    function: UserFunction,
    arguments: Sequence[Expression],
    keys: Sequence[range],
) -> AggregateFunction:
    """The call, over all columns of the inputs but for the keys at these places, as of an aggregate that gives a list of rows."""
    udf = _udf(node)
    fields = [field for rows in node["inputTypes"] for field in rows.parameters]
    ordinals = [n for places in keys for n in places]
    given = [field for n, field in enumerate(fields) if n not in ordinals]
    if len(given) != len(arguments):
        raise Unsupported(f"{node.name} has another number of columns than it is said to have")
    result = types.of("list", to_substrait(udf.type, False), nullable=False)
    declaration = declaration_of(function, "aggregate", udf, [each.type for each in arguments], result)
    zone = r.context.configuration.get("spark.sql.session.timeZone", "UTC")
    step = RowsGiven(udf["evalType"], given, [fields[n] for n in ordinals], udf.type)
    options = options_over_rows(function, r.context.release, zone, step)
    call = AggregateFunction(declaration, tuple(arguments), options)
    call.came_from(udf)
    return call


HANDLERS = {
    **dict.fromkeys(("MapInArrow", "MapInPandas", "PythonMapInArrow"), mapped),
    **dict.fromkeys(("FlatMapGroupsInArrow", "FlatMapGroupsInPandas"), grouped),
    **dict.fromkeys(("FlatMapCoGroupsInArrow", "FlatMapCoGroupsInPandas"), cogrouped),
}
