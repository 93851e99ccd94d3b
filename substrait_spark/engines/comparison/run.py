"""Running a query in Spark and its plan in an engine, and comparing their rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...api import df_to_substrait
from ...catalyst.query_order import ordering
from ...catalyst.session import is_connect, require_dataframe, require_running
from ...errors import EngineError, InvalidPlanError, PlanningError, UnsupportedPlanError, UnsupportedSessionError
from ...user_functions.declared import as_given
from ..engine import engine_of
from .result import Comparison

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from substrait.plan_pb2 import Plan

TOLERANCE = 1e-9
"""How far floating-point numbers may be apart, as a part of the larger one."""


def compare(
    df: DataFrame,
    plan: Plan | None = None,
    *,
    engine: str = "datafusion",
    tables: Mapping[str, Any] | None = None,
    files_under: Iterable[str | Path] | None = None,
    tolerance: float = TOLERANCE,
    functions: Iterable[Any] = (),
    accept: Collection[str] = frozenset(),
) -> Comparison:
    """Run a DataFrame in Spark and a plan in an engine, and tell how their rows differ: true when they are the same.

    The plan is the DataFrame's own unless one is given: canonical for `engine="spark"`, and else in the engine's dialect. Engines are
    `datafusion`, `datafusion-plain`, `datafusion-with-catalyst`, `acero`, `isthmus` (SQL in DuckDB), `isthmus-postgresql` and `spark`, and those that
    installed packages bring (docs/how-to/add-an-engine.md).
    `functions` are your own that the query calls, and `accept` names what may differ, as `df_to_substrait` takes them for the
    DataFrame's own plan. `tables` and `files_under` are as `execute` of the engine takes them; the DataFrame's own plan reads
    catalog tables from their files in DataFusion, unless `tables` are given.

    Rows are compared as multisets, so that each counts as often as it occurs; the columns that the query orders by must
    come in the same order too, and rows that tie in them may change places, also across a limit. Names and types of columns
    are exact. NaN equals NaN. Floating-point numbers, nested ones too, may be apart by the relative `tolerance`, since sums
    depend on the order of their rows; -0.0 then equals 0.0, and no other number does. With `tolerance=0` they are exact, and
    -0.0 isn't 0.0.

    Where one side raises and the other has rows, that is a difference. Where both raise, the comparison tells so, and is not
    true: no rows were compared. Both results are held in memory; the time goes with the number of rows.

    Raises UnsupportedPlanError where the DataFrame has no plan; UnsupportedSessionError for Spark Connect, and stopped
    sessions; SubstraitSparkError where Spark can't hand over columns of some type as Arrow; ValueError for another engine, or
    a tolerance that isn't from 0 to below 1.
    """
    runner = engine_of(engine)
    _require(df, tolerance)
    functions = as_given(functions)
    from ..spark.rows import spark_rows
    from .tables import compared

    if plan is None:
        reads = "auto" if runner.in_spark or tables is not None else "files"
        plan = df_to_substrait(df, dialect=runner.dialect, reads=reads, functions=functions, accept=accept)
    expected, spark_error = None, ""
    try:
        expected = spark_rows(df)
    except EngineError as error:
        spark_error = str(error)
    try:
        actual = runner.rows(plan, tables, files_under, functions, df.sparkSession if runner.in_spark else None)
    except (EngineError, InvalidPlanError, PlanningError, UnsupportedPlanError) as error:
        count = None if expected is None else expected.num_rows
        return Comparison(runner.title, count, spark_error=spark_error, engine_error=error)
    if expected is None:
        return Comparison(runner.title, None, actual.num_rows, spark_error=spark_error)
    return compared(expected, actual, engine=runner.title, tolerance=tolerance or None, order=ordering(df))


def _require(df: Any, tolerance: float) -> None:
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance must be from 0 to below 1, not {tolerance!r}.")
    require_dataframe(df)
    if is_connect(df):
        raise UnsupportedSessionError(
            "This is a frame of Spark Connect, whose order is told on the server, out of reach. Compare it in a classic "
            "session, for example SparkSession.builder.master('local[*]')."
        )
    require_running(df)
