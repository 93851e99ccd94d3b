"""AggregateRel: https://substrait.io/relations/logical_relations/#aggregate-operation.

Catalyst's result expressions mix keys and aggregates; Substrait's relation yields keys, then measures, so a project
above computes the results.
"""

from __future__ import annotations

from ..algebra.expression import AggregateFunction, FieldReference
from ..algebra.relation import Aggregate
from ..catalyst import tree
from ..functions import aggregate_rule
from ..functions.floating import groupable
from .builder import RelationBuilder
from .output import Output, ids_of
from .project import columns


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Aggregate."""
    input = r.emit(node["child"])
    e = r.expressions(input.scope())
    keys = distinct(node["groupingExpressions"])
    groupings = [groupable(e, e.emit(key)) for key in keys]
    measures: list[AggregateFunction] = []
    results = []
    calls = aggregate_calls(node["aggregateExpressions"])
    for call in calls:
        rule = aggregate_rule(r.context, e, call)
        results.append((call, rule, len(groupings) + len(measures)))
        measures += rule.calls
    if not groupings and not measures:
        measures.append(e.aggregate("aggregate_generic:count"))
    relation = Aggregate(input.relation, groupings, measures)
    above = r.expressions(Output(relation, ()).scope())
    for ordinal, key in enumerate(keys):
        above.let(key, FieldReference(ordinal, relation.types[ordinal]))
    for call, rule, first in results:
        references = [FieldReference(first + n, measure.type) for n, measure in enumerate(rule.calls)]
        above.let(call, rule.result(above, references))
    expressions = above.emit_all(node["aggregateExpressions"])
    return Output(columns(relation, expressions), ids_of(node["aggregateExpressions"]))


def distinct(expressions: tuple[tree.Expression, ...]) -> list[tree.Expression]:
    """Expressions without repetition."""
    found: list[tree.Expression] = []
    for expression in expressions:
        if not any(tree.same(expression, known) for known in found):
            found.append(expression)
    return found


def aggregate_calls(expressions: tuple[tree.Expression, ...]) -> list[tree.Expression]:
    """The aggregate calls in result expressions, each once, in order. The reader shares equal ones."""
    found: dict[int, tree.Expression] = {}
    stack: list[tree.Node] = list(reversed(expressions))
    while stack:
        node = stack.pop()
        if node.name == "AggregateExpression":
            found.setdefault(id(node), node)  # type: ignore[arg-type]
        else:
            stack.extend(reversed(list(node.children())))
    return list(found.values())


HANDLERS = {"Aggregate": emit}
