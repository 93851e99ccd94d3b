"""Files of Spark's formats on this machine: text, JSON and binary files as Spark reads them, or refused before anything runs."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from ..errors import InvalidPlanError
from . import json_values
from .arrow.schema import Columns
from .local_files import TEXT, contents, table_of


def spark_table(path: Path, format: str, options: Mapping[str, str], columns: Columns) -> pa.Table:
    """The rows of a file. Raises InvalidPlanError for a format that isn't read here, and for what Spark may read otherwise."""
    read = READERS.get(format)
    if read is None:
        raise InvalidPlanError(
            f"Files of Spark's format {format!r} can't be read here: engines.spark runs plans that read them."
        )
    return read(path, options, columns)


def _text(path: Path, options: Mapping[str, str], columns: Columns) -> pa.Table:
    """One column: the lines of a file, or all of it."""
    if len(columns.schema) != 1 or columns.schema.types != [pa.string()]:
        raise InvalidPlanError(f"{path}: text is read in one column of strings, not in {columns.schema.types}.")
    whole = options.get("wholetext") == "true"
    rows = [_decoded(path, _content(path))] if whole else _lines(path, options.get("linesep"))
    return pa.Table.from_arrays([pa.array(rows, pa.string())], schema=columns.schema)


def _json(path: Path, options: Mapping[str, str], columns: Columns) -> pa.Table:
    """A row for each line, whose columns go by their names."""
    rows = []
    zone = options.get("timezone", "UTC")
    for number, line in enumerate(_lines(path, None), 1):
        if not line.strip(json_values.BLANK):
            continue
        try:
            rows.append(json_values.row(line, columns.schema, zone))
        except json_values.Doubtful as problem:
            raise InvalidPlanError(f"{path}: line {number} {problem}.") from None
    values = {
        field.name: pa.chunked_array([pa.array([row[n] for row in rows], field.type)])
        for n, field in enumerate(columns.schema)
    }
    return table_of(columns.schema, len(rows), values)


def _binary(path: Path, options: Mapping[str, str], columns: Columns) -> pa.Table:
    """One row: where the file is, when it was changed, its length and its bytes."""
    content = contents(path)
    said = {
        "path": f"file:{path}",
        "modificationTime": path.stat().st_mtime_ns // 1_000_000 * 1000,
        "length": len(content),
        "content": content,
    }
    unknown = next((name for name in columns.schema.names if name not in said), None)
    if unknown is not None:
        raise InvalidPlanError(f"Binary files have no column {unknown!r}; they have {', '.join(said)}.")
    arrays = [pa.array([said[field.name]], field.type) for field in columns.schema]
    return pa.Table.from_arrays(arrays, schema=columns.schema) if arrays else table_of(columns.schema, 1, {})


READERS: dict[str, Callable[[Path, Mapping[str, str], Columns], pa.Table]] = {
    "binaryFile": _binary,
    "json": _json,
    "text": _text,
}


# ---- text


def _inflated(content: bytes, most: int) -> bytes:
    stream = zlib.decompressobj()
    plain = stream.decompress(content, most)
    if len(plain) < most and not stream.eof:
        raise EOFError("it ends too early")
    return plain


CODECS: dict[str, Callable[[bytes, int], bytes]] = {
    ".bz2": lambda content, most: bz2.BZ2File(io.BytesIO(content)).read(most),
    ".deflate": _inflated,
    ".gz": lambda content, most: gzip.GzipFile(fileobj=io.BytesIO(content)).read(most),
}
"""How files are decompressed up to so many bytes, by the ends of their names. A small file may hold more than fits in memory."""

OTHER_CODECS = (".lz4", ".lzo", ".snappy", ".zst", ".zstd")


def _content(path: Path) -> bytes:
    """The bytes of a file of text, decompressed."""
    suffix = path.suffix.lower()
    if suffix in OTHER_CODECS:
        raise InvalidPlanError(f"{path} is compressed in a way that isn't read here: decompress it.")
    content = contents(path)
    if suffix not in CODECS:
        return content
    try:
        plain = CODECS[suffix](content, TEXT + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidPlanError(f"{path} can't be decompressed: {error}.") from None
    if len(plain) > TEXT:
        raise InvalidPlanError(f"{path} has more than {TEXT:,} bytes of text, which are as many as are read here.")
    return plain


def _decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidPlanError(f"{path} is no UTF-8 text: {error}") from None


MARK = "\ufeff"


def _lines(path: Path, separator: str | None) -> Sequence[str]:
    """The lines of a file; what ends them is no part of them, nor is a byte-order mark at the start."""
    text = _decoded(path, _content(path))
    if text.startswith(MARK * 2):
        raise InvalidPlanError(f"{path} starts with two byte-order marks.")
    text = text.removeprefix(MARK)
    lines = text.split(separator) if separator else re.split(r"\r\n|\r|\n", text)
    if lines[-1] == "":
        lines.pop()
    return lines
