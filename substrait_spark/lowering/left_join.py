"""Left joins as right joins with the inputs exchanged, or the reverse, where the dialect has only one of the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.expression import Expression, FieldReference
from ..algebra.relation import Join, Relation
from ..algebra.traversal import rewritten, transformed

if TYPE_CHECKING:
    from .lowering import Lowering

MIRRORED = {"LEFT": "RIGHT", "RIGHT": "LEFT"}


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each LEFT or RIGHT join that the dialect lacks as the other, over the right input and the left one."""
    dialect = lowering.dialect
    lacking = [
        join_type
        for join_type, other in MIRRORED.items()
        if not dialect.allows_relation("JOIN", "join_types", join_type)
        and dialect.allows_relation("JOIN", "join_types", other)
    ]
    if not lacking:
        return root

    def rule(relation: Relation) -> Relation:
        return _mirrored(relation) if isinstance(relation, Join) and relation.join_type in lacking else relation

    return transformed(root, rule)


def _mirrored(join: Join) -> Relation:
    left, right = join.inputs
    first, second = len(left.types), len(right.types)

    def change(part: Expression) -> Expression | None:
        if not isinstance(part, FieldReference) or part.outer or part.parameter is not None:
            return None
        ordinal = part.ordinal + second if part.ordinal < first else part.ordinal - first
        return FieldReference(ordinal, part.type, part.path)

    made = Join(right, left, MIRRORED[join.join_type], rewritten(join.condition, change))
    made.place = join.place
    own = made.select([*range(second, second + first), *range(second)])
    return own if join.emit is None else own.select(join.emit)
