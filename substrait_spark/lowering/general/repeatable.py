"""Whether a relation gives the same rows each time, so that a form may have it several times."""

from __future__ import annotations

from ...algebra.feature import NOT_DETERMINISTIC
from ...algebra.relation import Fetch, Relation, Sample
from ...algebra.traversal import relations_below


def is_repeatable(root: Relation) -> bool:
    """Whether nothing in a relation is left to chance: which rows a limit takes, a sample, a random number."""
    return not any(
        isinstance(relation, Fetch | Sample) or _draws(relation) for relation in relations_below(root, subqueries=True)
    )


def _draws(relation: Relation) -> bool:
    return bool(relation.own_features & NOT_DETERMINISTIC)
