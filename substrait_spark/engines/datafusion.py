"""Running plans in DataFusion: its tables and files are bound here, the caller prepares nothing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from datafusion import DataFrame, SessionConfig, SessionContext, col, lit
from datafusion import substrait as consumer
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from ..algebra.message_walk import messages
from ..errors import InvalidPlanError
from . import local_files
from .arrow_schema import arrow_schema
from .result import named

_fresh = itertools.count(1)

SETTINGS = {
    # Spark writes timestamps of any year; nanoseconds would end in 2262.
    "datafusion.execution.parquet.coerce_int96": "us",
    # The plan's schema says string and binary.
    "datafusion.execution.parquet.schema_force_view_types": "false",
    # Statistics leave NaN out, so that pruning by them loses rows.
    "datafusion.execution.parquet.pruning": "false",
    "datafusion.execution.parquet.skip_metadata": "true",
}


def context() -> SessionContext:
    """A DataFusion context that runs the plans of the `datafusion` dialect: Spark's functions are enabled in it."""
    config = SessionConfig()
    for key, value in SETTINGS.items():
        config = config.set(key, value)
    ctx = SessionContext(config)
    ctx.enable_spark_functions()
    return ctx


def execute(plan: Plan, ctx: SessionContext | None = None, *, tables: Mapping[str, Any] | None = None) -> pa.Table:
    """The rows of a plan of the `datafusion` dialect, in columns named and typed as the plan says.

    Files are read where the plan says they are. Named tables are those of `ctx`, or of `tables`: by the table's dotted
    full name or its last part, an Arrow table or the path of a Parquet file or folder; folders may be partitioned.

    Raises InvalidPlanError, before anything runs, where a file or a table is missing, or holds in a column what Spark
    would read otherwise: names that differ in case, types that are converted or refused.
    """
    if ctx is None:
        ctx = context()
    bound, names = _without_root(plan)
    registered: list[str | None] = []
    try:
        registered += [_bind(read, ctx, tables or {}) for read in _reads(bound)]
        message = consumer.Serde.deserialize_bytes(bound.SerializeToString())
        logical = consumer.Consumer.from_substrait_plan(ctx, message)
        result = ctx.create_dataframe_from_logical_plan(logical).to_arrow_table()
    finally:
        for name in registered:
            if name is not None:
                ctx.deregister_table(name)
    return named(result, names)


def _without_root(plan: Plan) -> tuple[Plan, list[str]]:
    """The plan with a bare relation, and the names of its root: DataFusion takes no names that occur twice."""
    if len(plan.relations) != 1 or not plan.relations[0].HasField("root"):
        raise InvalidPlanError("DataFusion runs plans of exactly one root relation.")
    bound = Plan()
    bound.CopyFrom(plan)
    bound.ClearField("relations")
    root = plan.relations[0].root
    bound.relations.add().rel.CopyFrom(root.input)
    return bound, list(root.names)


def _reads(plan: Plan) -> list[ReadRel]:
    return [message for message in messages(plan) if isinstance(message, ReadRel)]


def _bind(read: ReadRel, ctx: SessionContext, tables: Mapping[str, Any]) -> str | None:
    """Make the table or the files of a read known to DataFusion; returns the name that was registered for it."""
    if read.HasField("named_table"):
        return _bind_table(read, ctx, tables)
    if read.HasField("local_files"):
        return _bind_files(read, ctx)
    return None


def _bind_table(read: ReadRel, ctx: SessionContext, tables: Mapping[str, Any]) -> str | None:
    parts = list(read.named_table.names)
    source = tables.get(".".join(parts), tables.get(parts[-1]))
    if source is None:
        known = _registered(ctx, parts)
        if known is None:
            raise InvalidPlanError(f"There is no table {'.'.join(parts)!r}: register it, or give it in tables=.")
        del read.named_table.names[:]
        read.named_table.names.extend(known)
        return None
    schema = arrow_schema(read.base_schema)
    if isinstance(source, str | Path):
        return _register(ctx, _name(read), _table_files(ctx, Path(source), schema))
    name = _name(read)
    _register_rows(ctx, name, _in_schema(source, schema, ".".join(parts)))
    return name


def _in_schema(table: pa.Table, schema: pa.Schema, shown: str) -> pa.Table:
    """The table's columns that the plan names, in its types."""
    missing = [name for name in schema.names if table.column_names.count(name) != 1]
    if missing:
        raise InvalidPlanError(f"The table {shown} doesn't have exactly one column {missing[0]!r}.")
    columns = []
    for field in schema:
        column = table[field.name]
        try:
            local_files.exactly(field.type, local_files.stored_type(column.type))
        except local_files.Mismatch as problem:
            raise InvalidPlanError(f"The table {shown}: the column {field.name!r} {problem}.") from None
        columns.append(column.cast(field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _register_rows(ctx: SessionContext, name: str, table: pa.Table) -> None:
    ctx.register_record_batches(name, [table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]])


def _register(ctx: SessionContext, name: str, frames: list[DataFrame]) -> str:
    """All rows of the frames under one name."""
    union = frames[0]
    for frame in frames[1:]:
        union = union.union(frame)
    ctx.register_view(name, union)
    return name


def _registered(ctx: SessionContext, parts: list[str]) -> list[str] | None:
    """The name by which DataFusion knows a table: its full name, or else its last part."""
    return next((candidate for candidate in (parts, parts[-1:]) if _exists(ctx, candidate)), None)


def _exists(ctx: SessionContext, parts: list[str]) -> bool:
    try:
        return bool(ctx.table_exist(".".join(f'"{part}"' for part in parts)))
    except Exception:  # noqa: BLE001 - there is no such catalog or schema, which has no exception of its own
        return False


def _bind_files(read: ReadRel, ctx: SessionContext) -> str:
    schema = arrow_schema(read.base_schema)
    items = list(read.local_files.items)
    formats = {item.WhichOneof("file_format") for item in items}
    if len(formats) != 1 or not formats <= {"parquet", "orc", "text"}:
        raise InvalidPlanError(f"Files of these formats can't be read here: {', '.join(sorted(map(str, formats)))}.")
    paths = local_files.paths(items)
    (format,) = formats
    frames = _parquet(ctx, paths, schema) if format == "parquet" else None
    name = _name(read)
    if frames is not None:
        _register(ctx, name, frames)
    elif format == "orc":
        _register_rows(ctx, name, pa.concat_tables([local_files.orc_table(path, schema) for path in paths]))
    else:
        text = [local_files.text_table(path, items[0].text, schema) for path in paths]
        _register_rows(ctx, name, pa.concat_tables(text))
    read.ClearField("local_files")
    read.named_table.names.append(name)
    return name


def _table_files(ctx: SessionContext, path: Path, schema: pa.Schema) -> list[DataFrame]:
    """A table's file, or its folder, whose folders may hold the values of columns in their names."""
    if not path.exists():
        raise InvalidPlanError(f"There is no file {path}.")
    if path.is_file():
        return _parquet(ctx, [path], schema)
    folders: dict[tuple[tuple[str, str], ...], list[Path]] = {}
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path).parts
        if file.is_file() and not any(part.startswith((".", "_")) and "=" not in part for part in inside):
            keys = tuple(tuple(part.split("=", 1)) for part in inside[:-1] if "=" in part)
            folders.setdefault(keys, []).append(file)  # type: ignore[arg-type]
    if not folders:
        raise InvalidPlanError(f"There is no file in {path}.")
    return [frame for keys, files in folders.items() for frame in _partition(ctx, files, dict(keys), schema)]


def _partition(ctx: SessionContext, files: list[Path], keys: Mapping[str, str], schema: pa.Schema) -> list[DataFrame]:
    """Files with the values in the names of their folders as columns."""
    values = {unquote(name): unquote(value) for name, value in keys.items()}
    data = pa.schema([field for field in schema if field.name not in values])
    constants = {
        field.name: lit(_partition_value(values[field.name], field)).alias(field.name)
        for field in schema
        if field.name in values
    }
    columns = [constants.get(name, col(f'"{name}"')) for name in schema.names]
    return [frame.select(*columns) if constants else frame for frame in _parquet(ctx, files, data)]


def _partition_value(text: str, field: pa.Field) -> pa.Scalar:
    try:
        return pa.scalar(None if text == "__HIVE_DEFAULT_PARTITION__" else text, pa.string()).cast(field.type)
    except pa.ArrowInvalid as error:
        raise InvalidPlanError(f"A folder's name has {text!r} for the column {field.name!r}: {error}.") from error


def _parquet(ctx: SessionContext, paths: list[Path], schema: pa.Schema) -> list[DataFrame]:
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


def _name(read: ReadRel) -> str:
    name = f"substrait_spark_{next(_fresh)}"
    if read.HasField("named_table"):
        del read.named_table.names[:]
        read.named_table.names.append(name)
    return name
