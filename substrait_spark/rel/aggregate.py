"""AggregateRel: https://substrait.io/relations/logical_relations/#aggregate-operation.

Catalyst's result expressions mix keys and aggregates; Substrait's relation yields keys, then measures, so a project
above computes the results.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.aggregate_form import AggregateForm, Measures
from ..algebra.expression import Expression, FieldReference
from ..algebra.relation import Aggregate, Filter, Relation
from ..algebra.traversal import columns
from ..catalyst import tree
from ..catalyst.row_order import RowOrder, is_ordered, order_below, sorted_by, without_pruning
from ..errors import Unsupported
from ..expr.builder import ExpressionBuilder
from ..expr.literal import constant
from ..functions.dispatch import aggregate_form
from ..functions.measure import EmittedCall, Group
from .builder import RelationBuilder
from .columns import needed
from .grouping_sets import GroupingSets, grouping_sets
from .output import Output, ids_of
from .row_order import sorts_of


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Aggregate, by one set of keys or by several."""
    several = grouping_sets(node)
    if several is not None:
        return _by_sets(r, node, several)
    calls = tree.outermost(node["aggregateExpressions"], "AggregateExpression")
    source, order = _ordered_source(node["child"], calls)
    input = r.emit(source)
    e = r.expressions(input.scope())
    keys = distinct(node["groupingExpressions"])
    groupings = list(e.emit_all(keys))
    if _needs_rows(calls) and not groupings:
        groupings.append(e.i32(0))  # of no rows there is no group by a key, be it a constant
    group = _group(e, calls, order)
    measures = Measures(len(groupings))
    results = [_measured(measures, EmittedCall(e, call, group=group)) for call in calls]
    if not groupings and not measures.calls:
        measures.add(e.aggregate("aggregate_generic:count"))
    relation = Aggregate(input.relation, groupings, measures.calls)
    above = r.expressions(Output(relation, ()).scope())
    for ordinal, key in enumerate(keys):
        above.let(key, FieldReference(ordinal, relation.types[ordinal]))
    return _output(above, relation, results, node)


def _needs_rows(calls: Sequence[tree.Expression]) -> bool:
    """Whether a group of no rows gives no row: Spark doesn't call an aggregate function in Python for it."""
    python = [call for call in calls if call["aggregateFunction"].name == "PythonUDAF"]
    if python and len(python) < len(calls):
        raise Unsupported(
            f"Spark doesn't compute {python[0]['aggregateFunction']['name']} beside aggregate functions of its own",
            "Compute each by itself, and join the results.",
        )
    return bool(python)


def _ordered_source(source: tree.Plan, calls: Sequence[tree.Expression]) -> tuple[tree.Plan, RowOrder | None]:
    """What an Aggregate reads, and the order that results depend on; a sort is left out, since the calls say it."""
    order = order_below(source) if any(is_ordered(call) for call in calls) else None
    return source if order is None else without_pruning(source), order


def _group(e: ExpressionBuilder, calls: Sequence[tree.Expression], order: RowOrder | None) -> Group:
    keys = None if order is None else order.keys
    return Group(calls, sorts_of(e, order), sorted_by(keys[0]) if keys else None)


def _output(above: ExpressionBuilder, relation: Relation, results: Sequence[MeasuredCall], node: tree.Plan) -> Output:
    """The results of an Aggregate, in terms of the columns of a relation."""
    items = needed(above.relations, node["aggregateExpressions"])
    for call, form, references in results:
        above.let(call, form.result(above, references))
    return Output(columns(relation, above.emit_all(items)), ids_of(items))


def _by_sets(r: RelationBuilder, node: tree.Plan, several: GroupingSets) -> Output:
    """Aggregate by several sets of keys. Of no rows, Spark makes none for the set without a key either."""
    calls = tree.outermost(node["aggregateExpressions"], "AggregateExpression")
    source, order = _ordered_source(several.child, calls)
    input = r.emit(source)
    e = r.expressions(input.scope())
    groupings = e.emit_all(several.keys.values())
    group = _group(e, calls, order)
    measures = Measures(len(groupings))
    results = [_measured(measures, EmittedCall(e, call, group=group)) for call in calls]
    rows = measures.add(e.aggregate("aggregate_generic:count")) if () in several.sets else None
    relation: Relation = Aggregate(input.relation, groupings, measures.calls, several.sets)
    above = r.expressions(Output(relation, ()).scope())
    if rows is not None:
        relation = Filter(relation, above.call("comparison:gt", rows, above.i64(0)))
    places = {id: FieldReference(n, relation.types[n]) for n, id in enumerate(several.keys)}
    number = FieldReference(len(relation.types) - 1, relation.types[-1])
    for key in node["groupingExpressions"]:
        above.let(key, places.get(key["exprId"]) or _number(above, number, several.numbers[key["exprId"]]))
    return _output(above, relation, results, node)


def _number(e: ExpressionBuilder, set: Expression, values: Sequence[tree.Expression]) -> Expression:
    """The value of Spark's grouping id for each row, computed from the number of the grouping set."""
    *others, last = [constant(e, value["value"], value.type) for value in values]
    return e.if_then(*[part for n, value in enumerate(others) for part in (e.equal(set, e.i32(n)), value)], last)


MeasuredCall = tuple[tree.Expression, AggregateForm, list[FieldReference]]
"""An aggregate call, its form, and references to the measures of that form."""


def _measured(measures: Measures, call: EmittedCall) -> MeasuredCall:
    form = aggregate_form(call)
    return call.aggregate, form, [measures.add(measure) for measure in form.calls]


def distinct(expressions: tuple[tree.Expression, ...]) -> list[tree.Expression]:
    """Expressions without repetition."""
    alike: dict[frozenset[object], list[tree.Expression]] = {}
    different: list[tree.Expression] = []
    for expression in expressions:
        known = alike.setdefault(tree.words(expression), [])
        if not any(tree.same(expression, other) for other in known):
            known.append(expression)
            different.append(expression)
    return different


HANDLERS = {"Aggregate": emit}
