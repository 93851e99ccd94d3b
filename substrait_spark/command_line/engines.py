"""The rows of a plan, by the engine that runs it."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from substrait.plan_pb2 import Plan

from ..errors import EngineError
from . import spark_query
from .waiting import waiting

if TYPE_CHECKING:
    import pyarrow as pa

ENGINES = ("datafusion", "spark")


def run_on_datafusion(plan: Plan, tables: Mapping[str, str], files_under: Sequence[str] | None) -> pa.Table:
    """The rows of a plan in the forms of the dialect `datafusion`."""
    try:
        from ..engines import datafusion
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"This needs the package {error.name}: pip install 'datafusion==55.*' pyarrow."
        ) from error
    with waiting("running the plan"):
        return datafusion.execute(plan, tables=dict(tables), files_under=files_under)


def run_on_spark(
    plan: Plan,
    tables: Mapping[str, str],
    files_under: Sequence[str] | None,
    settings: Sequence[tuple[str, str]],
) -> pa.Table:
    """The rows of a canonical plan, by a local Spark session."""
    if importlib.util.find_spec("pyarrow") is None:  # Spark hands over rows by it
        raise click.ClickException("This needs the package pyarrow: pip install pyarrow.")
    with spark_query.session(settings) as spark:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        from ..engines import spark as engine

        frames = {name: spark_query.table(spark, name, path) for name, path in tables.items()}
        df = engine.execute(plan, spark, tables=frames, files_under=files_under)
        try:
            with waiting("running the plan"):
                return _collected(df)
        except (PySparkException, Py4JError) as error:
            raise EngineError(f"Spark failed: {spark_query.sentence(error)}") from error


def _collected(df: Any) -> pa.Table:
    if hasattr(df, "toArrow"):
        return df.toArrow()
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    return pa.Table.from_batches(df._collect_as_arrow(), to_arrow_schema(df.schema))  # Spark before 4.0
