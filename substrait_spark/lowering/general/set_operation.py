"""Set operations as aggregates, and semi and anti joins, where the dialect lacks them."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, TypeGuard

from ...algebra.builder import CallBuilder
from ...algebra.expression import Expression, FieldReference
from ...algebra.feature import SET
from ...algebra.frame import WHOLE
from ...algebra.relation import Aggregate, Join, Relation, Set, Window
from ...algebra.traversal import transformed

if TYPE_CHECKING:
    from ..lowering import Lowering


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each set operation that the dialect lacks: distinct rows, kept where the other inputs have them, or have not.

    Of operations that count how often a row is there, equal rows are numbered, so that each has its own in the others.
    """
    e = CallBuilder(lowering.traits)

    def is_lacking(relation: Relation) -> TypeGuard[Set]:
        return isinstance(relation, Set) and not lowering.dialect.allows_relation("SET", *relation.variant())

    return transformed(root, lambda each: _without(e, each) if is_lacking(each) else each, is_lacking, SET)


def _without(e: CallBuilder, relation: Set) -> Relation:
    first, *others = relation.inputs
    operation = relation.operation
    if operation == "UNION_ALL":
        return relation
    if operation == "UNION_DISTINCT":
        made = _distinct(Set(relation.inputs, "UNION_ALL"))
    elif operation.endswith("_ALL"):
        kind = "LEFT_ANTI" if operation.startswith("MINUS") else "LEFT_SEMI"
        made = reduce(lambda left, right: _counted(e, left, right, kind), others, first)
    elif operation == "INTERSECTION_PRIMARY":
        union = Set(others, "UNION_ALL") if len(others) > 1 else others[0]
        made = _matched(e, _distinct(first), union, "LEFT_SEMI")
    elif operation == "MINUS_MULTISET":
        both = reduce(lambda left, right: _matched(e, left, right, "LEFT_SEMI"), others)
        made = _matched(e, _distinct(first), both, "LEFT_ANTI")
    else:
        kind = "LEFT_ANTI" if operation.startswith("MINUS") else "LEFT_SEMI"
        made = reduce(lambda left, right: _matched(e, left, right, kind), others, _distinct(first))
    return made.emitting_as(relation)


def _distinct(input: Relation) -> Relation:
    return Aggregate(input, _columns(input), ())


def _counted(e: CallBuilder, left: Relation, right: Relation, kind: str) -> Relation:
    """The rows on the left, as often as the right has them too, or as they are left over."""
    return _matched(e, _numbered(e, left), _numbered(e, right), kind).select(range(len(left.types)))


def _numbered(e: CallBuilder, input: Relation) -> Relation:
    """A relation whose equal rows are numbered from 1, in a column behind its own."""
    return Window(input, [e.window("arithmetic:row_number", frame=WHOLE)], _columns(input), ())


def _matched(e: CallBuilder, left: Relation, right: Relation, kind: str) -> Relation:
    """The rows on the left that the right has, or has not; null is like null."""
    width = len(left.types)
    pairs = [(one, _shifted(other, width)) for one, other in zip(_columns(left), _columns(right), strict=True)]
    # Types that differ in the nullability of what is inside them are different ones.
    same = [e.call("comparison:is_not_distinct_from", *e.alike(pair)) for pair in pairs]
    return Join(left, right, kind, e.conjunction(same))


def _columns(input: Relation) -> list[FieldReference]:
    return [FieldReference(n, kind) for n, kind in enumerate(input.types)]


def _shifted(column: FieldReference, width: int) -> Expression:
    return FieldReference(column.ordinal + width, column.type)
