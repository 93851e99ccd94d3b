"""Walking protobuf messages without recursion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message


def messages(root: Message) -> Iterator[Message]:
    """The message and every message in it, in the order of their fields."""
    stack = [root]
    while stack:
        message = stack.pop()
        yield message
        stack.extend(reversed(within(message)))


def holders(root: Message) -> Iterator[Message]:
    """The message and those in it, in any order, of kinds that can hold messages: expressions do, kinds of types and most of their parts don't."""
    stack = [root]
    while stack:
        message = stack.pop()
        if _can_hold_messages(message.DESCRIPTOR):
            yield message
            stack.extend(within(message))


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
    if not _can_hold_messages(message.DESCRIPTOR):
        return []
    held: list[Message] = []
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if isinstance(value, Message):
            held.append(value)
        elif isinstance(value, Mapping):
            held.extend(each for each in value.values() if isinstance(each, Message))
        else:
            held.extend(value)
    return held


@cache
def _can_hold_messages(kind: Descriptor) -> bool:
    """Whether messages of a kind have fields that are messages: most of a plan's, types and numbers of columns, have none."""
    return any(field.message_type is not None for field in kind.fields)
