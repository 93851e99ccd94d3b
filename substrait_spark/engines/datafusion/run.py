"""Running plans in DataFusion: its tables and files are bound here, the caller prepares nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

import pyarrow as pa
from datafusion import DataFrame, SessionConfig, SessionContext
from datafusion import substrait as consumer
from substrait.algebra_pb2 import ReadRel, Rel
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

from ...algebra.extension_messages import Generate
from ...algebra.message_walk import messages
from ...errors import (
    EngineError,
    InvalidPlanError,
    PlanningError,
    SubstraitSparkError,
    Unsupported,
    kind_of,
    said,
)
from ...parameters import bound as with_values
from ...reading.relation import spark_files
from ...type_aliases import without_aliases
from ...user_functions.declared import UserFunctions
from .. import local_files, parquet
from ..arrow_schema import Columns, columns_of
from ..file_access import Folders, folders
from ..generate import generated
from ..result import named, without_columns
from ..spark_files import spark_table
from . import python_functions, user_functions

_fresh = itertools.count(1)

DEFAULT_CATALOG = "datafusion"

SETTINGS = {
    # Gives the same name to two columns where fields of structs are used several times.
    "datafusion.optimizer.enable_leaf_expression_pushdown": "false",
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


def execute(
    plan: Plan,
    ctx: SessionContext | None = None,
    *,
    tables: Mapping[str, Any] | None = None,
    files_under: Iterable[str | Path] | None = None,
    parameters: Mapping[str, Any] | None = None,
    functions: Sequence[Any] = (),
) -> pa.Table:
    """The rows of a plan of the `datafusion` dialect, in columns named and typed as the plan says.

    Files are read where the plan says they are. Named tables are those of `ctx`, or of `tables`: by the table's dotted
    full name, or its last part where that is no other's, an Arrow table or the path of a Parquet file or folder; folders may
    be partitioned.

    A plan opens whatever regular file of this machine it names, with the rights of the process that runs it. For plans of
    others, `files_under` lists the folders that their files must be in, symbolic links resolved; `[]` allows none.

    `parameters` are values of the plan's parameters by name, where it doesn't bind them itself or others are wanted.

    `functions` are those of your own that the plan calls, as `df_to_substrait` takes them: objects of PySpark's, which run in this
    process over Arrow, with the conversions of arguments and results that PySpark makes. A plan can't run any other.

    Raises InvalidPlanError, before anything runs, where a parameter has no value of its type, a file or a table is missing, or where Spark would read a column of
    it in another way than DataFusion (by a name in other case, or by converting its type); TypeError where `tables` has
    something else; PlanningError where DataFusion does not take the plan; and EngineError where it fails while it runs the
    plan, as it must where Spark raises an error.
    """
    under = folders(files_under)
    _require_tables(tables or {})
    if ctx is None:
        ctx = context()
    given = UserFunctions(functions)
    user_functions.require_given(plan, ctx, given)
    with python_functions.registered(
        with_values(plan, parameters), ctx, user_functions.python_functions(given)
    ) as ready:
        return _executed(ready, ctx, tables or {}, under)


def _executed(plan: Plan, ctx: SessionContext, tables: Mapping[str, Any], under: Folders) -> pa.Table:
    """The rows of a plan whose functions the context has."""
    bound, names = _without_root(plan)
    registered: list[str | None] = []
    try:
        with _refusing():
            reads = _reads(bound)
            _require_distinct(reads, tables)
            registered.extend(_bind(read, ctx, tables, under) for read in reads)
            for read in reads:
                _allow_nulls(read)
            registered.extend(_bind_generated(rel, bound, ctx) for rel in _generators(bound))
        result = _run(bound, ctx)
    finally:
        for name in registered:
            if name is not None:
                ctx.deregister_table(name)
    with _refusing():
        return named(result, names)


@contextmanager
def _refusing() -> Iterator[None]:
    """What is raised in the block where a plan has what nothing here knows, as an error of ours."""
    try:
        yield
    except SubstraitSparkError:
        raise
    except BaseException as error:
        if _is_failure(error):
            raise InvalidPlanError(f"The plan can't be bound to what it reads ({said(error)}).") from error
        raise


def _is_failure(error: BaseException) -> TypeGuard[Exception]:
    """Whether something failed, and nobody asked to stop: a panic of DataFusion's Rust code is no Exception."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _allow_nulls(read: ReadRel) -> None:
    """Take columns for nullable: DataFusion refuses a plan whose required column its table says may be null."""
    for kind in read.base_schema.struct.types:
        getattr(kind, kind.WhichOneof("kind") or "bool").nullability = Type.NULLABILITY_NULLABLE


def _run(plan: Plan, ctx: SessionContext) -> pa.Table:
    with _failing_by(lambda: PlanningError):
        message = consumer.Serde.deserialize_bytes(plan.SerializeToString())
        logical = consumer.Consumer.from_substrait_plan(ctx, message)
        frame = ctx.create_dataframe_from_logical_plan(logical)
        has_columns = bool(frame.schema().names)
    with _failing_by(lambda: EngineError if _is_planned(frame) else PlanningError):
        # Record batches without columns arrive without their rows.
        return frame.to_arrow_table() if has_columns else without_columns(frame.count())


RAISED = re.compile(r"'(\[[A-Z0-9]+_[A-Z0-9_.]+.*)'(?: to value of \w+ type|: error parsing \w+)", re.DOTALL)
"""The error that a plan raises where Spark would, in the failed cast of its text that a plan raises it by."""


@contextmanager
def _failing_by(kind: Callable[[], type[SubstraitSparkError]]) -> Iterator[None]:
    """What DataFusion raises in the block, as an error of ours."""
    try:
        yield
    except BaseException as error:
        if _is_failure(error):
            raised = RAISED.search(str(error))
            raise kind()(f"DataFusion failed: {raised[1] if raised else error}") from error
        raise


def _is_planned(frame: DataFrame) -> bool:
    """Whether DataFusion's optimizer and planner take a plan: they run only when its rows are asked for."""
    try:
        with _failing_by(lambda: PlanningError):
            frame.execution_plan()
    except PlanningError:
        return False
    return True


def _without_root(plan: Plan) -> tuple[Plan, list[str]]:
    """The plan with a bare relation, and the names of its root: DataFusion takes no names that occur twice."""
    if len(plan.relations) != 1 or not plan.relations[0].HasField("root"):
        raise InvalidPlanError("DataFusion runs plans of exactly one root relation.")
    plan = without_aliases(plan)
    bound = Plan()
    bound.CopyFrom(plan)
    bound.ClearField("relations")
    root = plan.relations[0].root
    bound.relations.add().rel.CopyFrom(root.input)
    return bound, list(root.names)


def _reads(plan: Plan) -> list[ReadRel]:
    return [message for message in messages(plan) if isinstance(message, ReadRel)]


def _generators(plan: Plan) -> list[Rel]:
    """The Generate relations of a plan, each after those below it."""
    found = [m for m in messages(plan) if isinstance(m, Rel) and m.HasField("extension_single")]
    return [rel for rel in reversed(found) if rel.extension_single.detail.Is(Generate.DESCRIPTOR)]


def _bind_generated(rel: Rel, plan: Plan, ctx: SessionContext) -> str:
    """Put a table with its rows in the place of a Generate relation, which DataFusion has not; returns its name."""
    detail = Generate.FromString(rel.extension_single.detail.value)
    part = Plan()
    part.CopyFrom(plan)
    part.ClearField("relations")
    project = part.relations.add().rel.project
    project.input.CopyFrom(rel.extension_single.input)
    project.expressions.add().CopyFrom(detail.rows)
    table = generated(_run(part, ctx), detail)
    mapping = list(rel.extension_single.common.emit.output_mapping)
    if rel.extension_single.common.HasField("emit"):
        table = table.select(mapping).rename_columns([f"c{n}" for n in range(len(mapping))])
    name = f"substrait_spark_{next(_fresh)}"
    _register_table(ctx, name, table)
    rel.read.CopyFrom(_read_of(name, ctx))
    return name


def _read_of(name: str, ctx: SessionContext) -> ReadRel:
    """DataFusion's own read of one of its tables."""
    logical = ctx.table(name).logical_plan()
    produced = Plan.FromString(consumer.Producer.to_substrait_plan(logical, ctx).encode())
    (read,) = _reads(produced)
    return read


def _bind(read: ReadRel, ctx: SessionContext, tables: Mapping[str, Any], under: Folders) -> str | None:
    """Make the table or the files of a read known to DataFusion; returns the name that was registered for it."""
    if read.HasField("named_table"):
        return _bind_table(read, ctx, tables)
    if read.HasField("local_files"):
        return _bind_files(read, ctx, under)
    return None


def _require_tables(tables: Mapping[str, Any]) -> None:
    for name, source in tables.items():
        if not isinstance(source, str | Path | pa.Table):
            raise TypeError(f"The table {name!r} must be a pyarrow.Table or a path, not {kind_of(source)}.")


def _require_distinct(reads: Sequence[ReadRel], tables: Mapping[str, Any]) -> None:
    """Refuse tables by their last part alone where the plan reads several of that."""
    found: dict[str, str] = {}
    for parts in (list(read.named_table.names) for read in reads if read.HasField("named_table")):
        full, last = ".".join(parts), parts[-1]
        if full not in tables and last in tables and found.setdefault(last, full) != full:
            raise InvalidPlanError(
                f"The plan reads {found[last]!r} and {full!r}: give each by its full name in tables=."
            )


def _bind_table(read: ReadRel, ctx: SessionContext, tables: Mapping[str, Any]) -> str | None:
    parts = list(read.named_table.names)
    source = tables.get(".".join(parts), tables.get(parts[-1]))
    if source is None:
        known = _registered(ctx, parts)
        if known is None:
            raise InvalidPlanError(
                f"There is no table {'.'.join(parts)!r}: give its rows or the path of its files as tables={{{parts[-1]!r}: …}}, "
                "register it, or make the plan with reads='files'."
            )
        del read.named_table.names[:]
        read.named_table.names.extend(known)
        return None
    if isinstance(source, str | Path):
        return _register(ctx, _name(read), parquet.table(ctx, Path(source), columns_of(read)))
    name = _name(read)
    _register_table(ctx, name, _in_schema(source, columns_of(read), ".".join(parts)))
    return name


def _in_schema(table: pa.Table, wanted: Columns, shown: str) -> pa.Table:
    """The table's columns that the plan names, in its types; nulls where it uses none of a column's values."""
    columns: dict[str, pa.ChunkedArray] = {}
    for field in wanted.schema:
        if field.name not in wanted.used:
            continue
        if table.column_names.count(field.name) != 1:
            raise InvalidPlanError(f"The table {shown} doesn't have exactly one column {field.name!r}.")
        column = table[field.name]
        try:
            local_files.all_of_it(field.type, local_files.stored_type(column.type))
        except local_files.Mismatch as problem:
            raise InvalidPlanError(f"The table {shown}: the column {field.name!r} {problem}.") from None
        if field.name in wanted.required and column.null_count:
            raise InvalidPlanError(
                f"The table {shown}: the column {field.name!r} holds null, which the plan rules out."
            )
        columns[field.name] = column.cast(field.type)
    return local_files.table_of(wanted.schema, table.num_rows, columns)


def _register(ctx: SessionContext, name: str, frames: list[DataFrame]) -> str:
    """All rows of the frames under one name."""
    union = frames[0]
    for frame in frames[1:]:
        union = union.union(frame)
    ctx.register_view(name, union)
    return name


def _registered(ctx: SessionContext, parts: list[str]) -> list[str] | None:
    """The name by which DataFusion knows a table: its full name, or else its last part."""
    for candidate in (parts, parts[-1:]):
        name = ".".join('"' + part.replace('"', '""') + '"' for part in candidate)
        if _has_schema(ctx, candidate[:-1]) and ctx.table_exist(name):
            return candidate
    return None


def _has_schema(ctx: SessionContext, parts: list[str]) -> bool:
    """Whether there is this schema, or catalog and schema. To ask for a table in one that is not there would raise."""
    if not parts:
        return True
    catalog = parts[0] if len(parts) > 1 else DEFAULT_CATALOG
    return len(parts) <= 2 and catalog in ctx.catalog_names() and parts[-1] in ctx.catalog(catalog).schema_names()


def _bind_files(read: ReadRel, ctx: SessionContext, under: Folders) -> str:
    columns = columns_of(read)
    items = list(read.local_files.items)
    formats = {item.WhichOneof("file_format") for item in items}
    if len(formats) != 1 or not formats <= {"parquet", "orc", "text", "extension"}:
        raise InvalidPlanError(f"Files of these formats can't be read here: {', '.join(sorted(map(str, formats)))}.")
    paths = local_files.paths(items, under)
    (format,) = formats
    frames = parquet.files(ctx, paths, columns) if format == "parquet" else None
    name = _name(read)
    if frames is not None:
        _register(ctx, name, frames)
    elif format == "orc":
        _register_table(ctx, name, pa.concat_tables([local_files.orc_table(path, columns) for path in paths]))
    elif format == "extension":
        _register_table(ctx, name, pa.concat_tables(_spark_tables(items, paths, columns)))
    else:
        text = [local_files.text_table(path, items[0].text, columns.schema) for path in paths]
        _register_table(ctx, name, pa.concat_tables(text))
    read.ClearField("local_files")
    read.named_table.names.append(name)
    return name


def _spark_tables(items: Sequence[Any], paths: Sequence[Path], columns: Columns) -> list[pa.Table]:
    """The rows of files of one of Spark's formats."""
    try:
        found = {spark_files(item.extension) for item in items}
    except Unsupported as problem:
        raise InvalidPlanError(f"The plan's {problem.reason}.") from None
    if len(found) != 1:
        raise InvalidPlanError("Files of several formats in one read can't be read here.")
    (format,) = found
    return [spark_table(path, format.name, dict(format.options), columns) for path in paths]


def _register_table(ctx: SessionContext, name: str, table: pa.Table) -> None:
    ctx.register_record_batches(name, [table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]])


def _name(read: ReadRel) -> str:
    name = f"substrait_spark_{next(_fresh)}"
    if read.HasField("named_table"):
        del read.named_table.names[:]
        read.named_table.names.append(name)
    return name
