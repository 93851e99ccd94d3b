"""What the labelled parts of a relation's line are made of, such as `measures [...]`, and how each is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.protobuf.message import Message

from ..errors.quotation import identifier
from .any_text import any_text
from .document import Column, Part
from .text import Text, joined, pieces
from .view import View, scalar


def part(label: str, item: Text) -> Part:
    """A part of one item; nothing where that is empty."""
    return Part(label, (item,) if any(pieces(item)) else ())


def list_part(label: str, items: Sequence[Text], *, empty: bool = False) -> Part:
    """A part in brackets; nothing where there are no items, unless it is worth saying that there are none."""
    return Part(label, tuple(items), "[", "]") if items or empty else Part("", ())


def part_text(part: Part) -> Text:
    """A part as it stands in the line."""
    space = " " if part.label else ""
    return (part.label, space, part.opening, joined(", ", part.items), part.closing)


def column_text(column: Column, ordinal: int) -> Text:
    """A column as `name: type`, with its ordinal where it has no name."""
    return (f"${ordinal}" if column.name is None else identifier(column.name), ": ", column.type)


def fields(message: Message) -> Text:
    """A small message as `{field: value}`."""
    view = View(message)
    shown: list[Text] = []
    for field in message.DESCRIPTOR.fields:
        if field.enum_type is not None and getattr(message, field.name):
            shown.append(f"{field.name}: {view.take_enum(field.name)}")
        elif field.message_type is None and (value := view.take(field.name)) is not None:
            shown.append(f"{field.name}: {scalar(value)}")
    return ("{", joined(", ", [*shown, *map(part_text, advanced(view))]), view.untaken(), "}")


def advanced(view: View, field: str = "advanced_extension") -> list[Part]:
    """The part for an advanced extension, where there is one."""
    message: Any = view.take(field)
    if message is None:
        return []
    inner = View(message)
    shown: list[Text] = [("optimization ", any_text(each)) for each in inner.take_all("optimization")]
    enhancement = inner.take("enhancement")
    if enhancement is not None:
        shown.append(("enhancement ", any_text(enhancement)))
    return [part(field, ("{", joined(", ", shown), inner.untaken(), "}"))]
