"""Text: functions_string.yaml.

Positions and lengths count characters. Regular expressions follow ICU there and Java here: none of their functions is run.
"""

from __future__ import annotations

from ....algebra.types import I32, STRING
from ..calls import Call
from ..document import Node, some
from .rules import Rule, by_option, spark


def _by_case(rule: Rule) -> Rule:
    """A rule for where upper and lower case differ."""
    return by_option("case_sensitivity", {"CASE_SENSITIVE": rule})


def _by_case_of_text(name: str) -> Rule:
    """A test of Spark's of two texts, which are both in small letters where case does not matter."""

    def insensitive(call: Call) -> Node:
        return call.spark(name, *(call.spark("lower", value) for value in call.values))

    return by_option("case_sensitivity", {"CASE_SENSITIVE": spark(name), "CASE_INSENSITIVE": insensitive})


def _like(call: Call) -> Node:
    """Nothing is said of a character that escapes others: there is none, while Spark's is the backslash."""
    text, pattern = call.values
    if call.option("case_sensitivity") == "CASE_INSENSITIVE":
        text, pattern = call.spark("lower", text), call.spark("lower", pattern)
    backslash, escaped = (call.literal(value, STRING) for value in ("\\", "\\\\"))
    return call.spark("like", text, call.spark("replace", pattern, backslash, escaped))


_LIKE = by_option("case_sensitivity", {"CASE_SENSITIVE": _like, "CASE_INSENSITIVE": _like})


def _left_of_beginning(call: Call) -> Node:
    """Positions before the first character are those of no character."""
    text, start, *length = call.values
    first = call.spark("greatest", start, call.literal(1, I32))
    if not length:
        return call.spark("substring", text, first)
    end = call.spark("+", start, length[0])
    count = call.spark("greatest", call.spark("-", end, first), call.literal(0, I32))
    is_null = call.spark("or", call.new("IsNull", start), call.new("IsNull", length[0]))
    return call.choice(is_null, call.null(), call.spark("substring", text, first, count))


_SUBSTRING = by_option("negative_start", {"WRAP_FROM_END": spark("substring"), "LEFT_OF_BEGINNING": _left_of_beginning})

_CONCAT = by_option(
    "null_handling",
    {
        "ACCEPT_NULLS": spark("concat"),
        "IGNORE_NULLS": lambda call: call.spark("concat_ws", call.literal("", STRING), *call.values),
    },
)


def _trim(name: str) -> Rule:
    """One of Spark's classes that take characters from the ends."""
    return lambda call: call.new(name, call.values[0], some(call.values[1]))


def _repeat(call: Call) -> Node:
    text, count = call.values
    return call.spark("repeat", text, call.cast(count, I32))


def _split(call: Call) -> Node:
    text, separator = call.values
    start, end = (call.literal(value, STRING) for value in ("\\Q", "\\E"))
    return call.spark("split", text, call.spark("concat", start, separator, end))


def _utf8(rule: Rule) -> Rule:
    return by_option("char_set", {"UTF8": rule})


RULES: dict[str, Rule] = {
    "string:concat": _CONCAT,
    "string:like": _LIKE,
    "string:substring": _SUBSTRING,
    "string:starts_with": _by_case_of_text("startswith"),
    "string:ends_with": _by_case_of_text("endswith"),
    "string:contains": _by_case_of_text("contains"),
    "string:strpos": _by_case_of_text("instr"),
    "string:replace": _by_case(spark("replace")),
    "string:concat_ws": spark("concat_ws"),
    "string:repeat": _repeat,
    "string:reverse": spark("reverse"),
    "string:lower": _utf8(spark("lower")),
    "string:upper": _utf8(spark("upper")),
    "string:initcap": _utf8(spark("initcap")),
    "string:char_length": spark("char_length"),
    "string:bit_length": spark("bit_length"),
    "string:octet_length": spark("octet_length"),
    "string:ltrim": _trim("StringTrimLeft"),
    "string:rtrim": _trim("StringTrimRight"),
    "string:trim": _trim("StringTrim"),
    "string:lpad": spark("lpad"),
    "string:rpad": spark("rpad"),
    "string:left": spark("left"),
    "string:right": spark("right"),
    "string:string_split": _split,
}
