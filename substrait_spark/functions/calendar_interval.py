"""Adding legacy calendar intervals, which count months, days and microseconds apart, to dates and timestamps.

No value of a plan is such an interval: its three numbers are the arguments of what adds it. session_window and
make_interval make such intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Literal
from ..catalyst import tree
from ..catalyst.modes import ANSI, TRY
from ..catalyst.types import refusal
from ..errors import Unsupported
from .arithmetic import integer_operation
from .datetime import zone_argument
from .interval import add_interval
from .table import Plain
from .time_zone import HOUR, SECOND

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

MILLION = 1_000_000


def add_to_timestamp(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TimestampAddInterval, before Spark 4.1 TimeAdd: of a calendar interval or a day-time interval."""
    if node["interval"].type.name != "interval":
        return add_interval(e, node)
    value = e.share(e.emit(node["start"]))
    return _added(e, node, value, node["interval"])


def add_to_date(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """DateAddInterval: in ANSI mode, an interval with a time of day is an error."""
    if not node["ansiEnabled"]:
        raise Unsupported(
            "the legacy mode adds the time of a calendar interval to midnight of a date, and drops it again",
            "Add a year-month interval or days, or set spark.sql.ansi.enabled.",
        )
    return _added(e, node, e.share(e.emit(node["start"])), node["interval"])


def _added(e: ExpressionBuilder, node: tree.Expression, value: Expression, interval: tree.Expression) -> Expression:
    """The sum of a value and an interval; a choice between intervals is one between sums."""
    if interval.name == "If":
        choices = [interval["predicate"], interval["trueValue"], interval["falseValue"]]
        return _chosen(e, node, value, choices)
    if interval.name == "CaseWhen":
        branches = [part for branch in interval["branches"] for part in branch.values]
        return _chosen(e, node, value, [*branches, interval["elseValue"]])
    if interval.name == "Literal" and interval["value"] is None:
        return e.null(value.type)
    return e.call("spark:add_calendar_interval", value, *parts_of(e, interval), *zone_argument(e, node, value))


def _chosen(
    e: ExpressionBuilder, node: tree.Expression, value: Expression, choices: Sequence[tree.Expression | None]
) -> Expression:
    """Conditions and the intervals that they choose in turn, then the interval where none holds; None for a null."""
    sums: list[Expression] = []
    for position, choice in enumerate(choices):
        if choice is None:
            sums.append(e.null(value.type))
        elif position % 2 == 0 and position < len(choices) - 1:
            sums.append(e.emit(choice))
        else:
            sums.append(_added(e, node, value, choice))
    return e.if_then(*sums)


# ---- months, days and microseconds


def parts_of(e: ExpressionBuilder, interval: tree.Expression) -> list[Expression]:
    """The months, the days and the microseconds of an interval. Raises `Unsupported` where they are not at hand."""
    if interval.name == "Literal":
        months, days, micros = interval["value"]
        return [e.i32(months), e.i32(days), e.i64(micros)]
    if interval.name == "UnaryMinus":
        parts = parts_of(e, interval["child"])
        return [_negated(e, part) for part in parts]
    if interval.name == "MakeInterval":
        return _made(e, interval)
    raise refusal(interval.type)


def _negated(e: ExpressionBuilder, part: Expression) -> Expression:
    if isinstance(part, Literal) and part.value is not None:
        return e.literal(-part.value, part.type)
    return integer_operation(e, "subtract", e.literal(0, types.required(part.type)), part, ANSI)


def _made(e: ExpressionBuilder, node: tree.Expression) -> list[Expression]:
    """MakeInterval: null, or an error, where the months or the days overflow. The microseconds can't."""
    mode = ANSI if node["failOnError"] else TRY
    fields = ("years", "months", "weeks", "days", "hours", "mins", "secs")
    years, months, weeks, days, hours, minutes, seconds = e.emit_all([node[field] for field in fields])

    def total(large: Expression, size: int, small: Expression) -> Expression:
        product = integer_operation(e, "multiply", large, e.literal(size, types.required(large.type)), mode)
        return integer_operation(e, "add", product, small, mode)

    scaled = e.call(
        "arithmetic_decimal:multiply", seconds, e.literal(MILLION, types.of("decimal", 7, 0, nullable=False))
    )
    micros = total(e.cast(minutes, types.I64), 60 * SECOND, e.cast(scaled, types.I64))
    return [total(years, 12, months), total(weeks, 7, days), total(e.cast(hours, types.I64), HOUR, micros)]


SCALAR: dict[str, Plain | Rule] = {
    "DateAddInterval": add_to_date,
    "TimeAdd": add_to_timestamp,
    "TimestampAddInterval": add_to_timestamp,
}
