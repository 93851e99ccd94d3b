"""Outer joins as unions of the pairs that match and the rows without a match, where the dialect lacks them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...algebra import types
from ...algebra.expression import Expression, FieldReference, Literal
from ...algebra.relation import Join, Relation, Set
from ...algebra.traversal import columns, transformed
from .left_join import exchanged
from .repeatable import is_repeatable

if TYPE_CHECKING:
    from ..lowering import Lowering

SIDES = {"LEFT": ("LEFT",), "RIGHT": ("RIGHT",), "OUTER": ("LEFT", "RIGHT")}
"""The types of outer joins, and the sides of which they have the rows without a match."""


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each OUTER join as a union of a left join and an anti join, where the dialect lacks it; or of an inner join and two.

    Each LEFT and RIGHT join likewise where it lacks both. The inputs are there twice: they must give the same rows each time.
    """
    dialect = lowering.dialect
    has = {join_type: dialect.allows_relation("JOIN", "join_types", join_type) for join_type in SIDES}
    has["LEFT"] = has["RIGHT"] = has["LEFT"] or has["RIGHT"]
    if all(has.values()) or not dialect.allows_relation("SET", "operations", "UNION_ALL"):
        return root

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, Join) or has.get(relation.join_type, True):
            return relation
        if not all(map(is_repeatable, relation.inputs)):
            return relation
        return united(relation) if has["LEFT"] else _united(relation, "INNER", SIDES[relation.join_type])

    return transformed(root, rule)


def united(join: Join) -> Relation:
    """An OUTER join as a left join, and the rows on the right without a match."""
    return _united(join, "LEFT", ("RIGHT",))


def _united(join: Join, join_type: str, sides: Sequence[str]) -> Relation:
    """The pairs of a join of another type, and the rows on these sides without a match."""
    left, right = join.inputs
    lefts, rights = _columns(left), _columns(right)
    parts: list[Relation] = [Join(left, right, join_type, join.condition)]
    if "LEFT" in sides:
        parts.append(columns(Join(left, right, "LEFT_ANTI", join.condition), [*lefts, *_nulls(right)]))
    if "RIGHT" in sides:
        parts.append(columns(exchanged(join, "LEFT_ANTI"), [*_nulls(left), *rights]))
    return Set(parts, "UNION_ALL").emitting_as(join)


def _columns(input: Relation) -> list[Expression]:
    return [FieldReference(n, kind) for n, kind in enumerate(input.types)]


def _nulls(input: Relation) -> list[Expression]:
    return [Literal(None, types.nullable(kind)) for kind in input.types]
