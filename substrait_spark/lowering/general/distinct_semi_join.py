"""Distinct rows of semi and anti joins by all of their columns, as Spark has INTERSECT and EXCEPT, for engines that join by one column.

All rows of both inputs are one aggregate, which tells of each in which of them it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...algebra.builder import CallBuilder
from ...algebra.expression import Expression, FieldReference, ScalarFunction
from ...algebra.relation import SEMI_JOINS, Aggregate, Filter, Join, Relation, Set
from ...algebra.traversal import columns, conjuncts, is_column, transformed

if TYPE_CHECKING:
    from ..lowering import Lowering

EQUALITIES = {"comparison:equal": False, "comparison:is_not_distinct_from": True}
"""Functions by which columns are compared, and whether null is like null to them."""


class Pair(NamedTuple):
    """Columns of the left and of the right input that are compared."""

    left: int
    right: int
    takes_null: bool


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each Aggregate without measures over a semi or anti join by columns that include its keys."""
    abilities = lowering.dialect.abilities
    if abilities.join_conditions:
        return root
    e = CallBuilder(lowering.traits)
    return transformed(root, lambda relation: _aggregated(e, relation))


def _aggregated(e: CallBuilder, relation: Relation) -> Relation:
    if not isinstance(relation, Aggregate) or relation.measures or len(relation.sets) != 1:
        return relation
    (join,) = relation.inputs
    if not isinstance(join, Join) or join.join_type not in SEMI_JOINS:
        return relation
    pairs = _pairs(join)
    keys = [_left_column(join, key) for key in relation.groupings]
    if not pairs or _is_plain(pairs) or not {*keys} <= {pair.left for pair in pairs}:
        return relation
    found = _kept(e, join, pairs)
    places = {pair.left: n for n, pair in enumerate(pairs)}
    groupings = [FieldReference(places[key], found.types[places[key]]) for key in keys if key is not None]
    return Aggregate(found, groupings, ()).emitting_as(relation)


def _is_plain(pairs: list[Pair]) -> bool:
    """Whether the join is on one equality, which the engine has."""
    return len(pairs) == 1 and not pairs[0].takes_null


def _left_column(join: Join, key: Expression) -> int | None:
    """Which column of the left input a key is."""
    if not is_column(key):
        return None
    return key.ordinal if join.emit is None else join.emit[key.ordinal]


def _pairs(join: Join) -> list[Pair] | None:
    """What the condition compares, if it does nothing else than to compare columns of both inputs."""
    width, pairs = len(join.inputs[0].types), []
    for condition in conjuncts(join.condition):
        function = condition.declaration.function if isinstance(condition, ScalarFunction) else ""
        sides = [side for side in condition.children() if is_column(side)]
        if function not in EQUALITIES or len(sides) != 2:
            return None
        left, right = sorted(side.ordinal for side in sides)
        if not left < width <= right:
            return None
        pairs.append(Pair(left, right - width, EQUALITIES[function]))
    return pairs


def _kept(e: CallBuilder, join: Join, pairs: list[Pair]) -> Relation:
    """The different rows of the compared columns on the left that the right has, or has not."""
    left, right = join.inputs
    if isinstance(left, Join):  # that of several operations on the same rows, which are as different below as above
        left = _aggregated(e, Aggregate(left, [FieldReference(n, kind) for n, kind in enumerate(left.types)], ()))
    marked = [
        columns(left, [*(FieldReference(each.left, left.types[each.left]) for each in pairs), e.i32(1), e.i32(0)]),
        columns(right, [*(FieldReference(each.right, right.types[each.right]) for each in pairs), e.i32(0), e.i32(1)]),
    ]
    rows = Set(marked, "UNION_ALL")
    keys = [FieldReference(n, rows.types[n]) for n in range(len(pairs))]
    marks = [FieldReference(len(pairs) + n, rows.types[len(pairs) + n]) for n in range(2)]
    found = Aggregate(rows, keys, [e.aggregate("arithmetic:max", mark) for mark in marks])
    here, there = (e.equal(FieldReference(len(pairs) + n, found.types[len(pairs) + n]), e.i32(1)) for n in range(2))
    unequal = [
        e.is_null(FieldReference(n, kind))
        for n, kind in enumerate(found.types[: len(pairs)])
        if not pairs[n].takes_null
    ]
    matched = e.and_(there, *(e.not_(each) for each in unequal))
    return Filter(found, e.and_(here, matched if join.join_type == "LEFT_SEMI" else e.not_(matched)))
