"""Parquet files as DataFusion's frames: files, and tables in folders whose names hold the values of columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from datafusion import DataFrame, SessionContext, col, lit

from ..errors import InvalidPlanError
from . import local_files


def table(ctx: SessionContext, path: Path, schema: pa.Schema) -> list[DataFrame]:
    """A table's file, or its folder, whose folders may hold the values of columns in their names."""
    if not path.exists():
        raise InvalidPlanError(f"There is no file {path}.")
    if path.is_file():
        return files(ctx, [path], schema)
    folders: dict[tuple[tuple[str, str], ...], list[Path]] = {}
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path).parts
        if file.is_file() and not any(part.startswith((".", "_")) and "=" not in part for part in inside):
            keys = tuple(tuple(part.split("=", 1)) for part in inside[:-1] if "=" in part)
            folders.setdefault(keys, []).append(file)  # type: ignore[arg-type]
    if not folders:
        raise InvalidPlanError(f"There is no file in {path}.")
    return [frame for keys, found in folders.items() for frame in _partition(ctx, found, dict(keys), schema)]


def _partition(ctx: SessionContext, found: list[Path], keys: Mapping[str, str], schema: pa.Schema) -> list[DataFrame]:
    """Files with the values in the names of their folders as columns."""
    values = {unquote(name): unquote(value) for name, value in keys.items()}
    data = pa.schema([field for field in schema if field.name not in values])
    constants = {
        field.name: lit(_partition_value(values[field.name], field)).alias(field.name)
        for field in schema
        if field.name in values
    }
    columns = [constants.get(name, col(f'"{name}"')) for name in schema.names]
    return [frame.select(*columns) if constants else frame for frame in files(ctx, found, data)]


def _partition_value(text: str, field: pa.Field) -> pa.Scalar:
    try:
        return pa.scalar(None if text == "__HIVE_DEFAULT_PARTITION__" else text, pa.string()).cast(field.type)
    except pa.ArrowInvalid as error:
        raise InvalidPlanError(f"A folder's name has {text!r} for the column {field.name!r}: {error}.") from error


def files(ctx: SessionContext, paths: list[Path], schema: pa.Schema) -> list[DataFrame]:
    """Parquet files in this schema: one scan of a folder where the files are all that it holds, else one for each."""
    for path in paths:
        local_files.require_parquet(path, schema)
    parents = {path.parent for path in paths}
    (suffix, *others) = {path.suffix for path in paths}
    if len(paths) > 1 and len(parents) == 1 and suffix and not others:
        (folder,) = parents
        if not set(PATTERN).intersection(str(folder)) and set(folder.rglob(f"*{suffix}")) == set(paths):
            return [ctx.read_parquet(f"{folder}/", file_extension=suffix, schema=schema)]
    return [_parquet_file(ctx, path, schema) for path in paths]


PATTERN = "*?["
"""Characters that DataFusion takes for a pattern in a path."""


def _parquet_file(ctx: SessionContext, path: Path, schema: pa.Schema) -> DataFrame:
    if set(PATTERN).intersection(str(path)):
        rows = pq.read_table(path, schema=schema, partitioning=None)
        return ctx.read_batches(rows.to_batches() or [pa.RecordBatch.from_pylist([], schema)])
    return ctx.read_parquet(str(path), file_extension=path.suffix, schema=schema)
