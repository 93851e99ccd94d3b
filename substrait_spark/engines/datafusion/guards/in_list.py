"""IN lists. `forgets_nulls`: DataFusion takes the AND of two lists without a common option for false, even of a null.

    SELECT x IN (1) AND x IN (2) FROM (VALUES (NULL::int)) t(x)   -- false, not NULL

`literal_options`: it takes an option for a constant, though a CASE computes it for each row.

    SELECT 1 IN (2, CASE x WHEN 1 THEN 1 END) FROM (VALUES (1)) t(x)   -- NULL, not true
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ....algebra.expression import Expression, Literal, ScalarFunction, SingularOrList

if TYPE_CHECKING:
    from ..builder import DataFusionBuilder


def or_list(e: DataFusionBuilder, value: Expression, options: Sequence[Expression]) -> Expression:
    """Whether a value is one of several: lists of the options that are literals, and equalities with the others."""
    needle, *others = e.alike_inside([e.key(value), *e.alike([e.key(option) for option in options])])
    if all(map(_is_literal, others)) or not e.has_defect("literal_options"):
        return SingularOrList(needle, tuple(others))
    needle = e.share(needle)
    parts: list[Expression] = []
    for are_literals, group in groupby(others, key=_is_literal):
        some = tuple(group)
        parts += [SingularOrList(needle, some)] if are_literals else [e.equal(needle, option) for option in some]
    return e.connected("or", parts)


def _is_literal(expression: Expression) -> bool:
    return isinstance(expression, Literal)


def with_lists_apart(e: DataFusionBuilder, operands: Sequence[Expression]) -> Sequence[Expression]:
    """The operands of a connective, of which all IN lists but the first are shielded from the optimizer."""
    first = next((operand for operand in operands if _is_list(operand)), None)
    return [
        e.shielded_from_optimizer(operand) if operand is not first and _is_list(operand) else operand
        for operand in operands
    ]


def _is_list(expression: Expression) -> bool:
    """Whether an engine may see an IN list in an expression: one, or several comparisons with constants, or their negation."""
    if _is_equality(_negated(expression)):
        return False
    stack = [expression]
    while stack:
        part = _negated(stack.pop())
        if isinstance(part, ScalarFunction) and part.declaration.name in ("and", "or"):
            stack.extend(part.children())
        elif not isinstance(part, SingularOrList) and not _is_equality(part):
            return False
    return True


def _negated(expression: Expression) -> Expression:
    """What is negated; the expression itself where it is no negation."""
    while isinstance(expression, ScalarFunction) and expression.declaration.name == "not":
        (expression,) = expression.children()
    return expression


def _is_equality(expression: Expression) -> bool:
    """Whether an expression is an equality with a constant."""
    return (
        isinstance(expression, ScalarFunction)
        and expression.declaration.name == "equal"
        and any(isinstance(operand, Literal) for operand in expression.children())
    )
