"""Walking protobuf messages without recursion."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

Found = TypeVar("Found", bound=Message)


def messages(root: Message) -> Iterator[Message]:
    """The message and every message in it, in the order of their fields."""
    stack = [root]
    while stack:
        message = stack.pop()
        yield message
        stack.extend(reversed(within(message)))


def messages_of(root: Message, kind: type[Found]) -> Iterator[Found]:
    """The messages of a class among `messages(root)`. What can't hold any is passed over: types and literals hold no relations."""
    name = kind.DESCRIPTOR.full_name
    stack = [root]
    while stack:
        message = stack.pop()
        if isinstance(message, kind):
            yield message
        fields = _leading_to(message.DESCRIPTOR, name)
        if fields:
            stack.extend(reversed(_held(message, fields)))


def depth(root: Message) -> int:
    """How many messages nest below this one."""
    deepest = -1
    level = [root]
    while level:
        deepest += 1
        level = [inner for message in level for inner in within(message)]
    return deepest


def within(message: Message) -> list[Message]:
    """The messages that a message holds itself."""
    fields = _of_messages(message.DESCRIPTOR)
    return _held(message, fields) if fields else []


def _held(message: Message, fields: Collection[int]) -> list[Message]:
    """The messages that a message holds itself in the fields of these numbers."""
    held: list[Message] = []
    for field, value in message.ListFields():
        if field.number not in fields:
            continue
        if isinstance(value, Message):
            held.append(value)
        else:
            held.extend(value.values() if isinstance(value, Mapping) else value)
    return held


@cache
def _of_messages(kind: Descriptor) -> frozenset[int]:
    """The numbers of the fields that hold messages: most of a plan's messages, types and numbers of columns, have none."""
    return frozenset(field.number for field in kind.fields if _holds(field) is not None)


@cache
def _leading_to(kind: Descriptor, name: str) -> frozenset[int]:
    """The numbers of the fields of a kind of messages that hold such of a name, or what can hold these."""
    held = {field.number: _holds(field) for field in kind.fields}
    return frozenset(
        number for number, each in held.items() if each is not None and (each.full_name == name or name in _below(each))
    )


@cache
def _below(kind: Descriptor) -> frozenset[str]:
    """The names of all that can be in messages of a kind."""
    names: set[str] = set()
    pending = [kind]
    while pending:
        held = [each for each in map(_holds, pending.pop().fields) if each is not None and each.full_name not in names]
        names.update(each.full_name for each in held)
        pending += held
    return frozenset(names)


def _holds(field: FieldDescriptor) -> Descriptor | None:
    """The kind of the messages that a field holds, or of the values of its map; None where these are no messages."""
    kind: Descriptor | None = field.message_type
    if kind is None or not kind.GetOptions().map_entry:
        return kind
    return _holds(kind.fields_by_name["value"])
