"""Left joins as right joins with the inputs exchanged, or the reverse, where the dialect has only one of the two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...algebra.join_columns import of_exchanged
from ...algebra.relation import Join, Relation
from ...algebra.traversal import transformed

if TYPE_CHECKING:
    from ..lowering import Lowering

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
        if not isinstance(relation, Join) or relation.join_type not in lacking:
            return relation
        made, kept = mirrored(relation)
        return made.select(kept)

    return transformed(root, rule)


def mirrored(join: Join) -> tuple[Join, Sequence[int]]:
    """A left or right join as the other, without `emit`, and where in it are the columns that the first one gives."""
    first, second = (len(input.types) for input in join.inputs)
    own = [*range(second, second + first), *range(second)]
    return exchanged(join, MIRRORED[join.join_type]), own if join.emit is None else [own[n] for n in join.emit]


def exchanged(join: Join, join_type: str) -> Join:
    """A join of this type on the same condition, with the right input first; without `emit`."""
    left, right = join.inputs
    return Join(right, left, join_type, of_exchanged(join.condition, len(left.types), len(right.types)))
