"""Calendar intervals as values: months, days and microseconds, each of its own. DataFusion has no such type."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from releases import RELEASE, later
from rows import assert_canonical_outcome, assert_same_rows, plan_of

from substrait_spark import check
from substrait_spark.algebra.message_walk import messages

ROWS = """
SELECT * FROM VALUES
  (1, 2, '1 day', date'2020-01-31', timestamp'2020-01-31 10:00:00', timestamp_ntz'2020-01-31 10:00:00', 3.5d),
  (2, -3, 'interval 3 years -1 weeks 4.5 seconds 1 millisecond', date'1500-01-31', timestamp'2020-03-08 01:59:59.999999',
   timestamp_ntz'2020-03-08 02:30:00', -0.000001d),
  (3, NULL, NULL, NULL, NULL, NULL, NULL),
  (4, 2, ' 1 DAY  ', date'2020-01-31', timestamp'2020-01-31 10:00:00', timestamp_ntz'2020-01-31 10:00:00', 3.5d)
AS (x, i, s, dt, ts, ntz, d)
"""


@pytest.fixture(scope="module")
def intervals(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A session with the view `v`, of a file's rows and intervals `c` and `k` made of them."""
    path = str(tmp_path_factory.mktemp("intervals") / "rows")
    spark.sql(ROWS).write.parquet(path)
    made = ("make_interval(i, i + 1, 0, i, 1, 2, d) AS c", "make_interval(1, 0, 0, -i, 0, -3) AS k")
    spark.read.parquet(path).selectExpr("*", *made).createOrReplaceTempView("v")
    return spark


def shown(df: DataFrame) -> DataFrame:
    """The same rows, before Spark 4.0 as texts: it hands over no intervals."""
    return df if RELEASE >= (4, 0) else df.selectExpr("CAST(struct(*) AS STRING) AS row")


EXPRESSIONS = [
    "c, -c, c + k, c - k, CAST(c AS STRING), c IS NULL, coalesce(c, make_interval(2)), if(x = 1, c, make_interval(3))",
    "make_interval(1, 2, 3, 4, 5, 6, 7.5), array(make_interval(1), make_interval(0, 0, 0, 0, 0, 0, -5), NULL)",
    "make_interval(i), make_interval(i, i, i, i, i, i, d)",
    "make_interval(i * 1000000000)",
    "make_interval(2000000000 / 12 * x)",
    "c + make_interval(0, 2147483647)",
    "CAST(s AS INTERVAL), TRY_CAST(s || 'x' AS INTERVAL)",
    "CAST(s || 'x' AS INTERVAL)",
    "extract(YEAR FROM c), extract(MONTH FROM c), extract(DAY FROM c), extract(HOUR FROM c), extract(SECOND FROM c)",
    "array(c), struct(c), map('a', c), array(c)[0], struct(c).c, transform(array(c), y -> y + k), CAST(array(c) AS STRING)",
    "ts + c, ntz - c, ts + CAST(s AS INTERVAL), ntz + (c + k), dt + make_interval(0, i), ts - make_interval(0, 0, 0, 0, i)",
    "dt + if(x = 1, make_interval(0, i), make_interval(i))",
    "hash(c), xxhash64(c), to_json(struct(c)), from_json('{\"a\": \"1 day\"}', 'a interval')",
    "lag(c) OVER (ORDER BY x), first(c) OVER (PARTITION BY i ORDER BY x)",
    "explode(array(c, k))",
]


@pytest.mark.parametrize("expressions", EXPRESSIONS)
@pytest.mark.usefixtures("in_mode")
def test_expressions(intervals: SparkSession, expressions: str) -> None:
    assert_canonical_outcome(shown(intervals.sql(f"SELECT {expressions} FROM v")))


@pytest.mark.parametrize("expression", ["c * 2", "c * d", "c / 2", "c / 0", "extract(DAY FROM k * 10)", "dt + c"])
def test_expressions_in_ansi_mode(intervals: SparkSession, expression: str) -> None:
    df = shown(intervals.sql(f"SELECT {expression} FROM v"))
    assert_canonical_outcome(df)
    intervals.conf.set("spark.sql.ansi.enabled", "false")
    try:
        (problem,) = check(intervals.sql(f"SELECT {expression} FROM v"))
        assert "ansi" in problem.hint
    finally:
        intervals.conf.unset("spark.sql.ansi.enabled")


QUERIES = [
    later("4.0", "SELECT c, count(*) FROM v GROUP BY c"),
    later("4.0", "SELECT c, sum(x) FROM v GROUP BY CUBE(c)"),
    later("4.0", "SELECT DISTINCT c FROM v"),
    "SELECT c FROM v UNION ALL SELECT k FROM v",
    later("4.0", "SELECT c FROM v UNION SELECT c FROM v"),
    "SELECT count(DISTINCT c), collect_list(c), first(c), max_by(c, x), approx_count_distinct(c), last(k) FROM v WHERE x = 1",
    "SELECT * FROM VALUES (make_interval(1, 2, 3), 1), (NULL, 2)",
    "SELECT a.c FROM v a LEFT JOIN v b ON a.x = b.i",
]


@pytest.mark.parametrize("query", QUERIES)
def test_queries(intervals: SparkSession, query: str) -> None:
    df = shown(intervals.sql(query))
    assert_canonical_outcome(df)
    assert_canonical_outcome(df, "analyzed")


def test_a_chain_of_sums_is_no_recursion(intervals: SparkSession) -> None:
    df = shown(intervals.sql(f"SELECT {' + '.join(['k'] * 60)} AS s FROM v"))
    assert_canonical_outcome(df)


def test_literals_hold_three_parts(intervals: SparkSession) -> None:
    plan = plan_of(intervals.sql("SELECT x, make_interval(-1, -1, 0, 40, 0, 0, -1.5) AS c FROM v"))
    (found,) = [
        m.interval_compound
        for m in messages(plan)
        if hasattr(m, "interval_compound") and m.HasField("interval_compound")
    ]
    assert (found.interval_year_to_month.years, found.interval_year_to_month.months) == (-1, -1)
    days = found.interval_day_to_second
    assert (days.days, days.seconds, days.subseconds, days.precision) == (40, -1, -500_000, 6)


def test_literals_of_more_seconds_than_they_hold(intervals: SparkSession) -> None:
    (problem,) = check(intervals.sql("SELECT x, make_interval(0, 0, 0, 0, 10000000) AS c FROM v"))
    assert "more seconds" in problem.reason
    assert_same_rows(intervals.sql("SELECT ntz + make_interval(0, 0, 0, 0, 10000000) AS t FROM v"))


def test_datafusion_has_no_such_type(intervals: SparkSession) -> None:
    assert "no function make_interval" in str(check(intervals.table("v").select("c"), dialect="datafusion"))
