"""Lateral joins as joins with what the right side asks of the left one's row as a condition, where the dialect lacks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra.builder import CallBuilder
from ...algebra.expression import Expression, FieldReference
from ...algebra.relation import Filter, Join, LateralJoin, Project, Relation
from ...algebra.traversal import is_true, transformed
from .correlation import uncorrelated
from .dependent_join import dependent_rows

if TYPE_CHECKING:
    from ..lowering import Lowering


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each lateral join that the dialect lacks, and whose right side has a form of `correlation.py` or `dependent_join.py`."""
    e = CallBuilder(lowering.traits)

    def is_lacking(relation: Relation) -> bool:
        return isinstance(relation, LateralJoin) and not lowering.dialect.allows_relation(
            relation.NAME, *relation.variant()
        )

    def rule(relation: Relation) -> Relation:
        if not isinstance(relation, LateralJoin) or not is_lacking(relation):
            return relation
        left, right = relation.inputs
        independent = uncorrelated(e, right, len(left.types))
        if independent is None:
            return _computed(e, relation)
        condition = e.conjunction([relation.condition, *independent.conditions])
        joined: Relation = Join(left, independent.relation, relation.join_type, condition)
        joined = joined.select(range(len(left.types) + len(right.types)))
        return joined.emitting_as(relation)

    return transformed(root, rule, is_lacking)


def _computed(e: CallBuilder, join: LateralJoin) -> Relation:
    """A lateral join whose right side is computed of the left one's rows; the join itself where it can't be."""
    left, right = join.inputs
    rows = dependent_rows(e, left, right)
    keeps_all = join.join_type == "LEFT"
    if rows is None or (keeps_all and not rows.is_one):
        return join
    made = rows.relation
    if not is_true(join.condition):
        made = _where_it_holds(e, made, len(left.types), join.condition) if keeps_all else Filter(made, join.condition)
    return made.emitting_as(join)


def _where_it_holds(e: CallBuilder, rows: Relation, width: int, condition: Expression) -> Relation:
    """Rows with nulls from a column on where a condition doesn't hold."""
    columns = [FieldReference(n, kind) for n, kind in enumerate(rows.types)]
    right = [e.if_then(condition, column, e.null(column.type)) for column in columns[width:]]
    return Project(rows, right).select([*range(width), *range(len(columns), len(columns) + len(right))])
