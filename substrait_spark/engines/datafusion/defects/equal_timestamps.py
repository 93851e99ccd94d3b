"""`equal_timestamps`: DataFusion takes a timestamp and an instant of the same number for equal. This tells them apart.

    SELECT arrow_typeof(max(arrow_cast(0, 'Timestamp(us)'))), arrow_typeof(max(arrow_cast(0, 'Timestamp(us, "UTC")')))
    -- Timestamp(µs) twice

Two expressions that differ in nothing but such literals, nulls among them, are computed once, and both have the type of
the first. The comparison is of literals alone, so a timestamp whose number an instant of the plan has too becomes an
expression that is none. The default of a lag stays, which must be a literal: its column tells the two apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from ....algebra.expression import Expression, IfThen, Literal, WindowFunction
from ....algebra.feature import INSTANT
from ....algebra.relation import Relation, VirtualTable
from ....algebra.traversal import relations_below, rewritten, subexpressions, transformed
from ....lowering.builder import LoweringBuilder
from .constants import always


def without_equal_timestamps(e: LoweringBuilder, root: Relation) -> Relation:
    """The relation, with each literal of a timestamp that has the same number as a literal of an instant in another form."""
    if not root.features & INSTANT:
        return root
    instants = {
        each.value for relation in relations_below(root) for each in _literals(relation, "precision_timestamp_tz")
    }

    def concerned(relation: Relation) -> bool:
        return any(each.value in instants for each in _literals(relation, "precision_timestamp"))

    def rule(relation: Relation) -> Relation:
        if not concerned(relation):
            return relation
        return relation.over(relation.inputs, [rewritten(each, told_apart) for each in relation.expressions()])

    def told_apart(part: Expression) -> Expression | None:
        if _is_literal(part, "precision_timestamp") and part.value in instants:
            return IfThen(((always(e), part),), part)
        if isinstance(part, WindowFunction):
            return part.with_children(
                [
                    each if n and isinstance(each, Literal) else rewritten(each, told_apart)
                    for n, each in enumerate(part.children())
                ]
            )
        return None

    return transformed(root, rule, concerned) if instants else root


def _literals(relation: Relation, kind: str) -> list[Literal]:
    return [part for part in _parts(relation) if _is_literal(part, kind)]


def _is_literal(part: Expression, kind: str) -> TypeGuard[Literal]:
    return isinstance(part, Literal) and part.type.kind == kind


def _parts(relation: Relation) -> Iterator[Expression]:
    """Every part of a relation's expressions, but of rows that the plan holds: DataFusion compares none of these."""
    roots = () if isinstance(relation, VirtualTable) else relation.expressions()
    return (part for root in roots for part in subexpressions(root))
