"""Two defects of keys that are computed where rows are sorted. This computes them below, where they become columns.

`ranges_of_unknowns`: DataFusion derives of a comparison or a negation in which range its value lies, and fails where it
knows no range of an operand, as of most functions' values. It then doesn't see that its own sort has the order it needs.

    SELECT DISTINCT x FROM (VALUES (1), (2)) t(x) ORDER BY abs(x) > 1   -- an error: SanityCheckPlan

`keys_named_below`: where a plan sorts directly over a filter or a sort, a key that is an expression of that one as well
is taken for a column that it had computed.

    A sort in a plan by x + 1, over a sort by x + 1   -- an error: No field named "x + Int64(1)"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....algebra.expression import Expression, FieldReference, Literal, ScalarFunction, WindowFunction
from ....algebra.relation import Aggregate, Filter, Project, Relation, Sort
from ....algebra.traversal import is_column, rewritten, subexpressions, transformed
from ....lowering.builder import LoweringBuilder

RANGED = ("lt", "lte", "gt", "gte", "negate")
"""Functions of whose operands DataFusion needs a range."""


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
    """The relation, with every key computed below that compares or negates a value of which DataFusion knows no range."""
    return _with_columns(root, lambda relation: [key for key in keys_of_order(relation) if _has_unknown_range(key)])


def without_repeated_keys(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with the keys of sorts directly over filters and sorts computed below."""

    def repeated(relation: Relation) -> Sequence[Expression]:
        if not isinstance(relation, Sort) or not isinstance(relation.inputs[0], Filter | Sort):
            return ()
        return [key for key in relation.expressions() if not is_column(key)]

    return _with_columns(root, repeated)


def _has_unknown_range(key: Expression) -> bool:
    return any(
        isinstance(part, ScalarFunction)
        and part.declaration.name in RANGED
        and not all(isinstance(operand, FieldReference | Literal) for operand in part.children())
        for part in subexpressions(key)
    )


def _with_columns(root: Relation, keys: Callable[[Relation], Sequence[Expression]]) -> Relation:
    def rule(relation: Relation) -> Relation:
        found = list(dict.fromkeys(keys(relation)))
        return _over_columns(relation, found) if found else relation

    return transformed(root, rule, lambda relation: bool(keys(relation)))


def _over_columns(relation: Relation, keys: Sequence[Expression]) -> Relation:
    """The relation over an input that has some of its expressions as columns, behind its own."""
    (input,) = relation.inputs
    below = Project(input, keys)
    below.place = relation.place
    numbers = {key: len(input.types) + n for n, key in enumerate(keys)}

    def column(part: Expression) -> Expression | None:
        return FieldReference(numbers[part], part.type) if part in numbers else None

    return relation.over((below,), [rewritten(expression, column) for expression in relation.expressions()])
