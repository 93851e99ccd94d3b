"""Text: functions_string.yaml.

Positions and lengths count characters.
"""

from __future__ import annotations

from ....algebra.types import I32, I64, STRING
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


def _count_substring(call: Call) -> Node:
    """How often a text has another in it, one after the other. Of an empty one, that is not said."""
    text, part = call.values
    length = call.spark("char_length", part)
    left = call.spark("char_length", call.spark("replace", text, part, call.literal("", STRING)))
    gone = call.spark("-", call.spark("char_length", text), left)
    is_empty = call.spark("=", length, call.literal(0, I32))
    error = call.error("The number of times that a text has an empty one in it")
    return call.choice(is_empty, error, call.spark("div", *(call.cast(value, I64) for value in (gone, length))))


def _replace_slice(call: Call) -> Node:
    """Null where the start is outside of the text, or the length is negative."""
    text, start, length, replacement = call.values
    zero, one = (call.literal(value, I64) for value in (0, 1))
    size = call.cast(call.spark("char_length", text), I64)
    tests = (call.spark("<", start, one), call.spark(">", start, size), call.spark("<", length, zero))
    outside = call.spark("or", call.spark("or", *tests[:2]), tests[2])
    count = call.cast(call.spark("least", length, size), I32)
    known = call.spark("and", call.new("IsNotNull", start), call.new("IsNotNull", length))
    inside = call.choice(outside, call.literal(1, I64), start)
    made = call.spark(
        "overlay", text, replacement, call.cast(inside, I32), call.spark("greatest", count, call.literal(0, I32))
    )
    return call.choice(call.spark("and", known, call.spark("not", outside)), made, call.null())


def _capitalize(call: Call) -> Node:
    (text,) = call.values
    first = call.spark("substring", text, *(call.literal(1, I32),) * 2)
    return call.spark("concat", call.spark("upper", first), call.spark("substring", text, call.literal(2, I32)))


def _swapcase(call: Call) -> Node:
    """Character by character: a capital one in its small form, any other in its capital one."""
    (text,) = call.values
    nothing = call.literal("", STRING)

    def swapped(each: Node) -> Node:
        lower = call.spark("lower", each)
        return call.choice(call.spark("=", each, lower), call.spark("upper", each), lower)

    characters = call.spark("split", text, nothing)
    return call.spark("array_join", call.spark("transform", characters, call.lambda_((STRING,), swapped)), nothing)


def _center(left_first: bool) -> Rule:
    """As much of a character on both sides; of one more, it is on one of them."""

    def centred(call: Call) -> Node:
        text, length, character = call.values
        size = call.spark("char_length", text)
        missing = call.spark("greatest", call.spark("-", length, size), call.literal(0, I32))
        half = call.cast(call.spark("div", call.cast(missing, I64), call.literal(2, I64)), I32)
        more = call.spark("-", missing, half)
        before, after = (more, half) if left_first else (half, more)
        padded = call.spark("lpad", text, call.spark("+", size, before), character)
        centred_text = call.spark("rpad", padded, call.spark("+", call.spark("+", size, before), after), character)
        return call.choice(call.new("IsNull", length), call.null(), centred_text)

    return centred


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
    "string:count_substring": _by_case(_count_substring),
    "string:replace_slice": _replace_slice,
    "string:capitalize": _utf8(_capitalize),
    "string:swapcase": _utf8(_swapcase),
    "string:center": by_option("padding", {"RIGHT": _center(left_first=False), "LEFT": _center(left_first=True)}),
}
