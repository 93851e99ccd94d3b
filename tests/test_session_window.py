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


@pytest.mark.parametrize(
    "query",
    [
        "SELECT user, session_window.start AS s, session_window.end AS e, count(*) AS c, sum(n) AS n "
        "FROM events GROUP BY user, session_window(ts, '5 minutes')",
        "SELECT session_window.end AS e, max(session_window.start) AS s, count(DISTINCT user) AS users FROM events "
        "GROUP BY session_window(ts, '90 seconds') HAVING count(*) > 1",
        "SELECT upper(user) AS u, session_window.start AS s, count(*) AS c FROM events "
        "GROUP BY upper(user), session_window(ts, CASE WHEN user = 'a' THEN '20 minutes' WHEN user = 'b' THEN '1 hour' ELSE '3 minutes' END)",
        "SELECT session_window.start AS s, count(*) AS c FROM (SELECT CAST(ts AS TIMESTAMP_NTZ) AS ntz FROM events) "
        "GROUP BY session_window(ntz, '2 minutes')",
        "SELECT session_window.start AS s, count(*) AS c FROM VALUES (TIMESTAMP'2024-01-01 00:00:00'), "
        "(TIMESTAMP'2024-01-01 00:05:00'), (TIMESTAMP'2024-01-01 00:10:01') AS t(ts) GROUP BY session_window(ts, '5 minutes')",
    ],
)
def test_sessions(spark: SparkSession, events: str, query: str) -> None:
    assert_same_rows(spark.sql(query))


def test_sessions_as_structs(spark: SparkSession, events: str) -> None:
    assert_well_formed(df_to_substrait(spark.sql(f"SELECT session_window FROM {events} GROUP BY session_window(ts, '1 hour')")))
