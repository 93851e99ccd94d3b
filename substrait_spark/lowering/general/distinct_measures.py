"""Counts of distinct values as counts of the rows of an aggregate below, where the dialect has none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from ...algebra.builder import CallBuilder
from ...algebra.expression import AggregateFunction, Expression, FieldReference
from ...algebra.relation import Aggregate, Cross, Relation
from ...algebra.traversal import is_column, transformed
from ...errors import NotInDialect
from .repeatable import is_repeatable

if TYPE_CHECKING:
    from ...dialects import Dialect
    from ..lowering import Lowering

COUNT = "aggregate_generic:count"


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each Aggregate that counts distinct values, if the dialect doesn't, as one of their groups.

    Where it has other measures too, all are those of one row, which a Cross puts side by side: the input is there several times.
    """
    e = CallBuilder(lowering.traits)

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, Aggregate) or len(relation.sets) != 1:
            return relation
        parts = _parts(lowering.dialect, relation.measures)
        if not any(argument is not None for argument, _ in parts):
            return relation
        if len(parts) == 1:
            ((argument, _),) = parts
            return _counted(e, relation, argument, relation.measures).emitting_as(relation)
        if relation.groupings or not is_repeatable(relation.inputs[0]):
            return relation
        return _side_by_side(e, relation, parts).emitting_as(relation)

    return transformed(root, rule)


Part = tuple[Expression | None, list[int]]
"""What is counted in some measures, and these by their numbers; None for those that stay as they are."""


def _parts(dialect: Dialect, measures: Sequence[AggregateFunction]) -> list[Part]:
    parts: dict[object, Part] = {}
    for n, measure in enumerate(measures):
        argument = _counted_in(dialect, measure)
        same = argument.ordinal if argument is not None and is_column(argument) else id(argument)
        parts.setdefault(None if argument is None else same, (argument, []))[1].append(n)
    return list(parts.values())


def _counted_in(dialect: Dialect, measure: AggregateFunction) -> Expression | None:
    """Of what a measure counts distinct values, if the dialect doesn't."""
    declaration = measure.declaration
    counts = (
        measure.distinct and declaration.function == COUNT and measure.filter is None and len(measure.arguments) == 1
    )
    if not counts:
        return None
    try:
        entry = dialect.require_function("aggregate", declaration, measure.arguments, measure.options)
    except NotInDialect:
        return None
    has = entry is None or entry.metadata.get("distinct", True)
    (argument,) = measure.expressions()
    return None if has else argument


def _counted(
    e: CallBuilder, relation: Aggregate, argument: Expression | None, measures: Sequence[AggregateFunction]
) -> Relation:
    """The relation with measures that count different values of one argument; or with others, as they are."""
    if argument is None:
        return Aggregate(relation.inputs[0], relation.groupings, measures)
    groups = Aggregate(relation.inputs[0], [*relation.groupings, argument], [])
    *keys, value = (FieldReference(n, kind) for n, kind in enumerate(groups.types))
    return Aggregate(groups, keys, [_count(e, measure, value) for measure in measures])


def _count(e: CallBuilder, measure: AggregateFunction, value: Expression) -> AggregateFunction:
    declaration = e.resolve("aggregate", COUNT, (value,))
    made = AggregateFunction(declaration, (value,), measure.options)
    made.came_from(measure.origin)
    return made


def _side_by_side(e: CallBuilder, relation: Aggregate, parts: Sequence[Part]) -> Relation:
    """The measures of rows without keys, each part of them in a row of its own."""
    rows = [_counted(e, relation, argument, [relation.measures[n] for n in numbers]) for argument, numbers in parts]
    order = [n for _, numbers in parts for n in numbers]
    return reduce(Cross, rows).select([order.index(n) for n in range(len(order))])
