"""The rows of a plan, by the engine that runs it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from substrait.plan_pb2 import Plan

from ..catalyst.failures import sentence, spark_errors
from ..dialects.file import load
from ..engines.engine import engine_of
from ..errors import EngineError, PlanningError
from ..errors.quotation import shortened
from ..testing import departures
from ..user_functions.declared import UserFunctions
from . import spark_query
from .user_functions import registered
from .waiting import waiting

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from ..engines import Comparison
    from ..engines.engine import Engine
    from ..testing.conformance import Departure

LISTED = 10
"""How many things that a plan needs in vain are told."""

LONGEST = 1000
"""How many characters of an engine's own error are told: DataFusion's may hold the whole plan."""


def run_on(
    engine: Engine, plan: Plan, tables: Mapping[str, str], files_under: Sequence[str] | None, functions: Sequence[Any]
) -> pa.Table:
    """The rows of a plan. Of one that isn't in the forms of the engine's dialect, it is told what they lack."""
    departing = departures(plan, load(engine.dialect).with_functions(UserFunctions(functions).named))
    try:
        with waiting("running the plan"):
            rows = engine.rows(plan, dict(tables), files_under, functions, None)
    except PlanningError as error:
        if not departing:
            raise PlanningError(shortened(str(error).partition("\n")[0], LONGEST)) from error
        raise PlanningError(_lacking(f"{engine.title} doesn't take the plan, which", engine, departing)) from error
    if departing:
        which = f"{engine.title}'s rows may be others than Spark's, since the plan"
        click.echo(_lacking(which, engine, departing), err=True)
    return rows


def _lacking(which: str, engine: Engine, departing: Sequence[Departure]) -> str:
    """What a plan needs that the dialect lacks, and what helps."""
    lacking = "".join(f"\n  {departure}" for departure in departing[:LISTED])
    more = f"\n  and {len(departing) - LISTED} more" if len(departing) > LISTED else ""
    return (
        f"{which} needs what the dialect {engine.dialect} lacks:{lacking}{more}\n"
        f"Put it into forms that {engine.title} has by `substrait-spark lower PLAN --dialect {engine.dialect}`, and run that."
    )


def run_on_spark(
    plan: Plan,
    tables: Mapping[str, str],
    files_under: Sequence[str] | None,
    settings: Sequence[tuple[str, str]],
    functions: Sequence[str],
) -> pa.Table:
    """The rows of a canonical plan, by a local Spark session."""
    _require_pyarrow()
    with spark_query.session(settings) as spark:
        from ..engines import spark as engine

        frames = {name: spark_query.table(spark, name, path) for name, path in tables.items()}
        given = registered(spark, functions)
        df = engine.execute(plan, spark, tables=frames, files_under=files_under, functions=given)
        try:
            with waiting("running the plan"):
                return _collected(df)
        except spark_errors() as error:
            raise EngineError(f"Spark failed: {sentence(error)}") from error


def compared(
    df: DataFrame,
    plan: Plan | None,
    engine: str,
    tables: Mapping[str, str],
    files_under: Sequence[str] | None,
    tolerance: float,
    functions: Sequence[Any],
    accept: Sequence[str],
) -> Comparison:
    """The rows of a query beside those of a plan, or of its own."""
    _require_pyarrow()
    from ..engines import compare

    given: dict[str, Any] = dict(tables)
    if engine_of(engine).in_spark:
        given = {name: spark_query.table(df.sparkSession, name, path) for name, path in tables.items()}
    with waiting("running the query and the plan"):
        return compare(
            df,
            plan,
            engine=engine,
            tables=given,
            files_under=files_under,
            tolerance=tolerance,
            functions=functions,
            accept=accept,
        )


def _require_pyarrow() -> None:
    if importlib.util.find_spec("pyarrow") is None:  # Spark hands over rows by it
        raise click.ClickException("This needs the package pyarrow: pip install pyarrow.")


def _collected(df: Any) -> pa.Table:
    if hasattr(df, "toArrow"):
        return df.toArrow()
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    return pa.Table.from_batches(df._collect_as_arrow(), to_arrow_schema(df.schema))  # Spark before 4.0
