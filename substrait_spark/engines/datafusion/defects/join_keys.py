"""Rewrites those equalities in join conditions that DataFusion gets wrong as keys of its hash tables.

`keys_of_one_side`: those of two columns of one input too, which then is an error.

`one_null_equality`: inner joins in a chain become one, in which nulls equal each other as keys of all, or of none.

    WITH t AS (SELECT NULL::int AS x)
    SELECT count(*) FROM t a JOIN t b ON a.x = b.x JOIN t c ON b.x IS NOT DISTINCT FROM c.x   -- 1, not 0

`keys_found_below`: a column that an equality names first is looked for in the left input, and in what that is computed from, before the
right one. So a column of the right input that stands first may be found by its name below the left one, which then is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_

from ....algebra import types
from ....algebra.expression import Expression, FieldReference, Literal, ScalarFunction
from ....algebra.join_columns import with_right_side_moved
from ....algebra.relation import LEFT_ONLY, Join, Relation
from ....algebra.traversal import columns
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Joined
from .neutral_values import NEUTRAL

NULL_SAFE = "is_not_distinct_from"
EQUALITIES = ("equal", NULL_SAFE)


def with_filters_of_one_side(e: LoweringBuilder, join: Join) -> Relation:
    """A join whose equalities of columns of one side are no keys."""
    width = len(join.inputs[0].types)
    return _with_conditions(e, join, lambda each: e.not_(e.not_(each)) if _is_of_one_side(each, width) else each)


def with_one_equality(e: LoweringBuilder, join: Join) -> Relation:
    """A join whose null-safe equalities have keys that are equal by equality alone."""
    return _with_conditions(e, join, lambda each: _by_equality(e, *each.children()) if _is_null_safe(each) else each)


def with_left_side_first(e: LoweringBuilder, join: Join) -> Relation:
    """A join whose equalities of columns of both inputs have the column of the left one first."""
    width = len(join.inputs[0].types)

    def changed(condition: ScalarFunction) -> Expression:
        right_first = _are_of_right(condition, width) == (True, False)
        return condition.with_children(condition.children()[::-1]) if right_first else condition

    return _with_conditions(e, join, changed)


def _with_conditions(e: LoweringBuilder, join: Join, change: Callable[[ScalarFunction], Expression]) -> Relation:
    """A join with its condition's parts in another form; the join itself where they stay."""

    def changed(condition: Expression) -> Expression:
        if not isinstance(condition, ScalarFunction):
            return condition
        if condition.declaration.name != "and":
            return change(condition)
        operands = condition.children()
        parts = [changed(operand) for operand in operands]
        return condition if all(map(is_, parts, operands)) else e.and_(*parts)

    left, right = join.inputs
    condition = changed(join.condition)
    return join if condition is join.condition else Join(left, right, join.join_type, condition)


def _is_of_one_side(condition: ScalarFunction, width: int) -> bool:
    """Whether a condition equates two columns of the same side."""
    return _are_of_right(condition, width) in ((False, False), (True, True))


def _are_of_right(condition: ScalarFunction, width: int) -> tuple[bool, ...]:
    """Whether each of the two columns that a condition equates is the right input's; nothing for any other condition."""
    equated = [operand for operand in condition.children() if isinstance(operand, FieldReference)]
    if condition.declaration.name not in EQUALITIES or len(equated) < 2:
        return ()
    return tuple(column.ordinal >= width for column in equated)


def _is_null_safe(condition: ScalarFunction) -> bool:
    return condition.declaration.name == NULL_SAFE and not any(isinstance(o, Literal) for o in condition.children())


def _by_equality(e: LoweringBuilder, left: Expression, right: Expression) -> Expression:
    """A null-safe equality, whose keys are equal by equality alone."""
    if not (left.type.nullable and right.type.nullable):
        return e.equal(left, right)
    alike = e.equal(e.is_null(left), e.is_null(right))
    if left.type.kind not in NEUTRAL:
        return e.and_(alike, e.coalesce(e.equal(left, right), e.is_null(left)))
    value = Literal(NEUTRAL[left.type.kind], types.required(left.type))
    return e.and_(e.equal(e.coalesce(left, value), e.coalesce(right, value)), alike)


def with_columns(e: LoweringBuilder, form: Joined) -> Relation | Joined:
    """A join of inputs that have a column that nobody reads, where they have none: DataFusion joins nothing else."""
    left, right, join_type, conditions = form
    if left.types and right.types:
        return form
    first, second = (input if input.types else columns(input, [e.true()]) for input in (left, right))
    added = len(first.types) - len(left.types)
    shifted = [with_right_side_moved(condition, len(left.types), added) for condition in conditions]
    made: Relation = e.over(first, second).rewritten(Joined(first, second, join_type, shifted))
    kept = list(range(len(left.types)))
    if join_type in LEFT_ONLY:
        return made.select([*kept, *range(len(first.types), len(made.types))])
    return made.select([*kept, *(len(first.types) + n for n in range(len(right.types)))])
