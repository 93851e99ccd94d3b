"""What may raise is evaluated only for the rows that reach it, as in Spark."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from rows import assert_same_outcome, assert_same_rows


@pytest.fixture(scope="module")
def guarded(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """Divisors of which some are zero, and texts of which some are no numbers."""
    folder = tmp_path_factory.mktemp("guards")
    rows = [(1, 0, 5, "a"), (2, 2, 7, "12"), (3, None, 1, None), (4, 0, None, "7")]
    frame = spark.createDataFrame(rows, "i int, m bigint, l bigint, s string")
    frame.coalesce(1).write.parquet(str(folder / "t"))
    spark.read.parquet(str(folder / "t")).createOrReplaceTempView("t")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    return spark


@pytest.mark.parametrize(
    "query",
    [
        "SELECT i, CASE WHEN m = 0 THEN false ELSE l % m = 1 END AS b FROM t",
        "SELECT i, CASE WHEN m = 0 THEN false WHEN l % m = 1 THEN true ELSE l % m = 0 END AS b FROM t",
        "SELECT i, NOT CASE WHEN m = 0 THEN false ELSE l % m = 1 END AS b FROM t",
        "SELECT i, CASE WHEN m <> 0 THEN l % m = 1 END AS b FROM t",
        "SELECT CASE WHEN CASE WHEN m = 0 THEN false ELSE l / m > 1 END THEN 'a' ELSE 'b' END AS c FROM t",
        "SELECT CASE WHEN s RLIKE '^[0-9]+$' THEN CAST(s AS INT) > 8 ELSE false END AS b FROM t",
        "SELECT i, coalesce(nullif(m = 0, false), l % m > 0) AS b FROM t",
        "SELECT i, nvl2(nullif(m, 0), l % m > 0, false) AS b FROM t",
        "SELECT i, m <> 0 AND l % m > 0 AS b FROM t",
        "SELECT i FROM t WHERE CASE WHEN m = 0 THEN 0 ELSE l / m END > 1",
        "SELECT i FROM t WHERE if(m <> 0, l / m, 0) > 1",
        "SELECT i FROM t WHERE if(m = 0, NULL, l % m) IS NOT NULL",
        "SELECT i FROM t WHERE m = 0 OR l % m > 0",
        "SELECT a.i FROM t a JOIN t b ON a.i = b.i AND CASE WHEN a.m = 0 THEN false ELSE b.l / a.m > 1 END",
        "SELECT a.i FROM t a JOIN t b ON a.m <> 0 AND b.l / a.m > 1 AND a.i = b.i",
        "SELECT a.i FROM t a, t b WHERE a.i = b.i AND if(a.m = 0, 0, b.l / a.m) > 1",
        "SELECT count_if(CASE WHEN m = 0 THEN false ELSE l / m > 1 END) AS n FROM t",
        "SELECT sum(l) FILTER (WHERE CASE WHEN m = 0 THEN false ELSE l / m > 1 END) AS n FROM t",
        "SELECT i FROM t ORDER BY CASE WHEN m = 0 THEN false ELSE l / m > 1 END, i",
        "SELECT x, count(*) AS n FROM (SELECT CASE WHEN m = 0 THEN 0 ELSE l / m END AS x FROM t) GROUP BY x HAVING x > 0",
    ],
)
def test_guards(guarded: SparkSession, query: str) -> None:
    assert_same_rows(guarded.sql(query))


def test_a_guarded_column_in_a_filter(guarded: SparkSession) -> None:
    ratio = F.when(F.col("m") != 0, F.col("l") / F.col("m")).otherwise(0)
    assert_same_rows(guarded.table("t").withColumn("ratio", ratio).filter("ratio > 1"))


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT i, v FROM t UNPIVOT (v FOR day IN (m AS `2020-01-01`, l AS `2021-01-01`)) WHERE to_date(day) > DATE'2020-06-01'",
        "SELECT i FROM (SELECT i, stack(2, 0, m, 2, l) AS (k, v) FROM t) WHERE k <> 0 AND 10 / k > 1",
        "SELECT k, sum(v) AS s FROM (SELECT stack(2, 2, m, 1, l) AS (k, v) FROM t) GROUP BY k HAVING 10 / k > 1",
        "SELECT i, n FROM (SELECT i, stack(2, '7', m, '1.5', l) AS (n, v) FROM t) WHERE n + 1D > 3",
        "SELECT n, count(*) AS c FROM (SELECT '8' AS n, i FROM t) GROUP BY ROLLUP (n, i) HAVING CAST(n AS double) > 1",
    ],
)
def test_filters_on_constants_of_unions(guarded: SparkSession, query: str, ansi: str) -> None:
    guarded.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        assert_same_rows(guarded.sql(query))
    finally:
        guarded.conf.set("spark.sql.ansi.enabled", "true")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT i, CASE WHEN m = 0 THEN l % m = 1 ELSE false END AS b FROM t",
        "SELECT i, coalesce(nullif(m = 2, true), l % m > 0) AS b FROM t WHERE i IN (2, 3)",
        "SELECT i FROM t WHERE if(m = 0, l / m, 0) > 1",
    ],
)
def test_what_no_guard_keeps_from_raising(guarded: SparkSession, query: str) -> None:
    assert_same_outcome(guarded.sql(query))
