"""The order that a query asks of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...catalyst.row_order import ORDER_KEEPING
from .pairing import close
from .rows import Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LIMITS = ("GlobalLimit", "LocalLimit")
ABOVE_THE_ORDER = (*ORDER_KEEPING, "CollectMetrics", "ResolvedHint", "View")
"""Plan nodes, as the analyzer leaves them, whose rows come in the order of their child's."""


class Ordering(NamedTuple):
    """Which output columns a query orders by, and whether a limit, or an offset, may then cut through rows that tie."""

    columns: tuple[int, ...]
    limited: bool = False
    skipping: bool = False
    complete: bool = True
    """Whether these columns tell which rows tie, since the query orders by nothing else."""


def ordering(df: DataFrame) -> Ordering:
    """The order of a query's result, up to the first key that isn't one of its columns."""
    node: Any = df._jdf.queryExecution().analyzed()
    output = [node.output().apply(index).exprId().id() for index in range(node.output().size())]
    limited = skipping = False
    while node.nodeName() != "Sort":
        limited = limited or node.nodeName() in LIMITS
        skipping = skipping or node.nodeName() == "Offset"
        if node.nodeName() == "WithCTE":
            node = node.plan()
        elif node.nodeName() in ABOVE_THE_ORDER:
            node = node.children().apply(0)
        else:
            return Ordering((), limited, skipping, complete=False)
    keys: list[int] = []
    for index in range(node.order().size()):
        key = node.order().apply(index).child()
        if key.nodeName() != "AttributeReference" or key.exprId().id() not in output:
            return Ordering(tuple(keys), limited, skipping, complete=False)
        keys.append(output.index(key.exprId().id()))
    return Ordering(tuple(keys), limited, skipping)


def first_out_of_order(
    left: Sequence[Row], right: Sequence[Row], order: Ordering, tolerance: float | None
) -> int | None:
    """The first position at which the two sides differ in what the query orders by."""
    for position, (a, b) in enumerate(zip(left, right, strict=False)):
        if not close(_keys(a, order), _keys(b, order), tolerance):
            return position
    return None


def decided(rows: Sequence[Row], order: Ordering, tolerance: float | None) -> tuple[int, int]:
    """Where the rows begin and end that the query's order decides on.

    A limit cuts through the rows that tie with the last, an offset through those that tie with the first: either side may
    have others of them.
    """
    start, end = 0, len(rows)
    if not rows or not (order.complete and order.columns):
        return start, end
    first, last = _keys(rows[0], order), _keys(rows[-1], order)
    while order.limited and end > 0 and close(_keys(rows[end - 1], order), last, tolerance):
        end -= 1
    while order.skipping and start < end and close(_keys(rows[start], order), first, tolerance):
        start += 1
    return start, end


def _keys(row: Row, order: Ordering) -> Row:
    return tuple(row[column] for column in order.columns)
