"""Subqueries that the optimizer left as such."""

from __future__ import annotations

from ..algebra.expression import Expression, ScalarSubquery
from ..catalyst import tree
from ..errors import Unsupported
from .builder import ExpressionBuilder, Rule


def scalar_subquery(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ScalarSubquery without outer references: the one value of its plan, null where that has no row."""
    if node["outerAttrs"]:
        raise Unsupported("the optimizer left a correlated subquery that has no join form")
    return ScalarSubquery(e.relations.subquery(node["plan"]))


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
