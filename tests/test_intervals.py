"""Intervals in columns, keys and results: DataFusion holds their counts, and gives intervals back at the end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from pyspark.sql import SparkSession
from rows import assert_engine_raises, assert_same_rows

from substrait_spark import check

ROWS = [
    (1, 1, datetime(2024, 3, 9, 12), datetime(2024, 3, 10, 12)),
    (2, 1, datetime(2024, 11, 2, 12), datetime(2024, 11, 1, 12, 0, 0, 7)),
    (3, 2, datetime(1969, 11, 2, 12), None),
    (4, 2, datetime(1969, 11, 2, 12), datetime(1969, 11, 2, 12, 0, 0, 1)),
    (5, None, datetime(1969, 11, 2, 12), datetime(1969, 11, 2, 12, 0, 0, 1)),
    (None, None, None, None),
    (-6, 2, datetime(2000, 1, 1), datetime(2000, 1, 1)),
]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The view `x`, over a file, of a duration `d` and a number of months `m`; and `kept`, over a file that holds these."""
    path = str(tmp_path_factory.mktemp("intervals") / "x")
    spark.createDataFrame(ROWS, "id int, k int, a timestamp, b timestamp").write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("times")
    spark.sql("CREATE OR REPLACE TEMP VIEW x AS SELECT *, b - a AS d, id * INTERVAL 5 MONTH AS m FROM times")
    kept = str(tmp_path_factory.mktemp("intervals") / "kept")
    spark.table("x").select("id", "k", "d", "m").write.parquet(kept)
    spark.read.parquet(kept).createOrReplaceTempView("kept")
    yield
    for view in ("x", "times", "kept"):
        spark.catalog.dropTempView(view)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, d, m, a + d AS c, d * 2 AS e, abs(d) AS f, m / 4 AS g, d / nullif(k, 0) AS h FROM x",
        "SELECT if(id > 1, d, NULL) AS e, coalesce(d, INTERVAL '1' SECOND) AS f, greatest(d, b - a) AS g FROM x",
        "SELECT d, count(*) AS n, max(id) AS i FROM x GROUP BY d",
        "SELECT k, d, count(m) AS n FROM x GROUP BY GROUPING SETS ((k), (d), ())",
        "SELECT k, sum(d), avg(d), min(d), max(m), sum(m), avg(m), count(DISTINCT d), max_by(d, id) FROM x GROUP BY k",
        "SELECT sum(d), avg(m) FROM x WHERE id > 100",
        "SELECT id, lag(d) OVER w, lead(d, 1, INTERVAL '0 00:00:01' DAY TO SECOND) OVER w AS e FROM x WINDOW w AS (ORDER BY id)",
        "SELECT id, sum(d) OVER w AS s, avg(m) OVER w AS a FROM x WINDOW w AS (ORDER BY id)",
        "SELECT id, max(d) OVER (ORDER BY id ROWS 1 PRECEDING) AS g, rank() OVER (ORDER BY d) AS r FROM x",
        "SELECT l.id, l.d, r.m FROM x l LEFT JOIN x r ON l.d = r.d AND l.m > r.m",
        "SELECT d FROM x UNION ALL SELECT INTERVAL '3' HOUR UNION ALL SELECT NULL",
        "SELECT d FROM x INTERSECT SELECT a - b FROM x",
        "SELECT id, (SELECT max(r.m) FROM x r WHERE r.k = l.k) AS m FROM x l WHERE d >= (SELECT min(d) FROM x)",
        "SELECT id FROM x l WHERE EXISTS (SELECT 1 FROM x r WHERE r.d = l.d AND r.id <> l.id)",
        "SELECT * FROM VALUES (INTERVAL '1' DAY, INTERVAL 3 MONTH), (NULL, NULL), (INTERVAL '-5' DAY, INTERVAL -2 YEAR)",
        "SELECT cast(max(d) AS STRING) AS s, cast(sum(m) AS INT) AS n FROM x",
        "SELECT percentile(d, 0.3), median(m), percentile_disc(0.7) WITHIN GROUP (ORDER BY d DESC) FROM x",
        "SELECT k, mode(d, true), approx_count_distinct(m) FROM x GROUP BY k",
        "SELECT d, m, d / 3, sign(m), hash(d, m), try_multiply(d, 1e300D), try_divide(m, k) FROM kept",
        "SELECT m, count(*), sum(d), max(d) FROM kept WHERE d > INTERVAL '-1' DAY GROUP BY m",
    ],
)
def test_intervals(spark: SparkSession, query: str) -> None:
    assert_same_rows(spark.sql(query))


def test_order_and_local_rows(spark: SparkSession) -> None:
    assert_same_rows(spark.sql("SELECT d, id FROM x ORDER BY d DESC NULLS FIRST, id"), ordered=True)
    rows = [(1, timedelta(days=1, microseconds=5)), (2, None), (3, timedelta(-5)), (3, timedelta(-5))]
    local = spark.createDataFrame(rows, "i int, d interval day to second")
    assert_same_rows(local.where("d < interval '1' hour OR d IS NULL").distinct())


def test_overflow(spark: SparkSession) -> None:
    assert_engine_raises(spark.sql("SELECT sum(id * INTERVAL 500000000 MONTH) FROM x WHERE id > 0"))


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT collect_list(d) FROM x", "no collect_list of interval_day<6>, which it has as i64"),
        ("SELECT percentile(d, array(0.5)) FROM x", "no lists of intervals"),
        ("SELECT transform(array(k), n -> n * INTERVAL '1' DAY) FROM x", "no type list<interval_day"),
        ("SELECT struct(d) FROM x", "no type struct<interval_day"),
        (
            "SELECT sum(id) OVER (ORDER BY d RANGE INTERVAL '1' HOUR PRECEDING) FROM x",
            "no frames by range of interval_day<6>, which it has as i64",
        ),
    ],
)
def test_what_counts_do_not_serve(spark: SparkSession, query: str, reason: str) -> None:
    df = spark.sql(query)
    assert check(df)
    problems = check(df, dialect="datafusion").problems
    assert any(reason in problem.reason for problem in problems)
