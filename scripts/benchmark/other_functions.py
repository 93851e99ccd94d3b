"""What takes a function of Spark's that isn't DataFusion's: Python computes it over Arrow, or Catalyst does in Spark's JVM.

One call of each that the tests have rows of, as a column over the tests' values, in a plan as `datafusion.collect` makes it and in
Spark, by the clock: their work is in several processes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from functions import cases, grid
from functions.cases import Case

from substrait_spark import UnsupportedPlanError, df_to_substrait
from substrait_spark.engines import datafusion
from substrait_spark.extensions import registry

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from substrait.plan_pb2 import Plan

ROWS = 50_000

DIALECT = "datafusion-with-catalyst"

COMPUTED_BY = {"arrow": "Python", "catalyst": "Catalyst"}
"""By the extension files of the functions that are called."""


def measure(spark: SparkSession, rounds: int) -> list[dict[str, Any]]:
    """For each function the call, who computes it, and the least seconds of the plan and of Spark."""
    with tempfile.TemporaryDirectory() as directory:
        write(Path(directory))
        spark.read.parquet(directory).createOrReplaceTempView(cases.GRID)
        return [
            {"function": case.function, "call": case.call, "by": who, **_seconds(spark, plan, case, rounds)}
            for case, plan, who in calls(spark)
        ]


def write(folder: Path) -> None:
    """Write the tests' values as often as it takes for `ROWS` rows."""
    grid.write(folder / "once.parquet")
    once = pq.read_table(folder / "once.parquet")
    (folder / "once.parquet").unlink()
    pq.write_table(pa.concat_tables([once] * (ROWS // grid.ROWS)), folder / "rows.parquet")


def calls(spark: SparkSession) -> Iterator[tuple[Case, Plan, str]]:
    """The first call of each function that Python or Catalyst computes, with its plan."""
    known = set()
    for case in cases.load():
        is_equal = "equal" in (case.datafusion, case.with_catalyst)
        if (
            case.function in known
            or not is_equal
            or case.raises
            or not case.is_judged
            or case.repeats
            or case.mode != "ansi"
            or case.source != cases.GRID
        ):
            continue
        try:
            plan = df_to_substrait(spark.sql(case.query()), dialect=DIALECT)
        except UnsupportedPlanError:
            continue
        files = {registry.alias_of(each.urn) for each in plan.extension_urns}
        if who := [by for alias, by in COMPUTED_BY.items() if alias in files]:
            known.add(case.function)
            yield case, plan, " and ".join(who)


def _seconds(spark: SparkSession, plan: Plan, case: Case, rounds: int) -> dict[str, float]:
    ways: dict[str, Callable[[], Any]] = {
        "plan": lambda: datafusion.execute(plan),
        "Spark": lambda: spark.sql(case.query()).toArrow(),
    }
    found: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds + 1):
        for way, run in ways.items():
            started = perf_counter()
            run()
            found[way].append(perf_counter() - started)
    return {way: round(min(seconds[1:]), 4) for way, seconds in found.items()}
