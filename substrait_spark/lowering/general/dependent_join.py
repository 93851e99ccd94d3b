"""Each row of a relation with the rows that a query over it has for that row, as joins, aggregates and projects.

What such a query asks of the row may be in the conditions of filters below an aggregate or a sort, and in what it computes above.
The rows that an aggregate is over are joined with all rows at once, and aggregated for each of these by its number; of the
rows that are sorted, the first for each number is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algebra.builder import CallBuilder
from ...algebra.expression import AggregateFunction, Expression, FieldReference, Subquery
from ...algebra.frame import WHOLE
from ...algebra.relation import Aggregate, Fetch, Filter, Generate, Join, Project, Relation, Sort, VirtualTable, Window
from ...algebra.subqueries import is_total
from ...algebra.traversal import rewritten, subexpressions
from .correlation import uncorrelated
from .measure_filter import of_arguments


class DependentRows(NamedTuple):
    """The columns of a relation, and behind them those of the query over each row.

    `is_one` says that the query has exactly one row for each.
    """

    relation: Relation
    is_one: bool


def dependent_rows(
    e: CallBuilder, left: Relation, query: Relation, *, nulls_for_none: bool = False
) -> DependentRows | None:
    """The rows of a relation with those that a query has for each; None where the query has another form.

    With `nulls_for_none`, a row for which the query has none has nulls, as the value of a scalar subquery is.
    """
    steps: list[Filter | Project] = []
    base = query
    while isinstance(base, Filter | Project):
        steps.append(base)
        (base,) = base.inputs
    if isinstance(base, Fetch) and nulls_for_none and not steps:
        dependent = _first(e, left, base)
    else:
        dependent = _of_base(e, left, base)
    if dependent is None or any(_has_subqueries(each) for each in (base, *steps)):
        return None
    for step in reversed(steps):
        dependent.above(step)
    columns = [*dependent.left, *dependent.columns]
    is_one = not isinstance(base, Generate) and not any(isinstance(step, Filter) for step in steps)
    return DependentRows(dependent.relation.select(columns), is_one)


def _has_subqueries(relation: Relation) -> bool:
    return any(isinstance(part, Subquery) for each in relation.expressions() for part in subexpressions(each))


class _Dependent:
    """A relation that has, among others, the columns of the left side and those of a query over its rows, by position."""

    def __init__(self, relation: Relation, left: Sequence[int], columns: Sequence[int]) -> None:
        self.relation = relation
        self.left = list(left)
        self.columns = list(columns)

    def above(self, step: Relation) -> None:
        """Put a step of the query above: it is done for the rows of all at once."""
        expressions = [self.seen(expression) for expression in step.expressions()]
        if isinstance(step, Filter):
            self.relation = Filter(self.relation, expressions[0])
        else:
            width = len(self.relation.types)
            self.relation = Project(self.relation, expressions)
            self.columns += range(width, width + len(expressions))
        self.columns = self.columns if step.emit is None else [self.columns[n] for n in step.emit]

    def seen(self, expression: Expression) -> Expression:
        """An expression of the query, with its references to the left side and to the query's rows as references to the relation."""

        def change(part: Expression) -> Expression | None:
            if not isinstance(part, FieldReference) or part.parameter is not None:
                return None
            if part.outer > 1:
                return FieldReference(part.ordinal, part.type, part.path, part.outer - 1)
            ordinals = self.left if part.outer else self.columns
            return FieldReference(ordinals[part.ordinal], part.type, part.path)

        return rewritten(expression, change)


def _of_base(e: CallBuilder, left: Relation, base: Relation) -> _Dependent | None:
    """The left side with the columns that a query begins with."""
    width = len(left.types)
    dependent = _Dependent(left, range(width), ())
    if isinstance(base, Generate) and _is_one_row(base.inputs[0]) and not base.inputs[0].types:
        (rows,) = base.expressions()
        made: Relation = Generate(left, dependent.seen(rows), base.outer, base.whole, base.with_position)
    elif _is_one_row(base):
        made = Project(left, [dependent.seen(value) for value in base.expressions()])
    elif is_total(base) and len(base.sets) == 1:
        return _aggregated(e, left, base)
    else:
        return None
    columns: Sequence[int] = range(width, len(made.types))
    return _Dependent(made, range(width), columns if base.emit is None else [columns[n] for n in base.emit])


def _is_one_row(relation: Relation) -> bool:
    return isinstance(relation, VirtualTable) and len(relation.rows) == 1


def _first(e: CallBuilder, left: Relation, fetch: Fetch) -> _Dependent | None:
    """The first of the rows that belong to each row, in an order; nulls where none belongs."""
    (sort,) = fetch.inputs
    if not isinstance(sort, Sort) or (fetch.offset, fetch.count) != (0, 1):
        return None
    width = len(left.types)
    joined = _numbered_with_rows(e, left, sort)
    if joined is None:
        return None
    dependent = _Dependent(joined, range(width), range(width + 1, width + 1 + len(sort.inputs[0].types)))
    order = [each.by(dependent.seen(each.expression)) for each in sort.sorts]
    ranked = Window(
        joined, [e.window("arithmetic:row_number", frame=WHOLE)], [FieldReference(width, joined.types[width])], order
    )
    first = e.equal(FieldReference(len(joined.types), ranked.types[-1]), e.i64(1))
    columns = dependent.columns if sort.emit is None else [dependent.columns[n] for n in sort.emit]
    columns = columns if fetch.emit is None else [columns[n] for n in fetch.emit]
    return _Dependent(Filter(ranked, first), range(width), columns)


def _aggregated(e: CallBuilder, left: Relation, aggregate: Aggregate) -> _Dependent | None:
    """An aggregate of the rows that belong to each row, by the number of that row.

    A row to which none belongs is joined with nulls, which no measure counts.
    """
    width = len(left.types)
    joined = _numbered_with_rows(e, left, aggregate, [e.true()])
    if joined is None:
        return None
    belongs = e.is_not_null(FieldReference(len(joined.types) - 1, joined.types[-1]))
    row = [e.aggregate("aggregate_generic:any_value", FieldReference(n, kind)) for n, kind in enumerate(left.types)]
    measures = [_of_joined(e, measure, joined, width + 1, belongs) for measure in aggregate.measures]
    made = Aggregate(joined, [FieldReference(width, joined.types[width])], [*row, *measures])
    columns: Sequence[int] = range(1 + width, len(made.types))
    return _Dependent(
        made, range(1, 1 + width), columns if aggregate.emit is None else [columns[n] for n in aggregate.emit]
    )


def _numbered_with_rows(
    e: CallBuilder, left: Relation, query: Relation, marks: Sequence[Expression] = ()
) -> Relation | None:
    """Each row and its number, with the rows below a step of the query that belong to it, and marks of these; else nulls."""
    numbered = Window(left, [e.window("arithmetic:row_number", frame=WHOLE)], (), ())
    right = uncorrelated(e, query.inputs[0], len(numbered.types))
    if right is None or any(_refers_outwards(each) for each in query.expressions()):
        return None
    rows = Project(right.relation, marks) if marks else right.relation
    return Join(numbered, rows, "LEFT", e.conjunction(right.conditions) if right.conditions else e.true())


def _refers_outwards(expression: Expression) -> bool:
    """Whether an expression refers to a query around its own."""
    return any(isinstance(part, FieldReference) and part.outer for part in subexpressions(expression))


def _of_joined(
    e: CallBuilder, measure: AggregateFunction, joined: Relation, before: int, belongs: Expression
) -> AggregateFunction:
    """A measure of the rows that were joined, whose columns are behind others, and may be null."""

    def change(part: Expression) -> Expression | None:
        if not isinstance(part, FieldReference) or part.parameter is not None:
            return None
        return FieldReference(before + part.ordinal, joined.types[before + part.ordinal], part.path)

    moved = measure.with_expressions([_only_if(e, belongs, rewritten(each, change)) for each in measure.expressions()])
    filter = belongs if moved.filter is None else e.and_(belongs, moved.filter)
    return of_arguments(e, moved, moved.arguments, filter)


def _only_if(e: CallBuilder, condition: Expression, value: Expression) -> Expression:
    """A value that may raise, evaluated only where a condition holds, else null."""
    return e.if_then(condition, value, e.null(value.type)) if value.raises else value
