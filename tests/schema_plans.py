"""Plans that have every field of every message of Substrait's schema, each with a value of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import slow
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from substrait.plan_pb2 import Plan

BELOW = 2
"""How many levels of messages are filled below the one that a plan is about."""

_INTEGERS = {
    getattr(FieldDescriptor, f"TYPE_{name}") for name in ("INT32", "INT64", "UINT32", "UINT64", "SINT32", "SINT64")
}


class Leaf(NamedTuple):
    """A populated field that holds no message: the message that has it, and what was put there."""

    message: Message
    field: Any
    value: Any

    @property
    def name(self) -> str:
        return str(self.field.full_name).removeprefix("substrait.")


class Filled(NamedTuple):
    """A plan, its message that was filled, and every leaf in that one."""

    plan: Plan
    message: Message
    leaves: list[Leaf]


def message_names() -> list[str]:
    """Every kind of message that a plan can hold."""
    return sorted(_reachable())


def filled_plans(name: str) -> Iterator[Filled]:
    """Plans with a message of a kind which has every field populated; of each oneof, its fields in turn.

    The oneofs of the messages in it take turns too; those of messages further down do when it is about them. Where slow tests
    aren't asked for, one in four of these plans is there, for each kind of message others.
    """
    one_in = 1 if slow.asked() else 4
    first = sum(map(ord, name)) % one_in
    for choice in range(_choices(_reachable()[name][0], 1))[first::one_in] or (0,):
        yield fill(name, choice)


def fill(name: str, choice: int) -> Filled:
    """A plan with a message of a kind, which has every field populated; of a oneof the field of that number."""
    plan = Plan()
    message: Any = plan
    for field in _reachable()[name][1]:
        message = getattr(message, field.name).add() if field.is_repeated else getattr(message, field.name)
        message.SetInParent()
    leaves: list[Leaf] = []
    _fill(message, choice, BELOW, itertools.count(1001), leaves)
    return Filled(plan, message, leaves)


_PATHS: dict[str, tuple[Descriptor, tuple[Any, ...]]] = {}


def _reachable() -> dict[str, tuple[Descriptor, tuple[Any, ...]]]:
    """By name, each kind of message that a plan can hold, and the fields on a shortest way to it."""
    if not _PATHS:
        queue: list[tuple[Any, tuple[Any, ...]]] = [(Plan.DESCRIPTOR, ())]
        while queue:
            descriptor, path = queue.pop(0)
            if descriptor.full_name not in _PATHS:
                _PATHS[descriptor.full_name] = (descriptor, path)
                queue += [(f.message_type, (*path, f)) for f in descriptor.fields if f.message_type is not None]
    return _PATHS


def _choices(descriptor: Any, below: int) -> int:
    """The largest number of fields that a oneof has in a message or those below it."""
    own = max((len(oneof.fields) for oneof in descriptor.oneofs), default=1)
    inner = [f.message_type for f in descriptor.fields if f.message_type is not None and below > 0]
    return max([own, *(_choices(message, below - 1) for message in inner)])


def _fill(message: Any, choice: int, below: int, numbers: Iterator[int], leaves: list[Leaf]) -> None:
    for field in message.DESCRIPTOR.fields:
        oneof = field.containing_oneof
        if oneof is not None and oneof.fields[choice % len(oneof.fields)].number != field.number:
            continue
        for _ in range(2 if field.is_repeated else 1):
            if field.message_type is not None:
                inner = getattr(message, field.name).add() if field.is_repeated else getattr(message, field.name)
                inner.SetInParent()
                if below > 0:
                    _fill(inner, choice, below - 1, numbers, leaves)
                continue
            value = _value(field, next(numbers))
            if field.is_repeated:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)
            leaves.append(Leaf(message, field, value))


def _value(field: Any, number: int) -> Any:
    if field.type == FieldDescriptor.TYPE_BOOL:
        return True
    if field.enum_type is not None:
        named = field.enum_type.values[1:]
        return named[number % len(named)].number
    if field.type == FieldDescriptor.TYPE_STRING:
        return f"text{number}"
    if field.type == FieldDescriptor.TYPE_BYTES:
        return f"{number}".encode()
    return number if field.type in _INTEGERS else number + 0.5
