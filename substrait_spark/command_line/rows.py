"""Rows of a result as a table to read, as CSV or as Parquet."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("table", "csv", "parquet")
SUFFIXES = {"": "table", ".txt": "table", ".csv": "csv", ".parquet": "parquet"}


def form_of(output: str) -> str:
    """The form to write rows in by the file's name; on stdout (`-`) a table."""
    suffix = Path(output).suffix
    if suffix not in SUFFIXES:
        raise click.UsageError(f"What form {suffix} means isn't known: say it by --format {'|'.join(FORMATS)}.")
    return SUFFIXES[suffix]


def written(rows: pa.Table, form: str) -> bytes:
    """The rows in a form, as bytes."""
    if form == "table":
        return table(rows).encode("utf-8")
    import pyarrow as pa

    buffer = io.BytesIO()
    try:
        if form == "csv":
            import pyarrow.csv

            pyarrow.csv.write_csv(rows, buffer)
        else:
            import pyarrow.parquet

            pyarrow.parquet.write_table(rows, buffer)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise click.ClickException(f"The rows can't be written as {form}: {error}") from error
    return buffer.getvalue()


def table(rows: pa.Table) -> str:
    """The rows as text: columns of equal width, numbers to the right."""
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
    count = f"({rows.num_rows} row{'' if rows.num_rows == 1 else 's'})"
    return "\n".join([*lines[:1], *([rule] if rule else []), *lines[1:], count]) + "\n"


def _is_number(type: str) -> bool:
    return type.startswith(("int", "uint", "float", "double", "half", "decimal"))


def _shown(value: object) -> str:
    if value is None:
        return "NULL"
    text = value if isinstance(value, str) else str(value)
    return text if text.isprintable() else repr(text)[1:-1]
