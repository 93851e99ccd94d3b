"""In which order a plan's rows come, and which results depend on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..algebra.expression import SortField
from ..catalyst import tree
from ..expr.builder import ExpressionBuilder
from ..expr.sort_order import sort_field

ORDER_KEEPING = ("Filter", "GlobalLimit", "LocalLimit", "Offset", "Project", "SubqueryAlias")
"""Plan nodes whose rows come in the order of their child's."""


class RowOrder(NamedTuple):
    """What the rows of a plan are sorted by.

    keys: SortOrder expressions, or bare ones, which ascend with nulls first. stated: whether the query asks for it, by a
    sort; else it is only how windows leave their rows.
    """

    keys: Sequence[tree.Expression]
    stated: bool

    def sorts(self, e: ExpressionBuilder) -> tuple[SortField, ...] | None:
        """The keys as sort fields. Where columns are not at hand any more: None of a stated order, of another what is."""
        missing = [
            n for n, key in enumerate(self.keys) if not all(a["exprId"] in e.scope for a in tree.attributes(key))
        ]
        if missing and self.stated:
            return None
        return tuple([_sort_field(e, key) for key in self.keys[: missing[0] if missing else None]])


def order_below(node: tree.Plan) -> RowOrder | None:
    """The order that a plan's rows come in, None where it has none."""
    keys: list[tree.Expression] = []
    while True:
        while node.name in ORDER_KEEPING or (node.name == "Repartition" and not node["shuffle"]):
            node = node["child"]
        if node.name != "Window":
            break
        keys += [*node["partitionSpec"], *order_of(node)]
        node = node["child"]
    if node.name == "Sort":
        return RowOrder([*keys, *node["order"]], True)
    return RowOrder(keys, False) if keys else None


def order_of(window: tree.Plan) -> list[tree.Expression]:
    """The order that a Window asks for, without NULLs, which order nothing."""
    return [order for order in window["orderSpec"] if order["child"].type.name != "void"]


def _sort_field(e: ExpressionBuilder, key: tree.Expression) -> SortField:
    return sort_field(e, key) if key.name == "SortOrder" else SortField(e.emit(key), True, True)


def without_pruning(node: tree.Plan) -> tree.Plan:
    """The plan below projects that only drop columns, maybe those that it is sorted by; and below the sort, if it is that."""
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
