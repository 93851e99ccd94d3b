"""Picks columns by projects, for engines that know no `emit` but that of a project which yields just what it computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.expression import FieldReference
from ..algebra.relation import Project, Relation
from ..algebra.traversal import transformed

if TYPE_CHECKING:
    from .lowering import Lowering


def projected(lowering: Lowering, root: Relation) -> Relation:
    """Each relation with all of its own columns, below a Project of those that it emitted; each Project alike."""
    return root if lowering.dialect.abilities.emit else transformed(root, _projected)


def _projected(relation: Relation) -> Relation:
    if relation.emit is None and not isinstance(relation, Project):
        return relation
    computed = relation.computed if isinstance(relation, Project) else ()
    input = relation.inputs[0] if isinstance(relation, Project) else relation.with_all_columns()
    width = len(input.types)
    if isinstance(relation, Project) and tuple(relation.emitted) == tuple(range(width, width + len(computed))):
        return relation
    columns = [FieldReference(n, input.types[n]) if n < width else computed[n - width] for n in relation.emitted]
    return Project(input, columns).select(range(width, width + len(columns)))
