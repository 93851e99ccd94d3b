"""Text that others wrote, as it stands in text of ours: the one place that says what is escaped, and how.

Whatever a plan calls a thing, no name may end a line, close a quote, or send a terminal anything but characters.
"""

from __future__ import annotations

import re

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

_WORD = re.compile(r"[^\W\d]\w*")
_DECLARED = re.compile(r"(?!undeclared_)[^\W\d]\w*(:[\w!?]*)?")
"""A function by its simple or compound name, `add:i32_i32`, or a type; no name that stands for what isn't declared."""

_LAST_PART = re.compile(r"[\w.%=+@~*-]+")
_URN = re.compile(r"[\w.:/-]+")


def quoted(value: str, mark: str = "'") -> str:
    """A string in quotes, on one line whatever is in it."""
    return mark + "".join(_escaped(character, mark) for character in value) + mark


def _escaped(character: str, mark: str = "") -> str:
    if character == mark:
        return f"\\{mark}"
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"


def identifier(name: str) -> str:
    """A name as it is where it is a word, else in double quotes."""
    return _unless(_WORD, name)


def declared_name(name: str) -> str:
    """The name of a function, a type or a variation, as it is where it is a simple or compound one, else in double quotes."""
    return _unless(_DECLARED, name)


def urn(text: str) -> str:
    """A URN, or the end of one, as it is where it can't be taken for something else, else in double quotes."""
    return _unless(_URN, text)


def _unless(plain: re.Pattern[str], name: str) -> str:
    return name if plain.fullmatch(name) else quoted(name, '"')


def last_part(item: str) -> str:
    """Of text that begins with a path in quotes, the path's last part, in quotes where it isn't plain; else the text."""
    path = re.match(r"'((?:\\.|[^'\\])*)'", item)
    if path is None:
        return item
    last = path[1].rstrip("/").rpartition("/")[2] or path[1]
    return last if _LAST_PART.fullmatch(last) else f"'{last}'"


def printable(text: str, *, lines: bool = False) -> str:
    """Text without characters that do something to a terminal; with its line ends where it may have several `lines`."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or (lines and character == "\n") else _escaped(character)
        for character in text
    )
