"""Values of users' functions that aren't deterministic, in columns of their own: engines have no other way to evaluate them once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra.drawn_columns import with_drawn_columns
from ...algebra.relation import Relation

if TYPE_CHECKING:
    from ..lowering import Lowering


def rewrite(_lowering: Lowering, root: Relation) -> Relation:
    """Each call in a project below the relation that uses its value."""
    return with_drawn_columns(root)
