"""Computes once what a relation's expressions use several times: as a column of a project below the relation.

What may raise is computed ahead only where one of its uses is evaluated for every row: elsewhere, a condition may keep
it from being evaluated. No struct that may raise is, since not every engine has a null in its place. What depends on the
parameters of a lambda, or on the rows outside a subquery, stays where it is. What a join's condition uses of one input is
computed below that input, unless it may raise: there, it would for rows that meet no other.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import types
from .evaluation import always_evaluated
from .expression import Expression, FieldReference, Lambda, Shared
from .feature import OUTER_COLUMN, PARAMETER, SHARED, SUBQUERY
from .join_columns import right_side_moved, with_columns_of
from .relation import Join, Project, Relation
from .traversal import ordinals, rewritten, subexpressions, transformed


def share(root: Relation) -> Relation:
    """The relation, with what is shared in its expressions and in those below it computed once."""
    return transformed(root, _shared_once, feature=SHARED)


def _shared_once(relation: Relation) -> Relation:
    if not relation.own_features & SHARED:
        return relation
    if isinstance(relation, Join):
        return _shared_by_side(relation)
    if len(relation.inputs) != 1:
        return relation
    levels = _levels(relation)
    return _bound(relation, levels) if levels else relation


def _bound(relation: Relation, levels: list[list[Shared]]) -> Relation:
    """The relation over projects that compute the shared values, a project for each level."""
    input, columns = _computed(relation.inputs[0], levels, 0)
    return relation.over((input,), [_replaced(expression, columns) for expression in relation.expressions()])


def _shared_by_side(join: Join) -> Relation:
    """The join over inputs that compute what its condition shares of their columns."""
    width = len(join.inputs[0].types)
    levels = _levels(join)
    by_side = [[[each for each in level if _side(each, width) == side] for level in levels] for side in (0, 1)]
    if not any(level for side in by_side for level in side):
        return join
    left, lefts = _computed(join.inputs[0], by_side[0], 0)
    right, rights = _computed(join.inputs[1], by_side[1], width)
    columns = lefts | {id: FieldReference(len(left.types) + each.ordinal, each.type) for id, each in rights.items()}

    def change(part: Expression) -> Expression | None:
        return columns.get(id(part)) or right_side_moved(part, width, len(left.types) - width)

    made = Join(left, right, join.join_type, rewritten(join.condition, change))
    made.place = join.place
    return with_columns_of(join, made, left)


def _side(shared: Shared, width: int) -> int | None:
    """The input of a join, by its number, whose columns a value needs; None where it can't be computed in one."""
    sides = {n >= width for n in ordinals(shared)}
    return None if len(sides) != 1 or shared.features & SUBQUERY or shared.raises else int(sides.pop())


def _computed(input: Relation, levels: list[list[Shared]], before: int) -> tuple[Relation, dict[int, FieldReference]]:
    """The input with a column for each shared value, and a reference to each column by the value's id.

    The values count the columns of the input from `before` on.
    """
    columns: dict[int, FieldReference] = {}
    for level in filter(None, levels):
        start = len(input.types)
        input = Project(input, [_replaced(shared.value, columns, before) for shared in level])
        for ordinal, shared in enumerate(level, start):
            columns[id(shared)] = FieldReference(ordinal, shared.type)
    return input, columns


def _levels(relation: Relation) -> list[list[Shared]]:
    """The shared values to compute: first those that need no other, then those that need these, and so on."""
    uses: dict[int, int] = {}
    occurrences: list[Shared] = []
    for root in relation.expressions():
        if root.features & SHARED:
            occurrences.extend(_occurrences(root, uses))
    if not occurrences:
        return []
    certain = _evaluated(relation)
    level_of: dict[int, int] = {}
    levels: list[list[Shared]] = []
    for shared in occurrences:
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
    return not shared.features & (OUTER_COLUMN | PARAMETER)


def _replaced(root: Expression, columns: dict[int, FieldReference], before: int = 0) -> Expression:
    """The expression with the columns that are computed already in the place of shared values."""

    def change(part: Expression) -> Expression | None:
        if not before and not part.features & SHARED:
            return part
        return columns.get(id(part)) or (right_side_moved(part, before, -before) if before else None)

    return rewritten(root, change)
