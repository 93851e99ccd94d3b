"""Computes once what a relation's expressions use several times: as a column of a project below the relation.

What may raise is computed ahead only where one of its uses is evaluated for every row: elsewhere, a condition may keep
it from being evaluated. No struct that may raise is, since not every engine has a null in its place. What depends on the
parameters of a lambda, or on the rows outside a subquery, stays where it is, and so does what a join's condition uses.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import types
from .evaluation import always_evaluated
from .expression import Expression, FieldReference, Lambda, Shared
from .relation import Project, Relation
from .traversal import rewritten, subexpressions, transformed


def share(root: Relation) -> Relation:
    """The relation, with what is shared in its expressions and in those below it computed once."""
    return transformed(root, _shared_once)


def _shared_once(relation: Relation) -> Relation:
    if len(relation.inputs) != 1 or not relation.expressions():
        return relation
    levels = _levels(relation)
    return _bound(relation, levels) if levels else relation


def _bound(relation: Relation, levels: list[list[Shared]]) -> Relation:
    """The relation over projects that compute the shared values, a project for each level."""
    input = relation.inputs[0]
    columns: dict[int, Expression] = {}
    for level in levels:
        start = len(input.types)
        input = Project(input, [_replaced(shared.value, columns) for shared in level])
        for ordinal, shared in enumerate(level, start):
            columns[id(shared)] = FieldReference(ordinal, shared.type)
    return relation.over((input,), [_replaced(expression, columns) for expression in relation.expressions()])


def _levels(relation: Relation) -> list[list[Shared]]:
    """The shared values to compute: first those that need no other, then those that need these, and so on."""
    uses: dict[int, int] = {}
    found: list[Shared] = []
    for root in relation.expressions():
        found.extend(_occurrences(root, uses))
    if not found:
        return []
    certain = _evaluated(relation)
    level_of: dict[int, int] = {}
    levels: list[list[Shared]] = []
    for shared in found:
        if uses[id(shared)] < 2 or not _movable(shared):
            continue
        if shared.raises and (id(shared) not in certain or types.holds(shared.type, ("struct",))):
            continue
        below = [level_of[id(inner)] for inner in subexpressions(shared.value) if id(inner) in level_of]
        level = level_of[id(shared)] = 1 + max(below, default=-1)
        if level == len(levels):
            levels.append([])
        levels[level].append(shared)
    return levels


def _occurrences(root: Expression, uses: dict[int, int]) -> Iterator[Shared]:
    """The shared values in an expression that were not met before, inner ones first; counts how often each is used."""
    stack = [(root, False)]
    while stack:
        expression, done = stack.pop()
        if done:
            yield expression  # type: ignore[misc]
            continue
        if isinstance(expression, Lambda):
            continue
        if isinstance(expression, Shared):
            uses[id(expression)] = uses.get(id(expression), 0) + 1
            if uses[id(expression)] > 1:
                continue
            stack.append((expression, True))
        stack.extend((child, False) for child in reversed(expression.children()))


def _evaluated(relation: Relation) -> set[int]:
    """The ids of the expressions that are evaluated for every row, whatever the values are."""
    seen: set[int] = set()
    stack = list(relation.evaluated())
    while stack:
        expression = stack.pop()
        if id(expression) not in seen:
            seen.add(id(expression))
            stack.extend(always_evaluated(expression))
    return seen


def _movable(shared: Shared) -> bool:
    references = (part for part in subexpressions(shared.value) if isinstance(part, FieldReference))
    return not any(part.outer or part.parameter is not None for part in references)


def _replaced(root: Expression, columns: dict[int, Expression]) -> Expression:
    """The expression with the columns that are computed already in the place of shared values."""
    return rewritten(root, lambda expression: columns.get(id(expression)))
