"""Finds which columns a plan uses, so that leaves leave out the others."""

from __future__ import annotations

from ..catalyst.plan_classes import Does, that_do
from ..catalyst.tree import Node, Plan, own_columns
from .output import ids_of

MAKES_COLUMNS = that_do(Does.MAKES_COLUMNS)

USES_WHAT_IT_NAMES = MAKES_COLUMNS | that_do(Does.PASSES_COLUMNS)
"""Of every other node all columns of its children are taken to be used: it may know them by position."""


def used_columns(root: Plan) -> frozenset[int]:
    """The exprIds of all columns that occur in expressions or are shown by the plan or by one of its subqueries."""
    used: set[int] = set()
    exposed: list[Node] = [root]
    seen: set[Node] = set()
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        name = node.cls.name
        if name == "AttributeReference":
            used.add(node["exprId"])
            continue
        children = node.children()
        below = [child for child in children if isinstance(child, Plan)]
        if not isinstance(node, Plan):
            stack.extend(children)
        elif below:  # a leaf's own attributes are those it has, not those it uses
            stack.extend(children)
            if name in USES_WHAT_IT_NAMES:
                continue
        exposed.extend(below)
    return frozenset(used | _shown(exposed))


def _plans(node: Node) -> list[Node]:
    return [child for child in node.children() if isinstance(child, Plan)]


def _shown(plans: list[Node]) -> set[int]:
    """The exprIds of the columns that plans have: those of leaves that they pass on, and those that they make."""
    shown: set[int] = set()
    seen: set[Node] = set()
    stack = plans
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        below = [] if node.cls.name in MAKES_COLUMNS else _plans(node)
        if not below:
            shown.update(ids_of(own_columns(node)))
        stack.extend(below)
    return shown
