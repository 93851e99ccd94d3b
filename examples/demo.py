"""A TPC-H query from Spark through a Substrait plan to DataFusion, with both results side by side."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import tpc_data
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from substrait.plan_pb2 import Plan

from substrait_spark import df_to_substrait
from substrait_spark.engines import datafusion

SCALE_FACTOR = 0.1
DATA = Path("data") / f"tpch-{SCALE_FACTOR}"
PLAN = Path("data") / "revenue_by_nation.substrait"
ROUNDS = 9


def revenue_by_nation(spark: SparkSession) -> DataFrame:
    """What Asia's suppliers earned from customers of their own nation in 1994, by nation."""
    shipped = (
        spark.table("customer")
        .join(spark.table("orders"), F.col("c_custkey") == F.col("o_custkey"))
        .join(spark.table("lineitem"), F.col("o_orderkey") == F.col("l_orderkey"))
        .join(
            spark.table("supplier"),
            (F.col("l_suppkey") == F.col("s_suppkey")) & (F.col("c_nationkey") == F.col("s_nationkey")),
        )
    )
    located = shipped.join(spark.table("nation"), F.col("s_nationkey") == F.col("n_nationkey")).join(
        spark.table("region"), F.col("n_regionkey") == F.col("r_regionkey")
    )
    in_1994 = (F.col("o_orderdate") >= date(1994, 1, 1)) & (F.col("o_orderdate") < date(1995, 1, 1))
    return (
        located.where((F.col("r_name") == "ASIA") & in_1994)
        .groupBy(F.col("n_name").alias("nation"))
        .agg(
            F.sum(F.col("l_extendedprice") * (1 - F.col("l_discount"))).alias("revenue"),
            F.countDistinct("o_orderkey").alias("orders"),
        )
        .orderBy(F.desc("revenue"))
    )


def main() -> int:
    generate_data()
    with quiet_stderr():
        spark = start_spark()
    tpc_data.register(spark, DATA)

    expected = spark_rows(revenue_by_nation(spark))
    plan = df_to_substrait(revenue_by_nation(spark), dialect="datafusion")
    PLAN.write_bytes(plan.SerializeToString())
    actual = datafusion.execute(Plan.FromString(PLAN.read_bytes())).to_pylist()
    planning, exporting = time_export(spark)
    spark.stop()

    show(expected, actual)
    same = expected == actual
    print(f"  {'✓ The rows are the same, in the same order.' if same else '✗ The rows differ.'}\n")
    print(f"  plan      {PLAN}, {PLAN.stat().st_size:,} bytes")
    print(f"  export    {exporting:.1f} ms; Spark planned the query in {planning:.1f} ms (medians of {ROUNDS})")
    return 0 if same else 1


def generate_data() -> None:
    if not (DATA / "queries.json").exists():
        print(f"Generating TPC-H data at scale factor {SCALE_FACTOR} in {DATA} …")
        tpc_data.generate("tpch", SCALE_FACTOR, DATA)


def start_spark() -> SparkSession:
    print("Starting Spark …")
    spark = (
        SparkSession.builder.master("local[*]")
        .appName("substrait_spark demo")
        .config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    print(f"Running revenue by nation in Spark {spark.version} and in DataFusion …\n")
    return spark


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Keep what a JVM says while it starts, and show it only if it fails to."""
    with tempfile.TemporaryFile() as log:
        original = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            yield
        except BaseException:
            log.seek(0)
            os.write(original, log.read())
            raise
        finally:
            os.dup2(original, 2)
            os.close(original)


def spark_rows(df: DataFrame) -> list[dict[str, object]]:
    return [row.asDict() for row in df.collect()]


def time_export(spark: SparkSession) -> tuple[float, float]:
    """Milliseconds that Spark takes to analyse and optimise a fresh query, and that exporting it takes then."""
    planning, exporting = [], []
    for _ in range(ROUNDS):
        df = revenue_by_nation(spark)
        execution = df._jdf.queryExecution()
        execution.optimizedPlan()
        phases = execution.tracker().phases()
        planning.append(float(sum(phases.apply(phase).durationMs() for phase in ("analysis", "optimization"))))
        start = time.perf_counter()
        df_to_substrait(df, dialect="datafusion").SerializeToString()
        exporting.append((time.perf_counter() - start) * 1000)
    return statistics.median(planning), statistics.median(exporting)


def show(expected: list[dict[str, object]], actual: list[dict[str, object]]) -> None:
    """Both results beside each other."""
    columns = list(expected[0])
    width = 16
    titles = "".join(f"{column:>{width}}" for column in columns)
    print(f"{'Spark':>{width * len(columns)}}  |{'DataFusion':>{width * len(columns)}}")
    print(f"{titles}  |{titles}")
    blank: dict[str, object] = {}
    for index in range(max(len(expected), len(actual))):
        left = expected[index] if index < len(expected) else blank
        right = actual[index] if index < len(actual) else blank
        cells = ["".join(f"{row.get(column, '')!s:>{width}}" for column in columns) for row in (left, right)]
        print("  |".join(cells))
    print()


if __name__ == "__main__":
    sys.exit(main())
