"""AggregateRel: https://substrait.io/relations/logical_relations/#aggregate-operation.

Catalyst's result expressions mix keys and aggregates; Substrait's relation yields keys, then measures, so a project
above computes the results.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import types
from ..algebra.expression import AggregateFunction, Expression, FieldReference, Literal
from ..algebra.relation import Aggregate
from ..catalyst import tree
from ..errors import NotInDialect
from ..functions.dispatch import aggregate_rule
from ..functions.floating import groupable
from ..functions.measure import Group, Site
from .builder import RelationBuilder
from .output import Output, ids_of
from .project import columns
from .row_order import is_ordered, order_below, without_pruning
from .session_window import with_sessions
from .unique_keys import without_keys
from .window import computed


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Aggregate."""
    node = with_sessions(node)
    calls = aggregate_calls(node["aggregateExpressions"])
    source = node["child"]
    order = order_below(source) if any(is_ordered(call) for call in calls) else None
    if order is not None:
        source = without_pruning(source)
    input = r.emit(source)
    e = r.expressions(input.scope())
    keys = distinct(node["groupingExpressions"])
    groupings = [groupable(e, e.emit(key)) for key in keys]
    group = Group(calls, groupings, len(input.relation.types), () if order is None else order.sorts(e))
    measures = Measures(len(groupings))
    results = []
    for call in calls:
        rule = aggregate_rule(Site(e, call, group=group))
        results.append((call, rule, [measures.add(measure) for measure in rule.calls]))
    if not groupings and not measures.calls:
        measures.add(e.aggregate("aggregate_generic:count"))
    if r.dialect.quirks.distinct_widens_sums:
        measures.filter_distinct()
    if r.dialect.quirks.one_list_order:
        require_one_order(measures.calls)
    below = input.relation
    for windows in group.windows:
        below = computed(r, below, windows.calls, windows.partition, ())
    relation = Aggregate(without_keys(r, below, len(groupings)), groupings, measures.calls)
    above = r.expressions(Output(relation, ()).scope())
    for ordinal, key in enumerate(keys):
        above.let(key, FieldReference(ordinal, relation.types[ordinal]))
    for call, rule, references in results:
        above.let(call, rule.result(above, references))
    expressions = above.emit_all(node["aggregateExpressions"])
    return Output(columns(relation, expressions), ids_of(node["aggregateExpressions"]))


class Measures:
    """The measures of a relation; one that several aggregates share is there once."""

    def __init__(self, first: int) -> None:
        self.calls: list[AggregateFunction] = []
        self._first = first
        self._references: dict[int, FieldReference] = {}

    def add(self, call: AggregateFunction) -> Expression:
        """A reference to the column of a measure."""
        if id(call) not in self._references:
            self._references[id(call)] = FieldReference(self._first + len(self.calls), call.type)
            self.calls.append(call)
        return self._references[id(call)]

    def filter_distinct(self) -> None:
        """Give the DISTINCT calls beside sums of decimals a filter that holds for every row."""
        if any(call.type.kind == "decimal" and not call.distinct for call in self.calls):
            self.calls = [
                call.filtered(Literal(True, types.BOOLEAN)) if call.distinct and call.filter is None else call
                for call in self.calls
            ]


def distinct(expressions: tuple[tree.Expression, ...]) -> list[tree.Expression]:
    """Expressions without repetition."""
    alike: dict[tuple[object, ...], list[tree.Expression]] = {}
    found: list[tree.Expression] = []
    for expression in expressions:
        known = alike.setdefault(tree.words(expression), [])
        if not any(tree.same(expression, other) for other in known):
            known.append(expression)
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
        elif not isinstance(node, tree.Plan):  # a subquery's aggregates are its own
            stack.extend(reversed(list(node.children())))
    return list(found.values())


# ---- the order of the rows

LISTS = ("array_agg", "string_agg")
"""The functions of DataFusion that take all their rows in the order that they ask for."""

Order = tuple[tuple[object, bool, bool], ...]
"""For each key what it is, whether it ascends and whether nulls come first."""


def require_one_order(calls: Sequence[AggregateFunction]) -> None:
    """Raise `NotInDialect` where lists are asked for in orders of which none goes on from the others, or their reverse.

    A list of DISTINCT values takes no reverse, and beside it first and last values are taken in its order.
    """
    lists = [call for call in calls if call.declaration.name in LISTS and call.sorts]
    distinct = any(call.distinct for call in lists)
    orders = sorted({_order(call) for call in (calls if distinct else lists) if call.sorts}, key=len)
    longest = orders[-1] if orders else ()
    backwards = tuple([(key, not ascending, not nulls_first) for key, ascending, nulls_first in longest])
    for order in orders:
        if order != longest[: len(order)] and (distinct or order != backwards[: len(order)]):
            raise NotInDialect(
                "DataFusion makes lists and joined texts in one order only in an aggregate",
                "Aggregate in one query for each order, and join these by their keys.",
            )


def _order(call: AggregateFunction) -> Order:
    return tuple([(_identity(sort.expression), sort.ascending, sort.nulls_first) for sort in call.sorts])


def _identity(expression: Expression) -> object:
    if isinstance(expression, FieldReference):
        return expression.ordinal, expression.path
    return id(expression)


HANDLERS = {"Aggregate": emit}
