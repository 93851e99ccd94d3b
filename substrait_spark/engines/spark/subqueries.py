"""Refuses IN subqueries that may be null: Spark computes false there. As a filter's condition they pass, since it drops both.

SELECT 1 IN (SELECT k FROM VALUES (2), (NULL) AS t(k))   -- false, and null is right
"""

from __future__ import annotations

from ...algebra.expression import Expression, InSubquery, Literal, ScalarFunction
from ...algebra.relation import Filter, Relation
from ...errors import Unsupported


def require_known(relation: Relation) -> None:
    """Refuse a relation whose own expressions tell an unknown IN subquery from a false one."""
    condition = relation.condition if isinstance(relation, Filter) else None
    stack = [(each, each is condition) for each in relation.expressions()]
    while stack:
        part, drops_null = stack.pop()
        if isinstance(part, InSubquery) and part.type.nullable and not drops_null:
            raise Unsupported(
                "Spark has false for an IN subquery of which it isn't known whether it is true",
                "Use it as a condition of a filter, or coalesce it to false.",
            )
        stack.extend((child, _drops_null(part, child, drops_null)) for child in part.children())


def _drops_null(parent: Expression, child: Expression, drops_null: bool) -> bool:
    """Whether null counts as false for an operand, if it does for what it is an operand of."""
    if not isinstance(parent, ScalarFunction):
        return False
    name, operands = parent.declaration.name, parent.children()
    if name == "coalesce":
        last = operands[-1]
        return child is operands[0] and len(operands) == 2 and isinstance(last, Literal) and last.value is False
    # Of NOT IN, Spark knows that null is not true.
    return drops_null and (name in ("and", "or") or (name == "not" and isinstance(child, InSubquery)))
