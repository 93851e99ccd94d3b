"""The process that runs an engine: it answers one question after the other, and may end or hang at any of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from substrait.plan_pb2 import Plan

from ...algebra.relation import VirtualTable
from ...dialects.loading import module_from
from ...plan.message import build
from .. import engine as engines
from ..arrow.counts import months
from .recorded import stream_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Run = Callable[[bytes, Mapping[str, pa.Table]], pa.Table]
"""An engine: from a plan and the tables that it reads by name to its rows."""


def loaded(engine: Run | str | Path) -> Run:
    """The engine's function: `run` of a Python file, that of an engine by its name, or the function itself."""
    if callable(engine):
        return engine
    if isinstance(engine, str) and not engine.endswith(".py") and engine in engines.names():
        found = engines.engine_of(engine)
        if found.in_spark:
            return _in_spark(found.rows)
        return lambda plan, tables: found.rows(Plan.FromString(plan), tables, None, (), None)
    run: Run = module_from(Path(engine)).run
    return run


SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",  # of Arrow's timestamps without a zone
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings of the session of an engine in Spark: small plans take less time to interpret than to compile."""


def _in_spark(rows: engines.Rows) -> Run:
    """An engine in Spark, in a session of this process's own."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("measured")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")

    def run(plan: bytes, tables: Mapping[str, pa.Table]) -> pa.Table:
        given = {name: _frame(table, spark) for name, table in tables.items()}
        return rows(Plan.FromString(plan), given, None, (), spark)

    run(build(VirtualTable([()], [], []), []).SerializeToString(), {})  # the first plan has Java compiled
    return run


def _frame(table: pa.Table, spark: SparkSession) -> DataFrame:
    """A table as a DataFrame. Intervals of months, which PySpark takes none of from Arrow, are made of their numbers."""
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    intervals = [n for n, field in enumerate(table.schema) if pa.types.is_interval(field.type)]
    for n in intervals:
        table = table.set_column(n, table.schema.field(n).with_type(pa.int32()), months(table.column(n)))
    made = {table.schema.names[n]: F.make_ym_interval(F.lit(0), table.schema.names[n]) for n in intervals}
    return spark.createDataFrame(table).withColumns(made)


def serve(engine: Run | str | Path, memory: int | None, questions: Connection) -> None:
    """Answer questions until there are no more. A question is a plan and its tables; an answer rows and no error, or an error."""
    try:
        run = loaded(engine)
    except Exception as error:  # noqa: BLE001 - whatever the file of the engine raises
        questions.send((None, f"the engine can't be loaded: {type(error).__name__}: {error}", True))
        return
    questions.send((None, "", False))
    if memory is not None:
        limit_memory(memory)
    while True:
        try:
            asked = questions.recv()
        except EOFError:
            return
        questions.send((*_answer(run, *asked), False))


def _answer(run: Run, plan: bytes, tables: dict[str, pa.Table]) -> tuple[bytes | None, str]:
    """The rows as an Arrow stream, or the error."""
    try:
        answer: Any = run(plan, tables)
        if not isinstance(answer, pa.Table):
            return None, f"the engine returned {type(answer).__name__}, not a pyarrow.Table"
        answer.validate(full=True)
        return stream_of(answer), ""
    except KeyboardInterrupt:
        sys.exit(1)
    except BaseException as error:  # noqa: BLE001 - engines raise what they like, Rust's panics too
        return None, f"{type(error).__name__}: {' '.join(str(error).split())}"


def limit_memory(size: int) -> None:
    """Let this process have so many bytes more of address space than it has now, where the system has such limits."""
    try:
        import resource
    except ImportError:  # Windows
        return
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except OSError:  # no Linux
        pages = 0
    limit = pages * resource.getpagesize() + size
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
