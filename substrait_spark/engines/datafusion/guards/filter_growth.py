"""`grows_filters`: keeps filters from growing, which DataFusion moves below projections.

    EXPLAIN SELECT 1 FROM (SELECT b, x + 1 AS y FROM (VALUES (1, true)) t(x, b))
    WHERE CASE WHEN b THEN y ELSE -y END > 0   -- a filter that adds twice

There a filter has all that the projections compute written out in it, as often as it uses that: over some projects in a
chain, it takes longer to evaluate than anyone waits. No filter passes a limit, so here one that limits nothing is below.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra.expression import Expression, FieldReference
from ....algebra.relation import (
    LEFT_ONLY,
    Aggregate,
    Cross,
    Fetch,
    Filter,
    Generate,
    Join,
    Project,
    Relation,
    Set,
    Sort,
)
from ....algebra.traversal import inputs_first, relations_below, subexpressions
from ....lowering.builder import LoweringBuilder
from .column_names import completed, text_lengths

LONGEST = 5000
"""How many operands a filter may have, when all projections below are written out in it."""

ALL = 2**63 - 1
"""As many rows as a limit can say."""


def bounded(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with limits below the filters in it that would grow long."""
    done: dict[Relation, tuple[Relation, list[int]]] = {}
    for relation in inputs_first(root):
        done[relation] = _bounded(relation, [done[input] for input in relation.inputs])
    return done[root][0]


def _bounded(relation: Relation, inputs: Sequence[tuple[Relation, list[int]]]) -> tuple[Relation, list[int]]:
    """The relation, and how long each column is when all projections below are written out."""
    below = [lengths for _, lengths in inputs]
    if isinstance(relation, Filter) and _grows(relation, below[0]) and _can_limit(relation):
        relation = relation.with_inputs((Fetch(inputs[0][0], 0, ALL),))
        below = [[1] * len(below[0])]
    elif any(new is not old for (new, _), old in zip(inputs, relation.inputs, strict=True)):
        relation = relation.with_inputs(tuple([input for input, _ in inputs]))
    own = _own_lengths(relation, below)
    return relation, own if relation.emit is None else [own[n] for n in relation.emit]


def _grows(relation: Filter, columns: Sequence[int]) -> bool:
    (written,) = text_lengths([relation.condition], [1] * len(columns))
    (grown,) = text_lengths([relation.condition], columns)
    return grown > max(LONGEST, 2 * written)


def _can_limit(relation: Filter) -> bool:
    """Whether a limit changes no rows below a filter: it would be taken for one of a sort, and of one outer row."""
    return not any(
        isinstance(below, Sort) or any(map(_is_correlated, below.expressions())) for below in relations_below(relation)
    )


def _is_correlated(expression: Expression) -> bool:
    return any(isinstance(part, FieldReference) and part.outer for part in subexpressions(expression))


def _own_lengths(relation: Relation, below: list[list[int]]) -> list[int]:
    """The lengths of a relation's own columns, before it picks some of them."""
    if isinstance(relation, Project):
        return below[0] + text_lengths(relation.computed, below[0])
    if isinstance(relation, Aggregate):
        known = text_lengths(relation.groupings, below[0])
    elif isinstance(relation, Set):
        known = [max(lengths) for lengths in zip(*below, strict=True)]
    elif isinstance(relation, Join) and relation.join_type in LEFT_ONLY:
        known = below[0]
    elif isinstance(relation, Filter | Sort | Generate | Join | Cross):
        known = [length for part in below for length in part]
    else:
        known = []
    return completed(relation, known)
