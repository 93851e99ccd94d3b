"""What a refusal advises works: each hint, with a query that it is told of and one that does what it says."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from releases import later
from rows import assert_same_rows

from substrait_spark import check

ROWS = """SELECT * FROM VALUES
    (1, 'a', 1.5D, DATE'2020-01-31', TIMESTAMP'2020-01-31 10:00:00', 2, 10.25BD, array(1.0D, 2.0D, null),
     named_struct('a', 1, 'b', 1.0D), X'61', map('k', 1)),
    (2, 'B', -0.0D, DATE'2021-02-28', TIMESTAMP'2021-06-30 23:59:59.999999', 3, -1.00BD, array(),
     named_struct('a', 2, 'b', null), X'FF', map()),
    (3, null, null, null, null, null, null, null, null, null, null) AS t(i, s, d, day, at, n, m, list, st, b, map)"""

ADVICE = [
    ("SELECT avg(cast(m AS decimal(11, 4))) OVER (PARTITION BY n) FROM t", "a decimal of 10, or of 12",
     "SELECT avg(cast(m AS decimal(12, 4))) OVER (PARTITION BY n) FROM t"),
    later("4.0", "SELECT -cast(m AS decimal(38, 2)) FROM t", "a decimal of at most 34 digits",
          "SELECT -cast(m AS decimal(34, 2)) FROM t"),
    ("SELECT cast(d AS decimal(38, 2)) FROM t", "at most 16 digits before the point", "SELECT cast(d AS decimal(18, 2)) FROM t"),
    later("4.0", "SELECT make_valid_utf8(cast(b AS string)) FROM t", "try_validate_utf8", "SELECT try_validate_utf8(cast(b AS string)) FROM t"),
    ("SELECT t.i FROM t FULL JOIN t AS u ON exists(t.list, e -> e > u.d)", "a column that is equal on both sides too",
     "SELECT t.i FROM t FULL JOIN t AS u ON t.i = u.i AND exists(t.list, e -> e > u.d)"),
    ("SELECT t.i FROM t FULL JOIN t AS u ON exists(t.list, e -> e > u.d)", "by a left join",
     "SELECT t.i FROM t LEFT JOIN t AS u ON exists(t.list, e -> e > u.d)"),
    ("SELECT size(collect_list(day - DATE'2020-01-01')) FROM t", "as in cast(x AS BIGINT)",
     "SELECT size(collect_list(cast(day - DATE'2020-01-01' AS bigint))) FROM t"),
    ("SELECT i, sum(i) OVER (ORDER BY day - DATE'2020-01-01' RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) FROM t",
     "as in cast(x AS BIGINT)",
     "SELECT i, sum(i) OVER (ORDER BY cast(day - DATE'2020-01-01' AS bigint) RANGE BETWEEN 86400 PRECEDING AND CURRENT ROW) FROM t"),
    later("4.1", "SELECT cast(at AS decimal(10, 2)) FROM t", "DECIMAL(20, 6)", "SELECT cast(at AS decimal(20, 6)) FROM t"),
    ("SELECT percentile(DISTINCT cast(m AS decimal(30, 2)), 0.5) FROM t", "Cast the argument to DOUBLE",
     "SELECT percentile(DISTINCT cast(m AS double), 0.5) FROM t"),
    later("4.2", "SELECT i, first(s) FILTER (WHERE i > 1) OVER (ORDER BY i) FROM t", "write function(CASE WHEN condition THEN value END) IGNORE NULLS",
     "SELECT i, first(CASE WHEN i > 1 THEN s END) IGNORE NULLS OVER (ORDER BY i) FROM t"),
    ("SELECT collect_list(DISTINCT n) FROM (SELECT * FROM t ORDER BY i)", "array_sort(collect_set(x))", "SELECT array_sort(collect_set(n)) FROM t"),
    later("4.0", "SELECT listagg(DISTINCT s) FROM (SELECT * FROM t ORDER BY i)", "WITHIN GROUP", "SELECT listagg(DISTINCT s) WITHIN GROUP (ORDER BY s) FROM t"),
    later("4.0", "SELECT first(s), count(DISTINCT n) FROM (SELECT * FROM t ORDER BY i)", "WITHIN GROUP (ORDER BY …)",
     "SELECT listagg(s) WITHIN GROUP (ORDER BY i), count(DISTINCT n) FROM t"),
    ("SELECT approx_percentile(day, 0.5) FROM t", "as in unix_date(x)", "SELECT approx_percentile(unix_date(day), 0.5) FROM t"),
    ("SELECT approx_percentile(at, 0.5) FROM t", "unix_micros(x)", "SELECT approx_percentile(unix_micros(at), 0.5) FROM t"),
    ("SELECT approx_percentile(m, 0.5) FROM t", "percentile_disc", "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY m) FROM t"),
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The view t, in a file: the optimizer would compute rows of a query's own ahead of time."""
    path = str(tmp_path_factory.mktemp("advice") / "t")
    spark.sql(ROWS).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("t")


@pytest.mark.parametrize(("refused", "hint", "instead"), ADVICE)
def test_what_is_advised_works(spark: SparkSession, refused: str, hint: str, instead: str) -> None:
    assert hint in "; ".join(problem.hint for problem in check(spark.sql(refused), dialect="datafusion"))
    assert_same_rows(spark.sql(instead))


@pytest.mark.parametrize(
    ("refused", "hint", "instead"),
    [
        ("SELECT cast(cast(m AS decimal(38, 20)) AS string) FROM t", "at most 6 digits behind the point",
         "SELECT cast(cast(m AS decimal(38, 6)) AS string) FROM t"),
    ],
)  # fmt: skip
def test_what_is_advised_works_without_ansi(spark: SparkSession, refused: str, hint: str, instead: str) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        test_what_is_advised_works(spark, refused, hint, instead)
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.parametrize(
    "key",
    [
        "cast(at AS bigint) RANGE BETWEEN 86400",
        "cast(at AS timestamp_ntz) RANGE BETWEEN INTERVAL 1 DAY",
        "day RANGE BETWEEN 1",
    ],
)
def test_what_is_advised_of_days_that_may_have_25_hours(spark: SparkSession, key: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Europe/Paris")
    try:
        frame = "SELECT i, sum(i) OVER (ORDER BY {} PRECEDING AND CURRENT ROW) FROM t"
        (problem,) = check(spark.sql(frame.format("at RANGE BETWEEN INTERVAL 1 DAY")))
        assert problem.hint.startswith("Order by a TIMESTAMP_NTZ or a DATE, or by the timestamp cast to a number")
        assert_same_rows(spark.sql(frame.format(key)))
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
