"""Running plans in DataFusion: its tables and files are bound here, the caller prepares nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import pyarrow as pa
from datafusion import DataFrame, LogicalPlan, SessionContext
from datafusion import substrait as consumer
from substrait.algebra_pb2 import ReadRel, Rel
from substrait.plan_pb2 import Plan

from ...algebra.extension_messages import Generate
from ...algebra.message_walk import messages_of
from ...errors import EngineError, InvalidPlanError, PlanningError, SubstraitSparkError, exception_text
from ...plan.type_aliases import without_aliases
from ...reading.parameters import bound as with_values
from ...user_functions.declared import UserFunctions
from ..file_access import folders
from ..generate import generated
from ..progress import Progress
from ..result import in_schema, named_schema, without_columns
from . import flat_map, python_functions, recursion, user_functions
from .inputs import Inputs, require_tables
from .parquet import ParquetReader
from .reads import Binding, bind, reads_of
from .session import LIMITS, context, joining_sorted, without_spilling


def execute(
    plan: Plan,
    ctx: SessionContext | None = None,
    *,
    tables: Mapping[str, Any] | None = None,
    files_under: Iterable[str | Path] | None = None,
    parameters: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    functions: Iterable[Any] = (),
) -> pa.Table:
    """The rows of a plan of the `datafusion` dialect, in columns named and typed as the plan says.

    Files are read where the plan says they are. Named tables are those of `ctx`, or of `tables`: by the table's dotted
    full name, or its last part where that is no other's. The names of what is given there, and of its columns, may be those of
    the plan but for upper and lower case, where that leaves no choice; names in files that the plan itself reads are exact, and so are
    those of fields of structs, since Spark finds others or not as its session says. What is given there is an Arrow table; the path of a Parquet file or
    folder, which may be partitioned; whatever hands over Arrow's stream or array by the PyCapsule interface, as frames of polars
    and pandas and relations of DuckDB do (NaN of pandas is null, as pandas has it); a `pyarrow.dataset.Dataset`; or a table
    provider or frame of DataFusion. The last three aren't held in memory. A stream is read once, and is used up then.
    With the extra `lakes`, plans may read Iceberg and Delta tables, and a table may be a `deltalake.DeltaTable`, a table of `pyiceberg`,
    the folder of a Delta table, or the metadata file of an Iceberg table.

    A plan opens whatever regular file of this machine it names, with the rights of the process that runs it. For plans of
    others, `files_under` lists the folders that their files must be in, symbolic links resolved; `[]` allows none.

    `parameters` are values of the plan's parameters by name, where it doesn't bind them itself or others are wanted. `progress`
    says whether rows and time are told while it runs: in a notebook and on a terminal, unless it is given.

    `functions` are those of your own that the plan calls, as `df_to_substrait` takes them: objects of PySpark's, which run in this
    process over Arrow, with the conversions of arguments and results that PySpark makes. A plan can't run any other.

    Raises InvalidPlanError, before anything runs, where a parameter has no value of its type, a file or a table is missing, or where Spark would read a column of
    it in another way than DataFusion (by a name in other case, or by converting its type); TypeError where `tables` has
    something else; PlanningError where DataFusion does not take the plan; and EngineError where it fails while it runs the
    plan, as it must where Spark raises an error.
    """
    return opened(
        plan,
        ctx,
        tables=tables,
        files_under=files_under,
        parameters=parameters,
        progress=progress,
        functions=functions,
    ).read_all()


def opened(
    plan: Plan,
    ctx: SessionContext | None = None,
    *,
    tables: Mapping[str, Any] | None = None,
    files_under: Iterable[str | Path] | None = None,
    parameters: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    functions: Iterable[Any] = (),
    finish: Callable[[], None] | None = None,
) -> pa.RecordBatchReader:
    """The rows of a plan as a stream, batch by batch as they are asked for. Arguments as `execute`.

    `finish` is called when all rows were read, or nobody asks for more of them.
    """
    result = _result(plan, ctx, tables or {}, files_under, parameters, functions)
    batches = _told(result.batches, Progress(progress), finish)
    next(batches)  # Now it has begun, so that it comes to its end once nobody holds it.
    return pa.RecordBatchReader.from_batches(result.schema, batches)


class Result(NamedTuple):
    """A plan's rows, which have yet to be computed."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def _result(
    plan: Plan,
    ctx: SessionContext | None,
    tables: Mapping[str, Any],
    files_under: Iterable[str | Path] | None,
    parameters: Mapping[str, Any] | None,
    functions: Iterable[Any],
) -> Result:
    under = folders(files_under)
    require_tables(tables)
    ctx = context() if ctx is None else ctx
    given = UserFunctions(functions)
    user_functions.require_given(plan, ctx, given)
    own = user_functions.python_functions(given)
    plan, inputs = with_values(plan, parameters), Inputs(tables)
    with ExitStack() as held:
        ready = held.enter_context(python_functions.registered(plan, ctx, own))

        def binding(text: pa.DataType) -> Binding:
            return Binding(ctx, inputs, under, ParquetReader(ctx, text))

        def run(part: Plan) -> pa.Table:
            with ExitStack() as until_run:
                return _table(_executed(in_place(until_run, part), binding(pa.string()))[0])

        def in_place(until: ExitStack, part: Plan) -> Plan:
            """A plan with tables in the place of what is run here, until the end of a block."""
            part = until.enter_context(recursion.with_rows(part, binding(pa.string()), given, run))
            return until.enter_context(flat_map.with_rows(part, binding(pa.string()), given, run))

        ready = in_place(held, ready)
        running, names = _executed(ready, binding(_text_type(ctx, ready, calls_python=ready is not plan)))
        with _refusing():
            schema = named_schema(running.schema, names)
        batches = _held(held.pop_all(), (in_schema(batch, schema) for batch in running.batches))
    next(batches)  # Now it has begun, so that what is held is let go once nobody holds it.
    return Result(schema, batches)


def _text_type(ctx: SessionContext, plan: Plan, calls_python: bool) -> pa.DataType:
    """The type of Arrow's that texts of Parquet files are read as: views, which DataFusion compares faster, where that goes.

    It takes no struct with a view for a function of Python that takes structs with strings, nor in a list of structs with strings,
    of which tables' columns are. In lambdas it compares a view with a literal that stays a string, which is an error. And a row that
    is kept keeps the whole buffers that its views point into: to sort texts of five times the memory failed.
    """
    return pa.string() if calls_python or ctx in LIMITS or _nests_texts(plan) else pa.string_view()


def _nests_texts(plan: Plan) -> bool:
    """Whether functions that the plan declares take lambdas, or make structs and take lists."""
    declared = [each.extension_function.name.partition(":") for each in plan.extensions]
    taken = {kind for _, _, signature in declared for kind in signature.split("_")}
    return "func" in taken or ("list" in taken and any(name == "named_struct" for name, _, _ in declared))


def _executed(plan: Plan, binding: Binding) -> tuple[Result, list[str]]:
    """What a plan whose functions the context has begins to compute, and the names of its root."""
    part, names = _without_root(plan)
    try:
        with _refusing():
            bind(part, binding)
            for rel in _generators(part):
                _bind_generated(rel, part, binding)
        return _run(part, binding.ctx), names
    finally:
        binding.release()


def _table(result: Result) -> pa.Table:
    """All rows. DataFusion's batches may be stricter than its schema about nulls inside of lists."""
    batches = list(result.batches)
    return pa.Table.from_batches(batches, batches[0].schema if batches else result.schema)


def _held(held: ExitStack, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches, behind one that is nobody's, while the context has the functions that they are computed by."""
    with held:
        yield None
        yield from batches


def _told(
    batches: Iterator[pa.RecordBatch], progress: Progress, finish: Callable[[], None] | None
) -> Iterator[pa.RecordBatch]:
    """The batches, behind one that is nobody's."""
    try:
        yield None
        while True:
            with progress.waiting():
                batch = next(batches, None)
            if batch is None:
                return
            progress.add(batch.num_rows)
            yield batch
    finally:
        progress.end()
        if finish is not None:
            finish()


@contextmanager
def _refusing() -> Iterator[None]:
    """What is raised in the block where a plan has what nothing here knows, as an error of ours."""
    try:
        yield
    except SubstraitSparkError:
        raise
    except BaseException as error:
        if _is_failure(error):
            raise InvalidPlanError(f"The plan can't be bound to what it reads ({exception_text(error)}).") from error
        raise


def _is_failure(error: BaseException) -> TypeGuard[Exception]:
    """Whether something failed, and nobody asked to stop: a panic of DataFusion's Rust code is no Exception."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _run(plan: Plan, ctx: SessionContext) -> Result:
    with _failing_as(PlanningError):
        message = consumer.Serde.deserialize_bytes(plan.SerializeToString())
        logical = consumer.Consumer.from_substrait_plan(ctx, message)
        frame = ctx.create_dataframe_from_logical_plan(logical)
        if ctx in LIMITS and "NestedLoopJoinExec" in frame.execution_plan().display_indent():
            ctx = without_spilling(ctx)
            frame = ctx.create_dataframe_from_logical_plan(logical)
        schema = frame.schema()
        # What DataFusion's optimizer and planner refuse, they refuse here; nothing is computed yet.
        stream = _streamed(frame)
    return Result(schema, _batches(stream, logical, ctx) if schema.names else _counted(frame))


def _streamed(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    return (batch.to_pyarrow() for batch in frame.execute_stream())


def _batches(stream: Iterator[pa.RecordBatch], logical: LogicalPlan, ctx: SessionContext) -> Iterator[pa.RecordBatch]:
    """The batches of a stream; where memory doesn't suffice for its first one, those of the plan with joins that spill."""
    with _failing_as(EngineError):
        try:
            first = next(stream, None)
        except Exception as error:
            if ctx not in LIMITS or not EXHAUSTED.search(str(error)):
                raise
            stream = _of_sorted_joins(logical, ctx, error)
            first = next(stream, None)
        while first is not None:
            if first.num_rows:  # Spark's createDataFrame ends at a batch without rows
                yield first
            first = next(stream, None)


def _of_sorted_joins(logical: LogicalPlan, ctx: SessionContext, exhausted: Exception) -> Iterator[pa.RecordBatch]:
    """The batches of a plan with joins that spill. What these can't do ends as the plan did without them.

    Semi and anti joins of sorted inputs panic at keys of NaN: https://github.com/apache/datafusion/issues/25133.
    """
    with joining_sorted(ctx):
        frame = ctx.create_dataframe_from_logical_plan(logical)
        if FILTERED_JOIN.search(frame.execution_plan().display_indent()):
            raise exhausted
        stream = _streamed(frame)
    try:
        yield from stream
    except BaseException as error:
        if isinstance(error, Exception) or not _is_failure(error):
            raise
        raise exhausted from error


def _counted(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    # Record batches without columns arrive without their rows.
    with _failing_as(EngineError):
        rows = frame.count()
    yield from without_columns(rows).to_batches()


RAISED = re.compile(r"'(\[[A-Z0-9]+_[A-Z0-9_.]+.*)'(?: to value of \w+ type|: error parsing \w+)", re.DOTALL)
"""The error that a plan raises where Spark would, in the failed cast of its text that a plan raises it by."""

FILTERED_JOIN = re.compile(r"SortMergeJoin\w*: join_type=(?!\w*(?:Semi|Anti|Mark)).* filter=")
"""A join of sorted inputs that has the columns of both, and another condition beside its keys.

A projection that is moved below it leaves its condition with other columns: https://github.com/apache/datafusion/issues/24414.
"""

EXHAUSTED = re.compile(r"Resources exhausted: (Failed to allocate .*)", re.DOTALL)
"""What DataFusion says where a query needs more memory than it may have, and can't spill."""


@contextmanager
def _failing_as(kind: type[SubstraitSparkError]) -> Iterator[None]:
    """What DataFusion raises in the block, as an error of ours."""
    try:
        yield
    except BaseException as error:
        if _is_failure(error):
            raise kind(f"DataFusion failed: {_reason(str(error))}") from error
        raise


def _reason(text: str) -> str:
    if raised := RAISED.search(text):
        return raised[1]
    if exhausted := EXHAUSTED.search(text):
        return (
            "The query needs more memory than the memory_limit of its context, in what can't be spilled. Give it more, or less "
            f"to hold at once. ({exhausted[1]})"
        )
    return text


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


def _generators(plan: Plan) -> list[Rel]:
    """The Generate relations of a plan, each after those below it."""
    relations = [rel for rel in messages_of(plan, Rel) if rel.HasField("extension_single")]
    return [rel for rel in reversed(relations) if rel.extension_single.detail.Is(Generate.DESCRIPTOR)]


def _bind_generated(rel: Rel, plan: Plan, binding: Binding) -> None:
    """Put a table with its rows in the place of a Generate relation, which DataFusion has not."""
    detail = Generate.FromString(rel.extension_single.detail.value)
    part = Plan()
    part.CopyFrom(plan)
    part.ClearField("relations")
    project = part.relations.add().rel.project
    project.input.CopyFrom(rel.extension_single.input)
    project.expressions.add().CopyFrom(detail.rows)
    result = _run(part, binding.ctx)
    table = generated(_table(result), detail)
    mapping = list(rel.extension_single.common.emit.output_mapping)
    if rel.extension_single.common.HasField("emit"):
        table = table.select(mapping).rename_columns([f"c{n}" for n in range(len(mapping))])
    rel.read.CopyFrom(_read_of(binding.register_rows(table), binding.ctx))


def _read_of(name: str, ctx: SessionContext) -> ReadRel:
    """DataFusion's own read of one of its tables."""
    logical = ctx.table(name).logical_plan()
    produced = Plan.FromString(consumer.Producer.to_substrait_plan(logical, ctx).encode())
    (read,) = reads_of(produced)
    return read
