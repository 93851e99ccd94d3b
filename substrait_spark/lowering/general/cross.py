"""Cross products as inner joins on true, or inner joins as filtered cross products, where the dialect has only one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra import types
from ...algebra.expression import Literal
from ...algebra.relation import Cross, Filter, Join, Relation
from ...algebra.traversal import transformed

if TYPE_CHECKING:
    from ..lowering import Lowering


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each Cross as an inner Join, or each inner Join as a Filter above a Cross."""
    has_cross = lowering.dialect.allows_relation("CROSS")
    has_inner = lowering.dialect.allows_relation("JOIN", "join_types", "INNER")
    if has_cross and has_inner:
        return root

    def rule(relation: Relation) -> Relation:
        if isinstance(relation, Cross) and not has_cross:
            left, right = relation.inputs
            made: Relation = Join(left, right, "INNER", Literal(True, types.BOOLEAN))
        elif isinstance(relation, Join) and relation.join_type == "INNER" and has_cross and not has_inner:
            made = Filter(Cross(*relation.inputs), relation.condition)
        else:
            return relation
        return made.emitting_as(relation)

    return transformed(root, rule)
