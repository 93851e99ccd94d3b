"""Times as text by a format of C's, of functions_datetime.yaml: `strftime`, part by part, as the C locale has it.

The way back, `strptime`, takes more than Spark's formats do (blanks, numbers of fewer digits, text behind), and is not run.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ....algebra import types
from ....algebra.types import I32, STRING
from ....errors import Unsupported
from ..calls import Call
from ..document import Node
from .datetime import zone_of
from .rules import Rule

_SHORT = {"F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y"}
"""Directives that stand for several."""

_SPARK = {
    "m": "MM",
    "d": "dd",
    "H": "HH",
    "M": "mm",
    "S": "ss",
    "j": "DDD",
    "I": "hh",
    "B": "MMMM",
    "b": "MMM",
    "h": "MMM",
    "A": "EEEE",
    "a": "EEE",
    "p": "a",
}
"""Spark's letters for directives that mean the same."""

_TEXT = {"%": "%", "n": "\n", "t": "\t"}


def _strftime(call: Call) -> Node:
    if call.types[0].kind == "precision_time":
        raise Unsupported(f"{call.key} is not run for times of day")
    value, *zone = call.values[:-1]
    format = call.constant(len(call.values) - 1)
    if format is None:
        return call.null()
    there = call.cast(value, types.of("precision_timestamp", 6), zone=zone_of(call, 1) if zone else "UTC")
    local = call.cast(there, types.of("precision_timestamp_tz", 6))  # in UTC, since Spark's formats are of instants
    parts = [_part(call, local, directive) for directive in _directives(format)]
    return call.spark("concat", call.literal("", STRING), *parts, *_null_of(call, value))


def _null_of(call: Call, value: Node) -> list[Node]:
    """What makes a text null where the time is, also a format without a directive."""
    empty = call.literal("", STRING)
    return [call.choice(call.new("IsNull", value), call.literal(None, STRING), empty)]


def _directives(format: str) -> list[str]:
    """A format in pieces: each directive that stands for one part, and the text between."""
    written = re.sub(r"%([FTRD%])", lambda match: _SHORT.get(match[1], match[0]), format)
    return re.findall(r"%.|[^%]+|%", written, re.DOTALL)


def _part(call: Call, local: Node, directive: str) -> Node:
    letter = directive[1:]
    if not directive.startswith("%"):
        return call.literal(directive, STRING)
    if letter in _TEXT:
        return call.literal(_TEXT[letter], STRING)
    if letter in _NUMBERS:
        return _NUMBERS[letter](call, local)
    if letter not in _SPARK:
        raise Unsupported(f"{call.key} is not run with the directive {directive}")
    return call.spark("date_format", local, call.literal(_SPARK[letter], STRING))


def _year(call: Call, local: Node) -> Node:
    return call.cast(call.new("Year", call.cast(local, types.of("date"))), STRING)


def _year_of_century(call: Call, local: Node) -> Node:
    year = call.new("Year", call.cast(local, types.of("date")))
    return call.spark("lpad", call.cast(call.spark("pmod", year, call.literal(100, I32)), STRING), *_padding(call, "0"))


def _padded_day(call: Call, local: Node) -> Node:
    return call.spark(
        "lpad", call.cast(call.spark("day", call.cast(local, types.of("date"))), STRING), *_padding(call, " ")
    )


def _padding(call: Call, character: str) -> tuple[Node, Node]:
    return call.literal(2, I32), call.literal(character, STRING)


_NUMBERS: dict[str, Callable[[Call, Node], Node]] = {"Y": _year, "y": _year_of_century, "e": _padded_day}
"""Directives that Spark writes otherwise for some values."""

RULES: dict[str, Rule] = {"datetime:strftime": _strftime}
"""Standard functions that write times."""
