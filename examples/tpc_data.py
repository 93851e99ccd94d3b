"""TPC-H and TPC-DS data as Parquet files, with the queries as Spark reads them, from DuckDB's extensions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import duckdb_extensions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GENERATORS = {"tpch": "dbgen", "tpcds": "dsdgen"}


def generate(benchmark: str, scale_factor: float, directory: Path, changes: str = "") -> None:
    """Write every table of a benchmark as one Parquet file, and its queries as `queries.json`.

    `changes` are statements of SQL that the tables go through before.
    """
    directory.mkdir(parents=True, exist_ok=True)
    # The extension is installed beside the data, so that nothing is written to the home directory.
    with duckdb.connect(config={"extension_directory": str(directory / ".duckdb")}) as connection:
        duckdb_extensions.import_extension(benchmark, con=connection)
        # In notebooks it is off already, and without ipywidgets DuckDB refuses to set it at all.
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() != (False,):
            connection.execute("SET enable_progress_bar = false")
        connection.execute(f"LOAD {benchmark}")
        connection.execute(f"CALL {GENERATORS[benchmark]}(sf={scale_factor})")
        connection.execute(changes)
        for (table,) in connection.execute("SHOW TABLES").fetchall():
            connection.execute(f"COPY {table} TO '{directory / table}.parquet' (FORMAT parquet)")
        queries = connection.execute(f"SELECT query_nr, query FROM {benchmark}_queries()").fetchall()
    text = json.dumps({str(number): _for_spark(query) for number, query in queries}, indent=1)
    (directory / "queries.json").write_text(text, encoding="utf-8")


def _for_spark(query: str) -> str:
    """A query's text as Spark reads it: names in backticks, no semicolon at the end."""
    return re.sub(r'"([^"]*)"', r"`\1`", query).strip().removesuffix(";")


def queries(directory: Path) -> dict[int, str]:
    """The queries by their numbers."""
    texts = json.loads((directory / "queries.json").read_text(encoding="utf-8"))
    return {int(number): text for number, text in texts.items()}


def register(spark: SparkSession, directory: Path) -> None:
    """Make each table a temporary view of a session."""
    for file in sorted(directory.glob("*.parquet")):
        spark.read.parquet(str(file)).createOrReplaceTempView(file.stem)
