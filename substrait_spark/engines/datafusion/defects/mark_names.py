"""`marks_go_by_name`: DataFusion gives a mark the name of the one table that the columns on its join's right are of. They stay, by this.

    A mark join in a plan on x = y + 1, whose right input has y and, computed below, y + 1   -- No field named t.mark

Its optimizer drops columns on the right that the condition doesn't use. If those were the only ones of a table, the mark has
another name from then on, by which nothing above finds it.
"""

from __future__ import annotations

from typing import TypeGuard

from ....algebra.feature import JOIN
from ....algebra.relation import Join, Relation
from ....algebra.traversal import ordinals, transformed, with_columns_at
from ....lowering.builder import LoweringBuilder


def with_used_columns(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with just those columns on the right of mark joins that their conditions use."""
    return transformed(root, _with_used_columns, _is_mark_join, JOIN)


def _is_mark_join(relation: Relation) -> TypeGuard[Join]:
    return isinstance(relation, Join) and relation.join_type == "LEFT_MARK"


def _with_used_columns(relation: Relation) -> Relation:
    if not _is_mark_join(relation):
        return relation
    left, right = relation.inputs
    width = len(left.types)
    used = sorted({ordinal - width for ordinal in ordinals(relation.condition) if ordinal >= width})
    if len(used) in (0, len(right.types)):
        return relation
    condition = with_columns_at(relation.condition, lambda n: n if n < width else width + used.index(n - width))
    return Join(left, right.select(used), relation.join_type, condition).emitting_as(relation)
