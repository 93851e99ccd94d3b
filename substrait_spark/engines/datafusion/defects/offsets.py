"""`offsets_forgotten`: DataFusion moves a sort below a fetch with an offset, and loses rows.

    SELECT x FROM (SELECT x FROM (VALUES (1), (2), (3)) t(x) LIMIT 2 OFFSET 1) ORDER BY x   -- 2, without 3

Groups, windows and lists that need an order make it sort too. A sort above a filter on a random number stays there, so each
such fetch gets a filter of this kind (https://github.com/apache/datafusion/pull/24958).
"""

from __future__ import annotations

from ....algebra.feature import FETCH
from ....algebra.relation import Fetch, Filter, Relation
from ....algebra.traversal import transformed
from ....lowering.builder import LoweringBuilder
from .constants import always


def filter_above_offsets(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation with a filter that keeps all rows above each Fetch with an offset."""

    def rule(relation: Relation) -> Relation:
        return Filter(relation, always(e)) if _skips(relation) else relation

    return transformed(root, rule, _skips, FETCH)


def _skips(relation: Relation) -> bool:
    """Whether a relation leaves out rows at the beginning."""
    return isinstance(relation, Fetch) and relation.offset > 0
