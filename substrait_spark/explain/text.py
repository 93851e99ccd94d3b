"""Text in pieces: strings, and references that know which column they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from ..errors.quotation import identifier


class Reference(NamedTuple):
    """A column of a relation's input, as an expression refers to it."""

    ordinal: int
    name: str | None
    steps_out: int = 0
    """How many queries outwards the relation is that has the column."""
    anchor: int | None = None
    """The anchor of that relation, where it is named by one."""

    def __str__(self) -> str:
        root = outwards(self.steps_out) if self.anchor is None else f"@{self.anchor}."
        name = "" if self.name is None else f":{identifier(self.name)}"
        return f"{root}${self.ordinal}{name}"


def outwards(steps: int) -> str:
    """`^` for one step outwards, `^2` for two."""
    return "^" * min(steps, 1) + (str(steps) if steps > 1 else "")


Text: TypeAlias = "str | Reference | tuple[Text, ...]"
"""A piece, or several in a row."""


def pieces(text: Text) -> Iterator[str | Reference]:
    """The pieces of a text one after the other."""
    stack = [text]
    while stack:
        top = stack.pop()
        if isinstance(top, (str, Reference)):
            yield top
        else:
            stack.extend(reversed(top))


def plain(text: Text) -> str:
    """The text as one string."""
    return "".join(map(str, pieces(text)))


def joined(separator: str, texts: Sequence[Text]) -> Text:
    """The texts with a separator between them."""
    separated: list[Text] = []
    for text in texts:
        separated += [separator, text] if separated else [text]
    return tuple(separated)


def listed(texts: Sequence[Text]) -> Text:
    """The texts in brackets."""
    return ("[", joined(", ", texts), "]")
