"""Substrait's types as Spark's.

Fields of structs, which have no names in Substrait, are called by their numbers, and whatever is inside a value may be
null: so there is one type of Spark for a type of Substrait, whatever the nullability inside.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

from ...algebra.types import Type, parts
from ...catalyst.versions import running
from ...errors import Unsupported

_PLAIN = {
    "boolean": "boolean",
    "i8": "byte",
    "i16": "short",
    "i32": "integer",
    "i64": "long",
    "fp32": "float",
    "fp64": "double",
    "string": "string",
    "varchar": "string",
    "fixedchar": "string",
    "binary": "binary",
    "fixedbinary": "binary",
    "date": "date",
    "interval_year": "interval year to month",
    "u!variant": "variant",
}

_BY_PRECISION = {
    "precision_timestamp": "timestamp_ntz",
    "precision_timestamp_tz": "timestamp",
    "interval_day": "interval day to second",
    "interval_compound": "interval",
}
"""Types with a number of digits for parts of a second, of which Spark keeps six, and of times of day nine."""

MICROSECONDS = 6
NANOSECONDS = 9
PARTS = {MICROSECONDS: "microseconds", NANOSECONDS: "nanoseconds"}


def digits_of_times() -> int:
    """How many digits a TIME may have in this Spark."""
    return NANOSECONDS if running() >= (4, 3) else MICROSECONDS


@lru_cache(maxsize=65536)
def spark_type(type: Type) -> str:
    """Spark's type, as its JSON. Raises Unsupported for a type that Spark lacks."""
    return json.dumps(_json(type, iter(())), separators=(",", ":"))


def spark_struct(types: Sequence[Type], names: Sequence[str]) -> str:
    """The struct of columns with depth-first names, as JSON."""
    _require_digits(types)
    rest = iter(names)
    return json.dumps(_struct(types, rest), separators=(",", ":"))


def spark_columns(types: Sequence[Type], names: Sequence[str]) -> list[tuple[str, str]]:
    """The name of each column, and its type as JSON, by depth-first names."""
    _require_digits(types)
    fields = _struct(types, iter(names))["fields"]
    return [(field["name"], json.dumps(field["type"], separators=(",", ":"))) for field in fields]


def _require_digits(columns: Sequence[Type]) -> None:
    """Refuse columns with times of more digits than this Spark has."""
    for column in columns:
        found = [column]
        for part in found:
            found += parts(part)
            if part.kind == "precision_time" and digits_of_times() < part.parameters[0] <= NANOSECONDS:
                raise Unsupported(f"this Spark has no column of type {column}")


def _json(type: Type, names: Iterator[str]) -> Any:
    kind = type.kind
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind in _BY_PRECISION:
        return _precise(type, _BY_PRECISION[kind])
    if kind == "precision_time":
        # Functions are of times of nine digits. Where Spark has none, no column and no literal needs more than six.
        return _precise(type, f"time({min(type.parameters[0], digits_of_times())})", NANOSECONDS)
    if kind == "u!collated_string":
        return f"string collate {type.parameters[0]}"
    if kind in ("u!geometry", "u!geography"):
        return f"{kind.removeprefix('u!')}({', '.join(type.parameters)})"
    if kind == "decimal":
        return f"decimal({type.parameters[0]},{type.parameters[1]})"
    if kind == "list":
        return {"type": "array", "elementType": _json(type.parameters[0], names), "containsNull": True}
    if kind == "map":
        key, value = type.parameters
        inner = {"keyType": _json(key, names), "valueType": _json(value, names)}
        return {"type": "map", **inner, "valueContainsNull": True}
    if kind == "struct":
        return _struct(type.parameters, names)
    raise Unsupported(f"Spark has no type for {type}")


def _precise(type: Type, name: str, digits: int = MICROSECONDS) -> str:
    if type.parameters[0] > digits:
        raise Unsupported(f"Spark keeps {PARTS[digits]}, and no smaller parts, which {type} has")
    return name


def _struct(types: Sequence[Type], names: Iterator[str]) -> Any:
    fields = []
    for ordinal, type in zip(count(), types):
        name = next(names, str(ordinal))
        fields.append({"name": name, "type": _json(type, names), "nullable": True, "metadata": {}})
    return {"type": "struct", "fields": fields}
