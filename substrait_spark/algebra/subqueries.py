"""Questions about the relations of subqueries: whether one has exactly one row, and whether it is correlated."""

from __future__ import annotations

from .expression import FieldReference
from .relation import Aggregate, Project, Relation, VirtualTable
from .traversal import relations_below, subexpressions


def yields_one_row(relation: Relation) -> bool:
    """Whether a relation has exactly one row, whatever its input."""
    while isinstance(relation, Project):
        (relation,) = relation.inputs
    if isinstance(relation, VirtualTable):
        return len(relation.rows) == 1
    return isinstance(relation, Aggregate) and not relation.groupings and len(relation.sets) == 1


def is_correlated(subquery: Relation) -> bool:
    """Whether a subquery refers to columns outside of it, or of a subquery in it."""
    return any(
        isinstance(part, FieldReference) and part.outer
        for relation in relations_below(subquery, subqueries=True)
        for expression in relation.expressions()
        for part in subexpressions(expression)
    )
