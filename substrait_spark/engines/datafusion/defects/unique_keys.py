"""`keys_survive_joins`: DataFusion takes an aggregate's keys for unique above a join too. This hides them from it.

    SELECT count(*) FROM (SELECT 1 AS a)
    JOIN (SELECT DISTINCT k, x FROM (SELECT DISTINCT 1 AS k), (VALUES (1), (2)) t(x)) ON a = k   -- 1, not 2

A second aggregate above the join, by these keys and others, then loses the other keys, and so too many rows.
"""

from __future__ import annotations

from ....algebra.relation import LEFT_ONLY, Aggregate, Cross, Join, Relation
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from .column_names import can_rename, renamed


def without_keys(e: LoweringBuilder, relation: Aggregate) -> Relation:
    """An aggregate over an input of which DataFusion knows no keys of aggregates below its joins."""
    (input,) = relation.inputs
    if len(relation.groupings) < 2 or not _has_joined_keys(input):
        return relation
    if not can_rename(e, input):
        raise NotInDialect(
            f"the dialect {e.dialect.name} takes the keys of an aggregate for unique above a join, "
            "and a column of these types can't be hidden from it",
            "Group by less.",
        )
    return relation.with_inputs((renamed(e, input),))


def _has_joined_keys(relation: Relation) -> bool:
    while relation.KEEPS_KEYS:
        (relation,) = relation.inputs
    return isinstance(relation, Join | Cross) and _has_keys(relation)


def _has_keys(join: Relation) -> bool:
    """Whether there is an aggregate below, whose columns come through joins and relations that keep keys."""
    stack = [join]
    while stack:
        relation = stack.pop()
        if isinstance(relation, Aggregate):
            return True
        if isinstance(relation, Join) and relation.join_type in LEFT_ONLY:
            stack.append(relation.inputs[0])
        elif relation.KEEPS_KEYS or isinstance(relation, Join | Cross):
            stack.extend(relation.inputs)
    return False
