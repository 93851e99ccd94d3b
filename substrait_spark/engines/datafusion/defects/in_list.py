"""IN lists. `forgets_nulls`: DataFusion takes the AND of two lists without a common option for false, even of a null.

    SELECT x IN (1) AND x IN (2) FROM (VALUES (NULL::int)) t(x)   -- false, not NULL

`literal_options`: it takes an option for a constant, though a CASE computes it for each row.

    SELECT 1 IN (2, CASE x WHEN 1 THEN 1 END) FROM (VALUES (1)) t(x)   -- NULL, not true
"""

from __future__ import annotations

from itertools import groupby

from ....algebra import types
from ....algebra.expression import Expression, Literal, ScalarFunction, SingularOrList
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from . import same_names
from .unwrapped_casts import shielded


def comparable(e: LoweringBuilder, among: SingularOrList) -> Expression:
    """An IN list of values that compare as Spark's do."""
    if not e.dialect.allows_expression("SINGULAR_OR_LIST"):
        return among
    value, *options = among.children()
    values = same_names.together(e, [e.key(value), *e.alike([e.key(option) for option in options])])
    if len({each.type.kind for each in values}) > 1:
        raise NotInDialect("values that are counted compare with each other only")
    alike = e.alike(values) if len({types.required(each.type) for each in values}) > 1 else values
    return SingularOrList(alike[0], tuple(alike[1:]))


def of_literals(e: LoweringBuilder, among: SingularOrList) -> Expression:
    """Lists of the options that are literals, and equalities with the others."""
    value, *others = among.children()
    if all(map(_is_literal, others)):
        return among
    needle = e.share(value)
    parts: list[Expression] = []
    for are_literals, group in groupby(others, key=_is_literal):
        some = tuple(group)
        parts += [SingularOrList(needle, some)] if are_literals else [e.equal(needle, option) for option in some]
    return e.connected("or", parts)


def _is_literal(expression: Expression) -> bool:
    return isinstance(expression, Literal)


def with_lists_apart(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """And, or: all IN lists among the operands but the first are shielded from the optimizer."""
    operands = call.children()
    first = next((operand for operand in operands if _is_list(operand)), None)
    return call.with_children(
        [shielded(e, each) if each is not first and _is_list(each) else each for each in operands]
    )


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
