"""What users' own functions take in DataFusion beside Spark: a million rows, by each way in which PySpark evaluates functions.

What counts is the clock: in Spark, a function runs in processes of its own.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import functions as F
from pyspark.sql.udf import UserDefinedFunction

from substrait_spark import df_to_substrait
from substrait_spark.catalyst.versions import running
from substrait_spark.engines import datafusion
from substrait_spark.user_functions import spark_function as ways

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 1_000_000
GROUPS = 1_000


def _plus_one(value: Any) -> Any:
    return value + 1.0


def _total(values: pd.Series) -> float:
    return float(values.sum())


FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "rows, pickled": (ways.PICKLED, _plus_one),
    "rows, by Arrow": (ways.ARROW_BATCHED, _plus_one),
    "pandas": (ways.SCALAR_PANDAS, _plus_one),
    "Arrow": (ways.SCALAR_ARROW, lambda values: pc.add(values, 1.0)),
    f"pandas, {GROUPS:,} groups": (ways.GROUPED_AGG_PANDAS, _total),
}
"""How PySpark evaluates a function, and the function."""


def measure(spark: SparkSession, rounds: int) -> dict[str, dict[str, float]]:
    """By way, the least seconds of a query in Spark and of its plan in DataFusion, in so many rounds after the first."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "numbers.parquet"
        rows = {"g": [n % GROUPS for n in range(ROWS)], "x": [n / 7 for n in range(ROWS)]}
        pq.write_table(pa.table(rows), path)
        frame = spark.read.parquet(str(path))
        found = {}
        for name, (way, function) in FUNCTIONS.items():
            if way == ways.SCALAR_ARROW and running() < (4, 1):
                continue
            own: Any = UserDefinedFunction(function, "double", "own", way)
            query = partial(_query, frame, own, way == ways.GROUPED_AGG_PANDAS)
            plan = df_to_substrait(query(), functions=[own], dialect="datafusion")
            runs: dict[str, Callable[[], Any]] = {
                # A DataFrame of its own each time: one keeps what it has shuffled.
                "Spark": lambda query=query: query().collect(),  # type: ignore[misc]
                "DataFusion": partial(datafusion.execute, plan, functions=[own]),
            }
            found[name] = {engine: _least(run, rounds) for engine, run in runs.items()}
        return found


def _query(frame: DataFrame, own: Any, by_group: bool) -> DataFrame:
    called = own("x").alias("y")
    return (frame.groupBy("g").agg(called) if by_group else frame.select(called)).agg(F.sum("y"))


def _least(run: Callable[[], Any], rounds: int) -> float:
    seconds = []
    for _ in range(rounds + 1):
        started = perf_counter()
        run()
        seconds.append(perf_counter() - started)
    return min(seconds[1:])
