"""Rows of a result as a table to read, as CSV or as Parquet."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..engines.text_table import text_table

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
        return text_table(rows).encode("utf-8")
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
