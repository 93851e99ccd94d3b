"""Defects of keys that are computed where rows are sorted. Three of four are mended by columns: keys are computed below.

`ranges_of_unknowns`: DataFusion derives of a comparison or a negation in which range its value lies, and fails where it
knows no range of an operand, as of most functions' values. It fails at a function that isn't defined for all numbers, too,
where an operand may be any. It then doesn't see that its own sort has the order it needs.

    SELECT DISTINCT x FROM (VALUES (1), (2)) t(x) ORDER BY abs(x) > 1   -- an error: SanityCheckPlan
    SELECT DISTINCT x FROM (VALUES (1.0), (2.0)) t(x) ORDER BY sqrt(x)   -- an error: SanityCheckPlan

`equals_in_keys`: where a filter or a join says that two expressions are equal, DataFusion puts one in the place of the other in
keys as well, of literals the expression that is equal to them. Then it doesn't see the order of its own sort either, or it
sorts by another key than it groups by, since -0.0 equals 0.0, and x + -0.0 may be another zero than x + 0.0.

    SELECT count(*) OVER (PARTITION BY x + 1, x), count(*) OVER (ORDER BY y) FROM (VALUES (1, 2)) t(x, y) WHERE y = 1   -- Assertion failed

`keys_named_below`: where a plan sorts directly over a filter or a sort, a key that is an expression of that one as well
is taken for a column that it had computed.

    A sort in a plan by x + 1, over a sort by x + 1   -- an error: No field named "x + Int64(1)"

`keys_before_filters`: DataFusion sorts for an aggregate before it filters.

    SELECT array_agg(x ORDER BY 1 / x) FILTER (WHERE x <> 0) FROM (VALUES (0), (1)) t(x)   -- Divide by zero error
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra.expression import AggregateFunction, Expression, Literal, WindowFunction
from ....algebra.feature import AGGREGATE
from ....algebra.relation import Aggregate, Project, Relation, Sort
from ....algebra.traversal import is_column, transformed
from ....lowering.builder import LoweringBuilder
from ....lowering.general.computed_keys import over_columns


def keys_of_order(relation: Relation) -> Sequence[Expression]:
    """What the input of a relation is to be sorted by."""
    if isinstance(relation, Sort):
        return relation.expressions()
    if isinstance(relation, Aggregate):
        sorts = [sort.expression for measure in relation.measures for sort in measure.sorts]
        return [*relation.groupings, *sorts] if sorts else ()
    if isinstance(relation, Project):
        windows = [each for each in relation.computed if isinstance(each, WindowFunction)]
        return [key for window in windows for key in (*window.partition, *(sort.expression for sort in window.sorts))]
    return ()


def computed_below(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with what it sorts by computed below, where it is no column."""
    return transformed(
        root,
        lambda relation: over_columns(relation, _computed_keys(relation)),
        lambda relation: bool(_computed_keys(relation)),
    )


def _computed_keys(relation: Relation) -> list[Expression]:
    return [key for key in keys_of_order(relation) if not (is_column(key) or isinstance(key, Literal))]


def without_unfiltered_keys(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with keys of measures that may raise computed where the measure's filter holds."""

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, Aggregate) or not _has_unfiltered_keys(relation):
            return relation
        parts = [part for measure in relation.measures for part in _filtered(e, measure)]
        return relation.over(relation.inputs, [*relation.groupings, *parts])

    def concerned(relation: Relation) -> bool:
        return isinstance(relation, Aggregate) and _has_unfiltered_keys(relation)

    return transformed(root, rule, concerned, AGGREGATE)


def _has_unfiltered_keys(relation: Aggregate) -> bool:
    """Whether there is a key that is to be computed where a filter holds.

    Several lists need one order in DataFusion, and filters of their own would give each another.
    """
    ordered = [each for each in relation.measures if each.sorts]
    return len(ordered) == 1 and _is_unfiltered(ordered[0])


def _is_unfiltered(measure: AggregateFunction) -> bool:
    """Whether a key may raise for rows that a measure leaves out. One of distinct values must stay as its argument is."""
    filtered = measure.filter is not None and not measure.distinct
    return filtered and any(sort.expression.raises for sort in measure.sorts)


def _filtered(e: LoweringBuilder, measure: AggregateFunction) -> Sequence[Expression]:
    """The expressions of a measure, with its keys."""
    parts = list(measure.expressions())
    if measure.filter is None or not _is_unfiltered(measure):
        return parts
    first = len(parts) - 1 - len(measure.sorts)  # the filter comes last
    for n, sort in enumerate(measure.sorts, first):
        if sort.expression.raises:
            parts[n] = e.if_then(measure.filter, sort.expression, e.null(sort.expression.type))
    return parts
