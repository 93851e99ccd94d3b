"""Subqueries that the optimizer left as such."""

from __future__ import annotations

from ..algebra.expression import Expression, ScalarSubquery
from ..algebra.relation import Aggregate, Join, Project, Relation, VirtualTable
from ..catalyst import tree
from ..errors import NotInDialect, Unsupported
from .builder import ExpressionBuilder, Rule


def scalar_subquery(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ScalarSubquery without outer references: the one value of its plan, null where that has no row."""
    if node["outerAttrs"]:
        raise Unsupported("the optimizer left a correlated subquery that has no join form")
    if not e.dialect.allows_expression("SUBQUERY", "subquery_types", "SCALAR"):
        raise NotInDialect(f"the dialect {e.dialect.name} has no scalar subqueries")
    relation = e.relations.subquery(node["plan"])
    if not e.dialect.quirks.subquery_nulls and not yields_one_row(relation):
        # The row before the left join keeps the null that no row stands for.
        relation = Join(VirtualTable([()], [], []), relation, "LEFT", e.true())
    return ScalarSubquery(relation)


def yields_one_row(relation: Relation) -> bool:
    """Whether a relation has exactly one row, whatever its input."""
    while isinstance(relation, Project):
        (relation,) = relation.inputs
    if isinstance(relation, VirtualTable):
        return len(relation.rows) == 1
    return isinstance(relation, Aggregate) and not relation.groupings and len(relation.sets) == 1


def dynamic_pruning(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """DynamicPruningSubquery: advice to the scan; the join that it comes from is still there."""
    return e.true()


def unsupported(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    raise Unsupported("the optimizer left a subquery that has no join form")


def operands(node: tree.Expression) -> list[tree.Expression]:
    """A subquery's plan is no operand."""
    return []


RULES: dict[str, Rule] = {
    "ScalarSubquery": scalar_subquery,
    "DynamicPruningSubquery": dynamic_pruning,
    "Exists": unsupported,
    "InSubquery": unsupported,
    "ListQuery": unsupported,
    "LateralSubquery": unsupported,
}
