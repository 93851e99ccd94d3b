"""Names of enum values, as the specification's text has them: without the prefix that all values of an enum share."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message


def enum_name(message: Message, field: str) -> str:
    """What the value of an enum field is called, `UNSPECIFIED` where it isn't set; a number that has no name."""
    descriptor: Any = message.DESCRIPTOR.fields_by_name[field]
    return value_name(descriptor, getattr(message, field))


def value_name(field: Any, number: int) -> str:
    """What a number is called in the enum of a field."""
    names = field.enum_type.values_by_number
    prefix = names[0].name.removesuffix("UNSPECIFIED")
    return str(names[number].name.removeprefix(prefix)) if number in names else str(number)
