"""Finds IN subqueries that may be null where Spark's value for them depends on which of its optimizer's rules ran before.

Spark makes a join of such a subquery. Where the value is null, the join's mark is false for IN, and true for NOT IN; which of
the two the join is for has been decided by then, by rules that turn negations and comparisons round. Only in a condition
does it make no difference.

SELECT (k IN (SELECT k FROM u)) = false   -- false where it isn't known: NOT IN has taken the place of the comparison
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..catalyst.tree import Expression, Node, Plan

THROUGH = ("Alias", "And", "Not", "Or")
"""Expressions that a condition may be part of; NOT stands at the IN subquery already (`rewrites/negated_memberships.py`)."""


def ambiguous_in(root: Plan) -> set[Node]:
    """The IN subqueries of a plan that may be unknown, elsewhere than in conditions, and columns that are conditions.

    And those that ask for a column that is always NULL: the optimizer puts the NULL in its place, and what becomes of that where
    the subquery has no rows is a setting of Spark's.
    """
    ambiguous: set[Node] = set()
    aliases: dict[int, Node] = {}
    asked: list[Node] = []
    seen: set[tuple[Node, bool]] = set()
    stack: list[tuple[Node, bool]] = [(root, True)]
    while stack:
        node, settled = stack.pop()
        if (node, settled) in seen:
            continue
        seen.add((node, settled))
        if node.name == "Alias":
            aliases[node["exprId"]] = node["child"]
        if node.name == "InSubquery":
            asked.append(node)
        if node.name == "InSubquery" and not settled and isinstance(node, Expression) and node.nullable:
            ambiguous.add(node)
        stack.extend((child, _is_condition(node, child, settled)) for child in node.children())
    return ambiguous.union(node for node in asked if _is_null(node["values"], aliases))


def _is_null(values: Sequence[Node], aliases: Mapping[int, Node]) -> bool:
    """Whether a single value is a column that is always NULL."""
    if len(values) != 1 or values[0].name == "Literal":
        return False
    value: Node | None = values[0]
    while value is not None and value.name in ("Alias", "AttributeReference", "Cast"):
        value = aliases.get(value["exprId"]) if value.name == "AttributeReference" else value["child"]
    return value is not None and value.name == "Literal" and value["value"] is None


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
