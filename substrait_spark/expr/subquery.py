"""Subqueries as expressions, and what they ask of the query around them."""

from __future__ import annotations

from ..algebra import types
from ..algebra.expression import Exists, Expression, InSubquery, ScalarSubquery
from ..catalyst import tree
from ..errors import Unsupported
from .builder import ExpressionBuilder, Rule
from .operands import Operands


def scalar_subquery(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ScalarSubquery: the one value of its plan, null where that has no row."""
    return ScalarSubquery(e.relations.subquery(node["plan"], e.scope))


def exists(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Exists: whether its plan has a row."""
    return Exists(e.relations.subquery(node["plan"], e.scope))


def in_subquery(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """InSubquery: false also where it isn't known, as Spark has it but in filters."""
    return known(e, membership(e, node))


def membership(e: ExpressionBuilder, node: tree.Expression) -> InSubquery:
    """Whether a row is among those of a plan, null where that isn't known."""
    if refusal := e.context.ambiguous_in.get(node):
        raise Unsupported(*refusal)
    if [value.name == "Literal" and value["value"] is None for value in node["values"]] == [True]:
        # spark.sql.legacy.nullInEmptyListBehavior, which without ANSI mode is true
        raise Unsupported(
            "whether NULL is IN a subquery without rows is a setting of Spark's",
            "Leave the condition out: NULL is IN no other subquery, and not NOT IN one.",
        )
    relation = e.relations.subquery(node["query"]["plan"], e.scope)
    needles = e.emit_all(node["values"])
    kinds = [needle.type for needle in needles]
    if len(kinds) != len(relation.types) or not all(map(types.equal_but_nullability, kinds, relation.types)):
        raise Unsupported("the values and the columns of the subquery have different types")
    return InSubquery(needles, relation)


def known(e: ExpressionBuilder, unknown: Expression) -> Expression:
    """A condition that is false where it isn't known."""
    return e.coalesce(unknown, e.false())


def outer_reference(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """OuterReference, OuterScopeReference: a column of a query around this one, of the nearest that has it."""
    attribute = node["e"]
    while attribute.name in OUTER:
        attribute = attribute["e"]
    return e.relations.outer_column(attribute["exprId"], attribute["name"])


def dynamic_pruning(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """DynamicPruningSubquery: advice to the scan; the join that it comes from is still there."""
    return e.true()


def unsupported(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    raise Unsupported("it is a subquery that stands where no relation or condition expects it")


OUTER = ("OuterReference", "OuterScopeReference")

RULES: dict[str, Rule] = {
    "ScalarSubquery": scalar_subquery,
    "DynamicPruningSubquery": dynamic_pruning,
    "Exists": exists,
    "InSubquery": in_subquery,
    "ListQuery": unsupported,
    "LateralSubquery": unsupported,
    **dict.fromkeys(OUTER, outer_reference),
}


def _sought(node: tree.Expression) -> list[tree.Expression]:
    return list(node["values"])


def _none(node: tree.Expression) -> list[tree.Expression]:
    return []


OPERANDS: dict[str, Operands] = {**dict.fromkeys(RULES, _none), "InSubquery": _sought}
"""The values that are looked for; a subquery's plan is no operand, nor is a column of another query."""
