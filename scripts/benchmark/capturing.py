"""What `capture` costs: each TPC-H query is run as it is, and captured."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING, Any

import tpc_data

from substrait_spark import capture

from .queries import SCALE_FACTOR
from .stages import middle, ninetieth, quiet_garbage_collector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = ("begin", "as it is", "captured", "end")
"""Beginning a block; an action without one, and in one; ending the block, which makes the plan."""


def measure(spark: SparkSession, rounds: int) -> dict[str, Any]:
    """Seconds of each column, and the ratio of a captured action to one as it is: median, 90th percentile and most of queries."""
    with tempfile.TemporaryDirectory() as directory:
        tpc_data.generate("tpch", SCALE_FACTOR, Path(directory))
        tpc_data.register(spark, Path(directory))
        texts = tpc_data.queries(Path(directory)).values()
        runs = [[_once(spark, text) for text in texts] for _ in range(rounds + 1)]
    # In the first round the JVM is still cold.
    queries = [
        {column: middle([run[column] for run in query]) for column in COLUMNS} for query in zip(*runs[1:], strict=True)
    ]
    columns: dict[str, Any] = {column: [query[column] for query in queries] for column in COLUMNS}
    columns["ratio"] = [query["captured"] / query["as it is"] for query in queries]
    return {
        name: {"median": middle(found), "ninetieth": ninetieth(found), "most": max(found)}
        for name, found in columns.items()
    }


def _once(spark: SparkSession, text: str) -> dict[str, float]:
    """Means of two runs of each kind, with one kind between those of the other: who comes later finds more prepared."""
    with quiet_garbage_collector():
        before = _seconds(spark, text)
        captured = [_captured(spark, text), _captured(spark, text)]
        after = _seconds(spark, text)
    return {
        "as it is": (before + after) / 2,
        **{column: fmean(run[column] for run in captured) for column in captured[0]},
    }


def _captured(spark: SparkSession, text: str) -> dict[str, float]:
    start = perf_counter()
    with capture(spark) as queries:
        begun = perf_counter()
        action = _seconds(spark, text)
        ended = perf_counter()
    stop = perf_counter()
    if any(query.plan is None for query in queries) or not queries:
        raise ValueError(f"{text} has no plan")
    return {"begin": begun - start, "captured": action, "end": stop - ended}


def _seconds(spark: SparkSession, text: str) -> float:
    start = perf_counter()
    spark.sql(text).collect()
    return perf_counter() - start
