"""Refuses plans that would draw a value at random, or number rows, more often than Spark does.

Two calls of Spark's with one seed give the same values where they are evaluated for the same rows; two calls in a plan
need not. So each may be in the plan once: neither written twice by the user, nor by a rule that needs its argument twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..algebra.expression import Expression, Literal, ScalarFunction, Subquery
from ..algebra.relation import Relation
from ..errors import Unsupported

Call = tuple[str, object]
"""A function's name and its seed, None where it has none."""


def require_drawn_once(root: Relation) -> None:
    """Raise `Unsupported` where a plan has a function that is not deterministic twice with the same seed."""
    for (name, seed), times in Counter(_calls(root)).items():
        if times > 1:
            raise Unsupported(
                f"{name}{'' if seed is None else f' with the seed {seed}'} would be evaluated at {times} places of the "
                "plan, which need not give the same values, as it does in Spark",
                "Give each call a seed of its own, or compute this column before the exported part of the query.",
            )


def _calls(root: Relation) -> Iterator[Call]:
    """The calls that give another value each time, as often as they are in the plan."""
    relations: list[Relation] = [root]
    while relations:
        relation = relations.pop()
        relations.extend(relation.inputs)
        stack: list[Expression] = [*relation.expressions()]
        while stack:
            expression = stack.pop()
            if isinstance(expression, Subquery):
                relations.append(expression.relation)
            if isinstance(expression, ScalarFunction) and _draws(expression):
                yield expression.declaration.name, _seed(expression)
            stack.extend(expression.children())


def _draws(call: ScalarFunction) -> bool:
    return not call.declaration.deterministic


def _seed(call: ScalarFunction) -> object:
    last = call.arguments[-1] if call.arguments else None
    return last.value if isinstance(last, Literal) else None
