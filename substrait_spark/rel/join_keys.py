"""Conditions of joins, for engines that take equalities in them for keys of hash tables."""

from __future__ import annotations

from ..algebra import types
from ..algebra.expression import Expression, FieldReference, Literal, ScalarFunction
from ..expr.builder import ExpressionBuilder

NULL_SAFE = "is_not_distinct_from"
EQUALITIES = ("equal", NULL_SAFE)

NEUTRAL: dict[str, object] = {
    "boolean": False,
    **dict.fromkeys(("i8", "i16", "i32", "i64", "date", "precision_timestamp", "precision_timestamp_tz", "decimal"), 0),
    **dict.fromkeys(("fp32", "fp64"), 0.0),
    "string": "",
    "binary": b"",
}
"""A value that takes the place of null, of each kind of type whose values can be keys."""


def suited(e: ExpressionBuilder, condition: Expression, width: int) -> Expression:
    """The condition of a join in a form that the dialect joins by; `width` is how many columns are on the left."""
    quirks = e.dialect.quirks
    if not isinstance(condition, ScalarFunction):
        return condition
    if condition.declaration.name == "and":
        return e.and_(*(suited(e, operand, width) for operand in condition.children()))
    if quirks.keys_of_one_side and _is_of_one_side(condition, width):
        return e.not_(e.not_(condition))
    if quirks.one_null_equality and _is_null_safe(condition):
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


def _by_equality(e: ExpressionBuilder, left: Expression, right: Expression) -> Expression:
    """A null-safe equality, whose keys are equal by equality alone."""
    if not (left.type.nullable and right.type.nullable):
        return e.equal(left, right)
    alike = e.equal(e.is_null(left), e.is_null(right))
    if left.type.kind not in NEUTRAL:
        return e.and_(alike, e.coalesce(e.equal(left, right), e.is_null(left)))
    value = Literal(NEUTRAL[left.type.kind], types.required(left.type))
    return e.and_(e.equal(e.coalesce(left, value), e.coalesce(right, value)), alike)
