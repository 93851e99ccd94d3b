"""What it takes to use a plan of TPC-DS: lower it, and show it as text, in a notebook and in a snapshot."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import tpc_data
from substrait.plan_pb2 import Plan

from substrait_spark import df_to_substrait, explain, lower, to_html
from substrait_spark.testing.snapshot import Form

from .queries import SCALE_FACTOR
from .stages import middle, quiet_garbage_collector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = (3, 14, 64)
"""A common query of TPC-DS, and the two whose plans are the largest."""

USES: dict[str, Callable[[Plan], Any]] = {
    "lower": lambda plan: lower(plan, "datafusion"),
    "explain": explain,
    "notebook view": to_html,
    "snapshot": Form().text,
}


def measure(spark: SparkSession, rounds: int) -> dict[str, dict[str, float]]:
    """For each query the bytes of its canonical plan, and the seconds of each use of it: medians over rounds."""
    with tempfile.TemporaryDirectory() as directory:
        tpc_data.generate("tpcds", SCALE_FACTOR, Path(directory))
        tpc_data.register(spark, Path(directory))
        texts = tpc_data.queries(Path(directory))
        plans = {f"q{number}": df_to_substrait(spark.sql(texts[number])) for number in QUERIES}
    return {name: {"bytes": plan.ByteSize(), **_seconds(plan, rounds)} for name, plan in plans.items()}


def _seconds(plan: Plan, rounds: int) -> dict[str, float]:
    return {name: middle([_once(use, plan) for _ in range(rounds)]) for name, use in USES.items()}


def _once(use: Callable[[Plan], Any], plan: Plan) -> float:
    # A copy, so that nothing that is kept of a plan is used.
    copy = Plan.FromString(plan.SerializeToString())
    with quiet_garbage_collector():
        begun = perf_counter()
        use(copy)
        return perf_counter() - begun
