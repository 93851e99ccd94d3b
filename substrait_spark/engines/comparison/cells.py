"""Rows as text to read, in the manner of SQL: `(id: 1, name: 'fig', tags: [NULL])`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pyarrow as pa

from ...errors.quotation import identifier, quoted, shortened
from .rows import Row, is_list

LONGEST_CELL = 200
"""How many characters of a value are shown."""


def row_text(row: Row, schema: pa.Schema) -> str:
    """A row, as `rows` has it, of a table of this schema."""
    return named_cells(row, list(schema))


def named_cells(values: Sequence[Any], fields: Sequence[pa.Field]) -> str:
    """Values behind the names of their columns."""
    cells = (
        f"{identifier(field.name)}: {shortened(_cell(value, field.type), LONGEST_CELL)}"
        for value, field in zip(values, fields, strict=True)
    )
    return f"({', '.join(cells)})"


def _cell(value: Any, type: pa.DataType) -> str:
    if value is None:
        return "NULL"
    if pa.types.is_dictionary(type):
        return _cell(value, type.value_type)
    if isinstance(value, tuple) and (pa.types.is_struct(type) or pa.types.is_map(type) or is_list(type)):
        return _nested(value, type)
    if pa.types.is_timestamp(type):
        return _as_text(value, pa.timestamp("us")) + ("" if type.tz is None else "Z")
    if pa.types.is_date(type):
        return _as_text(value, pa.date32())
    if pa.types.is_duration(type):
        return str(timedelta(microseconds=value))
    if pa.types.is_floating(type):
        return str(value)
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    return quoted(value) if isinstance(value, str) else str(value)


def _nested(value: Row, type: pa.DataType) -> str:
    if pa.types.is_struct(type):
        names = (identifier(type.field(index).name) for index in range(type.num_fields))
        kinds = (type.field(index).type for index in range(type.num_fields))
        fields = zip(names, value, kinds, strict=True)
        return "{" + ", ".join(f"{name}: {_cell(field, kind)}" for name, field, kind in fields) + "}"
    if pa.types.is_map(type):
        entries = (f"{_cell(key, type.key_type)}: {_cell(item, type.item_type)}" for key, item in value)
        return "{" + ", ".join(entries) + "}"
    return "[" + ", ".join(_cell(element, type.value_type) for element in value) + "]"


def _as_text(number: int, type: pa.DataType) -> str:
    """A date or a timestamp, of whatever year: Python's end with 9999."""
    return str(pa.scalar(number, type).cast(pa.string()).as_py())
