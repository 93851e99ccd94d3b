"""Subqueries as joins with their relations, where the dialect has no such expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra.builder import CallBuilder
from ...algebra.expression import (
    Exists,
    Expression,
    FieldReference,
    InSubquery,
    ScalarFunction,
    ScalarSubquery,
    Subquery,
)
from ...algebra.relation import Cross, Filter, Join, Relation
from ...algebra.subqueries import is_correlated, yields_one_row
from ...algebra.traversal import columns, conjuncts, rewritten, subexpressions, transformed
from .correlation import Uncorrelated, uncorrelated
from .dependent_join import dependent_rows

if TYPE_CHECKING:
    from ..lowering import Lowering

KINDS = ("SCALAR", "IN_PREDICATE", "SET_PREDICATE")


def rewrite(lowering: Lowering, root: Relation) -> Relation:
    """Each subquery that the dialect lacks as a column of a join below the relation that it stands in, which has one input.

    What a subquery asks of the query around it becomes part of the join's condition, where it is in filters alone.
    """
    dialect = lowering.dialect
    lacking = [kind for kind in KINDS if not dialect.allows_expression("SUBQUERY", "subquery_types", kind)]
    if not lowering.has_subqueries or not (lacking or not dialect.abilities.correlated_scalars):
        return root
    e = CallBuilder(lowering.traits)

    def is_lacking(subquery: Subquery) -> bool:
        if isinstance(subquery, ScalarSubquery) and not dialect.abilities.correlated_scalars:
            return "SCALAR" in lacking or is_correlated(subquery.relation)
        return subquery.variant()[1] in lacking

    def rule(relation: Relation) -> Relation:
        if len(relation.inputs) != 1:
            return relation
        parts = [part for each in relation.expressions() for part in subexpressions(each)]
        subqueries = [part for part in parts if isinstance(part, Subquery) and is_lacking(part)]
        if not subqueries:
            return relation
        if any(isinstance(each, ScalarSubquery) and is_correlated(each.relation) for each in subqueries):
            relation = _filtered_before(e, relation)
        return _joined(lowering, e, _matched(lowering, e, relation, subqueries), subqueries)

    return transformed(root, rule)


def _filtered_before(e: CallBuilder, relation: Relation) -> Relation:
    """A filter as two, the lower without subqueries: engines move no filter below the joins that subqueries become."""
    if not isinstance(relation, Filter):
        return relation
    simple: list[Expression] = []
    others: list[Expression] = []
    for condition in conjuncts(relation.condition):
        waits = condition.raises or any(isinstance(part, Subquery) for part in subexpressions(condition))
        (others if waits else simple).append(condition)
    if not simple:
        return relation
    return relation.over((Filter(relation.inputs[0], e.conjunction(simple)),), [e.conjunction(others)])


def _matched(lowering: Lowering, e: CallBuilder, relation: Relation, subqueries: list[Subquery]) -> Relation:
    """A filter without the conditions EXISTS and NOT EXISTS, above semi and anti joins in their place."""
    if not isinstance(relation, Filter):
        return relation
    (below,) = relation.inputs
    left = []
    for condition in conjuncts(relation.condition):
        negated = isinstance(condition, ScalarFunction) and condition.declaration.name == "not"
        subquery = condition.children()[0] if negated else condition
        known = isinstance(subquery, Exists) and any(each is subquery for each in subqueries)
        right = uncorrelated(e, lowering.rewritten(subquery.relation), len(below.types)) if known else None  # type: ignore[attr-defined]
        if right is None:
            left.append(condition)
            continue
        on = e.and_(*right.conditions) if right.conditions else e.true()
        below = Join(below, right.relation, "LEFT_ANTI" if negated else "LEFT_SEMI", on)
    return relation.over((below,), [e.conjunction(left) if left else e.true()])


def _joined(lowering: Lowering, e: CallBuilder, relation: Relation, subqueries: list[Subquery]) -> Relation:
    (below,) = relation.inputs
    used = [part for each in relation.expressions() for part in subexpressions(each)]
    subqueries = [each for each in subqueries if any(part is each for part in used)]
    values: dict[int, Expression] = {}
    for subquery in subqueries:
        if id(subquery) in values:
            continue
        query = lowering.rewritten(subquery.relation)
        right = uncorrelated(e, query, len(below.types))
        if right is None:
            is_scalar = isinstance(subquery, ScalarSubquery)
            rows = dependent_rows(e, below, query, nulls_for_none=True) if is_scalar else None
            if rows is not None and rows.is_one:
                values[id(subquery)] = e.as_type(
                    FieldReference(len(below.types), rows.relation.types[-1]), subquery.type
                )
                below = rows.relation
            continue
        below, values[id(subquery)] = _with_column(e, below, subquery, right, len(subqueries) == 1)

    def change(part: Expression) -> Expression | None:
        return values.get(id(part))

    return relation.over((below,), [rewritten(each, change) for each in relation.expressions()])


def _with_column(
    e: CallBuilder, input: Relation, subquery: Subquery, right: Uncorrelated, alone: bool
) -> tuple[Relation, Expression]:
    """The input with one more column, and the value in terms of that of a subquery, which may be the only one there."""
    width = len(input.types)
    if isinstance(subquery, ScalarSubquery):
        one = yields_one_row(right.relation) and not right.conditions
        on = e.conjunction(right.conditions) if right.conditions else e.true()
        joined = Cross(input, right.relation) if one else Join(input, right.relation, "LEFT_SINGLE", on)
        return joined, e.as_type(FieldReference(width, joined.types[width]), subquery.type)
    conditions = list(right.conditions)
    if isinstance(subquery, InSubquery):
        haystack = [FieldReference(width + n, kind) for n, kind in enumerate(subquery.relation.types)]
        # A row of which it isn't known whether it is there is not, so it must not make the mark unknown.
        conditions = [e.coalesce(each, e.false()) if each.type.nullable else each for each in conditions]
        conditions += [e.equal(needle, column) for needle, column in zip(subquery.needles, haystack, strict=True)]
    marked = Join(input, right.relation, "LEFT_MARK", e.and_(*conditions) if conditions else e.true())
    mark = FieldReference(width, marked.types[width])
    if isinstance(subquery, InSubquery) and alone:
        return marked, mark
    # Each mark is called so, and no engine has two columns of one name: a computed column has another.
    value = e.and_(mark, e.true()) if isinstance(subquery, InSubquery) else e.coalesce(mark, e.false())
    passed = [FieldReference(n, kind) for n, kind in enumerate(input.types)]
    named = columns(marked, [*passed, value])
    return named, e.as_type(FieldReference(width, named.types[width]), subquery.type)
