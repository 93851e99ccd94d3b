"""The frames of window functions (https://substrait.io/expressions/window_functions/#window-bounds)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...algebra import types
from ...algebra.expression import Bound, Expression, Literal, SortField, WindowCall
from ...algebra.types import INTEGERS, Type
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


def held(builder: Builder, call: WindowCall, key: Node, sort: SortField) -> Node:
    """The integer key that a frame's rows are in the range of, which raises where its type does not hold a bound.

    The specification doesn't say; Spark itself raises or wraps around, as the session's mode is when the query runs.
    """
    type = sort.expression.type
    if call.rows or type.kind not in INTEGERS:
        return key
    preceding, following = _reach(call, "preceding"), _reach(call, "following")
    below, above = (preceding, following) if sort.ascending else (following, preceding)
    limit = 2 ** (int(type.kind[1:]) - 1)
    document = builder.document
    for reach, compare, last in ((above, ">", limit - 1 - above), (below, "<", below - limit)):
        if reach:
            message = document.literal(f"A frame by range ends where {type} does not reach", types.STRING)
            error = builder.cast(document.call("raise_error", [message], "ANSI"), type, "ANSI")
            is_outside = document.call(compare, [key, document.literal(last, types.required(type))], "ANSI")
            key = builder.choice([(is_outside, error)], key)
    return key


def _reach(call: WindowCall, kind: str) -> int:
    """How far the bounds of a kind are away, at most."""
    offsets = [bound.offset for bound in (call.lower, call.upper) if bound.kind == kind]
    return max((int(offset.value) for offset in offsets if isinstance(offset, Literal)), default=0)


def _bound(
    builder: Builder, rows: bool, bound: Bound, unbounded: str, offset: Callable[[Expression], Node]
) -> Node | Part:
    if bound.kind == "unbounded":
        return singleton(unbounded)
    if bound.kind == "current" or bound.offset is None:
        return singleton("CurrentRow")
    of_kind = partial(_rows, builder) if rows else offset
    if bound.kind == "following":
        return of_kind(bound.offset)
    value = bound.offset.value if isinstance(bound.offset, Literal) else None
    if isinstance(value, int | float):
        # As it is: Spark runs no bound that is still to be computed, and a session's optimizer may leave that undone.
        return of_kind(Literal(-value, bound.offset.type))
    return builder.document.call("negative", [offset(bound.offset)], "ANSI")


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
    if not isinstance(value, int) or not -(2**31) < value < 2**31:
        raise Unsupported("Spark's frames of rows reach as far as a literal of 32 bits says")
    return builder.document.literal(value, types.I32)
