"""The order in which a plan's rows come."""

from __future__ import annotations

from ..catalyst import tree

ORDER_KEEPING = ("Filter", "GlobalLimit", "LocalLimit", "Offset", "Project", "SubqueryAlias")
"""Plan nodes whose rows come in the order of their child's."""


def sort_below(node: tree.Plan) -> tree.Plan | None:
    """The sort that gives a plan its order, None where it has none."""
    while node.name in ORDER_KEEPING:
        node = node["child"]
    return node if node.name == "Sort" else None


def without_pruning(node: tree.Plan) -> tree.Plan:
    """The plan below projects that only drop columns, maybe those that it is sorted by; and below the sort, if it is that."""
    while node.name == "Project" and all(item.name == "AttributeReference" for item in node["projectList"]):
        node = node["child"]
    return node["child"] if node.name == "Sort" else node
