"""Calendar intervals, which count months, days and microseconds apart: making them, and adding them to dates and timestamps.

Where the three numbers are at hand, they are the arguments of what adds the interval, so that no engine needs values of that
type: those of literals, of session_window and make_interval, and of texts such as concat(n, ' days').
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Literal
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.modes import ANSI, TRY, eval_mode
from ..errors import Unsupported
from ..expr.operands import operands
from .arithmetic import integer_operation
from .datetime import failing, zone_argument
from .interval import add_interval
from .table import Plain, plain
from .time_zone import HOUR, SECOND

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule
    from ..expr.operands import Operands

MILLION = 1_000_000


def add_to_timestamp(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TimestampAddInterval, before Spark 4.1 TimeAdd: of a calendar interval or a day-time interval."""
    if node["interval"].type.name != "interval":
        return add_interval(e, node)
    value = e.share(e.emit(node["start"]))
    return _added(e, node, value, node["interval"])


def add_to_date(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """DateAddInterval: in ANSI mode, an interval with a time of day is an error."""
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
    parts = parts_of(e, interval)
    if value.type.kind == "date" and not node["ansiEnabled"] and not (parts and _is_zero(parts[2])):
        raise Unsupported(
            "the legacy mode adds the time of a calendar interval to midnight of a date, and drops it again",
            "Add a year-month interval or days, or set spark.sql.ansi.enabled.",
        )
    if parts is None:
        return e.call("spark_intervals:add_compound_interval", value, e.emit(interval), *zone_argument(e, node, value))
    return e.call("spark:add_calendar_interval", value, *parts, *zone_argument(e, node, value))


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


def parts_of(e: ExpressionBuilder, interval: tree.Expression) -> list[Expression] | None:
    """The months, the days and the microseconds of an interval; None where they are not at hand."""
    if interval.name == "Literal":
        months, days, micros = interval["value"]
        return [e.i32(months), e.i32(days), e.i64(micros)]
    if interval.name == "UnaryMinus":
        parts = parts_of(e, interval["child"])
        return None if parts is None else [_negated(e, part) for part in parts]
    if interval.name == "MakeInterval":
        return _made(e, interval)
    if interval.name == "Cast" and interval["child"].type.name == "string":
        return _read(e, interval["child"])
    return None


def _negated(e: ExpressionBuilder, part: Expression) -> Expression:
    if isinstance(part, Literal) and part.value is not None:
        return e.literal(-part.value, part.type)
    return integer_operation(e, "subtract", e.literal(0, types.required(part.type)), part, ANSI)


def _made(e: ExpressionBuilder, node: tree.Expression) -> list[Expression]:
    """MakeInterval: null, or an error, where the months or the days overflow. The microseconds can't."""
    mode = ANSI if node["failOnError"] else TRY
    fields = ("years", "months", "weeks", "days", "hours", "mins", "secs")
    years, months, weeks, days, hours, minutes, seconds = e.emit_all([node[field] for field in fields])
    micros: Expression = e.i64(0)
    if not _is_zero(seconds):
        million = e.literal(MILLION, types.of("decimal", 7, 0, nullable=False))
        micros = e.cast(e.call("arithmetic_decimal:multiply", seconds, million), types.I64)
    micros = _total(e, minutes, 60 * SECOND, micros, mode)
    return [_total(e, years, 12, months, mode), _total(e, weeks, 7, days, mode), _total(e, hours, HOUR, micros, mode)]


def _total(e: ExpressionBuilder, large: Expression, size: int, small: Expression, mode: str) -> Expression:
    """So many large units, of a size, and small ones: in the type of the small."""
    if _is_zero(large):
        return small
    large = e.cast(large, small.type)
    product = integer_operation(e, "multiply", large, e.literal(size, types.required(large.type)), mode)
    return product if _is_zero(small) else integer_operation(e, "add", product, small, mode)


def _is_zero(number: Expression) -> bool:
    return isinstance(number, Literal) and number.value == 0


# ---- from text

UNITS: dict[str, tuple[int, int]] = {
    "year": (0, 12), "month": (0, 1), "week": (1, 7), "day": (1, 1), "hour": (2, HOUR), "minute": (2, 60 * SECOND),
    "second": (2, SECOND), "millisecond": (2, 1000), "microsecond": (2, 1),
}  # fmt: skip
"""Units in texts: which of the three numbers they count in, and how much of it each is."""

_PREFIX = re.compile(r" *(interval +)?", re.IGNORECASE)
_UNIT = re.compile(r" +([a-z]+?)s?( *)", re.IGNORECASE)


def _read(e: ExpressionBuilder, text: tree.Expression) -> list[Expression] | None:
    """The parts of a text that joins whole numbers and literal units, such as concat(n, ' days'): null on overflow.

    None for other texts.
    """
    pieces = list(text["children"]) if text.name == "Concat" else []
    if pieces and _literal(pieces[0]) is not None:
        prefix = _literal(pieces.pop(0))
        pieces = pieces if _PREFIX.fullmatch(str(prefix)) else []
    if not pieces or len(pieces) % 2:
        return None
    parts: list[Expression] = [e.i32(0), e.i32(0), e.i64(0)]
    for at in range(0, len(pieces), 2):
        match = _UNIT.fullmatch(_literal(pieces[at + 1]) or "")
        unit = UNITS.get(match[1].lower()) if match else None
        if match is None or unit is None or (at + 2 < len(pieces) and not match[2]):
            return None
        part, size = unit
        amount = _whole_number(e, pieces[at], types.required(parts[part].type))
        if amount is None:
            return None
        amount = amount if size == 1 else _total(e, amount, size, e.literal(0, types.required(parts[part].type)), TRY)
        parts[part] = amount if _is_zero(parts[part]) else integer_operation(e, "add", parts[part], amount, TRY)
    return parts


def _literal(piece: tree.Expression) -> str | None:
    """The text of a literal; None of anything else, and of a null."""
    return piece["value"] if piece.name == "Literal" and isinstance(piece["value"], str) else None


def _whole_number(e: ExpressionBuilder, piece: tree.Expression, kind: Type) -> Expression | None:
    """The number that a piece writes, None where it is no whole number's text."""
    if piece.name != "Cast" or piece["child"].type.name not in ("byte", "short", "integer", "long"):
        return None
    return e.cast(e.emit(piece["child"]), kind, throws=False)


# ---- values


def made(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """MakeInterval, as a value."""
    fields = ("years", "months", "weeks", "days", "hours", "mins", "secs")
    return e.call(f"spark_intervals:{failing(node, 'make_interval')}", *e.emit_all([node[field] for field in fields]))


def read(e: ExpressionBuilder, node: tree.Expression, value: Expression) -> Expression:
    """A cast of a text to a value."""
    return e.call(f"spark_intervals:{'interval' if eval_mode(node) == ANSI else 'try_interval'}", value)


def calculated(name: str, *fields: str) -> Rule:
    """Add, Subtract, UnaryMinus: what overflows wraps around in LEGACY mode."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        overflow = "ERROR" if eval_mode(node) == ANSI else "SILENT"
        return e.call(f"spark_intervals:{name}", *e.emit_all([node[field] for field in fields]), overflow=overflow)

    return emit


def scaled(name: str) -> Rule:
    """MultiplyInterval, DivideInterval."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        if not node["failOnError"]:
            raise Unsupported(
                "a product or a quotient of a calendar interval keeps what fits in LEGACY mode, and no function says so",
                "Set spark.sql.ansi.enabled, or use a year-month or a day-time interval.",
            )
        return e.call(f"spark_intervals:{name}", e.emit(node["interval"]), e.emit(node["num"]))

    return emit


ADDING: dict[str, Plain | Rule] = {
    "DateAddInterval": add_to_date,
    "TimeAdd": add_to_timestamp,
    "TimestampAddInterval": add_to_timestamp,
}
"""What adds an interval to a date or a timestamp, and asks for its parts."""


def _added_to(node: tree.Expression) -> list[tree.Expression]:
    return [operand for operand in operands(node) if operand.type.name != "interval"]


OPERANDS: dict[str, Operands] = dict.fromkeys(ADDING, _added_to)
"""Intervals are left to the rule, which adds them in parts where these are at hand."""

SCALAR: dict[str, Plain | Rule] = {
    **ADDING,
    "Add(interval)": calculated("add_compound_intervals", "left", "right"),
    "DivideInterval": scaled("divide_compound_interval"),
    **{
        f"ExtractInterval{part}": plain(f"spark_intervals:extract_{part.lower()}")
        for part in ("Days", "Hours", "Minutes", "Months", "Seconds", "Years")
    },
    "MakeInterval": made,
    "MultiplyInterval": scaled("multiply_compound_interval"),
    "Subtract(interval)": calculated("subtract_compound_intervals", "left", "right"),
    "UnaryMinus(interval)": calculated("negate_compound_interval", "child"),
}
