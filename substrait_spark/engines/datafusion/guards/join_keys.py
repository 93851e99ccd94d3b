"""Rewrites those equalities in join conditions that DataFusion gets wrong as keys of its hash tables.

`keys_of_one_side`: those of two columns of one input too, which then is an error.

`one_null_equality`: inner joins in a chain become one, in which nulls equal each other as keys of all, or of none.

    WITH t AS (SELECT NULL::int AS x)
    SELECT count(*) FROM t a JOIN t b ON a.x = b.x JOIN t c ON b.x IS NOT DISTINCT FROM c.x   -- 1, not 0
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra import types
from ....algebra.expression import Expression, FieldReference, Literal, ScalarFunction
from ....lowering.builder import LoweringBuilder
from .neutral_values import NEUTRAL

NULL_SAFE = "is_not_distinct_from"
EQUALITIES = ("equal", NULL_SAFE)


def joinable(e: LoweringBuilder, condition: Expression, width: int) -> Expression:
    """The condition of a join in a form that the dialect joins by; `width` is how many columns are on the left."""
    if not isinstance(condition, ScalarFunction):
        return condition
    if condition.declaration.name == "and":
        return e.and_(*(joinable(e, operand, width) for operand in condition.children()))
    if e.has_defect("keys_of_one_side") and _is_of_one_side(condition, width):
        return e.not_(e.not_(condition))
    if e.has_defect("one_null_equality") and _is_null_safe(condition):
        return _by_equality(e, *condition.children())
    return condition


def _is_of_one_side(condition: ScalarFunction, width: int) -> bool:
    """Whether a condition equates two columns of the same side."""
    operands = condition.children()
    sides = {operand.ordinal < width for operand in operands if isinstance(operand, FieldReference)}
    both = all(isinstance(operand, FieldReference) for operand in operands)
    return both and len(sides) == 1 and condition.declaration.name in EQUALITIES


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


def keys_and_filters(given: Sequence[Expression]) -> tuple[Sequence[Expression], Sequence[Expression]]:
    """The conjuncts of an inner join that stay its condition, and those that become a filter above it.

    Keys stay, and so does what stands before the first conjunct that may raise. Spark evaluates the others only for pairs
    of rows that match, which a filter above the join does too. A join keeps them all where nothing else would be left.
    """
    first = next((n for n, each in enumerate(given) if each.raises), len(given))
    early = [*given[:first], *filter(_is_key, given[first:])]
    late = [each for each in given[first:] if not _is_key(each)]
    return (early, late) if early else (late, [])


def _is_key(condition: Expression) -> bool:
    if not isinstance(condition, ScalarFunction) or condition.declaration.name != "equal":
        return False
    return all(isinstance(side, FieldReference) for side in condition.children())
