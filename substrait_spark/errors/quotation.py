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


class _Escapes(dict[int, str]):
    """What a character becomes, by its number: itself where it prints."""

    def __missing__(self, number: int) -> str:
        character = chr(number)
        self[number] = character if character.isprintable() else f"\\u{{{number:x}}}"
        return self[number]


_UNQUOTED = _Escapes({ord(character): escape for character, escape in _ESCAPES.items()})
_QUOTED = {mark: _Escapes({**_UNQUOTED, ord(mark): f"\\{mark}"}) for mark in "'\""}
_IN_LINES = _Escapes({**_UNQUOTED, ord("\n"): "\n", ord("\\"): "\\"})
_IN_A_LINE = _Escapes({**_UNQUOTED, ord("\\"): "\\"})


def quoted(value: str, mark: str = "'") -> str:
    """A string in quotes, on one line whatever is in it."""
    return mark + value.translate(_QUOTED[mark]) + mark


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


def shortened(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def printable(text: str, *, lines: bool = False) -> str:
    """Text without characters that do something to a terminal; with its line ends where it may have several `lines`."""
    return text if text.isprintable() else text.translate(_IN_LINES if lines else _IN_A_LINE)
