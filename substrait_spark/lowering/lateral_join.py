"""Lateral joins as joins with what the right side asks of the left one's row as a condition, where the dialect lacks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.builder import CallBuilder
from ..algebra.relation import Join, LateralJoin, Relation
from ..algebra.traversal import transformed
from .correlation import uncorrelated

if TYPE_CHECKING:
    from .lowering import Lowering


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each lateral join that the dialect lacks, and whose right side refers to the left one in filters alone."""
    e = CallBuilder(lowering.traits)

    def is_lacking(relation: Relation) -> bool:
        return isinstance(relation, LateralJoin) and not lowering.dialect.allows_relation(
            relation.NAME, *relation.variant()
        )

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, LateralJoin) or not is_lacking(relation):
            return relation
        left, right = relation.inputs
        found = uncorrelated(e, right, len(left.types))
        if found is None:
            return relation
        condition = e.conjunction([relation.condition, *found.conditions])
        joined: Relation = Join(left, found.relation, relation.join_type, condition)
        joined.place = relation.place
        joined = joined.select(range(len(left.types) + len(right.types)))
        return joined if relation.emit is None else joined.select(relation.emit)

    return transformed(root, rule, is_lacking)
