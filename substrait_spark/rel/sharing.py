"""Computes once what a relation's expressions use several times: as a column of a project below the relation.

What may raise is computed ahead only where one of its uses is evaluated for every row: elsewhere, a condition may keep
it from being evaluated; and no struct that may raise is, since not every engine has a null in its place. What depends on the parameters of a lambda, or on the rows outside a subquery, stays where it is, and so does what a join's condition
uses.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..algebra import types
from ..algebra.expression import Expression, FieldReference, Lambda, Shared
from ..algebra.relation import Aggregate, Expand, Filter, Generate, Project, Relation, Sort, Window
from .evaluation_order import always_evaluated, rebuilt

BINDABLE = (Aggregate, Expand, Filter, Generate, Project, Sort, Window)


def share(relation: Relation) -> Relation:
    """The relation, with what is shared in its expressions and in those below it computed once."""
    inputs = tuple([share(input) for input in relation.inputs])
    if any(new is not old for new, old in zip(inputs, relation.inputs, strict=True)):
        relation = relation.with_inputs(inputs)
    if not isinstance(relation, BINDABLE):
        return relation
    levels = _levels(relation)
    return _bound(relation, levels) if levels else relation


def _bound(relation: Relation, levels: list[list[Shared]]) -> Relation:
    """The relation over projects that compute the shared values, a project for each level."""
    input = relation.inputs[0]
    width = len(input.types)
    columns: dict[int, Expression] = {}
    for level in levels:
        start = len(input.types)
        input = Project(input, [_replaced(shared.value, columns) for shared in level])
        for ordinal, shared in enumerate(level, start):
            columns[id(shared)] = FieldReference(ordinal, shared.type)
    above = rebuilt(relation, input, lambda expression: _replaced(expression, columns))
    added = len(input.types) - width
    direct = range(len(relation.types)) if relation.emit is None else relation.emit
    passes_input = isinstance(relation, Generate | Project | Window)
    return above.select([n + added if passes_input and n >= width else n for n in direct])


def _levels(relation: Relation) -> list[list[Shared]]:
    """The shared values to compute: first those that need no other, then those that need these, and so on."""
    uses: dict[int, int] = {}
    found: list[Shared] = []
    roots: list[Expression] = []

    def visit(expression: Expression) -> Expression:
        roots.append(expression)
        return expression

    rebuilt(relation, relation.inputs[0], visit)
    for root in roots:
        found.extend(_occurrences(root, uses))
    certain = _evaluated(relation, roots)
    level_of: dict[int, int] = {}
    levels: list[list[Shared]] = []
    for shared in found:
        if uses[id(shared)] < 2 or not _movable(shared):
            continue
        if shared.raises and (id(shared) not in certain or types.holds(shared.type, ("struct",))):
            continue
        below = [level_of[id(inner)] for inner in inside(shared.value) if id(inner) in level_of]
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


def _evaluated(relation: Relation, roots: list[Expression]) -> set[int]:
    """The ids of the expressions that are evaluated for every row, whatever the values are."""
    if isinstance(relation, Aggregate):  # a measure's filter may drop rows
        roots = list(relation.groupings)
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        expression = stack.pop()
        if id(expression) not in seen:
            seen.add(id(expression))
            stack.extend(always_evaluated(expression))
    return seen


def inside(root: Expression) -> Iterator[Expression]:
    """The expressions in an expression, each once."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        expression = stack.pop()
        if id(expression) not in seen:
            seen.add(id(expression))
            yield expression
            stack.extend(expression.children())


def _movable(shared: Shared) -> bool:
    references = (part for part in inside(shared.value) if isinstance(part, FieldReference))
    return not any(part.outer or part.parameter is not None for part in references)


def _replaced(root: Expression, columns: dict[int, Expression]) -> Expression:
    """The expression with the columns that are computed already in the place of shared values."""
    done: dict[int, Expression] = {}
    stack = [root]
    while stack:
        expression = stack[-1]
        if id(expression) in columns:
            done[id(expression)] = columns[id(expression)]
        pending = [] if id(expression) in done else [c for c in expression.children() if id(c) not in done]
        if pending:
            stack.extend(pending)
            continue
        stack.pop()
        if id(expression) not in done:
            children = expression.children()
            new = [done[id(child)] for child in children]
            same = all(a is b for a, b in zip(new, children, strict=True))
            done[id(expression)] = expression if same else expression.with_children(new)
    return done[id(root)]
