"""The frames of window functions (https://substrait.io/expressions/window_functions/#window-bounds)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...algebra import types
from ...algebra.expression import Bound, Expression, Literal, WindowCall
from ...algebra.types import Type
from ...errors import Unsupported
from .builder import Builder
from .document import Node, Part, singleton

DAY = 86_400_000_000
"""Microseconds."""


def frame_of(builder: Builder, call: WindowCall, key: Type | None, offset: Callable[[Expression], Node]) -> Node:
    """The frame of a call in the order of a key; `offset` writes the distance to a bound."""
    if key is not None and key.kind == "date":
        offset = partial(_days, builder, offset)
    kind = singleton("RowFrame" if call.rows else "RangeFrame")
    lower = _bound(builder, call.rows, call.lower, "UnboundedPreceding", offset)
    upper = _bound(builder, call.rows, call.upper, "UnboundedFollowing", offset)
    return builder.document.new("SpecifiedWindowFrame", kind, lower, upper)


def _bound(
    builder: Builder, rows: bool, bound: Bound, unbounded: str, offset: Callable[[Expression], Node]
) -> Node | Part:
    if bound.kind == "unbounded":
        return singleton(unbounded)
    if bound.kind == "current" or bound.offset is None:
        return singleton("CurrentRow")
    distance = _rows(builder, bound.offset) if rows else offset(bound.offset)
    if bound.kind == "following":
        return distance
    return builder.document.call("negative", [distance], "ANSI")


def _days(builder: Builder, offset: Callable[[Expression], Node], distance: Expression) -> Node:
    """A distance of dates: Spark takes a number of days for an interval that may have a time."""
    if distance.type.kind != "interval_day":
        return offset(distance)
    if not isinstance(distance, Literal) or distance.value % DAY:
        raise Unsupported("Spark's frames of dates reach as far as a literal number of days says")
    return builder.document.literal(distance.value // DAY, types.I32)


def _rows(builder: Builder, offset: Expression) -> Node:
    """A number of rows, which Spark counts in 32 bits."""
    value = offset.value if isinstance(offset, Literal) else None
    if not isinstance(value, int) or not 0 <= value < 2**31:
        raise Unsupported("Spark's frames of rows reach as far as a literal of 32 bits says")
    return builder.document.literal(value, types.I32)
