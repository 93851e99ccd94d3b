"""Columns of joins whose inputs have more of them than before, behind their own, or stand in another order."""

from __future__ import annotations

from .expression import Expression, FieldReference
from .relation import LEFT_ONLY, Join, Relation
from .traversal import is_own, ordinals, rewritten, with_columns_at

LEFT, RIGHT = frozenset({False}), frozenset({True})
"""Which inputs an expression is over: the right one or not."""


def sides_of(expression: Expression, width: int) -> frozenset[bool]:
    """The inputs of a join whose columns an expression uses, where the left one has so many columns."""
    return frozenset(ordinal >= width for ordinal in ordinals(expression))


def with_right_side_moved(condition: Expression, width: int, by: int) -> Expression:
    """A condition whose columns from `width` on are so many further to the right."""
    return rewritten(condition, lambda part: right_side_moved(part, width, by)) if by else condition


def right_side_moved(part: Expression, width: int, by: int) -> Expression | None:
    """A column from `width` on as the one that is so many further to the right; None for all else."""
    if is_own(part) and part.ordinal >= width:
        return FieldReference(part.ordinal + by, part.type, part.path)
    return None


def of_exchanged(condition: Expression, lefts: int, rights: int) -> Expression:
    """The condition of a join of inputs with so many columns as one of the join with the right input first."""
    return with_columns_at(condition, lambda ordinal: ordinal + rights if ordinal < lefts else ordinal - lefts)


def with_columns_of(join: Join, made: Relation, left: Relation) -> Relation:
    """What was made of a join, over a left input with more columns, with just the columns that the join had."""
    width, right = len(join.inputs[0].types), len(join.inputs[1].types)
    own = [*range(width), *range(len(left.types), len(left.types) + right)]
    if join.join_type in LEFT_ONLY:
        own = [*range(width), *range(len(left.types), len(made.types))]
    return made.select(own if join.emit is None else [own[n] for n in join.emit])
