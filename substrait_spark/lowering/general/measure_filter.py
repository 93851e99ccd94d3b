"""Measures with filters as measures of values that are null where the filter fails, for engines without such filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra.builder import CallBuilder
from ...algebra.expression import AggregateFunction, Expression
from ...algebra.relation import Aggregate, Relation
from ...algebra.traversal import transformed

if TYPE_CHECKING:
    from ..lowering import Lowering

SKIPPING_NULLS = {
    "aggregate_generic": "count",
    "arithmetic": "avg max min std_dev sum sum0 variance",
    "arithmetic_decimal": "avg max min sum sum0",
    "boolean": "bool_and bool_or",
    "datetime": "max min",
    "spark": "avg_in_doubles bit_and bit_or bit_xor collect_list collect_set spark_max spark_min spark_sum try_avg try_sum",
}
"""Functions, by their extension file, for which rows with a null in the first value count for nothing."""


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each Aggregate with filters, of functions that skip nulls, as one without."""
    if lowering.dialect.abilities.measure_filters:
        return root
    e = CallBuilder(lowering.traits)

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, Aggregate) or all(measure.filter is None for measure in relation.measures):
            return relation
        measures = [_masked(e, measure) for measure in relation.measures]
        made = Aggregate(relation.inputs[0], relation.groupings, measures, relation.sets)
        return made.emitting_as(relation)

    return transformed(root, rule)


def _masked(e: CallBuilder, measure: AggregateFunction) -> AggregateFunction:
    declaration = measure.declaration
    if measure.filter is None or declaration.name not in SKIPPING_NULLS.get(declaration.alias, "").split():
        return measure
    arguments = list(measure.arguments) or [e.true()]
    position, value = next((n, each) for n, each in enumerate(arguments) if isinstance(each, Expression))
    arguments[position] = e.if_then(measure.filter, value, e.null(value.type))
    return of_arguments(e, measure, tuple(arguments))


def of_arguments(
    e: CallBuilder,
    measure: AggregateFunction,
    arguments: tuple[Expression | str, ...],
    filter: Expression | None = None,
) -> AggregateFunction:
    """A measure of other arguments, for the rows that a filter takes."""
    declaration = e.resolve("aggregate", measure.declaration.function, arguments)
    made = AggregateFunction(declaration, arguments, measure.options, measure.distinct, measure.sorts, filter)
    made.came_from(measure.origin)
    return made
