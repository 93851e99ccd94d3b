"""Expand as a cross join with the numbers of its projections, or as a union of projects, where the dialect has no ExpandRel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

from ...algebra import types
from ...algebra.builder import CallBuilder
from ...algebra.expression import Expression, FieldReference, Literal
from ...algebra.relation import Cross, Expand, Relation, Set, VirtualTable
from ...algebra.traversal import columns, is_column, is_null, transformed

if TYPE_CHECKING:
    from ..lowering import Lowering


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each Expand as the rows of its projections, each with its number. A cross join reads the input once, a union as often."""
    dialect = lowering.dialect
    if dialect.allows_relation("EXPAND", "field_types", "SWITCHING_FIELD"):
        return root
    crosses = dialect.allows_relation("CROSS") and dialect.allows_relation("READ", "read_types", "VIRTUAL_TABLE")
    e = CallBuilder(lowering.traits)

    def rule(relation: Relation) -> Relation:
        if not _is_expand(relation):
            return relation
        return _crossed(e, relation) if crosses and len(relation.projections) > 1 else _united(relation)

    return transformed(root, rule, _is_expand)


def _crossed(e: CallBuilder, relation: Expand) -> Relation:
    """The numbers stand on the left: the input passes by them."""
    (input,) = relation.inputs
    width = len(input.types)
    rows = [(Literal(n, types.I32),) for n in range(len(relation.projections))]
    crossed = Cross(VirtualTable(rows, ["number"], [types.I32]), input).select([*range(1, width + 1), 0])
    number = FieldReference(width, types.I32)
    expressions = [_chosen(e, number, column) for column in zip(*relation.projections, strict=True)]
    return columns(crossed, [*expressions, number]).emitting_as(relation)


def _chosen(e: CallBuilder, number: Expression, values: Sequence[Expression]) -> Expression:
    """Of these values the one that has the number."""
    numbers: list[tuple[Expression, list[Expression]]] = []
    for n, value in enumerate(values):
        same = next((each for other, each in numbers if _are_same(other, value)), None)
        if same is None:
            numbers.append((value, same := []))
        same.append(e.equal(number, Literal(n, types.I32)))
    *before, (last, _) = numbers
    parts = [part for value, tests in before for part in (e.or_(*tests), value)]
    return e.if_then(*parts, last) if parts else last


def _are_same(one: Expression, other: Expression) -> bool:
    """Whether both are the same column, or null of the same type: what projections repeat. Others count as different."""
    if is_column(one) and is_column(other):
        return one.ordinal == other.ordinal
    return one.type == other.type and is_null(one) and is_null(other)


def _is_expand(relation: Relation) -> TypeGuard[Expand]:
    return isinstance(relation, Expand)


def _united(relation: Expand) -> Relation:
    (input,) = relation.inputs
    numbered = relation.emit is None or len(relation.projections[0]) in relation.emit
    branches = []
    for number, projection in enumerate(relation.projections):
        number_column = [Literal(number, types.I32)] if numbered else []
        branches.append(columns(input, [*projection, *number_column]))
    united = branches[0] if len(branches) == 1 else Set(branches, "UNION_ALL")
    return united.emitting_as(relation)
