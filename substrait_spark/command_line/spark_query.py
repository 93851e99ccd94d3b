"""A query in a local Spark session that keeps quiet."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import click

from .waiting import waiting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILE_FORMATS = {".orc": "orc", ".csv": "csv", ".json": "json"}
"""Spark's readers by the suffix of a path; others are Parquet."""


class Query(NamedTuple):
    """A query and what it needs."""

    sql: str
    tables: Sequence[tuple[str, str]]
    """Names and the paths of their files."""
    settings: Sequence[tuple[str, str]]
    """Settings of the Spark session."""


@contextmanager
def dataframe(query: Query) -> Iterator[DataFrame]:
    """The DataFrame of a query, as long as its session lives."""
    with tempfile.TemporaryDirectory() as directory, Path(directory, "log").open("w+b") as log:
        with waiting("starting Spark"):
            spark = _session(Path(directory), query.settings, log)
        try:
            yield _planned(spark, query)
        finally:
            spark.stop()


def _session(directory: Path, settings: Sequence[tuple[str, str]], log: IO[bytes]) -> SparkSession:
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ModuleNotFoundError as error:
        raise click.ClickException(
            "This needs PySpark: pip install 'substrait-spark[spark]', or the PySpark that you use."
        ) from error
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
    try:
        with _into(log):
            return builder.getOrCreate()
    except (PySparkException, OSError, RuntimeError) as error:
        log.seek(0)
        said = [line for line in log.read().decode("utf-8", "replace").splitlines() if "rror" in line]
        raise click.ClickException(f"Spark doesn't start: {(said or [_sentence(error)])[-1]}") from error


@contextmanager
def _into(log: IO[bytes]) -> Iterator[None]:
    """Within it, what is started writes to a log in place of stdout and stderr: the JVM greets and warns."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    try:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        yield
    finally:
        for number, descriptor in enumerate(kept, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)


def _planned(spark: SparkSession, query: Query) -> DataFrame:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        for name, path in query.tables:
            _table(spark, path).createOrReplaceTempView(name)
        with waiting("planning the query"):
            return spark.sql(query.sql)
    except (PySparkException, Py4JError) as error:
        raise click.ClickException(f"Spark doesn't take the query: {_sentence(error)}") from error


def _table(spark: SparkSession, path: str) -> DataFrame:
    format = FILE_FORMATS.get(Path(path).suffix, "parquet")
    return spark.read.format(format).options(**({"header": "true"} if format == "csv" else {})).load(path)


def _sentence(error: BaseException) -> str:
    """The first line of an error of Spark, which goes on with the query and the plan."""
    return str(error).strip().partition("\n")[0]
