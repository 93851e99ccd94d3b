"""Semi and anti joins as filters above mark joins, or anti joins as filters above left joins, where the dialect lacks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra.builder import CallBuilder
from ...algebra.expression import FieldReference
from ...algebra.relation import SEMI_JOINS, Filter, Join, Relation
from ...algebra.traversal import columns, transformed

if TYPE_CHECKING:
    from ..lowering import Lowering


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each LEFT_SEMI and LEFT_ANTI join that the dialect lacks as a Filter above a join that says which rows match."""
    dialect = lowering.dialect
    has = {kind: dialect.allows_relation("JOIN", "join_types", kind) for kind in ("LEFT_MARK", "LEFT", *SEMI_JOINS)}
    lacking = [kind for kind in SEMI_JOINS if not has[kind]]
    if not lacking:
        return root
    e = CallBuilder(lowering.traits)

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, Join) or relation.join_type not in lacking:
            return relation
        if has["LEFT_MARK"]:
            return _marked(e, relation)
        return _unmatched(e, relation) if relation.join_type == "LEFT_ANTI" and has["LEFT"] else relation

    return transformed(root, rule)


def _marked(e: CallBuilder, join: Join) -> Relation:
    """The rows on the left whose mark is true, or is not."""
    left, right = join.inputs
    marked = Join(left, right, "LEFT_MARK", join.condition)
    mark = FieldReference(len(left.types), marked.types[-1])
    return _kept(join, Filter(marked, mark if join.join_type == "LEFT_SEMI" else e.not_(e.coalesce(mark, e.false()))))


def _unmatched(e: CallBuilder, join: Join) -> Relation:
    """The rows on the left without a match: the left join gives them null in a column that is true for every row on the right."""
    left, right = join.inputs
    passed = [FieldReference(n, kind) for n, kind in enumerate(right.types)]
    joined = Join(left, columns(right, [*passed, e.true()]), "LEFT", join.condition)
    matched = FieldReference(len(joined.types) - 1, joined.types[-1])
    return _kept(join, Filter(joined, e.is_null(matched)))


def _kept(join: Join, rows: Relation) -> Relation:
    own = rows.select(range(len(join.inputs[0].types)))
    return own.emitting_as(join)
