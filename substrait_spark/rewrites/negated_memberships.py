"""Moves NOT inwards to IN subqueries, as the optimizer does before it makes joins of them: `NOT (a IN q AND p)` is `a NOT IN q OR NOT p`.

Where a value is null, these joins give false for IN and true for NOT IN; so it matters which of the two a plan says.
"""

from __future__ import annotations

from ..algebra.trampoline import Steps, in_turn, run
from ..catalyst.tree import Expression, Node, Plan

OPPOSITE = {"And": "Or", "Or": "And"}


def negated(node: Node) -> Node | None:
    """NOT of a connective of IN subqueries is the other connective of their negations."""
    child = node["child"]
    if (child.name != "Not" and child.name not in OPPOSITE) or not _asks_membership(child):
        return None
    return run(_negated(node, child))


def _negated(negation: Node, node: Expression) -> Steps[Expression]:
    if node.name == "Not":
        return node["child"]  # type: ignore[no-any-return]
    if node.name not in OPPOSITE:
        return Expression(negation.cls, (node,), negation.number, node.type, node.nullable)
    parts = yield from in_turn([_negated(negation, node[side]) for side in ("left", "right")])
    opposite = type(node.cls)(OPPOSITE[node.name], "e", node.cls.fields)
    return Expression(opposite, tuple(parts), node.number, node.type, node.nullable)


def _asks_membership(node: Node) -> bool:
    """Whether an IN subquery is among the operands of connectives and negations."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.name == "InSubquery":
            return True
        if node.name in OPPOSITE or node.name == "Not":
            stack.extend(child for child in node.children() if not isinstance(child, Plan))
    return False


RULES = (("Not", negated),)
