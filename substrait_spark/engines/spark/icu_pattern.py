"""Regular expressions of ICU, which the standard functions follow, as Java's: for the part of the language that both share.

What the two read alike is left as it is; classes and anchors that they take for other characters are written out; anything
else is refused. (https://unicode-org.github.io/icu/userguide/strings/regexp.html)
"""

from __future__ import annotations

import re

from ...errors import Unsupported

_LINE_ENDS = r"\n\x0b\f\r\u0085\u2028\u2029"
"""What ends a line in ICU; in Java, two of these don't."""

_DOT = {False: f"[^{_LINE_ENDS}]", True: rf"[{_LINE_ENDS}[^{_LINE_ENDS}]]"}
"""Any character, without those that end lines and with them."""

_END = r"(?:\z|(?=\r\n\z)|(?<!\r)(?=\n\z)|(?=[\x0b\f\r\u0085\u2028\u2029]\z))"
"""The end of the text, or the end of a line that is last."""

_CLASSES = {
    "d": r"\p{Nd}",
    "w": r"\p{IsAlphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d",
    "s": r"\t\n\f\r\p{Z}",
}
"""Which characters the short names of classes stand for; Java's have those of ASCII only."""

_WRITTEN_OUT = {
    "^": r"\A",
    "$": _END,
    r"\Z": _END,
    **{f"\\{name}": f"[{characters}]" for name, characters in _CLASSES.items()},
    **{f"\\{name.upper()}": f"[^{characters}]" for name, characters in _CLASSES.items()},
}
"""What Java has other words for."""

_GROUP = re.compile(r"\((?!\?)|\(\?(?:[:=!>]|<[=!]|<[A-Za-z][A-Za-z0-9]*>)")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})[?+]?")
_ESCAPE = re.compile(r"\\(?:[1-9]|[AztnrfQ]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[pP]\{[A-Z][a-z]?\}|[^A-Za-z0-9\s])")
_IN_CLASS = re.compile(
    r"\\(?:[tnrf]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[pP]\{[A-Z][a-z]?\}|[^A-Za-z0-9\s])|[^\\\[\]&^~|-]|-(?!-)"
)


def in_java(pattern: str, dotall: bool) -> str:
    """The pattern as Java reads it. Raises Unsupported where that is not known to match the same."""
    parts, at = [], 0
    while at < len(pattern):
        part, at = _part(pattern, at, dotall)
        parts.append(part)
    return "".join(parts)


def _part(pattern: str, at: int, dotall: bool) -> tuple[str, int]:
    character, pair = pattern[at], pattern[at : at + 2]
    if character == "[":
        return _class(pattern, at)
    if character == ".":
        return _DOT[dotall], at + 1
    for written in (pair, character):
        if written in _WRITTEN_OUT:
            return _WRITTEN_OUT[written], at + len(written)
    for shared in (_GROUP, _QUANTIFIER, _ESCAPE):
        match = shared.match(pattern, at)
        if match is not None and match[0] != r"\Q":
            return match[0], match.end()
    if character in "\\{}(]":
        raise _refused(pattern, at)
    return character, at + 1


def _class(pattern: str, start: int) -> tuple[str, int]:
    """A set of characters in brackets, without sets in it."""
    at = start + 1
    negated = pattern.startswith("^", at)
    parts = ["[^" if negated else "["]
    at += negated
    while at < len(pattern) and pattern[at] != "]":
        if pattern[at] == "\\" and pattern[at + 1 : at + 2] in _CLASSES:
            parts.append(_CLASSES[pattern[at + 1]])
            at += 2
            continue
        match = _IN_CLASS.match(pattern, at)
        if match is None:
            raise _refused(pattern, at)
        # Java takes a blank for one where comments are off, as they are.
        parts.append(match[0])
        at = match.end()
    if at >= len(pattern) or len(parts) == 1:
        raise _refused(pattern, start)
    return "".join(parts) + "]", at + 1


def _refused(pattern: str, at: int) -> Unsupported:
    return Unsupported(
        f"ICU and Java may read the regular expression {pattern!r} differently from its position {at + 1} on",
        "Write it with characters, classes, groups and quantifiers that both know.",
    )


def replacement_in_java(text: str) -> str:
    """A replacement whose groups are `\\\\1` to `\\\\9` as Java's, whose groups are `$1` to `$9`."""
    parts, after_group = [], False
    for part in re.findall(r"\\[1-9]|.", text, re.DOTALL):
        is_group = len(part) == 2
        if part == "\\":
            raise Unsupported(f"what the backslash in the replacement {text!r} means is not said")
        if is_group:
            parts.append("$" + part[1])
        elif part == "$" or (after_group and part.isdigit()):
            parts.append("\\" + part)
        else:
            parts.append(part)
        after_group = is_group
    return "".join(parts)
