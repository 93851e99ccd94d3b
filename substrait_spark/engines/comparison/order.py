"""Whether rows come in the order that a query asks of them."""

from __future__ import annotations

from collections.abc import Sequence

from ...catalyst.query_order import Ordering
from .pairing import close
from .rows import Row


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
