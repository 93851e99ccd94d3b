"""Window functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..algebra import types
from ..algebra.expression import Expression, WindowCall
from ..catalyst import tree
from ..errors import Unsupported
from ..refusals import no_aggregate
from .aggregate import AGGREGATE
from .frame import WHOLE, Frame
from .measure import Result, Site, as_is

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


class Windowed(NamedTuple):
    """The window calls that a function needs, and what its result is in terms of theirs."""

    calls: tuple[WindowCall, ...]
    result: Result


WindowRule = Callable[["ExpressionBuilder", tree.Expression, Frame], Windowed]


def ranking(name: str) -> WindowRule:
    """RowNumber, Rank, DenseRank: 32-bit in Spark. They look at no frame."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
        call = e.window(f"arithmetic:{name}", frame=frame)
        return Windowed((call,), lambda above, refs: above.cast(refs[0], types.I32))

    return emit


def distribution(name: str) -> WindowRule:
    """PercentRank, CumeDist."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
        return Windowed((e.window(f"arithmetic:{name}", frame=frame),), as_is)

    return emit


def ntile(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
    """NTile."""
    call = e.window("arithmetic:ntile", e.emit(node["buckets"]), frame=frame)
    return Windowed((call,), lambda above, refs: above.cast(refs[0], types.I32))


def offset(name: str, field: str) -> WindowRule:
    """Lag, Lead: the row that many rows before or after; a negative offset looks the other way."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
        input = e.emit(node["input"])
        away = node[field]["value"] if node[field].name == "Literal" else None
        if not isinstance(away, int):
            raise Unsupported("only a literal offset can be exported")
        function = name if away >= 0 else {"lag": "lead", "lead": "lag"}[name]
        function = f"spark:{function}_ignore_nulls" if node["ignoreNulls"] else f"arithmetic:{function}"
        distance = e.i32(abs(away))
        default = node["default"]
        if default.name == "Literal" and default["value"] is None:
            return Windowed((e.window(function, input, distance, frame=WHOLE),), as_is)
        value = e.as_type(e.emit(default), types.with_nullable(input.type, default.nullable))
        return e.first(
            lambda: Windowed((e.window(function, input, distance, value, frame=WHOLE),), as_is),
            lambda: _or_default(e, function, input, distance, value),
        )

    return emit


def _or_default(
    e: ExpressionBuilder, function: str, input: Expression, distance: Expression, default: Expression
) -> Windowed:
    """The value of the other row or, where there is no such row, the default of the current one."""
    calls = (
        e.window(function, input, distance, frame=WHOLE),
        e.window(function, e.true(), distance, frame=WHOLE),
    )

    def result(above: ExpressionBuilder, refs: tuple[Expression, ...]) -> Expression:
        return above.if_then(above.is_null(refs[1]), default, refs[0])

    return Windowed(calls, result)  # type: ignore[arg-type]


def nth_value(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
    """NthValue: the row at a position of the frame."""
    function = "spark:nth_value_ignore_nulls" if node["ignoreNulls"] else "arithmetic:nth_value"
    return Windowed((e.window(function, e.emit(node["input"]), e.emit(node["offset"]), frame=frame),), as_is)


def end_of_frame(name: str) -> WindowRule:
    """First, Last: the frame's first or last row. The standard functions declare a result that is never null."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
        child = e.emit(node["child"])
        if node["ignoreNulls"]:
            return Windowed((e.window(f"spark:{name}_ignore_nulls", child, frame=frame),), as_is)
        never_null = frame.holds_current_row and not child.type.nullable
        return Windowed((e.window(f"{'arithmetic' if never_null else 'spark'}:{name}", child, frame=frame),), as_is)

    return emit


def counter_difference(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
    """CounterDiff, CounterDiffWithStartTime."""
    arguments = e.emit_all([node["counter"]] if node.get("startTime") is None else [node["counter"], node["startTime"]])
    return Windowed((e.window("spark:counter_diff", *arguments, frame=frame),), as_is)


def aggregate(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> Windowed:
    """AggregateExpression over a window."""
    function = node["aggregateFunction"]
    if function.name in POSITIONAL:
        if node["filter"] is not None:
            raise Unsupported(
                "a FILTER on this window function has no Substrait form", "Filter the rows before the window function."
            )
        return POSITIONAL[function.name](e, function, frame)
    rule = AGGREGATE.get(function.name)
    if rule is None:
        raise no_aggregate(function)
    if node["isDistinct"]:
        raise Unsupported("DISTINCT on a window function has no Substrait form")
    measured = rule(Site(e, node, frame), function)
    calls = tuple(
        WindowCall(call.declaration, call.arguments, frame.rows, frame.lower, frame.upper, call.options)
        for call in measured.calls
    )
    return Windowed(calls, measured.result)


POSITIONAL: dict[str, WindowRule] = {"First": end_of_frame("first_value"), "Last": end_of_frame("last_value")}
"""Aggregate functions that mean a row of the frame when used over a window."""

WINDOW: dict[str, WindowRule] = {
    "AggregateExpression": aggregate,
    "CounterDiff": counter_difference,
    "CounterDiffWithStartTime": counter_difference,
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
