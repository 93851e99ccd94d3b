"""Parts of a plan that are the same, which it has once by option."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from rows import differences, other_session, spark_table
from substrait.plan_pb2 import Plan

from substrait_spark import df_to_substrait, explain, lower
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine

T = "(VALUES (1, 'a', 1.5D), (1, 'b', -0.0D), (2, NULL, double('NaN')), (NULL, '', NULL), (2, 'b', 0.0D)) AS t(k, s, x)"
CTE = f"WITH c AS (SELECT k, count(*) AS n, max(x) AS m FROM {T} GROUP BY k)"

SHARED = {
    "a join with itself": f"{CTE} SELECT a.k, a.n, b.n AS m FROM c AS a JOIN c AS b ON a.k <=> b.k",
    "other columns": f"{CTE} SELECT n FROM c UNION ALL SELECT k FROM c UNION ALL SELECT n FROM c",
    "a subquery": f"{CTE} SELECT k FROM c WHERE n = (SELECT max(n) FROM c WHERE m > 0) OR n > (SELECT max(n) FROM c WHERE m > 0)",
    "one in the other": (
        f"{CTE}, d AS (SELECT a.k, a.n + b.n AS s FROM c a JOIN c b ON a.k <=> b.k) "
        "SELECT x.k, y.s FROM d x JOIN d y ON x.k <=> y.k"
    ),
    "limits": f"WITH c AS (SELECT k, s FROM {T} ORDER BY k, s, x LIMIT 3) SELECT * FROM c UNION ALL SELECT * FROM c",
}


def shared_and_not(df: DataFrame, stage: str = "optimized") -> tuple[Plan, Plan]:
    plan = df_to_substrait(df, stage=stage, share_subplans=True)
    assert_runs(plan, df)
    return plan, df_to_substrait(df, stage=stage)


def assert_runs(plan: Plan, df: DataFrame) -> None:
    expected = spark_table(df)
    assert not differences(expected, spark_table(spark_engine.execute(plan, other_session(df.sparkSession))))
    assert not differences(expected, datafusion.execute(lower(plan, "datafusion")))


@pytest.mark.parametrize("query", SHARED.values(), ids=SHARED)
def test_what_is_the_same_is_there_once(spark: SparkSession, query: str) -> None:
    plan, written_out = shared_and_not(spark.sql(query))
    assert len(plan.relations) > 1
    assert plan.ByteSize() < written_out.ByteSize()
    assert explain(plan).count("Aggregate") + explain(plan).count("Sort") < explain(written_out).count(
        "Aggregate"
    ) + explain(written_out).count("Sort")


def test_a_frame_that_is_used_twice(spark: SparkSession) -> None:
    cached = spark.sql(f"SELECT k, count(*) AS n FROM {T} GROUP BY k").cache()
    df = cached.alias("a").join(cached.alias("b"), "k").selectExpr("k", "a.n", "b.n + 1 AS m")
    try:
        for stage in ("optimized", "analyzed"):
            plan, _ = shared_and_not(df, stage)
            assert len(plan.relations) == 2, stage
    finally:
        cached.unpersist()


UNSHARED = {
    "tables": f"SELECT a.k FROM {T} JOIN {T.replace('AS t', 'AS a')} ON a.k = t.k",
    "parts that differ": f"SELECT k + 1 FROM {T} WHERE k > 1 UNION ALL SELECT k + 1 FROM {T} WHERE k > 2",
    "an order that counts": f"WITH c AS (SELECT k FROM {T} ORDER BY k) (SELECT * FROM c LIMIT 2) UNION ALL (SELECT * FROM c LIMIT 1)",
}


@pytest.mark.parametrize("query", UNSHARED.values(), ids=UNSHARED)
def test_other_parts_stay(spark: SparkSession, query: str) -> None:
    plan, written_out = shared_and_not(spark.sql(query))
    assert plan == written_out


def test_what_is_drawn_is_drawn_each_time(spark: SparkSession) -> None:
    df = spark.range(5).selectExpr("id + rand(1) AS x")
    both = df.union(spark.range(5).selectExpr("id + rand(2) AS x"))
    assert df_to_substrait(both, share_subplans=True) == df_to_substrait(both)


def test_what_refers_to_a_query_around_it_stays(spark: SparkSession) -> None:
    query = (
        f"SELECT k, (SELECT max(u.k) FROM {T.replace('AS t', 'AS u')} WHERE u.k < t.k) AS a, "
        f"(SELECT max(u.k) FROM {T.replace('AS t', 'AS u')} WHERE u.k < t.k) + 1 AS b FROM {T}"
    )
    df = spark.sql(query)
    plan, written_out = (df_to_substrait(df, stage="analyzed", share_subplans=shares) for shares in (True, False))
    assert not differences(spark_table(df), spark_table(spark_engine.execute(plan, other_session(spark))))
    assert len(plan.relations) == len(written_out.relations)
