"""Rows as a table to read: columns of equal width, numbers to the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def text_table(rows: pa.Table, note: str | None = None) -> str:
    """The rows as lines of text. The last line is a note, or how many rows there are."""
    columns = [
        [name, *map(_shown, column.to_pylist())] for name, column in zip(rows.column_names, rows.columns, strict=True)
    ]
    right = [_is_number(str(column.type)) for column in rows.columns]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in zip(*columns, strict=True)
    ]
    rule = "  ".join("-" * width for width in widths)
    last = note or f"{rows.num_rows} row{'' if rows.num_rows == 1 else 's'}"
    return "\n".join([*lines[:1], *([rule] if rule else []), *lines[1:], f"({last})"]) + "\n"


def _is_number(type: str) -> bool:
    return type.startswith(("int", "uint", "float", "double", "half", "decimal"))


def _shown(value: object) -> str:
    if value is None:
        return "NULL"
    text = value if isinstance(value, str) else str(value)
    return text if text.isprintable() else repr(text)[1:-1]
