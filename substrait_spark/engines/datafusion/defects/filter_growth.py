"""`grows_filters`: DataFusion moves a filter below projections, where it grows. This keeps it from that.

    EXPLAIN SELECT 1 FROM (SELECT b, x + 1 AS y FROM (VALUES (1, true)) t(x, b))
    WHERE CASE WHEN b THEN y ELSE -y END > 0   -- a filter that adds twice

Below them, the filter repeats whatever the projections compute, as often as it uses it. Over some projects in a chain, it
takes longer to evaluate than anyone waits. DataFusion moves no filter below a limit, so a limit that no rows reach is put
below a filter that would grow.

A sort by such columns with a limit above it, a join by them, and their least and greatest values make filters while they run, of
the rows that they have met, and these are moved below the projections likewise, past limits too. They stop at a cross join.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....algebra.expression import Expression
from ....algebra.feature import OUTER_COLUMN
from ....algebra.relation import ALL_ROWS, Aggregate, Fetch, Filter, Join, Project, Relation, Set, Sort
from ....algebra.subqueries import is_total
from ....algebra.traversal import of_columns, relations_below, transformed
from ....lowering.builder import LoweringBuilder
from .column_names import longest_text, text_lengths
from .one_row import with_one_row

LARGEST_FILTER = 5000
"""How many operands a filter may have, when all projections below are written out in it."""

LARGEST_WHILE_RUNNING = 500
"""The same for those that are made while it runs. They are written out anew each time that what they are made of changes."""


def limit_filter_growth(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with limits below the filters in it that would grow long."""
    filters = [relation for relation in relations_below(root) if _filters(relation) or isinstance(relation, Sort)]
    written = max([sum([each.size for each in relation.expressions()]) for relation in filters], default=0)
    if written * longest_text(e, root) <= LARGEST_WHILE_RUNNING:
        return root
    known: dict[Relation, list[int]] = {}

    def rule(relation: Relation) -> Relation:
        if isinstance(relation, Fetch):
            return _over_sort(relation, limited)
        return limited(relation) if _filters(relation) else relation

    def limited(relation: Relation) -> Relation:
        columns = [length for input in relation.inputs for length in _lengths(input, known)]
        if not _grows(relation, columns) or any(map(_is_correlated, relation.expressions())):
            return relation
        inputs = [_kept_from(relation, input) if can_limit(input) else input for input in relation.inputs]
        return relation.with_inputs(tuple(inputs))

    return transformed(root, rule)


def _kept_from(relation: Relation, input: Relation) -> Relation:
    """An input below which DataFusion doesn't move the filter that a relation is, or those that it makes while it runs."""
    return Fetch(input if isinstance(relation, Filter) else with_one_row(input), 0, ALL_ROWS)


def _over_sort(fetch: Fetch, limited: Callable[[Relation], Relation]) -> Relation:
    """A limit, with what becomes of the sort below it: the two are one for DataFusion, across projections too."""
    above: list[Relation] = [fetch]
    while isinstance(above[-1].inputs[0], Project):
        above.append(above[-1].inputs[0])
    made = above[-1].inputs[0]
    if not isinstance(made, Sort):
        return fetch
    made = limited(made)
    for relation in reversed(above):
        made = relation.with_inputs((made,))
    return made


def _filters(relation: Relation) -> bool:
    """Whether a relation is a filter, or makes one while it runs as joins do; sorts don't count."""
    return isinstance(relation, Filter | Join) or is_total(relation)


def _lengths(root: Relation, known: dict[Relation, list[int]]) -> list[int]:
    """How long each column is when all projections below are written out; `known` of relations met before."""
    return of_columns(root, _own_lengths, lambda relation: 1, known)


def _grows(relation: Relation, columns: Sequence[int]) -> bool:
    """Whether a filter, or those that a relation makes while it runs, would grow long; `columns`: how long each column of its inputs is."""
    if max(columns, default=1) == 1:
        return False
    expressions = relation.expressions()
    written = sum(text_lengths(expressions, [1] * len(columns)))
    grown = sum(text_lengths(expressions, columns))
    return grown > max(LARGEST_FILTER if isinstance(relation, Filter) else LARGEST_WHILE_RUNNING, 2 * written)


def can_limit(relation: Relation) -> bool:
    """Whether a limit on or in a relation changes nothing: DataFusion merges it into a sort, and in a correlated subquery
    takes it for a limit for each outer row.
    """
    return not any(
        isinstance(below, Sort) or any(map(_is_correlated, below.expressions())) for below in relations_below(relation)
    )


def _is_correlated(expression: Expression) -> bool:
    return bool(expression.features & OUTER_COLUMN)


def _own_lengths(relation: Relation, below: list[list[int]]) -> list[int]:
    """The lengths of a relation's own columns, before it picks some of them, but for those that are new and short."""
    return LENGTHS.get(type(relation), _passed_lengths)(relation, below)


def _passed_lengths(relation: Relation, below: list[list[int]]) -> list[int]:
    return relation.passed(below)


def _aggregate_lengths(relation: Aggregate, below: list[list[int]]) -> list[int]:
    return text_lengths(relation.groupings, below[0])


def _fetch_lengths(relation: Fetch, below: list[list[int]]) -> list[int]:
    return []  # no filter is moved below a limit


def _project_lengths(relation: Project, below: list[list[int]]) -> list[int]:
    return below[0] + text_lengths(relation.computed, below[0])


def _set_lengths(relation: Set, below: list[list[int]]) -> list[int]:
    return [max(lengths) for lengths in zip(*below, strict=True)]


LENGTHS: Mapping[type[Relation], Callable[[Any, list[list[int]]], list[int]]] = {
    Aggregate: _aggregate_lengths,
    Fetch: _fetch_lengths,
    Project: _project_lengths,
    Set: _set_lengths,
}
"""Relations that a filter is moved below otherwise than by the columns that they pass on."""
