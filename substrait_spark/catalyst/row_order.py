"""In which order the rows of a Catalyst plan come, and which results depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from . import tree
from .plan_classes import Does, that_do

ORDER_KEEPING = that_do(Does.KEEPS_ORDER)

ORDER_JOINING = that_do(Does.JOINS_ORDERS)


class RowOrder(NamedTuple):
    """What the rows of a plan are sorted by.

    keys: SortOrder expressions, or bare ones, which ascend with nulls first; None where nothing tells the order. stated:
    whether the query asks for it, by a sort; else it is only how windows leave their rows.
    """

    keys: Sequence[tree.Expression] | None
    stated: bool


def order_below(node: tree.Plan) -> RowOrder | None:
    """The order that a plan's rows come in, None where it has none."""
    keys: list[tree.Expression] = []
    while True:
        while keeps_order(node):
            node = node["child"]
        if node.name != "Window":
            break
        keys += [*node["partitionSpec"], *order_of(node)]
        node = node["child"]
    if node.name == "Sort":
        return RowOrder(deciding([*keys, *node["order"]]), True)
    if node.name in ORDER_JOINING and is_sorted(node):
        return RowOrder(None, True)
    return RowOrder(deciding(keys), False) if keys else None


def keeps_order(node: tree.Plan) -> bool:
    """Whether a plan's rows come in the order of its child's."""
    if node.name == "Generate":
        return bool(node["generator"].name == "JsonTuple")  # one row of each
    return node.name in ORDER_KEEPING or (node.name == "Repartition" and not node["shuffle"])


def order_of(window: tree.Plan) -> list[tree.Expression]:
    """The order that a Window asks for, without NULLs, which order nothing."""
    return [order for order in window["orderSpec"] if order["child"].type.name != "void"]


def deciding(keys: Sequence[tree.Expression]) -> list[tree.Expression]:
    """The keys without those that are among the keys before them, and so decide nothing."""
    kept: list[tree.Expression] = []
    for key in keys:
        if not any(tree.same(sorted_by(key), sorted_by(other)) for other in kept):
            kept.append(key)
    return kept


def sorted_by(key: tree.Expression) -> tree.Expression:
    """The expression that a key of a RowOrder sorts by."""
    return key["child"] if key.name == "SortOrder" else key


def is_sorted(node: tree.Plan) -> bool:
    """Whether a sort orders some of the rows that a plan passes on in their order."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.name == "Sort":
            return True
        if keeps_order(node) or node.name in ORDER_JOINING or node.name == "Window":
            stack += [child for child in node.children() if isinstance(child, tree.Plan)]
    return False


def without_pruning(node: tree.Plan) -> tree.Plan:
    """The plan below projects that only drop columns, maybe those that it is sorted by; and if that is a sort, the plan below it."""
    while node.name == "Project" and all(item.name == "AttributeReference" for item in node["projectList"]):
        node = node["child"]
    return node["child"] if node.name == "Sort" else node


ORDERED = ("CollectList", "First", "Last", "ListAgg")
"""Functions whose result depends on the order of the rows. Spark leaves it open, and keeps to the order below where it can."""


def is_ordered(call: tree.Expression) -> bool:
    """Whether an aggregate's result depends on the order of the rows."""
    function = call["aggregateFunction"]
    return function.name in ORDERED and not (function.name == "ListAgg" and function["orderExpressions"])


NUMBERED = ("CounterDiff", "CounterDiffWithStartTime", "Lag", "Lead", "NTile", "RowNumber")
"""Window functions that count rows, also those that tie in the window's order."""

BY_POSITION = (*ORDERED, "NthValue")


def tells_ties_apart(window: tree.Expression) -> bool:
    """Whether the result of a WindowExpression depends on the order of rows that tie, and its frame doesn't."""
    function = window["windowFunction"]
    if function.name == "AggregateExpression":
        function = function["aggregateFunction"]
    frame = window["windowSpec"]["frameSpecification"]
    if function.name in NUMBERED or frame.name != "SpecifiedWindowFrame":
        return function.name in NUMBERED
    if (frame["lower"].name, frame["upper"].name) == ("UnboundedPreceding", "UnboundedFollowing"):
        return function.name in BY_POSITION
    return frame["frameType"] == "RowFrame" and function.name not in RANKS


RANKS = ("CumeDist", "DenseRank", "PercentRank", "Rank")
"""Window functions for which rows that tie are one."""
