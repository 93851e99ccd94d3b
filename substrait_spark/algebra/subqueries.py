"""Questions about relations, of subqueries above all: whether one aggregates all rows, has exactly one, or is correlated."""

from __future__ import annotations

from typing import TypeGuard

from .expression import FieldReference
from .relation import Aggregate, Project, Relation, VirtualTable
from .traversal import relations_below, subexpressions


def is_total(relation: Relation) -> TypeGuard[Aggregate]:
    """Whether a relation aggregates all rows, without keys."""
    return isinstance(relation, Aggregate) and not relation.groupings


def yields_one_row(relation: Relation) -> bool:
    """Whether a relation has exactly one row, whatever its input."""
    while isinstance(relation, Project):
        (relation,) = relation.inputs
    if isinstance(relation, VirtualTable):
        return len(relation.rows) == 1
    return is_total(relation) and len(relation.sets) == 1


def is_correlated(subquery: Relation) -> bool:
    """Whether a subquery refers to columns outside of it, or of a subquery in it."""
    return any(
        isinstance(part, FieldReference) and part.outer
        for relation in relations_below(subquery, subqueries=True)
        for expression in relation.expressions()
        for part in subexpressions(expression)
    )
