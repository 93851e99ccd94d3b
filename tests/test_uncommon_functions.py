"""Functions that Spark replaces by others or computes by itself: try_ forms, constants, buckets of time, frequent items."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from releases import since
from rows import assert_canonical_outcome, assert_canonical_rows, assert_same_rows

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
        "count_min_sketch(l, 0.5d, 0.5d, 1)",
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


EXTREMES = """
SELECT date_from_unix_date(d) AS d, timestamp_micros(t) AS t, CAST(timestamp_micros(t) AS TIMESTAMP_NTZ) AS n, y, i, s,
  CAST(i AS INTERVAL DAY) AS days FROM VALUES
  (2147483647, 9223300000000000000L, INTERVAL '178956970-7' YEAR TO MONTH, INTERVAL '106751991 04:00:54.775807' DAY TO SECOND, '1 year'),
  (-2147483648, -9223300000000000000L, -INTERVAL '178956970-7' YEAR TO MONTH - INTERVAL '1' MONTH,
    -INTERVAL '106751991 04:00:54.775807' DAY TO SECOND - INTERVAL '0.000001' SECOND, '-178956970 years -8 months'),
  (0, 0L, INTERVAL '1' MONTH, INTERVAL '-1' HOUR, '2147483647 months'), (18292, 1580428800000000L, NULL, INTERVAL '3' DAY, NULL),
  (NULL, NULL, NULL, NULL, NULL)
AS (d, t, y, i, s)
"""


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(
    "expressions",
    [
        "try_subtract(d, y), try_subtract(t, i), try_add(n, i)",
        "try_subtract(t, y), try_subtract(n, i)",
        "try_add(d, days), try_subtract(d, days), try_subtract(d, date_from_unix_date(2147483647))",
        "try_add(d, make_interval(1, 2)), try_subtract(t, make_interval(0, 0, 1, 2, 3)), try_add(d, make_interval(0, 0, 0, 0, 1))",
    ],
)
def test_sums_of_extremes_are_null(moments: SparkSession, tmp_path: Path, expressions: str, ansi: str) -> None:
    """Spark takes a negative that several of them need out of them, where it raises: each has one of its own."""
    moments.sql(EXTREMES).write.parquet(str(tmp_path / "extremes"))
    extremes = moments.read.parquet(str(tmp_path / "extremes"))
    moments.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        df = moments.sql(f"SELECT {expressions} FROM {{extremes}}", extremes=extremes)
        assert_canonical_rows(df)
        assert_canonical_rows(df, "analyzed")
    finally:
        moments.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("sum", ["try_add(d, c)", "try_add(t, c)", "try_subtract(n, c)", "try_subtract(d, c)"])
def test_sums_of_extreme_calendar_intervals_are_null(moments: SparkSession, sum: str, ansi: str) -> None:
    moments.sql(EXTREMES).selectExpr("*", "CAST(s AS INTERVAL) AS c").createOrReplaceTempView("extremes")
    moments.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        assert_canonical_rows(moments.sql(f"SELECT {sum} FROM extremes"), "analyzed")
    finally:
        moments.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(
    "quotient",
    [
        "y div INTERVAL '-1' MONTH, y div INTERVAL '5' YEAR, INTERVAL '7' YEAR div y",
        "i div INTERVAL '-0.000001' SECOND, i div INTERVAL '7' DAY, INTERVAL '-10' HOUR div i",
        "y div INTERVAL '0' MONTH",
        "i div INTERVAL '0' SECOND",
    ],
)
def test_quotients_of_intervals(moments: SparkSession, tmp_path: Path, quotient: str, ansi: str) -> None:
    moments.sql(EXTREMES).write.parquet(str(tmp_path / "extremes"))
    extremes = moments.read.parquet(str(tmp_path / "extremes"))
    moments.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        assert_canonical_outcome(moments.sql(f"SELECT {quotient} FROM {{extremes}}", extremes=extremes))
    finally:
        moments.conf.unset("spark.sql.ansi.enabled")


def test_the_local_timestamp_is_that_of_the_context(moments: SparkSession) -> None:
    now = "SELECT localtimestamp() = CAST(current_timestamp() AS TIMESTAMP_NTZ), localtimestamp() > timestamp_ntz'2020-01-01'"
    assert_canonical_rows(moments.sql(now), "analyzed")


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
