"""Window functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..algebra import types
from ..algebra.expression import Bound, Expression, FieldReference, Literal, SortField, WindowCall
from ..catalyst import tree
from ..errors import NotInDialect, Unsupported
from ..expr.nested import size
from ..refusals import no_aggregate
from .aggregate import AGGREGATE
from .frame import WHOLE, Frame, over
from .measure import Result, Site, as_is

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


class Windowed(NamedTuple):
    """The window calls that a function needs, and what its result is in terms of theirs."""

    calls: tuple[WindowCall, ...]
    result: Result


class Below:
    """Window calls that other ones of the same window build on: their results are columns after those of the input.

    `width`: the number of columns of the input; `partition` and `sorts`: those of the window. `stages`: the calls, each
    with its own partition and order.
    """

    def __init__(self, width: int, partition: tuple[Expression, ...], sorts: tuple[SortField, ...]) -> None:
        self.stages: list[tuple[WindowCall, tuple[Expression, ...], tuple[SortField, ...]]] = []
        self.sorts = sorts
        self._width = width
        self._partition = partition

    def column(
        self, call: WindowCall, *within: Expression, sorts: tuple[SortField, ...] | None = None
    ) -> FieldReference:
        """The result of a call, over rows that agree on `within` too, in the window's order or another."""
        order = self.sorts if sorts is None else sorts
        self.stages.append((call, (*self._partition, *within), order))
        return FieldReference(self._width + len(self.stages) - 1, call.type)


WindowRule = Callable[["ExpressionBuilder", tree.Expression, Frame, Below], Windowed]


def ranking(name: str) -> WindowRule:
    """RowNumber, Rank, DenseRank: 32-bit in Spark. They look at no frame."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame, below: Below) -> Windowed:
        call = e.window(f"arithmetic:{name}", frame=frame)
        return Windowed((call,), lambda above, refs: above.cast(refs[0], types.I32))

    return emit


def distribution(name: str) -> WindowRule:
    """PercentRank, CumeDist."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame, below: Below) -> Windowed:
        return Windowed((e.window(f"arithmetic:{name}", frame=frame),), as_is)

    return emit


def ntile(e: ExpressionBuilder, node: tree.Expression, frame: Frame, below: Below) -> Windowed:
    """NTile."""
    buckets = e.emit(node["buckets"])
    call = e.first(
        *(partial(e.window, f"{alias}:ntile", buckets, frame=frame) for alias in ("arithmetic", "datafusion"))
    )
    return Windowed((call,), lambda above, refs: above.cast(refs[0], types.I32))


def offset(name: str, field: str) -> WindowRule:
    """Lag, Lead: the row that many rows before or after; a negative offset looks the other way."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame, below: Below) -> Windowed:
        input = e.emit(node["input"])
        away = node[field]["value"] if node[field].name == "Literal" else None
        if not isinstance(away, int):
            raise Unsupported("only a literal offset can be exported")
        function = name if away >= 0 else {"lag": "lead", "lead": "lag"}[name]
        function = f"spark:{function}_ignore_nulls" if node["ignoreNulls"] else f"arithmetic:{function}"
        distance = e.i32(abs(away))
        default = node["default"]
        value = None
        if default.name != "Literal" or default["value"] is not None:
            value = e.as_type(e.emit(default), types.with_nullable(input.type, default.nullable))
        if node["ignoreNulls"]:
            return e.first(
                lambda: _other_row(e, function, input, distance, value),
                lambda: _next_known(e, "last" if "lag" in function else "first", input, abs(away), value, below),
            )
        return _other_row(e, function, input, distance, value)

    return emit


def _other_row(
    e: ExpressionBuilder, function: str, input: Expression, distance: Expression, default: Expression | None
) -> Windowed:
    """The value of another row; the default of the current row where there is no such row."""
    if default is None:
        return Windowed((e.window(function, input, distance, frame=WHOLE),), as_is)
    return e.first(
        lambda: Windowed((e.window(function, input, distance, default, frame=WHOLE),), as_is),
        lambda: _or_default(e, function, input, distance, default),
    )


def _next_known(
    e: ExpressionBuilder, name: str, input: Expression, away: int, default: Expression | None, below: Below
) -> Windowed:
    """The next value that is not null before or after the row; else the default."""
    if away != 1:
        raise NotInDialect(f"the dialect {e.dialect.name} has no lag or lead IGNORE NULLS but by one row")
    found = _known(e, name, input, _up_to(name, Bound("preceding" if name == "last" else "following", e.i64(1))), below)
    if default is None:
        return found
    return Windowed(found.calls, lambda above, refs: above.coalesce(found.result(above, refs), default))


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


def nth_value(e: ExpressionBuilder, node: tree.Expression, frame: Frame, below: Below) -> Windowed:
    """NthValue: the row at a position of the frame. Spark's optimizer makes it of First over a growing frame, too."""
    input, position = e.emit_all([node["input"], node["offset"]])
    if not node["ignoreNulls"]:
        return Windowed((e.window("arithmetic:nth_value", input, position, frame=frame),), as_is)

    def engines() -> Windowed:
        if not (isinstance(position, Literal) and position.value == 1):
            raise NotInDialect(f"the dialect {e.dialect.name} has no nth_value IGNORE NULLS but for the first")
        return _known(e, "first", input, frame, below)

    return e.first(
        lambda: Windowed((e.window("spark:nth_value_ignore_nulls", input, position, frame=frame),), as_is), engines
    )


def end_of_frame(name: str) -> WindowRule:
    """First, Last: the frame's first or last row. The standard functions declare a result that is never null."""

    def emit(e: ExpressionBuilder, node: tree.Expression, frame: Frame, below: Below) -> Windowed:
        child = e.emit(node["child"])
        if node["ignoreNulls"]:
            return e.first(
                lambda: Windowed((e.window(f"spark:{name}_ignore_nulls", child, frame=frame),), as_is),
                lambda: _known(e, name.removesuffix("_value"), child, frame, below),
            )
        never_null = frame.holds_current_row and not child.type.nullable
        return Windowed((e.window(f"{'arithmetic' if never_null else 'spark'}:{name}", child, frame=frame),), as_is)

    return emit


# ---- the first or last value of a frame that is not null, from functions that see every row


def _known(e: ExpressionBuilder, name: str, value: Expression, frame: Frame, below: Below) -> Windowed:
    """First, Last IGNORE NULLS."""
    near, far = (frame.upper, frame.lower) if name == "last" else (frame.lower, frame.upper)
    if near.kind == "unbounded":
        return _at_the_end(e, name, value, frame, below)
    if far.kind != "unbounded":
        return _of_list(e, name, value, frame)
    if near.kind == "current":
        known = _last_seen(e, value, frame, below)
    elif frame.rows and near.kind == ("preceding" if name == "last" else "following"):
        seen = _last_seen(e, value, _up_to(name, Bound("current")), below)
        known = below.column(_away(e, name, seen, near.offset))
    else:
        raise NotInDialect(f"the dialect {e.dialect.name} has no {name} IGNORE NULLS over this frame")
    return Windowed((), lambda above, refs: known)


def _up_to(name: str, near: Bound) -> Frame:
    """The rows from the beginning of the partition up to a bound; for `first`, from it up to the end."""
    far = Bound("unbounded")
    return Frame(True, far, near) if name == "last" else Frame(True, near, far)


def _away(e: ExpressionBuilder, name: str, value: Expression, offset: Expression | None) -> WindowCall:
    if not isinstance(offset, Literal):
        raise TypeError("a bound that is so many rows away has no offset")
    return e.window("arithmetic:lag" if name == "last" else "arithmetic:lead", value, e.i32(offset.value), frame=WHOLE)


def _number(e: ExpressionBuilder, value: Expression, frame: Frame) -> WindowCall:
    """How many values of a frame are not null."""
    return over(e.aggregate("aggregate_generic:count", value, frame=frame), frame)


def _nulls_behind(e: ExpressionBuilder, value: Expression) -> SortField:
    return SortField(e.is_null(value), True, True)


def _last_seen(e: ExpressionBuilder, value: Expression, frame: Frame, below: Below) -> FieldReference:
    """Over a frame up to the current row: rows for which it holds as many values share the last of these."""
    number = below.column(_number(e, value, frame))
    call = e.window("spark:first_value", value, frame=WHOLE)
    return below.column(call, number, sorts=(_nulls_behind(e, value),))


def _at_the_end(e: ExpressionBuilder, name: str, value: Expression, frame: Frame, below: Below) -> Windowed:
    """Over a frame up to that end of the partition: the partition's first or last value, if the frame holds any."""
    end = _nulls_behind(e, value)
    call = e.window(f"spark:{name}_value", value, frame=WHOLE)
    found = below.column(call, sorts=(end if name == "first" else _reversed(end), *below.sorts))
    if frame.lower.kind == frame.upper.kind:
        return Windowed((), lambda above, refs: found)
    some = e.call("comparison:gt", below.column(_number(e, value, frame)), e.i64(0))
    return Windowed((), lambda above, refs: above.if_then(some, found, above.null(found.type)))


def _reversed(sort: SortField) -> SortField:
    return SortField(sort.expression, not sort.ascending, not sort.nulls_first)


def _of_list(e: ExpressionBuilder, name: str, value: Expression, frame: Frame) -> Windowed:
    """Over a frame of limited size: of the list of its values."""
    listed = over(e.aggregate("spark:collect_list", value, frame=frame), frame)

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        position = above.i64(1) if name == "first" else above.cast(size(above, refs[0]), types.I64)
        return above.call("datafusion:array_element", refs[0], position)

    return Windowed((listed,), result)


def counter_difference(e: ExpressionBuilder, node: tree.Expression, frame: Frame, below: Below) -> Windowed:
    """CounterDiff, CounterDiffWithStartTime."""
    arguments = e.emit_all([node["counter"]] if node.get("startTime") is None else [node["counter"], node["startTime"]])
    return Windowed((e.window("spark:counter_diff", *arguments, frame=frame),), as_is)


def aggregate(e: ExpressionBuilder, node: tree.Expression, frame: Frame, below: Below) -> Windowed:
    """AggregateExpression over a window."""
    function = node["aggregateFunction"]
    if function.name in POSITIONAL:
        if node["filter"] is not None:
            raise Unsupported(
                "a FILTER on this window function has no Substrait form", "Filter the rows before the window function."
            )
        return POSITIONAL[function.name](e, function, frame, below)
    rule = AGGREGATE.get(function.name)
    if rule is None:
        raise no_aggregate(function)
    if node["isDistinct"]:
        raise Unsupported("DISTINCT on a window function has no Substrait form")
    measured = rule(Site(e, node, frame), function)
    return Windowed(tuple(over(call, frame) for call in measured.calls), measured.result)


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
