"""The frames of window functions (https://substrait.io/expressions/window_functions/#window-bounds)."""

from __future__ import annotations

from collections.abc import Callable

from ...algebra import types
from ...algebra.expression import Bound, Expression, Literal, WindowCall
from ...errors import Unsupported
from .builder import Builder
from .document import Node, Part, singleton


def frame_of(builder: Builder, call: WindowCall, offset: Callable[[Expression], Node]) -> Node:
    """The frame of a call; `offset` writes the distance to a bound."""
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


def _rows(builder: Builder, offset: Expression) -> Node:
    """A number of rows, which Spark counts in 32 bits."""
    value = offset.value if isinstance(offset, Literal) else None
    if not isinstance(value, int) or not 0 <= value < 2**31:
        raise Unsupported("Spark's frames of rows reach as far as a literal of 32 bits says")
    return builder.document.literal(value, types.I32)
