"""The rows of a read's files that are read here, into memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..errors import InvalidPlanError, Unsupported
from ..reading.relation import spark_files
from . import local_files
from .arrow.schema import Columns
from .spark_files import spark_table

FORMATS = ("parquet", "orc", "text", "extension")
"""The formats that are read here, by their fields of a file's message."""


def format_of(items: Sequence[Any]) -> str:
    """The one format of a read's files. Raises InvalidPlanError where it isn't read here, or there are several."""
    formats = {str(item.WhichOneof("file_format")) for item in items}
    if len(formats) != 1 or not formats <= set(FORMATS):
        raise InvalidPlanError(f"Files of these formats can't be read here: {', '.join(sorted(formats))}.")
    return formats.pop()


def file_rows(items: Sequence[Any], paths: Sequence[Path], columns: Columns) -> pa.Table:
    """The rows of files of a format that is read here."""
    format = format_of(items)
    if format == "parquet":
        for path in paths:
            local_files.require_parquet(path, columns)
        tables = [local_files.parquet_table(path, columns) for path in paths]
    elif format == "orc":
        tables = [local_files.orc_table(path, columns) for path in paths]
    elif format == "extension":
        tables = _spark_tables(items, paths, columns)
    else:
        tables = [local_files.text_table(path, items[0].text, columns.schema) for path in paths]
    return pa.concat_tables(tables)


def _spark_tables(items: Sequence[Any], paths: Sequence[Path], columns: Columns) -> list[pa.Table]:
    """The rows of files of one of Spark's formats."""
    try:
        formats = {spark_files(item.extension) for item in items}
    except Unsupported as problem:
        raise InvalidPlanError(f"The plan's {problem.reason}.") from None
    if len(formats) != 1:
        raise InvalidPlanError("Files of several formats in one read can't be read here.")
    (format,) = formats
    return [spark_table(path, format.name, dict(format.options), columns) for path in paths]
