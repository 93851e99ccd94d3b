"""From a Spark DataFrame to its rows in one call: converted for DataFusion, run there, and collected."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from datafusion import SessionContext
from substrait.plan_pb2 import Plan

from ...api import df_to_substrait
from ...catalyst.session import is_connect
from ...errors import (
    CollectedInSparkWarning,
    EngineError,
    InvalidPlanError,
    PlanningError,
    SubstraitSparkError,
    UnsupportedPlanError,
)
from ...plan.unread_values import UNREAD
from ...user_functions.declared import as_given
from ..text_table import text_table
from . import run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OTHERWISE = (None, "spark")

EVERY_VALUE = Path(__file__).parents[1] / "datafusion_with_catalyst" / "every_value.yaml"
"""The dialect of forms that answer for every value."""

REFUSED = (UnsupportedPlanError, PlanningError, InvalidPlanError)
"""What is raised before a row is computed."""


def collect(
    df: DataFrame,
    otherwise: str | None = None,
    *,
    ctx: SessionContext | None = None,
    stage: str = "optimized",
    progress: bool | None = None,
    functions: Iterable[Any] = (),
    accept: Collection[str] = frozenset(),
    allow_version_mismatch: bool = False,
) -> pa.Table:
    """The rows of a Spark DataFrame, computed by DataFusion: its plan is made, run and collected in one call.

    Catalog tables are read from their files, and local rows (`createDataFrame`) are brought along, however many there are:
    above 10,000 in files of a temporary folder, which is gone afterwards. What neither has a plan nor runs is raised, or
    with `otherwise="spark"` collected in Spark: a CollectedInSparkWarning says so once, with the reasons. Then what the
    query raises in Spark is raised as an EngineError. Of a classic session's DataFrame, expressions and aggregates that DataFusion lacks are
    evaluated by Catalyst in the session's JVM, over the rows that DataFusion has there (the dialect `datafusion-with-catalyst`).

    `ctx` is the DataFusion context, for example of limited memory (`datafusion.context`). `stage`, `accept` and
    `allow_version_mismatch` are as `df_to_substrait` has them, and `progress` as `execute` has it. `functions` are your own that the
    query calls, as both have them.

    Columns are of Arrow's types for the DataFrame's, timestamps in UTC, wherever they come from.

    Raises what `df_to_substrait` and `execute` raise; ValueError for another `otherwise`.
    """
    _require(otherwise)
    try:
        return _collected(df, partial(_stream, df, ctx, stage, progress, functions, accept, allow_version_mismatch))
    except (*REFUSED, EngineError) as error:
        if otherwise is None:
            raise
        reason = error
    return _in_spark(df, reason)


def stream(
    df_or_plan: DataFrame | Plan,
    ctx: SessionContext | None = None,
    *,
    tables: Mapping[str, Any] | None = None,
    files_under: Iterable[str | Path] | None = None,
    parameters: Mapping[str, Any] | None = None,
    otherwise: str | None = None,
    stage: str = "optimized",
    progress: bool | None = None,
    functions: Iterable[Any] = (),
    accept: Collection[str] = frozenset(),
    allow_version_mismatch: bool = False,
) -> pa.RecordBatchReader:
    """The rows of a DataFrame, or of a plan of the `datafusion` dialect, batch by batch, so that they needn't fit in memory.

    Of a plan, further arguments are as `execute` has them; of a DataFrame, as `collect` has them. What DataFusion raises while
    it computes the rows is raised as EngineError where the batch is read. `otherwise="spark"` helps where DataFusion computes
    no row of a DataFrame; Spark's rows are all held in memory.

    Raises what `execute` or `collect` raises; TypeError where `tables`, `files_under` or `parameters` are given with a
    DataFrame, or `otherwise` with a plan.
    """
    _require(otherwise)
    given: dict[str, Any] = {"tables": tables, "files_under": files_under, "parameters": parameters}
    if isinstance(df_or_plan, Plan):
        if otherwise is not None:
            raise TypeError("otherwise is for a DataFrame: a plan alone doesn't run in Spark here.")
        return run.opened(df_or_plan, ctx, progress=progress, functions=functions, **given)
    if wrong := [name for name, value in given.items() if value is not None]:
        raise TypeError(f"{wrong[0]} is for a plan: a DataFrame knows where its rows are.")
    try:
        return _stream(df_or_plan, ctx, stage, progress, functions, accept, allow_version_mismatch)
    except REFUSED as error:
        if otherwise is None:
            raise
        reason = error
    return _in_spark(df_or_plan, reason).to_reader()


def show(
    df: DataFrame,
    n: int = 20,
    otherwise: str | None = None,
    *,
    ctx: SessionContext | None = None,
    progress: bool | None = None,
    functions: Iterable[Any] = (),
    accept: Collection[str] = frozenset(),
) -> None:
    """Print the first `n` rows of a DataFrame, computed by DataFusion. Arguments and errors as `collect`."""
    rows = collect(df.limit(n + 1), otherwise, ctx=ctx, progress=progress, functions=functions, accept=accept)
    more = rows.num_rows > n
    print(text_table(rows.slice(0, n), f"only the first {n:,} rows" if more else None), end="")  # noqa: T201


def _require(otherwise: str | None) -> None:
    if otherwise not in OTHERWISE:
        raise ValueError(f"otherwise must be None or 'spark', not {otherwise!r}.")


def _collected(df: DataFrame, stream: Callable[..., pa.RecordBatchReader]) -> pa.Table:
    """The rows, computed once more where a form had no answer for some value: then by forms that have one for every value."""
    try:
        return stream().read_all()
    except EngineError as error:
        if UNREAD not in str(error) or is_connect(df):
            raise
        try:
            rows = stream(dialect=EVERY_VALUE)
        except UnsupportedPlanError:
            raise error from None
    return rows.read_all()


def _stream(
    df: DataFrame,
    ctx: SessionContext | None,
    stage: str,
    progress: bool | None,
    functions: Iterable[Any],
    accept: Collection[str],
    allow_version_mismatch: bool,
    dialect: str | Path = "datafusion-with-catalyst",
) -> pa.RecordBatchReader:
    functions = as_given(functions)
    folder = tempfile.TemporaryDirectory(prefix="substrait-spark-", ignore_cleanup_errors=True)
    with ExitStack() as unless_opened:
        unless_opened.callback(folder.cleanup)
        plan = df_to_substrait(
            df,
            dialect="datafusion" if is_connect(df) else dialect,
            reads="files",
            local_data=folder.name,
            list_files=None,
            stage=stage,
            functions=functions,
            accept=accept,
            allow_version_mismatch=allow_version_mismatch,
        )
        reader = run.opened(plan, ctx, progress=progress, functions=functions, finish=folder.cleanup)
        unless_opened.pop_all()
    return reader


def _in_spark(df: DataFrame, reason: SubstraitSparkError) -> pa.Table:
    from ..spark.rows import spark_rows

    warnings.warn(
        f"Spark collects these rows, since DataFusion doesn't: {reason}", CollectedInSparkWarning, stacklevel=3
    )
    rows = spark_rows(df)
    return rows.cast(pa.schema([pa.field(field.name, _in_utc(field.type)) for field in rows.schema]))


def _in_utc(type: pa.DataType) -> pa.DataType:
    """The type with its timestamps in UTC: Spark hands them over in the session's time zone."""
    if pa.types.is_timestamp(type):
        return pa.timestamp(type.unit, "UTC" if type.tz is not None else None)
    if pa.types.is_list(type):
        return pa.list_(_in_utc(type.value_type))
    if pa.types.is_map(type):
        return pa.map_(_in_utc(type.key_type), _in_utc(type.item_type))
    if pa.types.is_struct(type):
        return pa.struct([pa.field(field.name, _in_utc(field.type)) for field in type])
    return type
