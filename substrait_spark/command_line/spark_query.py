"""A query in a local Spark session that keeps quiet."""

from __future__ import annotations

import logging
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import click

from ..catalyst.failures import sentence, spark_errors
from ..catalyst.session import NO_PYSPARK
from ..catalyst.statement import command_kind
from ..engines.table_format import table_format
from .user_functions import NoSessionError, given, registered
from .waiting import waiting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILE_FORMATS = {".orc": "orc", ".csv": "csv", ".json": "json", ".txt": "text"}
"""Spark's readers by the suffix of a path; others are Parquet."""

TAKEN = f"Tables are Parquet, or by their suffix {', '.join(f'{format.upper()} ({end})' for end, format in FILE_FORMATS.items())}."
"""The formats in which tables are taken."""

NO_JAVA = re.compile(
    r"JAVA_HOME is not set|java: (No such file|not found|command not found)|UnsupportedClassVersionError"
)
"""What is said where there is no Java, or an old one."""

GREETINGS = ("WARNING", "NOTE", "Picked up", "Setting default", "Using Spark's", "To adjust logging")
"""How lines begin that a JVM and Spark write though nothing is wrong."""


Functions = Sequence[Any]
"""The user's own functions, as `df_to_substrait` takes them."""


class Query(NamedTuple):
    """A query and what it needs."""

    sql: str
    tables: Sequence[tuple[str, str]]
    """Names and the paths of their files."""
    settings: Sequence[tuple[str, str]]
    """Settings of the Spark session."""
    functions: Sequence[str] = ()
    """The user's own, as `--functions` has them."""


@contextmanager
def dataframe(query: Query) -> Iterator[tuple[DataFrame, Functions]]:
    """The DataFrame of a query, and the functions that it may call, as long as its session lives."""
    with session(query.settings) as spark:
        functions = registered(spark, query.functions)
        yield _planned(spark, query), functions


@contextmanager
def with_tables(query: Query) -> Iterator[tuple[SparkSession, Functions]]:
    """A local session that knows the tables of a statement, and the functions, as long as it is needed."""
    with session(query.settings) as spark:
        for name, path in query.tables:
            _add_table(spark, name, path)
        yield spark, registered(spark, query.functions)


@contextmanager
def session(settings: Sequence[tuple[str, str]]) -> Iterator[SparkSession]:
    """A local session with some settings, as long as it is needed."""
    with tempfile.TemporaryDirectory() as directory, Path(directory, "log").open("w+b") as log:
        spark = _session(Path(directory), settings, log)
        try:
            yield spark
        finally:
            spark.stop()


def functions_without_session(names: Sequence[str]) -> Functions:
    """The functions that a command is given which needs no session: Spark is started, until it ends, only where PySpark needs it for them."""
    try:
        return given(names)
    except NoSessionError:
        click.get_current_context().with_resource(session(()))
        return given(names)


def _session(directory: Path, settings: Sequence[tuple[str, str]], log: IO[bytes]) -> SparkSession:
    try:
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        raise click.ClickException(NO_PYSPARK) from error
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    builder = (
        SparkSession.builder.master("local[*]")
        .appName("substrait-spark")
        .config("spark.log.level", "OFF")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.warehouse.dir", str(directory / "warehouse"))
    )
    for key, value in settings:
        builder = builder.config(key, value)
    failures: tuple[type[Exception], ...] = (OSError, RuntimeError, *spark_errors())
    try:
        with _into(log), waiting("starting Spark"):
            return builder.getOrCreate()
    except failures as error:
        log.seek(0)
        raise click.ClickException(_no_start(error, log.read().decode("utf-8", "replace"))) from error


def _no_start(error: Exception, log: str) -> str:
    """Why Spark doesn't start: of a JVM that ended, its log tells."""
    if NO_JAVA.search(log):
        return "Spark doesn't start: it needs Java 17 or later, on the PATH or in the folder that JAVA_HOME names."
    said = [line for line in log.splitlines() if line.strip() and not line[0].isspace()]
    said = [line for line in said if not line.startswith(GREETINGS)]
    if "JAVA_GATEWAY_EXITED" in str(error) and said:
        return f"Spark doesn't start: {re.sub('^Exception in thread .*?: ', '', said[0])}"
    return f"Spark doesn't start: {sentence(error)}"


@contextmanager
def _into(log: IO[bytes]) -> Iterator[None]:
    """Within it, what is started writes to a log in place of stdout and stderr: the JVM greets and warns."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    try:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        # What this process itself says is seen.
        with os.fdopen(os.dup(kept[1]), "w", encoding="utf-8") as stderr, redirect_stderr(stderr):
            yield
    finally:
        for number, descriptor in enumerate(kept, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)


def _planned(spark: SparkSession, query: Query) -> DataFrame:

    for name, path in query.tables:
        _add_table(spark, name, path)
    try:
        with waiting("planning the query"):
            _require_query(spark, query.sql)
            return spark.sql(query.sql)
    except spark_errors() as error:
        raise click.ClickException(f"Spark doesn't take the query: {sentence(error)}") from error


def _require_query(spark: SparkSession, sql: str) -> None:
    """Refuse a statement that does something, which `spark.sql` would run at once."""
    if (kind := command_kind(spark, sql)) is not None:
        raise click.ClickException(f"This is no query but another statement ({kind}), which wasn't run.")


def _add_table(spark: SparkSession, name: str, path: str) -> None:
    """Let the query know a table by a name."""
    from pyspark.errors import PySparkException

    try:
        table(spark, name, path).createOrReplaceTempView(name)
    except PySparkException as error:
        raise click.ClickException(
            f"{name!r} can't be the name of a table as it is: put it in backticks, here and in the query."
        ) from error


def table(spark: SparkSession, name: str, path: str) -> DataFrame:
    """The rows of a table's file or folder."""

    if (of_table := table_format(Path(path).absolute())) is not None:
        raise click.ClickException(
            f"The table {name} can't be read from {path}: it belongs to a table of {of_table}, and some of its files may hold "
            "rows that were deleted or replaced. Read it by its format in a Spark session, and export the query there."
        )
    format = FILE_FORMATS.get(Path(path).suffix, "parquet")
    options = {"header": "true"} if format == "csv" else {}
    try:
        return spark.read.format(format).options(**options).load(path)
    except spark_errors() as error:
        said = sentence(error).rstrip(".")
        raise click.ClickException(f"The table {name} can't be read from {path}: {said}. {TAKEN}") from error
