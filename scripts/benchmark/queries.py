"""TPC-H and TPC-DS: the stages of each query beside Spark's planning of it."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import tpc_data
from pyspark.sql import SparkSession

from .own_time import profile
from .stages import STAGES, converted, middle, ninetieth, planned, quiet_garbage_collector

SCALE_FACTOR = 0.01


def measure(spark: SparkSession, rounds: int) -> dict[str, Any]:
    """For each benchmark: medians over rounds for each query, then medians and 90th percentiles over queries."""
    return {name: _benchmark(spark, name, rounds) for name in ("tpch", "tpcds")}


def _benchmark(spark: SparkSession, name: str, rounds: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as directory:
        tpc_data.generate(name, SCALE_FACTOR, Path(directory))
        tpc_data.register(spark, Path(directory))
        texts = tpc_data.queries(Path(directory))
        runs: dict[int, list[dict[str, float]]] = {number: [] for number in texts}
        for _ in range(rounds + 1):
            for number, text in texts.items():
                runs[number].append(_once(spark, text))
        # In the first round the JVM is still cold.
        queries = {number: _medians(found[1:]) for number, found in runs.items()}
        functions = profile([planned(partial(spark.sql, text))[0] for text in texts.values()])
    return {"queries": queries, "summary": _summary(list(queries.values())), "functions": functions}


def _once(spark: SparkSession, text: str) -> dict[str, float]:
    with quiet_garbage_collector():
        df, planning = planned(lambda: spark.sql(text))
        stages = converted(df)
    return {"planning": planning, **stages, "total": sum(stages.values())}


def _medians(runs: list[dict[str, float]]) -> dict[str, float]:
    found = {stage: middle([run[stage] for run in runs]) for stage in runs[0]}
    return {**found, "ratio": found["total"] / found["planning"]}


def _summary(queries: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    return {
        column: {
            "median": middle([query[column] for query in queries]),
            "ninetieth": ninetieth([query[column] for query in queries]),
            "most": max(query[column] for query in queries),
        }
        for column in ("planning", *STAGES, "total", "ratio")
    }
