"""Regular expressions of functions_string.yaml: those of ICU that Java reads alike (../icu_pattern.py), as literals.

They are looked for from the first character on. A match that isn't there is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ....algebra.types import I32, I64, STRING
from ....errors import Unsupported
from ..calls import Call
from ..document import Node
from ..icu_pattern import in_java, replacement_in_java
from .rules import Rule

Matching = Callable[[Call, Node, str], Node]
"""What becomes of a call, its text, and its pattern as Java reads it."""


def _matching(rule: Matching) -> Rule:
    def matched(call: Call) -> Node:
        pattern = call.constant(1)
        return call.null() if pattern is None else rule(call, call.values[0], _pattern(call, pattern))

    return matched


def _pattern(call: Call, pattern: str) -> str:
    case = call.option("case_sensitivity") or "CASE_SENSITIVE"
    if case not in ("CASE_SENSITIVE", "CASE_INSENSITIVE_ASCII"):
        raise Unsupported(f"{call.key} is not run with case_sensitivity:{case}")
    if call.option("multiline") == "MULTILINE_ENABLED" and re.search(r"[$^]", pattern):
        raise Unsupported(f"{call.key} is not run with multiline:MULTILINE_ENABLED and anchors")
    translated = in_java(pattern, call.option("dotall") == "DOTALL_ENABLED")
    return f"(?i){translated}" if case == "CASE_INSENSITIVE_ASCII" else translated


def _require(call: Call, index: int, value: int, what: str) -> None:
    """Refuse another value of an argument that a call may have."""
    if len(call.values) > index and call.constant(index) != value:
        raise Unsupported(f"{call.key} is run with {what} {value} only")


def _number(call: Call, index: int, otherwise: int) -> int:
    """The value of an argument that a call may have."""
    value = call.constant(index) if len(call.values) > index else otherwise
    if not isinstance(value, int) or not 0 <= value < 2**31:
        raise Unsupported(f"{call.key} is not run with {value} as its argument {index + 1}")
    return value


def _all(call: Call, text: Node, pattern: str, group: int) -> Node:
    return call.spark("regexp_extract_all", text, call.literal(pattern, STRING), call.literal(group, I32))


def _match_substring(call: Call, text: Node, pattern: str) -> Node:
    _require(call, 2, 1, "the position")
    occurrence = _number(call, 3, 1)
    if not occurrence:
        raise Unsupported(f"{call.key} counts occurrences from 1")
    matches = _all(call, text, pattern, _number(call, 4, 0))
    return call.spark("try_element_at", matches, call.literal(occurrence, I32))


def _match_substring_all(call: Call, text: Node, pattern: str) -> Node:
    _require(call, 2, 1, "the position")
    return _all(call, text, pattern, _number(call, 3, 0))


def _count_substring(call: Call, text: Node, pattern: str) -> Node:
    _require(call, 2, 1, "the position")
    count = call.spark("size", _all(call, text, pattern, 0))
    return call.choice(call.new("IsNull", text), call.null(), call.cast(count, I64))


def _strpos(call: Call, text: Node, pattern: str) -> Node:
    """How many characters are before the first match: Spark's own function counts units of UTF-16."""
    _require(call, 2, 1, "the position")
    _require(call, 3, 1, "the occurrence")
    if re.search(r"\\[1-9]", pattern):
        raise Unsupported(f"{call.key} is not run with a pattern that refers to its groups")
    before = call.literal(rf"\A((?s:.)*?)(?:{pattern})", STRING)
    length = call.spark("char_length", call.spark("regexp_extract", text, before, call.literal(1, I32)))
    position = call.spark("+", call.cast(length, I64), call.literal(1, I64))
    is_there = call.spark("rlike", text, call.literal(pattern, STRING))
    return call.choice(call.new("IsNull", text), call.null(), call.choice(is_there, position, call.literal(0, I64)))


def _replace(call: Call, text: Node, pattern: str) -> Node:
    _require(call, 3, 1, "the position")
    _require(call, 4, 0, "the occurrence")
    replacement = call.constant(2)
    if replacement is None:
        return call.null()
    parts = (call.literal(part, STRING) for part in (pattern, replacement_in_java(replacement)))
    return call.spark("regexp_replace", text, *parts)


def _split(call: Call, text: Node, pattern: str) -> Node:
    return call.spark("split", text, call.literal(pattern, STRING))


RULES: dict[str, Rule] = {
    "string:regexp_match_substring": _matching(_match_substring),
    "string:regexp_match_substring_all": _matching(_match_substring_all),
    "string:regexp_count_substring": _matching(_count_substring),
    "string:regexp_strpos": _matching(_strpos),
    "string:regexp_replace": _matching(_replace),
    "string:regexp_string_split": _matching(_split),
}
