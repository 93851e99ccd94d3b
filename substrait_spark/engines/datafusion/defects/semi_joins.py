"""`semi_joins_pair_rows`: DataFusion looks at all pairs of rows with equal keys in a semi or anti join. This makes them fewer.

    EXPLAIN ANALYZE SELECT x FROM (VALUES (1), (1), (1)) t(x) LEFT SEMI JOIN (VALUES (1), (1), (1)) u(y) ON x = y   -- 9 pairs

They are more than anyone waits for where both sides repeat their keys: a million rows on each side, by one of a thousand keys,
take 200 times as long as with each key once on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from ....algebra.expression import Expression, FieldReference, ScalarFunction
from ....algebra.feature import JOIN, NOT_DETERMINISTIC, SUBQUERY
from ....algebra.relation import LEFT_ONLY, SEMI_JOINS, Aggregate, Join, Relation
from ....algebra.traversal import conjuncts, ordinals, transformed, with_columns_at
from ....lowering.builder import LoweringBuilder
from .join_keys import EQUALITIES
from .neutral_values import NEUTRAL

GROUPED = {*NEUTRAL} - {"fp32", "fp64"}
"""Kinds of types whose values are grouped as they are compared: numbers with NaN and -0.0 are not."""


HIGH = 40
"""How high a right side nests that stays as it is: with an aggregate for each of many joins, readers might not take the plan."""


def with_different_rows(e: LoweringBuilder, join: Join) -> Relation:
    """A join on equalities that keeps, drops or marks rows, with a right side of the columns that these compare, each row once.

    So a row has one pair at most. Where the keys on the left are all different anyway, the aggregate is for nothing, and takes about
    as long as the join; that has an end, and the pairs have none.
    """
    left, right = join.inputs
    used = _compared(join) if join.join_type in LEFT_ONLY else []
    if not used or right.height > HIGH or _are_different(right, used):
        return join
    width = len(left.types)
    keys = [FieldReference(n, right.types[n]) for n in used]
    different: Relation = e.over(right).rewritten(Aggregate(right, keys, ()))
    condition = with_columns_at(join.condition, lambda n: n if n < width else width + used.index(n - width))
    return Join(left, different, join.join_type, condition)


def _compared(join: Join) -> list[int]:
    """The columns of the right input that a join on equalities compares; none of another join, or if one is grouped otherwise than compared."""
    if not all(_is_call(each, *EQUALITIES) for each in conjuncts(join.condition)):
        return []
    if join.condition.features & (SUBQUERY | NOT_DETERMINISTIC):
        return []
    width, right = len(join.inputs[0].types), join.inputs[1].types
    used = sorted({n - width for n in ordinals(join.condition) if n >= width})
    return used if all(right[n].kind in GROUPED for n in used) else []


def _are_different(relation: Relation, columns: Sequence[int]) -> bool:
    """Whether no two rows have the same values in these columns: they have the keys of an aggregate among them."""
    found = {*columns}
    while relation.KEEPS_KEYS:
        emitted, (relation,) = relation.emitted, relation.inputs
        found = {emitted[n] for n in found if emitted[n] < len(relation.types)}
    if not isinstance(relation, Aggregate) or len(relation.sets) != 1:
        return False
    return {relation.emitted[n] for n in found} >= {*range(len(relation.groupings))}


def with_inner_joins_first(e: LoweringBuilder, root: Relation) -> Relation:
    """Semi and anti joins on more than equalities above the inner joins that Spark's optimizer has put them below.

    There they are where queries write them, EXISTS in a filter of joined tables, and are asked of the rows alone that are left.
    """

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, Join) or relation.join_type != "INNER" or not _is_movable(relation):
            return relation
        for side, input in enumerate(relation.inputs):
            if _pairs_many(input):
                return above(relation, side, input)
        return relation

    def above(inner: Join, side: int, semi: Join) -> Relation:
        """A semi join above the inner join of which it is the input on this side, with that one's columns."""
        (left, right), other = semi.inputs, inner.inputs[1 - side]
        inputs = (other, left) if side else (left, other)
        start, behind = (len(other.types), 0) if side else (0, len(left.types))
        kept, others = [start + n for n in semi.emitted], [behind + n for n in range(len(other.types))]
        places = [*others, *kept] if side else [*kept, *others]
        joined = rule(Join(*inputs, "INNER", with_columns_at(inner.condition, places.__getitem__)))
        width = len(joined.types)
        own = [*range(start, start + len(left.types)), *range(width, width + len(right.types))]
        moved = Join(joined, right, semi.join_type, with_columns_at(semi.condition, own.__getitem__))
        return moved.select([places[n] for n in inner.emitted])

    return transformed(root, rule, feature=JOIN)


def _pairs_many(relation: Relation) -> TypeGuard[Join]:
    """Whether it is a semi or anti join on more than equalities, or one above such a join."""
    if not isinstance(relation, Join) or relation.join_type not in SEMI_JOINS or not _is_movable(relation):
        return False
    return not all(_is_call(each, *EQUALITIES) for each in conjuncts(relation.condition)) or _pairs_many(
        relation.inputs[0]
    )


def _is_movable(join: Join) -> bool:
    """Whether the condition may be evaluated for other pairs of rows."""
    return not join.condition.raises and not join.condition.features & SUBQUERY


def _is_call(condition: Expression, *names: str) -> bool:
    return isinstance(condition, ScalarFunction) and condition.declaration.name in names
