"""Finds IN subqueries that may be null where Spark's value for them depends on which of its optimizer's rules ran before.

Spark makes a join of such a subquery. Where the value is null, the join's mark is false for IN, and true for NOT IN; which of
the two the join is for has been decided by then, by rules that turn negations and comparisons round. Only in a condition
does it make no difference.

SELECT (k IN (SELECT k FROM u)) = false   -- false where it isn't known: NOT IN has taken the place of the comparison
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..catalyst.tree import Expression, Node, Plan, children_first

THROUGH = ("Alias", "And", "Not", "Or")
"""Expressions that a condition may be part of; NOT stands at the IN subquery already (`rewrites/negated_memberships.py`)."""


def ambiguous_in(root: Plan) -> set[Node]:
    """The IN subqueries of a plan that may be unknown, elsewhere than in conditions, and columns that are conditions.

    And those that ask for a column that may be a constant NULL, in an input of a union, too: the optimizer puts the NULL in its place,
    and what becomes of that where the subquery has no rows is a setting of Spark's.
    """
    ambiguous: set[Node] = set()
    aliases: dict[int, list[Node]] = {}
    asked: list[Node] = []
    seen: set[tuple[Node, bool]] = set()
    stack: list[tuple[Node, bool]] = [(root, True)]
    while stack:
        node, settled = stack.pop()
        if (node, settled) in seen:
            continue
        seen.add((node, settled))
        if node.name == "Alias":
            aliases.setdefault(node["exprId"], []).append(node["child"])
        if node.name == "Union":
            first, *others = map(_columns, node["children"])
            for column, *united in zip(first, *others, strict=False):
                if column.name in ("Alias", "AttributeReference"):
                    aliases.setdefault(column["exprId"], []).extend(united)
        if node.name == "InSubquery":
            asked.append(node)
        if node.name == "InSubquery" and not settled and isinstance(node, Expression) and node.nullable:
            ambiguous.add(node)
        stack.extend((child, _is_condition(node, child, settled)) for child in node.children())
    return ambiguous.union(
        node for node in asked if len(node["values"]) == 1 and _may_be_null(node["values"][0], aliases)
    )


PASSING = ("Distinct", "Filter", "GlobalLimit", "LocalLimit", "Sort", "SubqueryAlias")
"""Relations whose columns are those of their child."""

LISTS = {"Aggregate": "aggregateExpressions", "Project": "projectList"}


def _columns(plan: Node) -> Sequence[Node]:
    """The expressions of a relation's columns; none where it lists none."""
    while plan.name in PASSING or plan.name == "Union":
        plan = plan["children"][0] if plan.name == "Union" else plan["child"]
    columns: Sequence[Node] = plan[LISTS[plan.name]] if plan.name in LISTS else ()
    return columns


def _may_be_null(value: Node, aliases: Mapping[int, Sequence[Node]]) -> bool:
    """Whether a value is a column that may come of a constant NULL."""
    if value.name == "Literal":
        return False
    seen: set[int] = set()
    stack = [value]
    while stack:
        value = stack.pop()
        if value.name in ("Alias", "Cast"):
            stack.append(value["child"])
        elif value.name == "AttributeReference":
            if value["exprId"] not in seen:
                seen.add(value["exprId"])
                stack.extend(aliases.get(value["exprId"], ()))
        elif isinstance(value, Expression) and value.nullable and _is_constant(value):
            return True
    return False


def _is_constant(root: Node) -> bool:
    """Whether an expression is of no column and no subquery, so that the optimizer computes it."""
    return not any(isinstance(part, Plan) or part.name == "AttributeReference" for part in children_first(root))


def _is_condition(parent: Node, child: Node, settled: bool) -> bool:
    """Whether a part of a node is a condition, if the node itself is one or not."""
    if isinstance(parent, Plan):
        return True
    if parent.name == "If":
        return child is parent["predicate"]
    if parent.name == "CaseWhen":
        return child in parent["branches"]
    if not isinstance(parent, Expression):  # a branch: a condition and its value
        return settled and child is parent.values[0]
    return settled and parent.name in THROUGH
