"""A protobuf message that remembers which of its fields were taken, so that what nobody took can be shown all the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from ..algebra.enum_names import value_name
from ..algebra.trampoline import Steps, done, in_turn, run
from ..errors.quotation import quoted
from .text import Text, joined


class View:
    """A message whose populated fields are taken one by one."""

    def __init__(self, message: Message) -> None:
        self.message = message
        self._left = {field.name: (field, value) for field, value in message.ListFields()}

    def has_field(self, name: str) -> bool:
        """Whether messages of this kind have a field."""
        return name in self.message.DESCRIPTOR.fields_by_name

    def take(self, name: str) -> Any:
        """A field's value where it is populated, else None."""
        _, value = self._left.pop(name, (None, None))
        return value

    def take_all(self, name: str) -> Sequence[Any]:
        """A repeated field's values."""
        return self.take(name) or ()

    def take_enum(self, name: str) -> str:
        """An enum value's name without the prefix of its type, or its number; UNSPECIFIED where it isn't set."""
        return value_name(self.message.DESCRIPTOR.fields_by_name[name], self.take(name) or 0)

    def chosen(self, oneof: str) -> str | None:
        """Which field of a oneof is populated."""
        chosen: str | None = self.message.WhichOneof(oneof)
        return chosen

    def untaken(self) -> Text:
        """What is left: ` !unknown{…}`, or nothing."""
        fields = list(self._left.values())
        wire = UnknownFieldSet(self.message)
        return (" ", run(_braced("!unknown", fields, wire))) if fields or len(wire) else ""


def unknown(value: Any) -> Text:
    """A value of a field that has no text of its own."""
    if isinstance(value, Message):
        return run(_braced("!unknown", value.ListFields(), UnknownFieldSet(value)))
    return f"!unknown{{{scalar(value)}}}"


def _braced(title: str, fields: Sequence[tuple[Any, Any]], wire: Any) -> Steps[Text]:
    values = [(field, each) for field, value in fields for each in (value if field.is_repeated else [value])]
    parts: list[Text] = yield in_turn(_value(field, each) for field, each in values)
    parts += yield in_turn(_wire(wire[index]) for index in range(len(wire)))
    return (title, "{", joined(", ", parts), "}")


def _value(field: Any, value: Any) -> Steps[Text]:
    if field.message_type is not None:
        return _braced(f"{field.name}: ", value.ListFields(), UnknownFieldSet(value))
    return done(f"{field.name}: {value_name(field, value) if field.enum_type is not None else scalar(value)}")


def _wire(field: Any) -> Steps[Text]:
    """A field that has no name in this release of the specification, by its number."""
    data = field.data
    if isinstance(data, UnknownFieldSet):
        return _braced(f"{field.field_number}: ", (), data)
    return done(f"{field.field_number}: {scalar(data)}")


def scalar(value: Any) -> str:
    """A scalar field's value: text in quotes, bytes in hexadecimal, numbers and booleans as they are."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return quoted(value)
    return f"0x{value.hex()}" if isinstance(value, bytes) else str(value)
