"""Refuses plans that call the same random function at several places, where Spark has one value.

Two calls of Spark's with one seed give the same values where they are evaluated for the same rows; two calls in a plan
need not. So each may be in a plan once: neither written twice by the user, nor by a rule that needs its argument twice.
Each call of a user's own function that a query has gives values of its own, so that such a call may be in a plan once.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from ..errors import Unsupported
from .drawn_columns import is_drawn
from .expression import Literal, ScalarFunction, Subquery
from .feature import NOT_DETERMINISTIC, SUBQUERY
from .references import shared_relations
from .relation import Relation

Call = tuple[str, object]
"""A function's name and its seed, None where it has none; of users' own functions, which call of the query it is."""


class OneCall(NamedTuple):
    """A call of a user's own function, as the query has it."""

    drawn_as: Any


def drawn_twice(root: Relation) -> Unsupported | None:
    """What is wrong with a plan that calls a function which is not deterministic twice with the same seed."""
    return next((_drawn_again(call, times) for call, times in _calls(root).items() if times > 1), None)


def drawn_more_often(lowered: Relation, canonical: Relation) -> Unsupported | None:
    """What is wrong with the lowered form of a plan if it calls such functions more often than the plan itself.

    Where the plan calls none, those of its lowered form are the engine's own, whose values nobody sees.
    """
    wanted, calls = _calls(canonical).total(), _calls(lowered)
    return _drawn_again(*calls.most_common(1)[0]) if 0 < wanted < calls.total() else None


def _drawn_again(call: Call, times: int) -> Unsupported:
    name, seed = call
    if isinstance(seed, OneCall | ScalarFunction):
        return Unsupported(
            f"one call of {name}, which isn't deterministic, would be evaluated at {times} places of the plan, which need not give the "
            "same values",
            "Save this column before the exported part of the query, and read it wherever it is used.",
        )
    return Unsupported(
        f"{name}{f' with the seed {seed}' if isinstance(seed, int) else ''} would be evaluated at {times} places of the "
        "plan, which need not give the same values, as it does in Spark",
        "Give each call a seed of its own, or compute this column before the exported part of the query.",
    )


def _calls(root: Relation) -> Counter[Call]:
    """The calls that give another value each time, as often as they are in the plan.

    A call that several places share counts at each of them, since each evaluates it.
    """
    counts: Counter[Call] = Counter()
    relations = [root, *shared_relations(root)]
    while relations:
        relation = relations.pop()
        relations.extend(relation.inputs)
        stack = [*relation.expressions()] if relation.own_features & (NOT_DETERMINISTIC | SUBQUERY) else []
        while stack:
            expression = stack.pop()
            if not expression.features & (NOT_DETERMINISTIC | SUBQUERY):
                continue
            if isinstance(expression, Subquery):
                relations.append(expression.relation)
            if isinstance(expression, ScalarFunction) and not expression.declaration.deterministic:
                counts[expression.declaration.name, _seed(expression)] += 1
            stack.extend(expression.children())
    return counts


def _seed(call: ScalarFunction) -> object:
    """The seed of a call; of a user's own function, which has none, what the call is in the query, or the call itself."""
    if is_drawn(call):
        return call if call.drawn_as is None else OneCall(call.drawn_as)
    last = call.arguments[-1] if call.arguments else None
    return last.value if isinstance(last, Literal) else None
