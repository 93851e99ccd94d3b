"""Where the reader is in a plan's messages, and what it could not read there."""

from __future__ import annotations

from typing import NamedTuple


class MessagePart(NamedTuple):
    """What a relation or an expression was read from: what problems with it call it, and its text."""

    name: str
    text: str
    number: None = None


class Unreadable(NamedTuple):
    """A part of a plan that the tree has nothing for, and where it is."""

    path: str
    part: MessagePart | None
    reason: str
