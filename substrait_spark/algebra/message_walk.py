"""Walking protobuf messages without recursion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from google.protobuf.message import Message


def messages(root: Message) -> Iterator[Message]:
    """The message and every message in it, in the order of their fields."""
    stack = [root]
    while stack:
        message = stack.pop()
        yield message
        below: list[Message] = []
        for field, value in message.ListFields():
            if field.message_type is None:
                continue
            if isinstance(value, Message):
                below.append(value)
            elif isinstance(value, Mapping):
                below.extend(each for each in value.values() if isinstance(each, Message))
            else:
                below.extend(value)
        stack.extend(reversed(below))


def depth(root: Message) -> int:
    """How many messages nest below this one."""
    deepest = 0
    stack = [(root, 0)]
    while stack:
        message, level = stack.pop()
        deepest = max(deepest, level)
        for field, value in message.ListFields():
            if field.message_type is None:
                continue
            below = [value] if isinstance(value, Message) else value
            stack.extend((inner, level + 1) for inner in below)
    return deepest
