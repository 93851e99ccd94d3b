"""Cross products as inner joins on true, where the dialect has no CrossRel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Literal
from ..algebra.relation import Cross, Join, Relation
from ..algebra.traversal import transformed

if TYPE_CHECKING:
    from .lowering import Lowering


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each Cross as an inner Join."""
    if lowering.dialect.allows_relation("CROSS"):
        return root

    def rule(relation: Relation) -> Relation:
        if not _is_cross(relation):
            return relation
        left, right = relation.inputs
        join = Join(left, right, "INNER", Literal(True, types.BOOLEAN))
        join.place = relation.place
        return join if relation.emit is None else join.select(relation.emit)

    return transformed(root, rule, _is_cross)


def _is_cross(relation: Relation) -> bool:
    return isinstance(relation, Cross)
