"""Joins (https://substrait.io/relations/logical_relations/#join-types)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra import types
from ...algebra.constants import constants
from ...algebra.expression import Expression, ScalarFunction
from ...algebra.relation import LEFT_ONLY, Cross, Join, LateralJoin
from ...algebra.traversal import is_true, ordinals, refers_outwards, subqueries_of
from ...catalyst.versions import running
from ...errors import Unsupported
from .builder import Columns
from .document import NEW_ID, Node, Part, some
from .expressions import Scope

if TYPE_CHECKING:
    from .relations import RelationBuilder

_SPARK = {
    "INNER": "inner",
    "OUTER": "full",
    "LEFT": "left",
    "RIGHT": "right",
    "LEFT_SEMI": "leftsemi",
    "LEFT_ANTI": "leftanti",
}
"""Spark's joins of the same meaning."""


def cross(r: RelationBuilder, relation: Cross, outer: Scope | None) -> Columns:
    """Every row of the left input with every row of the right."""
    left, right = r.inputs(relation, outer)
    plan = _joined(r, left.plan, right.plan, Part("join", "cross"), None)
    return Columns(plan, left.columns + right.columns)


def join(r: RelationBuilder, relation: Join, outer: Scope | None) -> Columns:
    """A join of any type."""
    if relation.join_type == "LEFT_MARK":
        return _marked(r, relation, outer)
    left, right = r.inputs(relation, outer)
    columns = left.columns + right.columns
    on = _over_constants(relation) if relation.join_type == "LEFT_ANTI" else relation.condition
    condition = _condition(r, on, Scope(columns, outer))
    if relation.join_type == "LEFT_SINGLE":
        # More than one match for a row is an error.
        kind = Part("object", "LeftSingle")
    else:
        kind = Part("join", _SPARK[relation.join_type])
    plan = _joined(r, left.plan, right.plan, kind, condition)
    return Columns(plan, left.columns if relation.join_type in LEFT_ONLY else columns)


def _over_constants(join: Join) -> Expression:
    """The condition of an anti join in an order by which Spark doesn't take it for the one of NOT IN, if that is over constants.

    Spark puts them in the place of the right input's columns, and where that is one row it then isn't found:

        SELECT * FROM VALUES (0), (NULL) t(a)
        LEFT ANTI JOIN (SELECT 0 AS b FROM (SELECT true FROM VALUES (1) GROUP BY true)) ON a = b OR (a = b) IS NULL   -- 0
    """
    condition = join.condition
    if not isinstance(condition, ScalarFunction) or condition.declaration.name != "or":
        return condition
    known = [True] * len(join.inputs[0].types) + constants(join.inputs[1])
    if not all(known[ordinal] for ordinal in ordinals(condition)):
        return condition
    return condition.with_children(condition.children()[::-1])


def lateral_join(r: RelationBuilder, relation: LateralJoin, outer: Scope | None) -> Columns:
    """Each row of the left input with the rows of the right one, which is a query about that row."""
    left = r.build(relation.inputs[0], outer)
    right = r.plan(relation.inputs[1], Scope(left.columns, outer))
    r.b.at(relation)
    columns = left.columns + right.columns
    in_place = relation.join_type == "INNER" and is_true(relation.condition)
    # With a condition, Spark joins by the columns that the query refers to, and it joins by no maps and variants.
    condition = None if in_place else some(_condition(r, relation.condition, Scope(columns, outer)))
    query = r.document.new("LateralSubquery", right.plan, Part("outer", right.plan), NEW_ID)
    plan = r.document.new("LateralJoin", left.plan, query, Part("join", _SPARK[relation.join_type]), condition)
    return Columns(plan, columns)


def _marked(r: RelationBuilder, relation: Join, outer: Scope | None) -> Columns:
    """The left input with a mark: true with a match, null where a match is only unknown, else false.

    Spark's own mark is true or false, so a second one says whether the condition is null for some row.
    """
    left, right = r.inputs(relation, outer)
    condition = _condition(r, relation.condition, Scope(left.columns + right.columns, outer))
    plan, matches = _existing(r, left.plan, right.plan, condition)
    if not relation.condition.type.nullable:
        return Columns(plan, [*left.columns, matches])
    again = r.build(relation.inputs[1], outer)
    unknown = _condition(r, relation.condition, Scope(left.columns + again.columns, outer))
    plan, is_unknown = _existing(r, plan, again.plan, r.document.new("IsNull", unknown))
    true, null = (r.document.literal(value, types.of("boolean")) for value in (True, None))
    mark = r.b.choice([(matches, true), (is_unknown, null)], r.document.literal(False, types.BOOLEAN))
    return Columns(plan, [*left.columns, mark])


def _existing(r: RelationBuilder, left: Node, right: Node, condition: Node) -> tuple[Node, Node]:
    """The left plan, and the column that says whether the right one has a row for which the condition holds."""
    mark = r.document.attribute("mark", types.BOOLEAN, False)
    return _joined(r, left, right, r.document.new("ExistenceJoin", mark), condition), mark


def _condition(r: RelationBuilder, condition: Expression, scope: Scope) -> Node:
    if running() < (4, 0) and any(map(refers_outwards, subqueries_of(condition))):
        raise Unsupported("before Spark 4.0, no subquery over the rows of a join is run in the join's condition")
    return r.expressions.build(condition, scope)


def _joined(r: RelationBuilder, left: Node, right: Node, kind: Part | Node, condition: Node | None) -> Node:
    no_hint = r.document.new("JoinHint", None, None)
    return r.document.new("Join", left, right, kind, None if condition is None else some(condition), no_hint)
