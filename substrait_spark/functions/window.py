"""Window functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..algebra import types
from ..algebra.expression import Bound, Expression, Literal, WindowCall
from ..catalyst import tree
from ..errors import Unsupported
from ..refusals import no_aggregate
from .aggregate import AGGREGATE

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


class Frame(NamedTuple):
    """A window frame: by rows or by range, and its ends."""

    rows: bool
    lower: Bound
    upper: Bound


class Windowed(NamedTuple):
    """The window calls that a function needs, and what its result is in terms of them."""

    calls: tuple[WindowCall, ...]
    result: Callable[..., Expression]


WindowRule = Callable[["ExpressionBuilder", tree.Expression, Frame], Windowed]

WHOLE = Frame(True, Bound("unbounded"), Bound("unbounded"))


def ranking(name: str) -> WindowRule:
    """RowNumber, Rank, DenseRank: 32-bit in Spark. They look at no frame."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
        call = e.window(f"arithmetic:{name}", frame=frame)
        return Windowed((call,), lambda above, refs: above.cast(refs[0], e.type_of(node, True)))

    return emit


def distribution(name: str) -> WindowRule:
    """PercentRank, CumeDist."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
        return Windowed((e.window(f"arithmetic:{name}", frame=frame),), lambda above, refs: refs[0])

    return emit


def ntile(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
    """NTile."""
    call = e.window("arithmetic:ntile", e.emit(node["buckets"]), frame=frame)
    return Windowed((call,), lambda above, refs: above.cast(refs[0], e.type_of(node, True)))


def offset(name: str, field: str) -> WindowRule:
    """Lag, Lead: the row that many rows before or after; a negative offset looks the other way."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
        _respects_nulls(node)
        input = e.emit(node["input"])
        steps = node[field]
        if steps.name != "Literal" or not isinstance(steps["value"], int):
            raise Unsupported("only a literal offset can be exported")
        away = steps["value"]
        function = name if away >= 0 else {"lag": "lead", "lead": "lag"}[name]
        arguments: list[Expression] = [input, e.literal(abs(away), types.I32)]
        default = node["default"]
        if not (default.name == "Literal" and default["value"] is None):
            arguments.append(e.as_type(e.emit(default), types.with_nullable(input.type, default.nullable)))
        call = e.window(f"arithmetic:{function}", *arguments, frame=WHOLE)
        return Windowed((call,), lambda above, refs: refs[0])

    return emit


def nth_value(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
    """NthValue: the row at a position of the frame."""
    _respects_nulls(node)
    call = e.window("arithmetic:nth_value", e.emit(node["input"]), e.emit(node["offset"]), frame=frame)
    return Windowed((call,), lambda above, refs: refs[0])


def end_of_frame(name: str) -> WindowRule:
    """First, Last: the frame's first or last row."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
        _respects_nulls(node)
        call = e.window(f"arithmetic:{name}", e.emit(node["child"]), frame=frame)
        return Windowed((call,), lambda above, refs: refs[0])

    return emit


def _respects_nulls(node: tree.Expression) -> None:
    if node["ignoreNulls"]:
        raise Unsupported("no window function of Substrait ignores nulls")


def aggregate(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
    """AggregateExpression over a window."""
    function = node["aggregateFunction"]
    if function.name in POSITIONAL:
        if node["filter"] is not None:
            raise Unsupported("a FILTER on this window function has no Substrait form")
        return POSITIONAL[function.name](e, function, frame)
    rule = AGGREGATE.get(function.name)
    if rule is None:
        raise no_aggregate(function)
    if node["isDistinct"] or node["filter"] is not None:
        raise Unsupported("DISTINCT and FILTER on a window function have no Substrait form")
    measured = rule(e, node, function)
    calls = tuple(
        WindowCall(call.declaration, call.arguments, frame.rows, frame.lower, frame.upper, call.options)
        for call in measured.calls
    )
    return Windowed(calls, measured.result)


POSITIONAL: dict[str, WindowRule] = {"First": end_of_frame("first_value"), "Last": end_of_frame("last_value")}
"""Aggregate functions that mean a row of the frame when used over a window."""

WINDOW: dict[str, WindowRule] = {
    "AggregateExpression": aggregate,
    "CumeDist": distribution("cume_dist"),
    "DenseRank": ranking("dense_rank"),
    "Lag": offset("lag", "inputOffset"),
    "Lead": offset("lead", "offset"),
    "NTile": ntile,
    "NthValue": nth_value,
    "PercentRank": distribution("percent_rank"),
    "Rank": ranking("rank"),
    "RowNumber": ranking("row_number"),
}
"""Window functions by Catalyst class."""


def frame_of(e: ExpressionBuilder, node: tree.Expression) -> Frame:
    """A SpecifiedWindowFrame. Preceding offsets are negative in Catalyst, and positive with a direction here."""
    if node.name != "SpecifiedWindowFrame":
        raise Unsupported(f"the window frame {node.name} is not known")
    rows = {"RowFrame": True, "RangeFrame": False}.get(node["frameType"])
    if rows is None:
        raise Unsupported(f"the frame type {node['frameType']} is not known")
    return Frame(rows, _bound(e, node["lower"], rows), _bound(e, node["upper"], rows))


def _bound(e: ExpressionBuilder, node: tree.Expression, rows: bool) -> Bound:
    if node.name in ("UnboundedPreceding", "UnboundedFollowing"):
        return Bound("unbounded")
    if node.name == "CurrentRow":
        return Bound("current")
    offset = e.emit(node)
    if not isinstance(offset, Literal) or not isinstance(offset.value, int | float):
        raise Unsupported("only literal window bounds can be exported")
    if rows and offset.value == 0:
        return Bound("current")
    size = abs(offset.value)
    distance = e.literal(size, types.I64 if rows else offset.type)
    return Bound("preceding" if offset.value < 0 else "following", distance)
