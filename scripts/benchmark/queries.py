"""TPC-H and TPC-DS: the stages of each query beside Spark's planning of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import tpc_data
from pyspark.sql import SparkSession

from .own_time import profile
from .stages import (
    STAGES,
    converted,
    found_again,
    middle,
    ninetieth,
    nodes_of,
    planned,
    quiet_garbage_collector,
    walked,
)

SCALE_FACTOR = 0.01

DIALECTS = {"canonical": None, "datafusion": "datafusion"}
"""The dialects that are measured, and what `df_to_substrait` takes for them."""


def measure(spark: SparkSession, rounds: int) -> dict[str, Any]:
    """For each benchmark and dialect: medians over rounds for each query, then medians and 90th percentiles over queries."""
    return {name: _benchmark(spark, name, rounds) for name in ("tpch", "tpcds")}


@contextmanager
def over_tables(spark: SparkSession, name: str) -> Iterator[dict[int, str]]:
    """The texts of a benchmark's queries by number, while a session has its tables."""
    with tempfile.TemporaryDirectory() as directory:
        tpc_data.generate(name, SCALE_FACTOR, Path(directory))
        tpc_data.register(spark, Path(directory))
        yield tpc_data.queries(Path(directory))


def _benchmark(spark: SparkSession, name: str, rounds: int) -> dict[str, Any]:
    with over_tables(spark, name) as texts:
        runs: dict[str, dict[int, list[dict[str, float]]]] = {dialect: {n: [] for n in texts} for dialect in DIALECTS}
        for _ in range(rounds + 1):
            for number, text in texts.items():
                for dialect, run in _once(spark, text).items():
                    runs[dialect][number].append(run)
        frames = [planned(partial(spark.sql, text))[0] for text in texts.values()]
        return {dialect: _found(found, profile(frames, DIALECTS[dialect])) for dialect, found in runs.items()}


def _once(spark: SparkSession, text: str) -> dict[str, dict[str, float]]:
    """The planning of a query, and the stages of its conversion to each dialect."""
    with quiet_garbage_collector():
        df, planning = planned(lambda: spark.sql(text))
        stages = {dialect: converted(df, name) for dialect, name in DIALECTS.items()}
        walk = walked(planned(lambda: spark.sql(text))[0])  # like the first conversion, just after Spark has planned it
        again = {dialect: found_again(partial(spark.sql, text), name) for dialect, name in DIALECTS.items()}
    nodes = nodes_of(df)
    return {
        dialect: {
            "planning": planning,
            **found,
            "total": sum(found.values()),
            "found again": again[dialect],
            "walk": walk,
            "emit a node": (found["emit"] + found["write"]) / nodes,
        }
        for dialect, found in stages.items()
    }


def _found(runs: dict[int, list[dict[str, float]]], functions: dict[str, float]) -> dict[str, Any]:
    # In the first round the JVM is still cold.
    queries = {number: _medians(found[1:]) for number, found in runs.items()}
    return {"queries": queries, "summary": _summary(list(queries.values())), "functions": functions}


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
        for column in ("planning", *STAGES, "total", "found again", "ratio", "walk", "emit a node")
    }
