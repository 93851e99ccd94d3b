"""Plans of queries as they are written: after analysis, before optimisation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tpc_data
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from releases import has, later, since
from rows import assert_same_rows, canonical_rows, differences, plan_of, spark_table
from substrait.algebra_pb2 import Expression, JoinRel, Rel, SetRel
from substrait.plan_pb2 import ExecutionBehavior, Plan

from substrait_spark import UnsupportedPlanError, check, lower
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine

UNORDERED = {6, 14, 17, 19}
"""Of TPC-H, the queries that return one row, without an ORDER BY."""

ROWS = """
(1, 'a', 1.0D), (1, 'a', 1.0D), (1, 'a', 1.0D), (2, NULL, double('NaN')), (2, NULL, double('NaN')), (NULL, NULL, 0.0D),
(NULL, NULL, 0.0D), (3, '', NULL), (4, 'x', 4.0D)
"""

OTHER_ROWS = """
(1, 'a', 1.0D), (1, 'a', 1.0D), (2, NULL, double('NaN')), (NULL, NULL, -0.0D), (5, 'y', 5.0D), (4, 'z', 4.0D)
"""


@pytest.fixture(params=["ansi", "legacy"])
def tables(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    """The session with views `t` and `u` of the columns k, n and v, in each mode."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", str(request.param == "ansi").lower())
    spark.sql(f"CREATE OR REPLACE TEMP VIEW t AS SELECT * FROM VALUES {ROWS} AS t(k, n, v)")
    spark.sql(f"CREATE OR REPLACE TEMP VIEW u AS SELECT * FROM VALUES {OTHER_ROWS} AS u(k, n, v)")
    yield spark
    spark.conf.set("spark.sql.ansi.enabled", str(before))


def analyzed(df: DataFrame) -> Plan:
    return plan_of(df, stage="analyzed")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 23))
def test_tpch(spark: SparkSession, tpch: Path, number: int) -> None:
    df = spark.sql(tpc_data.queries(tpch)[number])
    assert_same_rows(df, ordered=number not in UNORDERED, stages=["analyzed"])
    assert analyzed(df).SerializeToString() == analyzed(df).SerializeToString()


SAME = {
    "intersect": "SELECT * FROM t INTERSECT SELECT * FROM u",
    "intersect all": "SELECT k, n FROM t INTERSECT ALL SELECT k, n FROM u",
    "except": "SELECT * FROM t EXCEPT SELECT * FROM u",
    "except all": "SELECT * FROM t EXCEPT ALL SELECT * FROM u",
    "except all twice": "SELECT k, n FROM t EXCEPT ALL SELECT k, n FROM u EXCEPT ALL SELECT k, n FROM u",
    "union": "SELECT k, n FROM t UNION SELECT k, n FROM u",
    "union all": "SELECT k FROM t UNION ALL SELECT k + 0L FROM u UNION ALL SELECT NULL",
    "distinct": "SELECT DISTINCT n, v FROM t",
    "in": "SELECT k FROM t WHERE k IN (SELECT k FROM u)",
    "not in without nulls": "SELECT k FROM t WHERE k NOT IN (SELECT k FROM u WHERE k IS NOT NULL)",
    "in as a column": "SELECT k, k IN (SELECT k FROM u) a, k NOT IN (SELECT k FROM u) b FROM t",
    "in below not": "SELECT k, NOT (k IN (SELECT k FROM u) AND n = 'a') a, NOT (k NOT IN (SELECT k FROM u) OR n = 'a') b FROM t",
    "not not in": "SELECT k FROM t WHERE NOT (k NOT IN (SELECT k FROM u))",
    "not or": "SELECT k FROM t WHERE NOT (k NOT IN (SELECT k FROM u) OR n = 'x')",
    "in of several columns": "SELECT k, n FROM t WHERE (k, n) IN (SELECT k, n FROM u)",
    "not in of several columns": "SELECT k, n FROM t WHERE (k, n) NOT IN (SELECT k, n FROM u WHERE k > 3)",
    "several columns as a column": "SELECT k, (k, n) IN (SELECT k, n FROM u) i, (k, n) NOT IN (SELECT k, n FROM u) j FROM t",
    "in as a case": "SELECT k, CASE WHEN k IN (SELECT k FROM u) THEN 1 WHEN k NOT IN (SELECT k FROM u) THEN 2 ELSE 3 END c FROM t",
    "in of a group": "SELECT k IN (SELECT k FROM u) i, count(*) FROM t GROUP BY k IN (SELECT k FROM u)",
    "correlated in": "SELECT k FROM t WHERE k IN (SELECT k FROM u WHERE u.n = t.n)",
    "correlated not in": "SELECT k FROM t WHERE k NOT IN (SELECT k FROM u WHERE u.n = t.n)",
    "exists": "SELECT k FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k)",
    "not exists": "SELECT k FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.n = t.n)",
    "exists as a column": "SELECT k, EXISTS (SELECT 1 FROM u WHERE u.k = t.k + 1) e FROM t",
    "two marks": "SELECT k FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k) OR EXISTS (SELECT 1 FROM u WHERE u.v < t.v)",
    "exists of all": "SELECT k FROM t WHERE EXISTS (SELECT 1 FROM u WHERE k > 4) AND k < 3",
    "scalar": "SELECT k, (SELECT max(k) FROM u) m FROM t WHERE k < (SELECT avg(k) FROM u)",
    "scalar without a row": "SELECT k, (SELECT k FROM u WHERE k > 9) m FROM t",
    "scalar in having": "SELECT k, sum(v) FROM t GROUP BY k HAVING sum(v) > (SELECT min(v) FROM u)",
    "subquery in having": "SELECT k, sum(v) s FROM t GROUP BY k HAVING EXISTS (SELECT 1 FROM u WHERE u.k = t.k)",
    "correlated scalar": "SELECT k, (SELECT max(u.v) FROM u WHERE u.k = t.k) m, (SELECT count(*) FROM u WHERE u.k = t.k) c FROM t",
    "correlated by other conditions": (
        "SELECT k, (SELECT count(DISTINCT u.n) FILTER (WHERE u.k > 1) FROM u WHERE u.k >= t.k OR u.n = t.n OR u.v <=> t.v) c FROM t"
    ),
    "computed of the row": "SELECT k, (SELECT coalesce(max(u.v), -1D) + 1 FROM u WHERE u.n = t.n) m, (SELECT coalesce(sum(k), -9) FROM u WHERE u.v > t.v) s FROM t",
    "correlated in a filter": "SELECT k FROM t WHERE k < 9 AND v >= (SELECT avg(v) FROM u WHERE u.k = t.k) AND 4 / k > 0",
    "correlated in having": "SELECT n, sum(v) FROM t GROUP BY n HAVING sum(v) >= (SELECT count(*) FROM u WHERE u.n = t.n)",
    "correlated without an aggregate": "SELECT k, (SELECT n FROM u WHERE u.k = t.k AND u.k > 2) m FROM t",
    "what raises for no row": "SELECT k, (SELECT max(1 / (u.k - 1)) FROM u WHERE u.k > t.k AND u.k > 1) m FROM t",
    "lateral": "SELECT t.k, x.v FROM t, LATERAL (SELECT u.v FROM u WHERE u.k = t.k) x",
    "lateral aggregate": "SELECT t.k, x.s FROM t CROSS JOIN LATERAL (SELECT count(*) s FROM u WHERE u.k >= t.k) x",
    "lateral having": "SELECT t.k, x.s FROM t, LATERAL (SELECT count(*) s FROM u WHERE u.k >= t.k HAVING count(*) > 1) x",
    "lateral left aggregate": "SELECT t.k, x.s, x.m FROM t LEFT JOIN LATERAL (SELECT count(*) s, max(v) m FROM u WHERE u.k = t.k) x ON x.s > 0",
    "lateral of itself": "SELECT t.k, x.s FROM t, LATERAL (SELECT t.k + 1 AS s) x",
    "lateral generated": "SELECT t.k, x.col FROM t, LATERAL explode(sequence(1, t.k)) x",
    "laterals": "SELECT t.k, y.d FROM t, LATERAL (SELECT count(*) c FROM u WHERE u.k = t.k) x, LATERAL (SELECT x.c + t.k AS d) y",
    "cte": "WITH c AS (SELECT k, count(*) n FROM t GROUP BY k) SELECT a.k, b.n FROM c a JOIN c b ON a.k = b.k",
    "ctes of ctes": (
        "WITH c AS (SELECT k FROM t), d AS (SELECT k + 1 k FROM c) "
        "SELECT * FROM c UNION ALL SELECT * FROM d UNION ALL SELECT * FROM d WHERE k IN (SELECT k FROM c)"
    ),
    "natural join": "SELECT * FROM t NATURAL JOIN u",
    "using": "SELECT * FROM t FULL JOIN u USING (k)",
    "hint": "SELECT /*+ BROADCAST(u) */ t.k FROM t JOIN u ON t.k = u.k",
    "commas": "SELECT t.k FROM t, u, (SELECT 1 AS one) WHERE t.k = u.k AND one / t.k < 2",
    "window": "SELECT k, row_number() OVER (PARTITION BY k ORDER BY v, n) r, sum(v) OVER (PARTITION BY k) s FROM t",
    "pivot": "SELECT * FROM (SELECT k, n, v FROM t) PIVOT (count(v) FOR n IN ('a', 'x'))",
    "unpivot": "SELECT * FROM (SELECT k, v, v * 2 w FROM t) UNPIVOT (val FOR name IN (v, w))",
    "rollup": "SELECT k, n, grouping(k), count(v) FROM t GROUP BY ROLLUP(k, n)",
    "replaced": "SELECT nullif(k, 1), nvl(n, 'z'), nvl2(n, 'p', 'q'), k BETWEEN 1 AND 2, n ILIKE 'A%', try_add(k, 1) FROM t",
    "replaced aggregates": "SELECT count_if(k > 1), bool_and(k > 0), median(v), max_by(n, k) FROM t WHERE k = 1",
    "several distinct": "SELECT count(DISTINCT k), count(DISTINCT n), sum(DISTINCT k) FROM t",
    "averages": "SELECT avg(CAST(k AS decimal(7, 2))) a, sum(CAST(k AS decimal(7, 2))) s FROM t",
    "limit": "SELECT k FROM (SELECT k FROM t ORDER BY k LIMIT 1 + 1 OFFSET 2)",
    "constants": "SELECT date'2020-01-31' + INTERVAL 1 MONTH, date'1998-12-01' - INTERVAL '90' DAY, concat('a', 'b') LIKE 'a' || '%'",
    "lateral alias": "SELECT k + 1 AS a, a * 2 AS b FROM t",
    "untyped null": "SELECT k, NULL AS x FROM t WHERE k = 1 UNION ALL SELECT k, n FROM u",
    "generated": "SELECT k, x FROM t LATERAL VIEW explode(array(1, k)) AS x",
}
"""Queries of all that the optimizer replaces."""


LATER = {
    "correlated without an aggregate": "4.0",
    "lateral left": "4.0",  # LIMIT in a subquery over the row around it
    "subqueries of a join": "4.0",  # one over its rows
}
"""The releases of Spark with which queries came."""


def parameters(queries: dict[str, str]) -> list[Any]:
    return [later(LATER.get(name, "3.5"), query, id=name) for name, query in queries.items()]


@pytest.mark.parametrize("query", parameters(SAME))
def test_rows(tables: SparkSession, query: str) -> None:
    assert_same_rows(tables.sql(query), stages=["analyzed"])


def test_not_in_of_a_null_has_no_row(tables: SparkSession) -> None:
    assert_same_rows(tables.sql("SELECT k FROM t WHERE k NOT IN (SELECT k FROM u)"), stages=["analyzed"], empty=True)


CANONICAL = {
    "lateral left": "SELECT t.k, x.v FROM t LEFT JOIN LATERAL (SELECT u.v FROM u WHERE u.k = t.k ORDER BY v LIMIT 1) x ON x.v > 1",
    "lateral union": "SELECT t.k FROM t, LATERAL (SELECT u.k FROM u WHERE u.k = t.k UNION ALL SELECT t.k + 1) x",
    "subqueries of a join": (
        "SELECT t.k FROM t JOIN u ON t.k = u.k AND t.v IN (SELECT v FROM u) AND EXISTS (SELECT 1 FROM t x WHERE x.k = u.k)"
    ),
}
"""Queries whose plans DataFusion does not run, or not all of them."""


@pytest.mark.parametrize("query", parameters(CANONICAL))
def test_canonical_rows(tables: SparkSession, query: str) -> None:
    df = tables.sql(query)
    expected = spark_table(df)
    assert expected.num_rows
    assert not differences(expected, canonical_rows(df, "analyzed"))


def test_frames(tables: SparkSession) -> None:
    t, u = tables.table("t"), tables.table("u")
    assert_same_rows(t.exceptAll(u), stages=["analyzed"])
    assert_same_rows(t.dropDuplicates(["k"]).select("k"), stages=["analyzed"])
    assert_same_rows(t.na.fill(0).na.drop().select("k", "v"), stages=["analyzed"])
    assert_same_rows(t.groupBy("k").pivot("n", ["a"]).agg(F.count("v")), stages=["analyzed"])
    struct = F.struct("k", "n").withField("z", F.lit(1))
    assert_same_rows(t.select(struct.alias("x")).selectExpr("x.z", "x.k"), stages=["analyzed"])


def test_persistent_views_and_cached_frames_are_the_queries_below(tables: SparkSession) -> None:
    cached = tables.sql("SELECT k, n FROM t WHERE k > 1").cache()
    assert analyzed(cached.where("n IS NULL")) == analyzed(
        tables.sql("SELECT k, n FROM t WHERE k > 1").where("n IS NULL")
    )
    cached.unpersist()


# ---- what plans say


@pytest.mark.parametrize(
    ("query", "operation"),
    [
        ("SELECT * FROM t INTERSECT SELECT * FROM u", "INTERSECTION_MULTISET"),
        ("SELECT * FROM t INTERSECT ALL SELECT * FROM u", "INTERSECTION_MULTISET_ALL"),
        ("SELECT * FROM t EXCEPT SELECT * FROM u", "MINUS_PRIMARY"),
        ("SELECT * FROM t EXCEPT ALL SELECT * FROM u", "MINUS_PRIMARY_ALL"),
        ("SELECT * FROM t UNION SELECT * FROM u", "UNION_DISTINCT"),
        ("SELECT * FROM t UNION ALL SELECT * FROM u UNION ALL SELECT * FROM t", "UNION_ALL"),
    ],
)
def test_set_operations(tables: SparkSession, query: str, operation: str) -> None:
    (found,) = [each for each in messages(analyzed(tables.sql(query))) if isinstance(each, SetRel)]
    assert found.op == SetRel.SetOp.Value(f"SET_OP_{operation}")
    assert len(found.inputs) == query.count("SELECT")


def test_subqueries_stay_subqueries(tables: SparkSession) -> None:
    plan = analyzed(
        tables.sql("SELECT k FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k) OR k NOT IN (SELECT k FROM u)")
    )
    kinds = [each.WhichOneof("subquery_type") for each in messages(plan) if isinstance(each, Expression.Subquery)]
    assert sorted(map(str, kinds)) == ["in_predicate", "set_predicate"]
    assert not [each for each in messages(plan) if isinstance(each, JoinRel)]


def test_a_cte_that_is_used_twice_is_a_shared_relation(tables: SparkSession) -> None:
    df = tables.sql(SAME["ctes of ctes"])
    plan = analyzed(df)
    assert [entry.WhichOneof("rel_type") for entry in plan.relations] == ["rel", "rel", "root"]
    references = [
        each.reference.subtree_ordinal
        for each in messages(plan)
        if isinstance(each, Rel) and each.HasField("reference")
    ]
    assert sorted(references) == [0, 0, 0, 1, 1]
    lowered = datafusion.execute(lower(plan, "datafusion"))
    assert not differences(spark_table(df), lowered)


def test_a_cte_that_is_used_once_is_no_shared_relation(tables: SparkSession) -> None:
    assert len(analyzed(tables.sql("WITH c AS (SELECT k FROM t) SELECT * FROM c")).relations) == 1


@since("4.1", "WITH RECURSIVE")
def test_recursion(tables: SparkSession) -> None:
    df = tables.sql("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r")
    assert spark_engine.execute(analyzed(df), tables).collect() == df.collect()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT (k IN (SELECT k FROM u)) = false FROM t",
        "SELECT coalesce(k IN (SELECT k FROM u), true) FROM t",
        "SELECT (k NOT IN (SELECT k FROM u)) IS NULL FROM t",
        "SELECT (k IN (SELECT k FROM u) AND n = 'a') = false FROM t",
        "SELECT NOT CASE WHEN n = 'a' THEN k IN (SELECT k FROM u) ELSE false END FROM t",
    ],
)
def test_what_hangs_on_an_unknown_membership_is_refused(tables: SparkSession, query: str) -> None:
    report = check(tables.sql(query), stage="analyzed")
    assert "hangs on how Spark's optimizer" in report.problems[0].reason


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k FROM (SELECT *, CAST(NULL AS int) AS z FROM t) WHERE z NOT IN (SELECT k FROM u WHERE k > 9)",
        "SELECT k FROM (SELECT k FROM t UNION ALL SELECT CAST(NULL AS int) FROM t) WHERE k NOT IN (SELECT k FROM u WHERE k > 9)",
        "SELECT k FROM (SELECT k FROM t UNION ALL SELECT try_add(CAST(NULL AS int), 1) FROM u) WHERE k IN (SELECT k FROM u) OR k > 1",
        "SELECT k FROM (SELECT k + CAST(NULL AS int) AS k FROM t) WHERE k NOT IN (SELECT k FROM u WHERE k > 9)",
        "SELECT (k + CAST(NULL AS int)) NOT IN (SELECT k FROM u WHERE k > 9) FROM t",
        "SELECT k FROM t WHERE if(1 = 0, k, NULL) NOT IN (SELECT k FROM u WHERE k > 9)",
        "SELECT k FROM (SELECT * FROM t WHERE k = 3) WHERE nullif(k, 3) NOT IN (SELECT k FROM u WHERE k > 9)",
        "SELECT k FROM t WHERE CASE WHEN k > 9 THEN k END NOT IN (SELECT k FROM u WHERE k > 9)",
        "SELECT k FROM t WHERE map('a', k)['b'] NOT IN (SELECT k FROM u WHERE k > 9)",
        "SELECT k FROM t WHERE (SELECT k FROM u WHERE 1 = 0) NOT IN (SELECT k FROM u WHERE k > 9)",
        "SELECT y IN (SELECT k FROM u) FROM (SELECT z AS y FROM (SELECT CAST(NULL AS int) AS z FROM t))",
    ],
)
def test_what_hangs_on_a_null_that_the_optimizer_may_find_is_refused(tables: SparkSession, query: str) -> None:
    report = check(tables.sql(query), stage="analyzed")
    assert "may be a NULL that Spark's optimizer finds" in report.problems[0].reason


def test_a_union_of_joins_may_have_brought_null_to_any_column(tables: SparkSession) -> None:
    joined = tables.table("t").join(
        tables.sql("SELECT k AS z, CAST(NULL AS int) AS w FROM u"), F.expr("k = z"), "cross"
    )
    tables.table("t").select("*", "k", "k").union(joined).createOrReplaceTempView("united")
    report = check(tables.sql("SELECT k FROM united WHERE k NOT IN (SELECT k FROM u WHERE k > 9)"), stage="analyzed")
    assert "may be a NULL that Spark's optimizer finds" in report.problems[0].reason


MAY_BE_NULL = ["k", "CAST(n AS int)", "length(n)", "try_divide(k, 0)", "coalesce(k, 7)", "(k, NULL)"]
"""Values that no rule of the optimizer's makes a constant NULL of, or not one that it looks for."""


@pytest.mark.parametrize("value", MAY_BE_NULL)
def test_membership_of_what_may_be_null_has_the_rows_of_spark(tables: SparkSession, value: str) -> None:
    columns = "k, k" if "," in value and value[0] == "(" else "k"
    df = tables.sql(f"SELECT v FROM t WHERE n IS NULL AND {value} NOT IN (SELECT {columns} FROM u WHERE k > 9)")
    assert_same_rows(df, stages=["analyzed"])


def test_texts_of_joined_lists_are_refused(tables: SparkSession) -> None:
    df = tables.sql("SELECT concat('k', CAST(concat(array(k), array(2)) AS STRING)) AS v FROM t")
    with pytest.raises(UnsupportedPlanError, match="takes the text of joined lists for the texts of each"):
        analyzed(df)


def test_null_in_a_subquery_is_refused(tables: SparkSession) -> None:
    report = check(
        tables.sql("SELECT k FROM t WHERE CAST(NULL AS int) NOT IN (SELECT k FROM u WHERE k > 9)"), stage="analyzed"
    )
    assert "is a setting of Spark's" in report.problems[0].reason


FIRSTS = {
    "SELECT k, (SELECT n FROM u WHERE u.k = t.k ORDER BY v DESC, n LIMIT 1) AS first FROM t": True,
    "SELECT k, (SELECT upper(n) FROM u WHERE u.k < t.k AND n <> 'x' ORDER BY k DESC, n LIMIT 1) AS first FROM t": True,
    "SELECT k FROM t WHERE (SELECT coalesce(n, 'none') FROM u WHERE u.k = t.k ORDER BY n LIMIT 1) = 'none'": True,
    "SELECT k, (SELECT n FROM u WHERE u.k = t.k ORDER BY n LIMIT 1 OFFSET 1) AS second FROM t": False,
    "SELECT k, (SELECT coalesce(x, 'none') FROM (SELECT n AS x FROM u WHERE u.k = t.k ORDER BY n LIMIT 1)) FROM t": False,
    "SELECT k, x FROM t, LATERAL (SELECT n AS x FROM u WHERE u.k = t.k ORDER BY n LIMIT 1)": False,
}
"""Queries for the first of the rows that belong to a row, and whether DataFusion has a form of them."""


@since("4.0", "LIMIT in a subquery over the row around it")
@pytest.mark.parametrize("query", FIRSTS)
def test_the_first_of_rows_that_belong_to_a_row(tables: SparkSession, query: str) -> None:
    df = tables.sql(query)
    if FIRSTS[query]:
        assert_same_rows(df, stages=["analyzed"])
    else:
        assert not differences(spark_table(df), canonical_rows(df, "analyzed"))
        assert not check(df, stage="analyzed", dialect="datafusion")


LATERAL = (
    later(
        "4.0",
        "SELECT k, x FROM t LEFT JOIN LATERAL (SELECT n AS x FROM u WHERE u.k = t.k ORDER BY v DESC LIMIT 2) ON true",
    ),
    later("4.0", "SELECT k, x FROM t, LATERAL (SELECT n AS x FROM u WHERE u.k = t.k ORDER BY n LIMIT 1 OFFSET 1)"),
    "SELECT k, x FROM t, LATERAL (SELECT n AS x FROM u WHERE u.k = t.k UNION ALL SELECT t.n)",
    "SELECT k, x FROM t, LATERAL (SELECT u.n AS x FROM u WHERE u.k = t.k INTERSECT SELECT t.n)",
    later("4.0", "SELECT k, x FROM t, LATERAL (SELECT sum(v) OVER (ORDER BY v) AS x FROM u WHERE u.k = t.k)"),
)


@pytest.mark.parametrize("query", LATERAL)
def test_lateral_joins_of_limits_and_set_operations(tables: SparkSession, query: str) -> None:
    df = tables.sql(query)
    expected = spark_table(df)
    assert expected.num_rows
    assert not differences(expected, canonical_rows(df, "analyzed"))
    (problem,) = check(df, stage="analyzed", dialect="datafusion").problems
    assert "has no" in problem.reason
    assert "LATERAL_JOIN relations" in problem.reason


LISTS = "(SELECT * FROM VALUES (1, array(1, 2)), (2, array()), (3, NULL) AS lists(k, a))"


@pytest.mark.parametrize("of", ["explode(a) AS e(x)", "(SELECT x + 1 AS x FROM explode(a) AS e(x)) AS e"])
def test_a_left_join_of_generated_rows(tables: SparkSession, of: str) -> None:
    """Without a condition, Spark's optimizer leaves out rows on the left."""
    (problem,) = check(tables.sql(f"SELECT k, x FROM {LISTS} LEFT JOIN LATERAL {of}"), stage="analyzed").problems
    assert "makes an inner join of a LEFT JOIN LATERAL" in problem.reason
    for join in (f"LEFT JOIN LATERAL {of} ON true", f"CROSS JOIN LATERAL {of}", f"LEFT JOIN LATERAL {of} ON x > 2"):
        df = tables.sql(f"SELECT k, x FROM {LISTS} {join}")
        assert not differences(spark_table(df), canonical_rows(df, "analyzed"))
    kept = tables.sql(f"SELECT k, x FROM {LISTS} LEFT JOIN LATERAL {of.replace('explode(', 'explode_outer(')}")
    assert not differences(spark_table(kept), canonical_rows(kept, "analyzed"))


@pytest.mark.parametrize("zone", ["-12:00", "+14:00"])  # at any time, one of them has another date than UTC
def test_variables_of_the_context(spark: SparkSession, zone: str) -> None:
    """Both runs may be on two sides of midnight, or of a second: only what does not change is compared."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    df = session.sql(
        "SELECT current_timezone() AS zone, current_date() = date(now()) AS same, current_timestamp() = now() AS now"
    )
    plan = analyzed(df)
    assert spark_table(spark_engine.execute(plan, session)).to_pylist() == [{"zone": zone, "same": True, "now": True}]
    today = analyzed(session.sql("SELECT current_date() AS today"))
    assert spark_engine.execute(today, session).count() == 1
    assert plan.execution_behavior.variable_eval_mode == ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_PLAN
    found = [each for each in messages(plan) if isinstance(each, Expression.ExecutionContextVariable)]
    kinds = {each.WhichOneof("execution_context_variable_type") for each in found}
    assert kinds == {"current_timezone", "current_date", "current_timestamp"}


# ---- what the optimizer is told changes nothing

RULES = (
    "BooleanSimplification",
    "CollapseProject",
    "ColumnPruning",
    "CombineFilters",
    "ConstantFolding",
    "DecimalAggregates",
    "EliminateSorts",
    "InlineCTE",
    "LikeSimplification",
    "NullPropagation",
    "OptimizeIn",
    "PushDownPredicates",
    "PushPredicateThroughJoin",
    "ReorderJoin",
    "RewriteDistinctAggregates",
    "SimplifyCasts",
    "V2ScanRelationPushDown",
)


@pytest.fixture
def excluded_rules(spark: SparkSession) -> Iterator[str]:
    """The setting that lets the optimizer do little, to be set and unset."""
    yield ",".join(f"org.apache.spark.sql.catalyst.optimizer.{rule}" for rule in RULES)
    spark.conf.unset("spark.sql.optimizer.excludedRules")


def test_settings_of_the_optimizer_change_nothing(tables: SparkSession, excluded_rules: str) -> None:
    changed = set()
    for name, query in (*SAME.items(), *CANONICAL.items()):
        if not has(LATER.get(name, "3.5")):
            continue
        df = tables.sql(query)
        stages = [plan_of(df, stage="analyzed"), _optimized(df)]
        tables.conf.set("spark.sql.optimizer.excludedRules", excluded_rules)
        again = tables.sql(query)
        assert plan_of(again, stage="analyzed") == stages[0], name
        changed |= {name} if _optimized(again) != stages[1] else set()
        tables.conf.unset("spark.sql.optimizer.excludedRules")
    assert len(changed) > len(SAME) // 3, "the settings should have changed many optimized plans"


def _optimized(df: DataFrame) -> Plan | None:
    try:
        return plan_of(df)
    except UnsupportedPlanError:
        return None


def test_the_stage_is_one_of_two(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="stage must be one of optimized, analyzed, not 'physical'"):
        plan_of(spark.range(1), stage="physical")
