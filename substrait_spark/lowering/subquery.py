"""Subqueries by joins with their relations, where the dialect has no such expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.builder import CallBuilder
from ..algebra.expression import Expression, FieldReference, InSubquery, ScalarSubquery, Subquery
from ..algebra.relation import Aggregate, Cross, Join, Project, Relation, VirtualTable
from ..algebra.traversal import relations_below, rewritten, subexpressions, transformed

if TYPE_CHECKING:
    from .lowering import Lowering

KINDS = ("SCALAR", "IN_PREDICATE", "SET_PREDICATE")


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each subquery that the dialect lacks as a column of a join below the relation that it stands in.

    The relation has one input, and the subquery refers to no column outside of it.
    """
    dialect = lowering.dialect
    lacking = [kind for kind in KINDS if not dialect.allows_expression("SUBQUERY", "subquery_types", kind)]
    if not lacking:
        return root
    e = CallBuilder(lowering.traits)

    def rule(relation: Relation) -> Relation:
        if len(relation.inputs) != 1:
            return relation
        found = [part for each in relation.expressions() for part in subexpressions(each)]
        subqueries = [part for part in found if isinstance(part, Subquery) and part.variant()[1] in lacking]
        free = [subquery for subquery in subqueries if not is_correlated(subquery.relation)]
        return _joined(lowering, e, relation, free) if free else relation

    return transformed(root, rule)


def _joined(lowering: Lowering, e: CallBuilder, relation: Relation, subqueries: list[Subquery]) -> Relation:
    (below,) = relation.inputs
    place = relation.place
    values: dict[int, Expression] = {}
    for subquery in subqueries:
        if id(subquery) in values:
            continue
        below, values[id(subquery)] = _with_column(e, below, subquery, lowering.rewritten(subquery.relation))
        below.place = place

    def change(part: Expression) -> Expression | None:
        return values.get(id(part))

    return relation.over((below,), [rewritten(each, change) for each in relation.expressions()])


def _with_column(e: CallBuilder, input: Relation, subquery: Subquery, right: Relation) -> tuple[Relation, Expression]:
    """The input with one more column, and the subquery's value in terms of that."""
    width = len(input.types)
    if isinstance(subquery, ScalarSubquery):
        one = yields_one_row(right)
        joined = Cross(input, right) if one else Join(input, right, "LEFT_SINGLE", e.true())
        return joined, e.as_type(FieldReference(width, joined.types[width]), subquery.type)
    if isinstance(subquery, InSubquery):
        columns = [FieldReference(width + n, kind) for n, kind in enumerate(right.types)]
        pairs = zip(subquery.needles, columns, strict=True)
        marked = Join(input, right, "LEFT_MARK", e.and_(*[e.equal(needle, column) for needle, column in pairs]))
        return marked, FieldReference(width, marked.types[width])
    marked = Join(input, right, "LEFT_MARK", e.true())
    return marked, e.coalesce(FieldReference(width, marked.types[width]), e.false())


def yields_one_row(relation: Relation) -> bool:
    """Whether a relation has exactly one row, whatever its input."""
    while isinstance(relation, Project):
        (relation,) = relation.inputs
    if isinstance(relation, VirtualTable):
        return len(relation.rows) == 1
    return isinstance(relation, Aggregate) and not relation.groupings and len(relation.sets) == 1


def is_correlated(subquery: Relation) -> bool:
    """Whether a subquery refers to columns outside of it, or of a subquery in it."""
    return any(
        isinstance(part, FieldReference) and part.outer
        for relation in relations_below(subquery, subqueries=True)
        for expression in relation.expressions()
        for part in subexpressions(expression)
    )
