"""Functions that Spark replaces by others or computes by itself: try_ forms, constants, buckets of time, frequent items."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from releases import since
from rows import assert_canonical_rows, assert_same_rows

from substrait_spark import check

ROWS = """
SELECT * FROM VALUES
  (1, 3L, timestamp'2020-03-08 01:59:59.999999', timestamp_ntz'2020-03-08 02:30:00', date'2020-01-31'),
  (NULL, NULL, NULL, NULL, NULL),
  (5, -3L, timestamp'1969-12-31 23:59:59', timestamp_ntz'1500-01-01 00:00:00.000001', date'1500-02-03')
AS (i, l, ts, ntz, dt)
"""


@pytest.fixture(scope="module")
def moments(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A session with the view `v` of a file."""
    path = str(tmp_path_factory.mktemp("moments") / "rows")
    spark.sql(ROWS).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("v")
    return spark


@pytest.mark.parametrize(
    "expression",
    [
        "try_add(ts, INTERVAL '1' DAY), try_add(ts, INTERVAL '300000' YEAR), try_add(ntz, INTERVAL '100000000' DAY)",
        "try_add(dt, INTERVAL '1' MONTH), try_add(dt, INTERVAL '9000000' MONTH), try_subtract(ts, INTERVAL '1' DAY)",
        "try_subtract(ts, timestamp'2020-01-01'), try_subtract(ntz, timestamp_ntz'2020-01-01')",
        "count_min_sketch(l, 0.5d, 0.5d, 1L)",
        pytest.param(
            "time_bucket(INTERVAL '15' MINUTE, ts), time_bucket(INTERVAL '1' MONTH, ts), time_bucket(INTERVAL '3' DAY, ntz)",
            marks=since("4.2", "the function"),
        ),
        pytest.param(
            "time_bucket(INTERVAL '15' MINUTE, ts, timestamp'2020-01-01 00:05:00')", marks=since("4.2", "the function")
        ),
    ],
)
@pytest.mark.parametrize("ansi", [True, False])
def test_functions(moments: SparkSession, expression: str, ansi: bool) -> None:
    moments.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    try:
        assert_canonical_rows(moments.sql(f"SELECT {expression} FROM v"))
    finally:
        moments.conf.unset("spark.sql.ansi.enabled")


def test_intervals_that_overflow_are_null(moments: SparkSession) -> None:
    longest = "SELECT explode(array(INTERVAL '106751991' DAY, INTERVAL '1' DAY, NULL)) AS d"
    assert_canonical_rows(
        moments.sql(f"SELECT try_add(d, d), try_subtract(INTERVAL '-106751991' DAY, d) FROM ({longest})")
    )
    longest = "SELECT explode(array(INTERVAL '178956970' YEAR, INTERVAL '1' YEAR)) AS y"
    assert_canonical_rows(
        moments.sql(f"SELECT try_add(y, y), try_subtract(INTERVAL '-178956970' YEAR, y) FROM ({longest})")
    )


def test_arguments_that_may_raise_are_refused(moments: SparkSession) -> None:
    (problem,) = check(moments.sql("SELECT try_add(INTERVAL '1' DAY * i, INTERVAL '1' HOUR) FROM v"))
    assert "where its argument raises" in problem.reason


@pytest.mark.parametrize(
    "expression",
    [
        "pi() * i, e()",
        "typeof(i), typeof(ts), typeof(array(l))",
        "typeof(map(i, named_struct('a', CAST(l AS DECIMAL(5, 2)))))",
    ],
)
def test_constants(moments: SparkSession, expression: str) -> None:
    assert_same_rows(moments.sql(f"SELECT {expression} FROM v"), stages=("optimized", "analyzed"))


def test_frequent_items(moments: SparkSession) -> None:
    assert_canonical_rows(moments.table("v").select("i", "l").freqItems(["i", "l"], 0.3))
