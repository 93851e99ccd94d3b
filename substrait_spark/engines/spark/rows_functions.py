"""Functions over batches and groups of rows in Spark: calls of what the caller gives, by Catalyst's nodes for them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ...algebra.expression import Expression
from ...algebra.flat_map import FlatMap, FlatMapCoGroups
from ...algebra.types import field_count
from ...catalyst.versions import running
from ...errors import Unsupported
from ...user_functions.declared import ARGUMENT_FIELDS, ARGUMENT_NAMES, METHOD, RESULT_FIELDS, field_names
from ...user_functions.spark_function import over_rows
from .builder import Columns
from .document import Node
from .expressions import Scope
from .types import spark_columns, spark_struct
from .user_functions import require_same_conversions

if TYPE_CHECKING:
    from .relations import RelationBuilder

MAPPED = {"mapInPandas": "MapInPandas", "mapInArrow": "MapInArrow|PythonMapInArrow"}
"""Catalyst's node for each method that calls a function for no groups."""


def mapped(r: RelationBuilder, relation: FlatMap, outer: Scope | None) -> Columns:
    """MapInPandas or FlatMapGroupsInPandas, or their like of Arrow."""
    input = r.input(relation, outer)
    method = _method(relation)
    keys = relation.keys
    given = r.expressions.build_all([*keys, *relation.arguments()], Scope(input.columns, outer))
    plan, columns = _named(r, relation, input.plan, keys, relation.arguments(), given)
    call, output = _call(r, relation, method, columns[len(keys) :])
    if method in MAPPED:
        profile = [None] if running() >= (4, 0) else []
        return Columns(r.document.new(MAPPED[method], call, output, plan, False, *profile), output)
    node = f"FlatMapGroupsIn{_form(method)}"
    return Columns(r.document.new(node, columns[: len(keys)], call, output, plan), output)


def cogrouped(r: RelationBuilder, relation: FlatMapCoGroups, outer: Scope | None) -> Columns:
    """FlatMapCoGroupsInPandas or FlatMapCoGroupsInArrow."""
    left, right = r.inputs(relation, outer)
    method, width = _method(relation), len(relation.inputs[0].types)
    scope = Scope([*left.columns, *right.columns], outer)
    arguments = relation.arguments()
    first = [each for each in arguments if getattr(each, "ordinal", width) < width]
    sides = ((left, relation.keys, first), (right, relation.other_keys, arguments[len(first) :]))
    plans: list[Node] = []
    columns: list[Node] = []
    for side, keys, own in sides:
        given = r.expressions.build_all([*keys, *own], scope)
        plan, named = _named(r, relation, side.plan, keys, own, given, len(columns))
        plans.append(plan)
        columns += named[len(keys) :]
    call, output = _call(r, relation, method, columns)
    counts = (len(relation.keys), len(relation.other_keys))
    return Columns(r.document.new(f"FlatMapCoGroupsIn{_form(method)}", *counts, call, output, *plans), output)


def _method(relation: FlatMap) -> str:
    return dict(relation.call.options).get(METHOD, "")


def _form(method: str) -> str:
    return "Arrow" if "Arrow" in method else "Pandas"


def _named(
    r: RelationBuilder,
    relation: FlatMap,
    plan: Node,
    keys: Sequence[Expression],
    arguments: Sequence[Expression],
    given: Sequence[Node],
    before: int = 0,
) -> tuple[Node, list[Node]]:
    """A plan of the keys, and of the arguments by the names that the function knows them by; so many are of another input before."""
    names = field_names(relation.call.options, ARGUMENT_NAMES)[before : before + len(arguments)]
    if len(names) < len(arguments):
        raise Unsupported("the plan doesn't say how the columns are called that the function gets")
    inside = iter(field_names(relation.call.options, ARGUMENT_FIELDS))
    kinds = {}
    for each in (*relation.arguments(), *relation.keys, *relation.other_keys):
        fields = list(islice(inside, field_count(each.type)))
        ((_, kinds[each]),) = spark_columns([each.type], ["column", *fields])
    called = [*[f"key{n}" for n in range(len(keys))], *names]
    columns = [
        r.document.alias(r.document.typed(node, kinds[each]), name)
        for each, node, name in zip((*keys, *arguments), given, called, strict=True)
    ]
    made = r.document.new("Project", columns, plan)
    return made, r.document.columns(made, len(columns))


def _call(r: RelationBuilder, relation: FlatMap, method: str, arguments: Sequence[Node]) -> tuple[Node, list[Node]]:
    """The call of the function, and the columns that it gives."""
    from pyspark.sql.types import StructType

    call = relation.call
    name = call.declaration.name
    function = r.b.functions.object_of(call.declaration.urn, name)
    if function is None:
        raise Unsupported(
            f"the function {name} of {call.declaration.urn} is not run in Spark", f"Give it as functions=[{name}]."
        )
    require_same_conversions(name, call.options, r.b.time_zone)
    kinds = call.type.parameters[0].parameters
    schema = StructType.fromJson(json.loads(spark_struct(kinds, field_names(call.options, RESULT_FIELDS))))
    try:
        made = over_rows(function, method, schema)
    except Exception as error:  # whatever PySpark says of a function that it doesn't take
        raise Unsupported(f"the function {name} can't be called as the plan does ({error})") from error
    output = [r.document.attribute(f"c{n}", kind, kind.nullable) for n, kind in enumerate(kinds)]
    return r.document.python(made.unwrapped, arguments), output
