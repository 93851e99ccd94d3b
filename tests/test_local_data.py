"""Local rows that are too many for a plan, in files beside it."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructField, StructType
from rows import differences, other_session, spark_table
from substrait.algebra_pb2 import ReadRel

from substrait_spark import SubstraitSparkError, capture, check, df_to_substrait
from substrait_spark.algebra.message_walk import messages
from substrait_spark.catalyst.query_order import ordering
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine

SCHEMA = """
    b boolean, i8 tinyint, i16 smallint, i32 int, i64 bigint, f float, d double, n decimal(38, 10), small decimal(5, 2),
    s string, x binary, day date, t timestamp, local timestamp_ntz, `A` int, `a.b ``c``` int, a array<array<int>>,
    m map<string, struct<x: int, y: array<double>>>, r struct<x: decimal(20, 0), y: struct<z: timestamp>>
"""

UTC = dt.timezone.utc

EXTREMES: list[tuple[Any, ...]] = [
    (True, 127, 2**15 - 1, 2**31 - 1, 2**63 - 1, float("inf"), 1.7976931348623157e308, Decimal("9" * 28 + ".9999999999"),
     Decimal("999.99"), "", b"", dt.date(1, 1, 1), dt.datetime(1500, 1, 1, tzinfo=UTC), dt.datetime(1, 1, 1), 1, 2,
     [[1, None], None, []], {"": (None, [float("nan"), -0.0, None])}, (Decimal(1), (dt.datetime(2024, 1, 1, tzinfo=UTC),))),
    (False, -128, -(2**15), -(2**31), -(2**63), float("-inf"), 5e-324, Decimal("-" + "9" * 28 + ".9999999999"),
     Decimal("-0.01"), "\0é😀\n", b"\0\xff", dt.date(9999, 12, 31), dt.datetime(9999, 12, 30, 23, 59, 59, 999999, tzinfo=UTC),
     dt.datetime(9999, 12, 31, 23, 59, 59, 999999), None, None, [], {}, (None, None)),
    (None,) * 19,
    (True, 0, 0, 0, 0, -0.0, -0.0, Decimal(0), Decimal(0), "a", b"a", dt.date(1582, 10, 10), None, None, 3, 3, None,
     {"k": None}, (None, (None,))),
    (True, 1, 1, 1, 1, float("nan"), float("nan"), None, None, "a", b"a", dt.date(1970, 1, 1), None, None, 3, 3, None, None, None),
]  # fmt: skip


@pytest.fixture(scope="module")
def extremes(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(EXTREMES * 2, SCHEMA)


def assert_same(df: DataFrame, folder: Path, limit: int = 3, ordered: bool = False) -> list[Path]:
    """Spark's rows, and those of both plans that read files; returns the files."""
    expected = spark_table(df)
    assert expected.num_rows, "vacuous"
    order = ordering(df) if ordered else None
    plan = df_to_substrait(df, inline_limit=limit, local_data=folder)
    lowered = df_to_substrait(df, dialect="datafusion", inline_limit=limit, local_data=str(folder))
    assert any(read.HasField("local_files") for read in messages(plan) if isinstance(read, ReadRel))
    canonical = spark_table(spark_engine.execute(plan, other_session(df.sparkSession)))
    for rows in (datafusion.execute(lowered), canonical):
        assert not (found := differences(expected, rows, order=order)), "\n".join(found)
    return sorted(folder.iterdir())


def test_rows_of_all_types(extremes: DataFrame, tmp_path: Path) -> None:
    (file,) = assert_same(extremes, tmp_path)
    metadata = pq.read_metadata(file)
    assert metadata.num_rows == 10
    # Spark 3.5 reads old dates only where it is told whose calendar they are in.
    assert metadata.metadata[b"org.apache.spark.version"] >= b"3"
    assert file.name.startswith("local-")


def test_columns_that_are_used(extremes: DataFrame, tmp_path: Path) -> None:
    (file,) = assert_same(extremes.where("i32 > 0").select("s", F.col("r.y.z").alias("z")), tmp_path)
    assert pq.read_schema(file).names == ["i32", "s", "r"]
    assert assert_same(extremes.groupBy().count(), tmp_path)
    nothing = extremes.select().withColumn("one", F.lit(1))
    assert assert_same(nothing, tmp_path)


def test_names_that_files_find_twice(spark: SparkSession, tmp_path: Path) -> None:
    fields = [StructField(name, IntegerType()) for name in ("a", "A", "", "a")]
    inside = StructType([StructField(name, IntegerType()) for name in ("x", "X")])
    schema = StructType([*fields, StructField("s", inside)])
    df = spark.createDataFrame([(n, n + 1, n + 2, n + 3, (n, n + 4)) for n in range(9)], schema)
    plan = df_to_substrait(df, inline_limit=3, local_data=tmp_path)
    (file,) = tmp_path.iterdir()
    assert pq.read_schema(file).names == ["a", "A_1", "column_1", "a_2", "s"]
    assert not differences(spark_table(df), spark_table(spark_engine.execute(plan, other_session(spark))))
    flat = spark.createDataFrame([(n, n + 1, n + 2, n + 3) for n in range(9)], StructType(fields))
    assert_same(flat, tmp_path / "flat")


def test_row_order(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.createDataFrame([(n * 7 % 10, n % 3) for n in range(5000)], "i int, k int")
    assert_same(df.limit(7), tmp_path)
    assert_same(df.offset(4990), tmp_path)
    assert_same(
        df.groupBy("k").agg(F.collect_list("i").alias("l"), F.first("i").alias("f"), F.last("i").alias("g")), tmp_path
    )
    assert_same(df.selectExpr("i", "k", "row_number() OVER (PARTITION BY k ORDER BY i) AS n"), tmp_path)
    assert_same(df.dropDuplicates(["k"]), tmp_path)


def test_several_leaves(spark: SparkSession, tmp_path: Path) -> None:
    many = spark.createDataFrame([(n, str(n % 5)) for n in range(50)], "n int, k string")
    few = spark.createDataFrame([("1", "one"), ("2", "two")], "k string, name string")
    joined = many.join(few, "k").join(many.select("n", F.col("k").alias("other")), "n").orderBy("n")
    (file,) = assert_same(joined, tmp_path, ordered=True)
    assert assert_same(many.union(many.where("n > 30")), tmp_path) == [file]
    # Not of the session: from the JVM's rows, as pandas hands them over, and of an RDD.
    values = ", ".join(f"({n}, 'v{n}')" for n in range(20))
    assert_same(spark.sql(f"SELECT * FROM VALUES {values} t(n, v)"), tmp_path)


def test_files_hang_on_content_alone(spark: SparkSession, tmp_path: Path) -> None:
    def frame() -> DataFrame:
        return spark.createDataFrame([(n, None if n % 2 else "é") for n in range(10)], "n int, s string")

    plans = [df_to_substrait(frame(), inline_limit=2, local_data=tmp_path / "new" / "folder") for _ in range(2)]
    assert plans[0] == plans[1]
    (file,) = (tmp_path / "new" / "folder").iterdir()
    assert file.name == "local-7d176f11d01d37de790ad3cd45c203b3.parquet"
    written = file.stat()
    assert df_to_substrait(frame().where("n >= 0"), inline_limit=2, local_data=file.parent)
    assert file.stat().st_mtime_ns == written.st_mtime_ns
    file.write_bytes(b"half of it")
    assert df_to_substrait(frame(), inline_limit=2, local_data=file.parent) == plans[0]
    assert pq.read_table(file).num_rows == 10
    assert df_to_substrait(frame().where("n = 1 OR n = 3"), inline_limit=2, local_data=file.parent)
    assert [path.name[0] for path in file.parent.iterdir()] == ["l"]


def test_nothing_is_written_needlessly(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.createDataFrame([(n,) for n in range(10)], "n int")
    folder = tmp_path / "folder"
    assert check(df, inline_limit=2, local_data=folder)
    assert df_to_substrait(df, local_data=folder)
    assert not check(df.selectExpr("spark_partition_id()"), inline_limit=2, local_data=folder)
    assert not folder.exists()


def test_what_can_not_be_written(spark: SparkSession, tmp_path: Path) -> None:
    df = spark.createDataFrame([(n,) for n in range(10)], "n int")
    intervals = df.selectExpr("INTERVAL '1' DAY * n AS i")
    rows = spark.createDataFrame(intervals.collect(), intervals.schema)
    (problem,) = check(rows, inline_limit=2, local_data=tmp_path)
    assert "no form in Parquet" in problem.reason
    assert check(rows, local_data=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(SubstraitSparkError, match="can't be written"):
        df_to_substrait(df, inline_limit=2, local_data=tmp_path / "file")
    for wrong in (5, True, b"folder", ""):
        with pytest.raises(TypeError, match="local_data must be the path of a folder"):
            check(df, local_data=wrong)  # type: ignore[arg-type]
    with capture(spark, inline_limit=2, local_data=tmp_path / "captured") as queries:
        df.collect()
    assert queries[0].plan == df_to_substrait(df, inline_limit=2, local_data=tmp_path / "captured")


def test_many_rows_are_refused_without_being_read(spark: SparkSession) -> None:
    values = spark.createDataFrame([(n, "x" * 100) for n in range(20_000)], "n int, s string")
    assert "more than 10000 local rows" in str(check(values))
    assert "local_data" in str(check(values))
    rows = spark.sql("SELECT * FROM VALUES (1), (2), (3) t(n)")
    assert "it has 3 local rows" in str(check(rows, inline_limit=2))
