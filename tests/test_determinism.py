"""The same query gives the same bytes in another process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tpc_data
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from substrait_spark import check, df_to_substrait

EXPORT = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
import tpc_data
from pyspark.sql import SparkSession
from test_determinism import digests

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.session.timeZone", "America/Los_Angeles").getOrCreate()
directory = Path(sys.argv[1])
tpc_data.register(spark, directory)
spark.range(100).selectExpr("id AS ids_start_elsewhere").collect()
print("\\n".join(digests(spark, directory)))
spark.stop()
"""


def digests(spark: SparkSession, directory: Path) -> list[str]:
    """A line for each TPC-H query and dialect: what its plan hashes to."""
    found = []
    for number, query in reversed(tpc_data.queries(directory).items()):
        for dialect in (None, "datafusion"):
            plan = df_to_substrait(spark.sql(query), dialect=dialect).SerializeToString()
            found.append(f"{number} {dialect} {hashlib.sha256(plan).hexdigest()}")
    return sorted(found)


@pytest.mark.slow
def test_another_process(spark: SparkSession, tpch: Path, tmp_path: Path) -> None:
    here = Path(__file__).parent
    ran = subprocess.run(
        [sys.executable, "-c", EXPORT, str(tpch), str(here), str(here.parent / "examples")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    expected = digests(spark, tpch)
    assert len(expected) == 2 * 22
    assert ran.stdout.splitlines() == expected


def written(spark: SparkSession, path: Path) -> DataFrame:
    """A table of files, so that the optimizer computes no query itself."""
    if not path.exists():
        spark.sql("SELECT * FROM VALUES (1, 'a', 1.5D), (2, NULL, NULL) t(k, s, d)").write.parquet(str(path))
    return spark.read.parquet(str(path))


def test_sql_and_dataframe_calls_give_the_same_plan(spark: SparkSession, tmp_path: Path) -> None:
    table = written(spark, tmp_path / "t")
    table.createOrReplaceTempView("same")
    pairs = [
        (
            "SELECT k, s FROM same WHERE k > 1 ORDER BY s LIMIT 3",
            table.where("k > 1").orderBy("s").limit(3).select("k", "s"),
        ),
        ("SELECT s, count(1) AS n FROM same GROUP BY s", table.groupBy("s").agg(F.count(F.lit(1)).alias("n"))),
        ("SELECT DISTINCT k FROM same", table.select("k").distinct()),
        ("SELECT a.k, b.s FROM same a JOIN same b ON a.k = b.k", same_join(table)),
        ("SELECT k + 1 AS x FROM (SELECT k FROM same)", table.select("k").select((F.col("k") + 1).alias("x"))),
    ]
    for query, frame in pairs:
        for dialect in (None, "datafusion"):
            from_sql = df_to_substrait(spark.sql(query), dialect=dialect).SerializeToString()
            assert from_sql == df_to_substrait(frame, dialect=dialect).SerializeToString(), query


def same_join(table: DataFrame) -> DataFrame:
    a, b = table.alias("a"), table.alias("b")
    return a.join(b, F.col("a.k") == F.col("b.k")).select("a.k", "b.s")


def test_a_plan_does_not_depend_on_those_before_it(spark: SparkSession, tmp_path: Path) -> None:
    table = written(spark, tmp_path / "t")

    def query() -> DataFrame:
        return table.where("s IS NULL OR k IN (SELECT 1)").groupBy("s").agg(F.sum("k"), F.max("k"))

    first = df_to_substrait(query()).SerializeToString()
    assert not check(table.select(F.rand(), F.spark_partition_id()))
    df_to_substrait(table.orderBy("k").selectExpr("upper(s)", "k * 2", "d > 1"), dialect="datafusion")
    assert df_to_substrait(query()).SerializeToString() == first
    frame = query()
    assert df_to_substrait(frame).SerializeToString() == df_to_substrait(frame).SerializeToString() == first


def test_sets_of_literals_have_one_order(spark: SparkSession, tmp_path: Path) -> None:
    table = written(spark, tmp_path / "t")
    forward, backward = list(range(40)), list(range(39, -1, -1))
    plans = {
        df_to_substrait(table.where(F.col("k").isin(values))).SerializeToString() for values in (forward, backward)
    }
    assert len(plans) == 1
