"""Whether a relation gives the same rows each time, so that a form may have it several times."""

from __future__ import annotations

from ...algebra.expression import IfThen, ScalarFunction
from ...algebra.feature import NOT_DETERMINISTIC
from ...algebra.relation import Fetch, Relation, Sample
from ...algebra.traversal import relations_below


def is_repeatable(root: Relation) -> bool:
    """Whether nothing in a relation is left to chance: which rows a limit takes, a sample, a random number."""
    return not any(
        isinstance(relation, Fetch | Sample) or _draws(relation) for relation in relations_below(root, subqueries=True)
    )


def _draws(relation: Relation) -> bool:
    """Whether an expression of a relation gives another value each time."""
    left = [*relation.expressions()] if relation.own_features & NOT_DETERMINISTIC else []
    while left:
        expression = left.pop()
        if not expression.features & NOT_DETERMINISTIC:
            continue
        if isinstance(expression, IfThen) and _is_one(expression):
            left.append(expression.otherwise)
        elif isinstance(expression, ScalarFunction) and not expression.declaration.deterministic:
            return True
        else:
            left.extend(expression.children())
    return False


def _is_one(choice: IfThen) -> bool:
    """Whether all values of a choice are the same, as where a dialect's conditions only hide one from its engine."""
    return all(value is choice.otherwise for _, value in choice.clauses)
