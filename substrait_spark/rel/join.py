"""JoinRel and CrossRel: https://substrait.io/relations/logical_relations/#join-operation."""

from __future__ import annotations

from ..algebra.expression import Expression
from ..algebra.relation import SEMI_JOINS, Cross, Join, LateralJoin, Relation
from ..algebra.traversal import columns, refers_outwards, subqueries_of
from ..catalyst import tree
from ..catalyst.tree import Node
from ..errors import Unsupported
from ..expr.scope import Scope
from .builder import RelationBuilder
from .output import Output

JOIN_TYPES = {
    "Inner": "INNER",
    "Cross": "INNER",
    "LeftOuter": "LEFT",
    "RightOuter": "RIGHT",
    "FullOuter": "OUTER",
    "LeftSemi": "LEFT_SEMI",
    "LeftAnti": "LEFT_ANTI",
    "LeftSingle": "LEFT_SINGLE",
}
"""Catalyst's join types; ExistenceJoin is a mark join."""


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Join of any type. Hints are advice and fall away."""
    left, right = r.emit(node["left"], "left: "), r.emit(node["right"], "right: ")
    if isinstance(node["joinType"], Node):
        return existence(r, node, left, right)
    join_type = JOIN_TYPES.get(node["joinType"])
    if join_type is None:
        raise Unsupported(f"the join type {node['joinType']} is not known")
    if join_type == "INNER" and node["condition"] is None:
        return Output(Cross(left.relation, right.relation), left.ids + right.ids)
    ids = left.ids if join_type in SEMI_JOINS else left.ids + right.ids
    return Output(_join(r, node, left, right, join_type), ids)


def existence(r: RelationBuilder, node: tree.Plan, left: Output, right: Output) -> Output:
    """ExistenceJoin: a mark join, whose mark may be null where Spark's `exists` is false."""
    marked = _join(r, node, left, right, "LEFT_MARK")
    exists = node["joinType"]["exists"]["exprId"]
    e = r.expressions(Scope((*left.ids, exists), marked.types))
    mark = e.scope.column(exists)
    if mark is None:
        raise Unsupported("the mark of the existence join is not among its columns")
    kept = [column for id in left.ids if (column := e.scope.column(id)) is not None]
    return Output(columns(marked, [*kept, e.coalesce(mark, e.false())]), (*left.ids, exists))


def _join(r: RelationBuilder, node: tree.Plan, left: Output, right: Output, join_type: str) -> Relation:
    return Join(left.relation, right.relation, join_type, _condition(r, node, left, right))


def _condition(r: RelationBuilder, node: tree.Plan, left: Output, right: Output) -> Expression:
    e = r.expressions(Scope(left.ids + right.ids, left.relation.types + right.relation.types))
    if node["condition"] is None:
        return e.true()
    condition = e.emit(node["condition"])
    if r.context.is_before(4, 0) and any(map(refers_outwards, subqueries_of(condition))):
        raise Unsupported(*CORRELATED)
    return condition


def lateral(r: RelationBuilder, node: tree.Plan) -> Output:
    """LateralJoin: the right side refers to the left one's row; where it doesn't, it is a join like others."""
    left = r.emit(node["left"], "left: ")
    right = r.inside(node["right"]["plan"], left.scope(), "right: ")
    join_type = JOIN_TYPES.get(node["joinType"])
    if join_type not in ("INNER", "LEFT"):
        raise Unsupported(f"the join type {node['joinType']} of a lateral join is not known")
    if join_type == "LEFT" and node["condition"] is None and _generated(node["right"]["plan"]):
        raise Unsupported(*LEFT_OF_GENERATED)
    ids = left.ids + right.ids
    condition = _condition(r, node, left, right)
    kind = LateralJoin if refers_outwards(right.relation) else Join
    return Output(kind(left.relation, right.relation, join_type, condition), ids)


def _generated(plan: tree.Plan) -> bool:
    """Whether its rows are those that a generator makes of the row outside alone."""
    generates = False
    while plan.name in ("Generate", "Project", "SubqueryAlias"):
        generates = generates or (plan.name == "Generate" and not plan["outer"])
        plan = plan["child"]
    return generates and plan.name == "OneRowRelation"


CORRELATED = (
    "before Spark 4.0, a subquery over the rows of a join ends in an error where it stands in the join's condition",
    "Write it in WHERE, over the joined rows, or filter an input of the join by it.",
)

# Spark: `SELECT k, x FROM VALUES (1, array()) AS t(k, a) LEFT JOIN LATERAL explode(a) AS e(x)` has no row, `… ON true` has one.
LEFT_OF_GENERATED = (
    "Spark's optimizer makes an inner join of a LEFT JOIN LATERAL with a generator and without a condition",
    "Write ON true to keep the rows on the left for which nothing is generated, or CROSS JOIN LATERAL to leave them out.",
)

HANDLERS = {"Join": emit, "LateralJoin": lateral}
