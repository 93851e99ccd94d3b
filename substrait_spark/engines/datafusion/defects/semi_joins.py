"""`semi_joins_pair_rows`: DataFusion looks at all pairs of rows with equal keys in a semi or anti join. This makes them fewer.

    EXPLAIN ANALYZE SELECT x FROM (VALUES (1), (1), (1)) t(x) LEFT SEMI JOIN (VALUES (1), (1), (1)) u(y) ON x = y   -- 9 pairs

It does so where the hash table has the rows that the join keeps, and where the condition is more than equalities. The pairs
are more than anyone waits for where both sides repeat their keys, as those of INTERSECT and EXCEPT do.
"""

from __future__ import annotations

from typing import TypeGuard

from ....algebra.expression import Expression, FieldReference, ScalarFunction
from ....algebra.feature import JOIN, SUBQUERY
from ....algebra.relation import SEMI_JOINS, Aggregate, Join, Relation
from ....algebra.traversal import conjuncts, transformed, with_columns_at
from ....lowering.builder import LoweringBuilder
from .join_keys import EQUALITIES, NULL_SAFE
from .neutral_values import NEUTRAL

GROUPED = {*NEUTRAL} - {"fp32", "fp64"}
"""Kinds of types whose values are grouped as they are compared: numbers with NaN and -0.0 are not."""


def with_different_rows(e: LoweringBuilder, join: Join) -> Relation:
    """A semi or anti join of INTERSECT or EXCEPT with each row of its right side once.

    Other joins are left alone: most of them have keys on one side that are all different, and the aggregate takes its time.
    """
    left, right = join.inputs
    if join.join_type not in SEMI_JOINS or isinstance(right, Aggregate) or not _compares_all(join):
        return join
    keys = [FieldReference(n, type) for n, type in enumerate(right.types)]
    different: Relation = e.over(right).rewritten(Aggregate(right, keys, ()))
    return Join(left, different, join.join_type, join.condition)


def _compares_all(join: Join) -> bool:
    """Whether the condition is a null-safe equality for each column on the right, all of which are of types grouped as compared."""
    width, right = len(join.inputs[0].types), join.inputs[1].types
    conditions = conjuncts(join.condition)
    if not all(_is_call(each, NULL_SAFE) for each in conditions):
        return False
    operands = [operand for condition in conditions for operand in condition.children()]
    compared = {each.ordinal - width for each in operands if isinstance(each, FieldReference) and each.ordinal >= width}
    return compared == {*range(len(right))} and all(type.kind in GROUPED for type in right)


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
