"""A value of each type, to stand where a value is needed that nobody sees, or in the place of null."""

from __future__ import annotations

from typing import Any

from ....algebra.types import Type

NEUTRAL: dict[str, Any] = {
    "boolean": False,
    **dict.fromkeys(("i8", "i16", "i32", "i64", "date", "precision_timestamp", "precision_timestamp_tz", "decimal"), 0),
    **dict.fromkeys(("fp32", "fp64"), 0.0),
    "string": "",
    "binary": b"",
}
"""Of each kind of type whose values can be keys of a join."""

EMPTY: dict[str, Any] = {"list": (), "map": ((), ())}


def neutral(type: Type) -> Any:
    """Null where the type has it, else some other value of the type."""
    if type.nullable:
        return None
    if type.kind == "struct":
        return tuple([neutral(field) for field in type.parameters])
    return EMPTY[type.kind] if type.kind in EMPTY else NEUTRAL.get(type.kind, 0)
