"""Three defects of keys that are computed where rows are sorted. For two, this computes them below, where they become columns.

`ranges_of_unknowns`: DataFusion derives of a comparison or a negation in which range its value lies, and fails where it
knows no range of an operand, as of most functions' values. It fails at a function that isn't defined for all numbers, too,
where an operand may be any. It then doesn't see that its own sort has the order it needs.

    SELECT DISTINCT x FROM (VALUES (1), (2)) t(x) ORDER BY abs(x) > 1   -- an error: SanityCheckPlan
    SELECT DISTINCT x FROM (VALUES (1.0), (2.0)) t(x) ORDER BY sqrt(x)   -- an error: SanityCheckPlan

`keys_named_below`: where a plan sorts directly over a filter or a sort, a key that is an expression of that one as well
is taken for a column that it had computed.

    A sort in a plan by x + 1, over a sort by x + 1   -- an error: No field named "x + Int64(1)"

`keys_before_filters`: DataFusion sorts for an aggregate before it filters.

    SELECT array_agg(x ORDER BY 1 / x) FILTER (WHERE x <> 0) FROM (VALUES (0), (1)) t(x)   -- Divide by zero error
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....algebra.expression import (
    AggregateFunction,
    Expression,
    FieldReference,
    Literal,
    ScalarFunction,
    WindowFunction,
)
from ....algebra.feature import AGGREGATE
from ....algebra.relation import Aggregate, Filter, Project, Relation, Sort
from ....algebra.traversal import is_column, subexpressions, transformed
from ....lowering.builder import LoweringBuilder
from ....lowering.general.computed_keys import over_columns

RANGED = ("lt", "lte", "gt", "gte", "negate")
"""Functions of whose operands DataFusion needs a range."""

DEFINED_FOR_SOME = ("acos", "acosh", "asin", "atanh", "ln", "log10", "log2", "sqrt")
"""Functions that need an operand within a range of theirs."""


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


def without_unknown_ranges(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with every key computed below that has a call of whose operands DataFusion knows too little."""
    return _with_columns(root, lambda relation: [key for key in keys_of_order(relation) if _has_unknown_range(key)])


def without_repeated_keys(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with the keys of sorts directly over filters and sorts computed below."""

    def repeated(relation: Relation) -> Sequence[Expression]:
        if not isinstance(relation, Sort) or not isinstance(relation.inputs[0], Filter | Sort):
            return ()
        return [key for key in relation.expressions() if not is_column(key)]

    return _with_columns(root, repeated)


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


def _has_unknown_range(key: Expression) -> bool:
    return any(isinstance(part, ScalarFunction) and _needs_a_range(part) for part in subexpressions(key))


def _needs_a_range(call: ScalarFunction) -> bool:
    """Whether DataFusion knows too little of the operands of a call."""
    if call.declaration.name in DEFINED_FOR_SOME:
        return True
    return call.declaration.name in RANGED and not all(
        isinstance(operand, FieldReference | Literal) for operand in call.children()
    )


def _with_columns(root: Relation, keys: Callable[[Relation], Sequence[Expression]]) -> Relation:
    def rule(relation: Relation) -> Relation:
        return over_columns(relation, keys(relation))

    return transformed(root, rule, lambda relation: bool(keys(relation)))
