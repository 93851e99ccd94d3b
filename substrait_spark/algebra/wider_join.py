"""Joins over inputs that have more columns than before, behind their own."""

from __future__ import annotations

from .expression import Expression, FieldReference
from .relation import LEFT_ONLY, Join, Relation
from .traversal import rewritten


def with_right_side_moved(condition: Expression, width: int, by: int) -> Expression:
    """A condition whose columns from `width` on are so many further to the right."""
    return rewritten(condition, lambda part: right_side_moved(part, width, by)) if by else condition


def right_side_moved(part: Expression, width: int, by: int) -> Expression | None:
    """A column from `width` on as the one that is so many further to the right; None for all else."""
    if isinstance(part, FieldReference) and not part.outer and part.parameter is None and part.ordinal >= width:
        return FieldReference(part.ordinal + by, part.type, part.path)
    return None


def with_columns_of(join: Join, made: Relation, left: Relation) -> Relation:
    """What was made of a join, over a left input with more columns, with just the columns that the join had."""
    width, right = len(join.inputs[0].types), len(join.inputs[1].types)
    own = [*range(width), *range(len(left.types), len(left.types) + right)]
    if join.join_type in LEFT_ONLY:
        own = [*range(width), *range(len(left.types), len(made.types))]
    return made.select(own if join.emit is None else [own[n] for n in join.emit])
