"""Which columns a plan uses: a leaf need not yield the others."""

from __future__ import annotations

from ..catalyst.tree import Expression, Node, Plan

OWN_COLUMNS = ("Aggregate", "Expand", "Project")
"""Nodes whose output is made of expressions: of their child's columns they need those that occur in these."""

PASSES_COLUMNS = (
    "Filter",
    "GlobalLimit",
    "Join",
    "LocalLimit",
    "Offset",
    "RebalancePartitions",
    "Repartition",
    "RepartitionByExpression",
    "Sort",
    "SubqueryAlias",
    "Window",
    "WindowGroupLimit",
)
"""Nodes that need a child's column where it occurs in their expressions, or where somebody above needs it.

Of every other node all columns of its children are taken to be used: it may know them by position.
"""


def used_columns(root: Plan) -> frozenset[int]:
    """The exprIds of all columns that occur in expressions or are shown by the plan or by one of its subqueries."""
    used: set[int] = set()
    exposed: list[Plan] = [root]
    seen: set[int] = set()
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        plan = isinstance(node, Plan)
        if node.name == "AttributeReference":
            used.add(node["exprId"])
        for child in node.children():
            if isinstance(child, Plan):
                if not plan or (node.name not in OWN_COLUMNS and node.name not in PASSES_COLUMNS):
                    exposed.append(child)
                stack.append(child)
            elif not (plan and _is_leaf(node)):
                stack.append(child)
    return frozenset(used | _shown(exposed))


def _is_leaf(plan: Node) -> bool:
    return not any(isinstance(child, Plan) for child in plan.children())


def _shown(plans: list[Plan]) -> set[int]:
    """The exprIds of the leaves' columns that plans pass on."""
    shown: set[int] = set()
    seen: set[int] = set()
    stack: list[Node] = list(plans)
    while stack:
        node = stack.pop()
        if id(node) in seen or node.name in OWN_COLUMNS:
            continue
        seen.add(id(node))
        if _is_leaf(node):
            shown.update(c["exprId"] for c in node.children() if isinstance(c, Expression) and "exprId" in c.cls.index)
        stack.extend(child for child in node.children() if isinstance(child, Plan))
    return shown
