"""Window functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.aggregate_form import WindowForm, as_is
from ..algebra.frame import WHOLE, Frame, over
from ..catalyst import tree
from ..errors import Unsupported
from . import user_function
from .aggregate import AGGREGATE
from .collation import require_aggregate
from .measure import EmittedCall

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder

WindowRule = Callable[["ExpressionBuilder", tree.Expression, Frame], WindowForm]


def ranking(name: str) -> WindowRule:
    """RowNumber, Rank, DenseRank, NTile: 32-bit in Spark. They look at no frame."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> WindowForm:
        arguments = [e.emit(node["buckets"])] if name == "ntile" else []
        call = e.window(f"arithmetic:{name}", *arguments, frame=frame)
        return WindowForm((call,), lambda above, refs: above.cast(refs[0], types.I32))

    return emit


def distribution(name: str) -> WindowRule:
    """PercentRank, CumeDist."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> WindowForm:
        return WindowForm((e.window(f"arithmetic:{name}", frame=frame),), as_is)

    return emit


def offset(name: str, field: str) -> WindowRule:
    """Lag, Lead: the row that many rows before or after; a negative offset looks the other way."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> WindowForm:
        input = e.emit(node["input"])
        away = node[field]["value"] if node[field].name == "Literal" else None
        if not isinstance(away, int):
            raise Unsupported("only a literal offset can be exported")
        function = name if away >= 0 else {"lag": "lead", "lead": "lag"}[name]
        function = f"spark:{function}_ignore_nulls" if node["ignoreNulls"] else f"arithmetic:{function}"
        arguments = [input, e.i32(abs(away))]
        default = node["default"]
        if default.name != "Literal" or default["value"] is not None:
            arguments.append(e.as_type(e.emit(default), types.with_nullable(input.type, default.nullable)))
        return WindowForm((e.window(function, *arguments, frame=WHOLE),), as_is)

    return emit


def nth_value(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> WindowForm:
    """NthValue: the row at a position of the frame. Spark's optimizer makes it of First over a growing frame, too."""
    input, position = e.emit_all([node["input"], node["offset"]])
    function = "spark:nth_value_ignore_nulls" if node["ignoreNulls"] else "arithmetic:nth_value"
    return WindowForm((e.window(function, input, position, frame=frame),), as_is)


def end_of_frame(name: str) -> WindowRule:
    """First, Last: the frame's first or last row. The standard functions declare a result that is never null."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> WindowForm:
        child = e.emit(node["child"])
        if node["ignoreNulls"]:
            return WindowForm((e.window(f"spark:{name}_ignore_nulls", child, frame=frame),), as_is)
        never_null = frame.holds_current_row and not child.type.nullable
        return WindowForm(
            (e.window(f"{'arithmetic:' if never_null else 'spark:spark_'}{name}", child, frame=frame),), as_is
        )

    return emit


def counter_difference(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> WindowForm:
    """CounterDiff, CounterDiffWithStartTime."""
    arguments = e.emit_all([node["counter"]] if node.get("startTime") is None else [node["counter"], node["startTime"]])
    return WindowForm((e.window("spark:counter_diff", *arguments, frame=frame),), as_is)


def aggregate(e: ExpressionBuilder, node: tree.Expression, frame: Frame) -> WindowForm:
    """AggregateExpression over a window."""
    function = node["aggregateFunction"]
    if function.name in POSITIONAL:
        if node["filter"] is not None:
            raise Unsupported(
                "a FILTER on this window function has no Substrait form",
                "Where the value is never null, write function(CASE WHEN condition THEN value END) IGNORE NULLS.",
            )
        return POSITIONAL[function.name](e, function, frame)
    rule = AGGREGATE.get(function.name, user_function.aggregate)
    require_aggregate(function)
    if node["isDistinct"]:
        raise Unsupported("DISTINCT on a window function has no Substrait form")
    form = rule(EmittedCall(e, node, frame), function)
    return WindowForm(tuple(over(call, frame) for call in form.calls), form.result)


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
    "NTile": ranking("ntile"),
    "NthValue": nth_value,
    "PercentRank": distribution("percent_rank"),
    "Rank": ranking("rank"),
    "RowNumber": ranking("row_number"),
}
"""Window functions by Catalyst class."""
