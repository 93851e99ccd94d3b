"""Expand as a union of projects, where the dialect has no ExpandRel."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from ...algebra import types
from ...algebra.expression import Literal
from ...algebra.relation import Expand, Relation, Set
from ...algebra.traversal import columns, transformed

if TYPE_CHECKING:
    from ..lowering import Lowering


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each Expand as the rows of its projections one after the other, each with its number."""
    if lowering.dialect.allows_relation("EXPAND", "field_types", "SWITCHING_FIELD"):
        return root
    return transformed(root, lambda relation: _united(relation) if _is_expand(relation) else relation, _is_expand)


def _is_expand(relation: Relation) -> TypeGuard[Expand]:
    return isinstance(relation, Expand)


def _united(relation: Expand) -> Relation:
    (input,) = relation.inputs
    numbered = relation.emit is None or len(relation.projections[0]) in relation.emit
    branches = []
    for number, projection in enumerate(relation.projections):
        number_column = [Literal(number, types.I32)] if numbered else []
        branches.append(columns(input, [*projection, *number_column]))
    united = branches[0] if len(branches) == 1 else Set(branches, "UNION_ALL")
    return united.emitting_as(relation)
