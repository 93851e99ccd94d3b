"""Where lowering is in a plan, and what it has found that the dialect can't say."""

from __future__ import annotations

from collections.abc import Callable

from ..algebra.relation import Place, Relation
from ..errors import Origin, Unsupported

Report = Callable[[str, "Origin | None", Unsupported], None]
"""Takes a problem: the way from the root, what it was made from, and why."""


def places(root: Relation) -> dict[Relation, Place]:
    """Where each relation came from: one that does not say so, from where the relation above it did."""
    place_of: dict[Relation, Place] = {}
    stack: list[tuple[Relation, Place | None]] = [(root, root.place)]
    while stack:
        relation, above = stack.pop()
        place = relation.place or above
        if place is not None:
            place_of.setdefault(relation, place)
        stack.extend((input, place) for input in relation.inputs)
    return place_of
