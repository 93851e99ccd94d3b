"""Grouping by session_window, whose merging of windows Spark's plan only marks."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from rows import assert_same_rows

from substrait_spark import df_to_substrait
from substrait_spark.testing import assert_well_formed


@pytest.fixture(scope="module")
def events(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Events of a few users within some hours around a change of clocks, some at the same moment, some at none."""
    path = tmp_path_factory.mktemp("events") / "events"
    rng = random.Random(7)
    rows = [(rng.choice("abc"), rng.randrange(0, 18_000, 60), n) for n in range(150)]
    df = spark.createDataFrame(rows, "user string, second int, n int").selectExpr(
        "user", "n", "if(n % 20 = 0, NULL, TIMESTAMP'2024-03-10 00:00:00' + make_dt_interval(0, 0, 0, second)) AS ts"
    )
    df.coalesce(1).write.parquet(str(path))
    spark.read.parquet(str(path)).createOrReplaceTempView("events")
    yield "events"
    spark.catalog.dropTempView("events")


START, BOUNDS = "session_window.start AS s", "session_window.start AS s, session_window.end AS e"
BY_USER = "CASE WHEN user = 'a' THEN '20 minutes' WHEN user = 'b' THEN '1 hour' ELSE '3 minutes' END"
LITERALS = "VALUES (TIMESTAMP'2024-01-01'), (TIMESTAMP'2024-01-01 00:05:00'), (TIMESTAMP'2024-01-01 00:10:01') AS t(ts)"


@pytest.mark.parametrize(
    ("results", "rows", "keys"),
    [
        (f"user, {BOUNDS}, count(*) AS c, sum(n) AS n", "events", "user, session_window(ts, '5 minutes')"),
        (f"{BOUNDS}, count(DISTINCT user) AS users", "events", "session_window(ts, '90 seconds') HAVING count(*) > 1"),
        ("max(session_window.end) AS last, count(*) AS c", "events", "session_window(ts, '90 seconds')"),
        (f"upper(user) AS u, {BOUNDS}, count(*) AS c", "events", f"upper(user), session_window(ts, {BY_USER})"),
        (
            f"{START}, count(*) AS c",
            "(SELECT CAST(ts AS TIMESTAMP_NTZ) AS t FROM events)",
            "session_window(t, '1 minute')",
        ),
        (f"{START}, count(*) AS c", LITERALS, "session_window(ts, '5 minutes')"),
    ],
)
def test_sessions(spark: SparkSession, events: str, results: str, rows: str, keys: str) -> None:
    assert_same_rows(spark.sql(f"SELECT {results} FROM {rows} GROUP BY {keys}"))


def test_sessions_of_texts_in_order(spark: SparkSession, events: str) -> None:
    texts = f"(SELECT user, CAST(ts AS STRING) AS t FROM {events})"
    keys = "user, session_window(t, '5 minutes')"
    assert_same_rows(spark.sql(f"SELECT user, {BOUNDS}, count(*) AS c FROM {texts} GROUP BY {keys} ORDER BY user, s"))


def test_sessions_as_structs(spark: SparkSession, events: str) -> None:
    assert_well_formed(
        df_to_substrait(spark.sql(f"SELECT session_window FROM {events} GROUP BY session_window(ts, '1 hour')"))
    )
