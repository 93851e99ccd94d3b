"""Running plans in DataFusion: its tables and files are bound here, the caller prepares nothing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow as pa
from datafusion import SessionConfig, SessionContext
from datafusion import substrait as consumer
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from ..algebra.message_walk import messages
from ..errors import InvalidPlanError
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
    full name or its last part, an Arrow table or the path of a Parquet file or folder.

    Raises InvalidPlanError, before anything runs, where a file or a table is missing.
    """
    if ctx is None:
        ctx = context()
    bound, names = _without_root(plan)
    registered = [_bind(read, ctx, tables or {}) for read in _reads(bound)]
    try:
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
    name = _name(read)
    if isinstance(source, str | Path):
        _register_file(ctx, name, Path(source), read)
    else:
        ctx.register_record_batches(name, [source.to_batches()])
    return name


def _registered(ctx: SessionContext, parts: list[str]) -> list[str] | None:
    """The name by which DataFusion knows a table: its full name, or else its last part."""
    for candidate in (parts, parts[-1:]):
        try:
            if ctx.table_exist(".".join(f'"{part}"' for part in candidate)):
                return candidate
        except ValueError:  # there is no such catalog or schema
            continue
    return None


def _bind_files(read: ReadRel, ctx: SessionContext) -> str:
    items = list(read.local_files.items)
    paths = [_path(item.uri_file) for item in items]
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise InvalidPlanError(
            f"There is no file {missing[0]}" + (f" (and {len(missing) - 1} more)." if missing[1:] else ".")
        )
    name = _name(read)
    read.ClearField("local_files")
    read.named_table.names.append(name)
    if len(paths) == 1:
        _register_file(ctx, name, paths[0], read)
        return name
    frames = [ctx.read_parquet(str(path), schema=arrow_schema(read.base_schema)) for path in paths]
    union = frames[0]
    for frame in frames[1:]:
        union = union.union(frame)
    ctx.register_view(name, union)
    return name


def _register_file(ctx: SessionContext, name: str, path: Path, read: ReadRel) -> None:
    if not path.exists():
        raise InvalidPlanError(f"There is no file {path}.")
    ctx.register_parquet(name, str(path), file_extension=path.suffix, schema=arrow_schema(read.base_schema))


def _name(read: ReadRel) -> str:
    name = f"substrait_spark_{next(_fresh)}"
    if read.HasField("named_table"):
        del read.named_table.names[:]
        read.named_table.names.append(name)
    return name


def _path(uri: str) -> Path:
    parsed = urlparse(uri)
    if parsed.scheme != "file":
        raise InvalidPlanError(f"Only local files can be read here, not {parsed.scheme}: ones.")
    return Path(unquote(parsed.path))
