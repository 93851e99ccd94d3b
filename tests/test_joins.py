"""Joins and subqueries: every type, every kind of condition, on nulls, duplicates, NaN and both zeros."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from releases import later, since
from rows import (
    assert_engine_raises,
    assert_same_outcome,
    assert_same_rows,
    plan_of,
)
from substrait.algebra_pb2 import AggregateRel, CrossRel, JoinRel

from substrait_spark import UnsupportedPlanError
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines.arrow.schema import Columns
from substrait_spark.engines.datafusion.parquet import ParquetReader

LEFT = """VALUES
  (1, 'a', 1.0D, 1.10BD, date'2024-01-01', 1Y), (1, 'a', -0.0D, 1.10BD, NULL, 2Y),
  (2, 'b', double('NaN'), NULL, date'2024-01-02', NULL), (2, NULL, 0.0D, 2.00BD, date'1500-01-02', 1Y),
  (NULL, 'c', NULL, 3.00BD, NULL, 3Y), (3, '', 2.0D, 0.00BD, date'2024-01-03', 3Y)"""
RIGHT = """VALUES
  (1, 'a', 0.0D, 1.1BD, date'2024-01-01', 1), (1, 'A', 1.0D, 1.1BD, NULL, 2),
  (2, 'b', double('NaN'), NULL, date'2024-01-02', 7), (NULL, NULL, NULL, 3.0BD, NULL, NULL),
  (4, '', 2.0D, 0.0BD, date'1500-01-02', 1), (2, 'b', double('NaN'), NULL, date'2024-01-02', 1)"""


@pytest.fixture(scope="module", autouse=True)
def _tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name, rows in (("l", LEFT), ("r", RIGHT)):
        path = str(tmp_path_factory.mktemp("joins") / name)
        # Files, so that the optimizer can't compute the join itself.
        spark.sql(f"SELECT * FROM {rows} t(k, s, d, c, t, y)").repartition(1).write.parquet(path)
        spark.read.parquet(path).createOrReplaceTempView(name)


TYPES = ["INNER", "CROSS", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"]
CONDITIONS = {
    "equal": "l.k = r.k",
    "null_safe": "l.k <=> r.k",
    "theta": "l.k < r.k",
    "mixed": "l.k = r.k AND l.d >= r.d",
    "double": "l.d = r.d",
    "null_safe_double": "l.d <=> r.d",
    "double_below": "l.d < r.d",
    "string": "l.s = r.s",
    "decimals_of_two_scales": "l.c = r.c",
    "integers_of_two_sizes": "l.y = r.y",
    "date": "l.t = r.t",
    "several": "l.k = r.k AND l.s = r.s AND l.d <=> r.d",
    "either": "l.k = r.k OR l.s = r.s",
    "computed": "l.k + 1 = r.k * 2",
    "one_side": "l.k = r.k AND l.d > 0.5 AND r.d > 0.5",
    "true": "true",
    "null_test": "l.k = r.k OR isnull(l.k = r.k)",
}


MATCHES_ALL = {"null_safe_double", "true", "null_test"}
"""Conditions under which each row of the left side has a match."""


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("join", TYPES)
def test_join(spark: SparkSession, join: str, condition: str) -> None:
    df = spark.sql(f"SELECT * FROM l {join} JOIN r ON {CONDITIONS[condition]}")
    assert_same_rows(df, empty=join == "LEFT ANTI" and condition in MATCHES_ALL)
    plan_of(df)


@pytest.mark.parametrize("join", TYPES)
def test_join_without_a_condition(spark: SparkSession, join: str) -> None:
    assert_same_rows(spark.sql(f"SELECT * FROM l {join} JOIN r"), empty=join == "LEFT ANTI")


@pytest.mark.parametrize("join", TYPES)
def test_join_that_matches_nothing(spark: SparkSession, join: str) -> None:
    df = spark.sql(f"SELECT * FROM l {join} JOIN r ON l.k = r.k + 100")
    assert_same_rows(df, empty=join in ("INNER", "CROSS", "LEFT SEMI"))


@pytest.mark.parametrize("join", ["inner", "cross", "left", "right", "full", "semi", "anti"])
@pytest.mark.smoke
def test_join_by_api(spark: SparkSession, join: str) -> None:
    left, right = spark.table("l"), spark.table("r")
    assert_same_rows(left.join(right, left.k == right.k, join))


@pytest.mark.parametrize("join", ["INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"])
def test_using(spark: SparkSession, join: str) -> None:
    assert_same_rows(spark.sql(f"SELECT * FROM l {join} JOIN r USING (k)"))
    assert_same_rows(spark.sql(f"SELECT * FROM l {join} JOIN r USING (k, s)"))


def test_natural_and_self_joins(spark: SparkSession) -> None:
    assert_same_rows(spark.sql("SELECT * FROM l NATURAL JOIN (SELECT k, s, d AS e FROM r)"))
    assert_same_rows(spark.sql("SELECT a.k, b.k, a.s, b.d FROM l a JOIN l b ON a.k = b.k"))
    left = spark.table("l")
    assert_same_rows(left.alias("a").join(left.alias("b"), F.col("a.k") == F.col("b.k") + 1))


def test_three_joins_and_hints(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT /*+ BROADCAST(r), MERGE(m) */ l.k, r.s, m.d FROM l LEFT JOIN r ON l.k = r.k "
        "RIGHT JOIN l m ON m.k = r.k AND m.s = l.s FULL JOIN r n ON n.k = m.k"
    )
    assert_same_rows(df)


# ---- subqueries that become joins, or stay (pitfall S7 and others)

SUBQUERIES = {
    "s7a_two_valued_exists": "SELECT k FROM l WHERE k > 2 OR NOT EXISTS (SELECT 1 FROM r WHERE l.k + 10 = r.k)",
    "s7b_inner_expression": "SELECT k FROM l WHERE d > 5 OR EXISTS (SELECT 1 FROM r WHERE l.k = r.k + 1)",
    "s7c_inner_first": "SELECT k FROM l WHERE d > 1 OR EXISTS (SELECT 1 FROM r WHERE r.k = l.k)",
    "s7d_two_columns": "SELECT k, s FROM l WHERE d = 2 OR (k, s) IN (SELECT k, s FROM r)",
    "s7e_inequality": "SELECT k FROM l WHERE k > 5 OR EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.s <> l.s)",
    "s7e_not_in": "SELECT k FROM l WHERE k > 2 OR k NOT IN (SELECT k FROM r)",
    "s7e_not_in_without_null": "SELECT k FROM l WHERE k > 2 OR k NOT IN (SELECT k FROM r WHERE k IS NOT NULL)",
    "s7f_join_above": (
        "SELECT l.k, m.s FROM l JOIN l m ON l.k = m.k "
        "WHERE l.k > 5 OR EXISTS (SELECT 1 FROM r WHERE r.k = m.k AND r.s = m.s)"
    ),
    "in_projection": "SELECT k, k IN (SELECT k FROM r) a, k NOT IN (SELECT k FROM r) b FROM l",
    "in_projection_without_null": (
        "SELECT k, k IN (SELECT k FROM r WHERE k > 0) a, k NOT IN (SELECT k FROM r WHERE k > 0) b FROM l"
    ),
    "in_projection_empty": (
        "SELECT k, k IN (SELECT k FROM r WHERE k > 9) a, k NOT IN (SELECT k FROM r WHERE k > 9) b FROM l"
    ),
    "in_projection_of_pairs": "SELECT k, (k, s) IN (SELECT k, s FROM r) a, (k, s) NOT IN (SELECT k, s FROM r) b FROM l",
    "in_projection_of_doubles": "SELECT d, d IN (SELECT d FROM r) a FROM l",
    "in_under_case": "SELECT CASE WHEN k IN (SELECT k FROM r) THEN 'in' ELSE 'out' END x FROM l",
    "exists_in_projection": "SELECT k, EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.d > 0.5) x FROM l",
    "exists_uncorrelated": "SELECT k, EXISTS (SELECT 1 FROM r WHERE k > 9) x, EXISTS (SELECT 1 FROM r) y FROM l",
    "exists_uncorrelated_filter": "SELECT k FROM l WHERE EXISTS (SELECT 1 FROM r WHERE k > 3)",
    "not_in": "SELECT k FROM l WHERE k NOT IN (SELECT k FROM r WHERE k IS NOT NULL)",
    "in": "SELECT k FROM l WHERE k IN (SELECT k FROM r)",
    "in_correlated": "SELECT k FROM l WHERE k IN (SELECT k FROM r WHERE r.s = l.s)",
    "not_in_correlated": "SELECT k FROM l WHERE k NOT IN (SELECT k FROM r WHERE r.s = l.s)",
    "exists_theta": "SELECT k FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.k < l.k)",
    "two_marks": "SELECT k FROM l WHERE k IN (SELECT k FROM r) OR s IN (SELECT s FROM r WHERE s IS NOT NULL)",
    "correlated_count": "SELECT k, (SELECT count(*) FROM r WHERE r.k = l.k) c FROM l",
    "correlated_count_computed": "SELECT k, (SELECT count(d) + 1 FROM r WHERE r.k = l.k) c FROM l",
    "correlated_sum": "SELECT k, (SELECT sum(k) FROM r WHERE r.k = l.k) c FROM l",
    "correlated_count_in_filter": "SELECT k FROM l WHERE (SELECT count(*) FROM r WHERE r.k = l.k) = 0",
    "scalar": "SELECT k, (SELECT max(k) FROM r) c FROM l",
    "scalar_of_no_row": "SELECT k, (SELECT k FROM r WHERE k > 9) c FROM l",
    "scalar_of_one_row": "SELECT k, (SELECT s FROM r WHERE k = 4) c FROM l",
    "scalar_in_filter": "SELECT k FROM l WHERE k > (SELECT min(k) FROM r)",
    "scalar_in_scalar": "SELECT (SELECT (SELECT max(k) FROM r) + 1) x FROM l",
    "merged": "SELECT (SELECT max(k) FROM r) a, (SELECT min(k) FROM r) b, (SELECT count(s) FROM r) c FROM l",
    "merged_filters": "SELECT (SELECT max(k) FROM r WHERE k > 1) a, (SELECT min(k) FROM r WHERE k > 1) b",
    "scalar_with_limit": "SELECT k, (SELECT k FROM r ORDER BY k DESC LIMIT 1) c FROM l",
    "lateral": "SELECT l.k, x.* FROM l, LATERAL (SELECT s FROM r WHERE r.k = l.k) x",
    "lateral_left": "SELECT l.k, x.* FROM l LEFT JOIN LATERAL (SELECT s FROM r WHERE r.k = l.k) x",
    "lateral_aggregate": "SELECT l.k, x.* FROM l, LATERAL (SELECT count(*) n FROM r WHERE r.k = l.k) x",
    "lateral_limit": "SELECT l.k, x.* FROM l, LATERAL (SELECT s FROM r WHERE r.k = l.k ORDER BY s LIMIT 1) x",
    "lateral_expression": "SELECT l.k, x.* FROM l, LATERAL (SELECT l.k + 1 AS y) x",
}


@pytest.mark.parametrize("name", [later("4.0", name) if name == "lateral_limit" else name for name in SUBQUERIES])
def test_subquery(spark: SparkSession, name: str) -> None:
    df = spark.sql(SUBQUERIES[name])
    assert_same_rows(df)
    plan_of(df)


def test_not_in_of_a_null_is_never_true(spark: SparkSession) -> None:
    df = spark.sql("SELECT k FROM l WHERE k NOT IN (SELECT k FROM r)")
    assert_same_rows(df, empty=True)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, (SELECT k FROM r) c FROM l",
        "SELECT k FROM l WHERE k = (SELECT k FROM r)",
        "SELECT (SELECT x FROM VALUES (1), (2) t(x)) c",
        "SELECT (SELECT x FROM VALUES (1), (1) t(x)) c FROM l",
    ],
)
def test_a_scalar_subquery_of_several_rows_raises(spark: SparkSession, query: str) -> None:
    assert assert_same_outcome(spark.sql(query)) is None
    assert_engine_raises(spark.sql(query))


@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"])
@pytest.mark.parametrize(
    "condition",
    [
        "l.c > r.c AND l.c < r.c AND element_at(array(1), l.k - 1) = r.y",
        "l.c > r.c AND l.c < r.c AND r.c = element_at(array(1), l.k - 1)",
        "l.c > r.c AND l.c < r.c AND l.y = element_at(array(1), r.k - 1)",
        "l.c > r.c AND l.c < r.c AND element_at(array(1), l.k - 1) = 5",
        "isnull(make_dt_interval(l.k * 2, r.k)) AND element_at(array(1), l.k - 1) = r.y",
    ],
)
def test_what_spark_joins_by_raises_whatever_the_other_conditions_are(
    spark: SparkSession, join: str, condition: str
) -> None:
    df = spark.sql(f"SELECT l.k FROM l {join} r ON {condition}")
    assert assert_same_outcome(df) is None
    assert_engine_raises(df)


@pytest.mark.parametrize("condition", ["x = v", "v = x"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT v, n > 0 FROM vs WHERE EXISTS (SELECT 1 FROM xs WHERE {})",
        "SELECT v, n > 0 FROM vs WHERE NOT EXISTS (SELECT 1 FROM xs WHERE {})",
        "SELECT v, x, n > 0 FROM vs JOIN xs ON {}",
        "SELECT v, x, n > 0 FROM vs LEFT JOIN xs ON {}",
        "SELECT v, x, n > 0 FROM xs RIGHT JOIN vs ON {}",
    ],
)
def test_keys_have_names_of_what_the_other_side_is_computed_from(
    spark: SparkSession, query: str, condition: str
) -> None:
    pairs = "SELECT l.c AS v, row_number() OVER (ORDER BY r.c) AS n FROM l RIGHT JOIN r ON l.k = r.k"
    both = "SELECT c AS x FROM l UNION ALL SELECT c FROM l"
    assert_same_rows(spark.sql(f"WITH vs AS ({pairs}), xs AS ({both}) {query.format(condition)}"))


def test_an_existence_join_is_a_mark_join(spark: SparkSession) -> None:
    plan = plan_of(spark.sql(SUBQUERIES["s7a_two_valued_exists"]))
    (join,) = [message for message in messages(plan) if isinstance(message, JoinRel)]
    assert join.type == JoinRel.JOIN_TYPE_LEFT_MARK


SINGLE = {
    "SELECT k, (SELECT s FROM one WHERE one.k = l.k) c FROM l": True,
    "SELECT k, (SELECT s FROM one WHERE one.k < l.k AND one.k > 1) a, (SELECT k FROM one WHERE one.s = l.s) b FROM l": True,
    "SELECT k FROM l WHERE (SELECT s FROM one WHERE one.k = l.k) = 'a'": True,
    "SELECT k, (SELECT s FROM twice WHERE twice.k = l.k) c FROM l": False,
    "SELECT k FROM l WHERE (SELECT s FROM twice WHERE twice.k = l.k) = 'nobody'": False,
    "SELECT k FROM l WHERE (SELECT s FROM twice WHERE twice.k = l.k) IS NULL": False,
}
"""Correlated subqueries without an aggregate, and whether each yields at most one row."""


@since("4.0", "a correlated subquery without an aggregate")
@pytest.mark.parametrize(("query", "fits"), SINGLE.items())
def test_a_correlated_subquery_that_may_yield_several_rows_is_a_single_join(
    spark: SparkSession, query: str, fits: bool
) -> None:
    spark.sql("SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, NULL), (NULL, 'd') AS v(k, s)").createOrReplaceTempView(
        "one"
    )
    spark.sql("SELECT k, s FROM one UNION ALL SELECT k, 'again' FROM one").createOrReplaceTempView("twice")
    df = spark.sql(query)
    assert JoinRel.JOIN_TYPE_LEFT_SINGLE in {m.type for m in messages(plan_of(df)) if isinstance(m, JoinRel)}
    if fits:
        assert_same_rows(df)
    else:
        assert assert_same_outcome(df) is None
        assert_engine_raises(df)


@pytest.mark.parametrize(
    "query",
    ["intersect", "except", "minus", "intersect distinct", "union"],
)
@pytest.mark.parametrize("columns", ["k", "k, s", "d", "t, c"])
def test_set_operations_that_become_joins(spark: SparkSession, query: str, columns: str) -> None:
    df = spark.sql(f"SELECT {columns} FROM l {query} SELECT {columns} FROM r")
    assert_same_rows(df, empty=columns == "d" and query in ("except", "minus"))


@pytest.mark.parametrize(("columns", "times"), [("k, s", 1), ("d, k", 0)])
@pytest.mark.parametrize("query", ["intersect", "except"])
def test_each_row_on_the_right_is_compared_once(spark: SparkSession, query: str, columns: str, times: int) -> None:
    """DataFusion takes all pairs of equal rows. Doubles are compared otherwise than they are grouped."""
    df = spark.sql(f"SELECT {columns} FROM l {query} SELECT {columns} FROM r")
    assert (_groups_on_the_right(df, "datafusion"), _groups_on_the_right(df)) == (times, 0)
    assert_same_rows(df)


@pytest.mark.parametrize(
    ("condition", "times"),
    [
        ("k IN (SELECT k FROM r)", 1),
        ("k IN (SELECT k FROM r) OR s = 'c'", 1),
        ("EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND upper(r.s) = upper(l.s))", 1),
        ("NOT EXISTS (SELECT 1 FROM r WHERE r.k <=> l.k AND r.t = l.t)", 1),
        ("k IN (SELECT k FROM r GROUP BY k HAVING count(*) > 1)", 1),
        ("EXISTS (SELECT 1 FROM (SELECT k, s, count(*) AS n FROM r GROUP BY k, s) q WHERE q.k = l.k)", 2),
        ("EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.y > l.y)", 0),
        ("d IN (SELECT d FROM r)", 0),
    ],
)
def test_each_key_of_a_semi_join_is_compared_once(spark: SparkSession, condition: str, times: int) -> None:
    """Where the keys aren't those of an aggregate already, and are all that is asked of the right side."""
    df = spark.sql(f"SELECT k, s, d FROM l WHERE {condition}")
    assert _groups_on_the_right(df, "datafusion") == times
    assert_same_rows(df)


def _groups_on_the_right(df: DataFrame, dialect: str | None = None) -> int:
    """How many aggregates are on the right side of the one join of a plan."""
    (join,) = [message for message in messages(plan_of(df, dialect)) if isinstance(message, JoinRel)]
    return sum(isinstance(message, AggregateRel) for message in messages(join.right))


MORE = "EXISTS (SELECT 1 FROM r x WHERE x.k = l.k AND x.s <> l.s)"
OTHER = "NOT EXISTS (SELECT 1 FROM l y WHERE y.s = l.s AND y.k > l.k)"


@pytest.mark.parametrize(
    ("tables", "condition", "joins"),
    [
        ("l JOIN r ON l.k = r.k", MORE, ["LEFT_SEMI", "INNER"]),
        ("r JOIN l ON l.k = r.k AND l.y <= r.y", OTHER, ["LEFT_ANTI", "INNER"]),
        ("l JOIN r ON l.k = r.k JOIN (SELECT s AS z FROM r) q ON l.s = q.z", f"{MORE} AND {OTHER}", ["LEFT_ANTI", "LEFT_SEMI"]),
        ("l JOIN r ON l.k = r.k", f"{MORE} AND l.k IN (SELECT k FROM r)", ["LEFT_SEMI", "LEFT_SEMI", "INNER"]),
        ("l JOIN r ON l.k = r.k", "l.k IN (SELECT k FROM r WHERE s = 'a')", ["INNER", "LEFT_SEMI"]),
        ("l JOIN r ON l.k = r.k", "EXISTS (SELECT 1 FROM r x WHERE x.k = l.k AND 6 % (x.y + l.y + 9) > 1)", ["INNER", "LEFT_SEMI"]),
    ],
)  # fmt: skip
def test_inner_joins_before_semi_joins_on_more_than_equalities(
    spark: SparkSession, tables: str, condition: str, joins: list[str]
) -> None:
    """DataFusion takes all pairs for them. What may raise stays where it is."""
    df = spark.sql(f"SELECT l.*, r.y AS n FROM {tables} WHERE {condition}")
    kinds = [message.type for message in messages(plan_of(df, "datafusion")) if isinstance(message, JoinRel)]
    assert [JoinRel.JoinType.Name(kind)[len("JOIN_TYPE_") :] for kind in kinds][: len(joins)] == joins
    assert_same_rows(df)


LOCAL_TIME = """to_timestamp(
  date_format(CAST(t AS TIMESTAMP_NTZ), 'dd/MMM/yyyy:HH:mm:ss') || if(true, ' -0730', ''), 'dd/MMM/yyyy:HH:mm:ss Z')"""
"""A time that takes several projects in a chain, each with columns that the next one uses often."""


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT t, y FROM l WHERE {LOCAL_TIME} IN (SELECT {LOCAL_TIME} FROM r)",
        f"SELECT k, c FROM (SELECT k, {LOCAL_TIME} AS at FROM l) JOIN (SELECT c, {LOCAL_TIME} AS then FROM r) ON at = then",
        f"SELECT k FROM l ORDER BY {LOCAL_TIME}, k, y LIMIT 3",
        f"SELECT * FROM (SELECT {LOCAL_TIME} AS row, s FROM l) JOIN (SELECT {LOCAL_TIME} AS row, c FROM r) USING (row)",
    ],
    ids=["semi join", "join", "sort", "columns like the row's"],
)
def test_filters_that_are_made_while_it_runs_stay_above_long_columns(spark: SparkSession, query: str) -> None:
    """DataFusion writes them out over the columns of the files: over some projects in a chain, that takes more time and memory than there is."""
    df = spark.sql(query)
    assert any(isinstance(message, CrossRel) for message in messages(plan_of(df, "datafusion")))
    assert_same_rows(df)


@pytest.mark.parametrize("query", ["INTERSECT ALL", "EXCEPT ALL"])
@pytest.mark.parametrize("columns", ["k", "k, s"])
def test_bag_operations(spark: SparkSession, query: str, columns: str) -> None:
    twice = f"(SELECT {columns} FROM l UNION ALL SELECT {columns} FROM l)"
    assert_same_rows(spark.sql(f"{twice} {query} SELECT {columns} FROM r"))


@since("4.0", "LIMIT in a subquery over the row around it")
@pytest.mark.parametrize(
    "query",
    [
        "SELECT x.k, y.s FROM (SELECT DISTINCT k FROM l) x, LATERAL (SELECT s, c FROM m WHERE m.k = x.k ORDER BY n DESC LIMIT 1) y",
        "SELECT x.k, y.n FROM (SELECT DISTINCT k FROM l) x, LATERAL (SELECT n FROM m WHERE m.k = x.k ORDER BY n LIMIT 2) y",
        "SELECT x.k, s FROM (SELECT DISTINCT k FROM l) x, LATERAL (SELECT s FROM m WHERE m.k = x.k ORDER BY -n LIMIT 2 OFFSET 1)",
        "SELECT k, (SELECT s FROM m WHERE m.k = l.k ORDER BY n DESC LIMIT 1) AS newest FROM l",
        "SELECT k, (SELECT upper(s) || c FROM m WHERE m.k = l.k ORDER BY c, n DESC LIMIT 1) AS newest FROM l",
    ],
)
def test_a_correlated_limit_keeps_its_order(spark: SparkSession, query: str) -> None:
    rows = spark.range(300).selectExpr("id % 4 AS k", "(id * 37) % 300 AS n", "CAST(id AS STRING) AS s", "id % 3 AS c")
    rows.createOrReplaceTempView("m")
    assert_same_rows(spark.sql(query))


@since("4.0", "a window in a subquery over the row around it")
@pytest.mark.parametrize(
    "query",
    [
        "SELECT x.k, y.* FROM l x, LATERAL (SELECT sum(n) OVER (ORDER BY n) AS t FROM m WHERE m.k >= x.k) y",
        "SELECT x.k, y.* FROM l x, LATERAL (SELECT row_number() OVER (ORDER BY n) AS t, n FROM m WHERE m.k = x.k) y",
        "SELECT * FROM l WHERE k IN (SELECT rank() OVER (PARTITION BY c ORDER BY n) FROM m WHERE m.k >= l.k)",
    ],
)
def test_correlated_windows(spark: SparkSession, query: str) -> None:
    rows = spark.range(30).selectExpr("id % 4 AS k", "(id * 37) % 30 AS n", "id % 3 AS c")
    rows.createOrReplaceTempView("m")
    assert_same_rows(spark.sql(query))


@pytest.mark.parametrize("how", ["LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"])
@pytest.mark.parametrize(
    "condition", ["a.k = a.c", "a.k <=> a.c", "a.k = a.c AND a.k = b.k", "a.k = b.k AND b.c = b.k"]
)
def test_conditions_on_one_side(spark: SparkSession, how: str, condition: str) -> None:
    spark.range(30).selectExpr("id % 4 AS k", "nullif(id % 3, 2) AS c", "id").createOrReplaceTempView("m")
    kept = "a" if how.startswith("LEFT") else "b"
    assert_same_rows(spark.sql(f"SELECT {kept}.id FROM m a {how} JOIN m b ON {condition}"))


@pytest.mark.slow
@pytest.mark.parametrize("join", ["LEFT", "RIGHT", "FULL"])
@pytest.mark.parametrize(
    ("side", "kept"),
    [
        ("SELECT k, s AS x FROM l", "x <> 'c'"),
        ("SELECT k, count(*) AS x FROM l GROUP BY k", "x <> 7"),
        ("SELECT k, 1 AS x FROM l", "k > 0"),
        ("SELECT k, row_number() OVER (ORDER BY k, s, d) AS x FROM l", "x > 1"),
    ],
)
def test_filters_above_sides_with_the_same_names(spark: SparkSession, join: str, side: str, kept: str) -> None:
    some = f"SELECT * FROM ({side}) WHERE {kept}"
    for left, right in ((side, some), (some, side)):
        query = f"SELECT a.k, a.x, b.k, b.x FROM ({left}) AS a {join} JOIN ({right}) AS b ON a.k = b.k + 1"
        missing = "b.x IS NULL" if join == "LEFT" else "a.x IS NULL"
        assert_same_rows(spark.sql(f"{query} WHERE {missing}"))
        assert_same_rows(spark.sql(f"{query} LEFT JOIN ({some}) AS c ON a.k = c.k WHERE c.x IS NULL OR {missing}"))


def test_not_in_constants_above_an_aggregate(spark: SparkSession) -> None:
    """Spark, as an engine, puts such constants in the place of columns, and loses the only row that had them."""
    df = spark.sql("SELECT y FROM l WHERE y NOT IN (SELECT 1Y FROM (SELECT DISTINCT true FROM r))")
    assert_same_rows(df)


@pytest.mark.parametrize("inner", ["l.k = m.k", "l.k <=> m.k"])
@pytest.mark.parametrize("outer", ["m.s = r.s", "m.s <=> r.s", "m.d <=> r.d", "array(m.s) <=> array(r.s)"])
def test_nulls_in_chains_of_joins(spark: SparkSession, inner: str, outer: str) -> None:
    df = spark.sql(f"SELECT * FROM l JOIN r AS m ON {inner} JOIN r ON {outer}")
    assert_same_rows(df)
    plan_of(df)


@pytest.mark.parametrize("key", ["k", "s", "d", "c", "t", "array(k, y)", "struct(s, t)", "s = ''", "cast(s AS binary)"])
def test_null_safe_keys_of_every_kind(spark: SparkSession, key: str) -> None:
    left, right = f"SELECT {key} AS x, y FROM l", f"SELECT {key} AS x, y FROM r"
    df = spark.sql(f"SELECT * FROM ({left}) JOIN ({right}) AS r USING (y) JOIN ({right}) AS o ON r.x <=> o.x")
    assert_same_rows(df)


LAMBDAS = {
    "over the left side": "exists(a.v, x -> x > a.n)",
    "over the right side": "forall(b.v, x -> x < b.n)",
    "over each side": "exists(a.v, x -> x > 1) = exists(b.v, x -> x < 2)",
    "over both sides": "exists(a.v, x -> x > b.n)",
    "with another condition": "a.n < b.n AND exists(a.v, x -> x > b.n)",
    "with a key": "a.n = b.n AND exists(a.v, x -> array_contains(b.v, x))",
    "in a lambda": "size(filter(a.v, x -> exists(a.v, y -> y > x))) > 0",
    "over both sides in a lambda": "size(filter(a.v, x -> exists(b.v, y -> y > x))) > 0",
    "with indices": "transform(a.v, (x, i) -> transform(b.v, (y, j) -> y > i OR j = a.n)) IS NULL",
    "with indices and a key": "a.n = b.n AND transform(a.v, (x, i) -> transform(b.v, (y, j) -> y > i OR j = a.n)) IS NULL",
    "of no column": "exists(array(1, 2), x -> x > 1) AND a.n < b.n",
}

OF_PAIRS = [
    LAMBDAS[name]
    for name in (
        "over both sides",
        "with another condition",
        "over both sides in a lambda",
        "with indices",
        "with indices and a key",
    )
]
"""Conditions whose lambdas need a pair of rows, that no key has found or are in other lambdas."""


@pytest.fixture(scope="module")
def lists(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """Numbers and lists of them, with nulls."""
    rows = "VALUES (1, array(1, 2, NULL)), (1, array(1, 2, NULL)), (2, array(3)), (0, array()), (5, NULL), (NULL, array(7))"
    path = str(tmp_path_factory.mktemp("joins") / "lists")
    spark.sql(f"SELECT * FROM {rows} t(n, v)").repartition(1).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("lists")
    return spark


@pytest.mark.slow
@pytest.mark.parametrize("condition", LAMBDAS.values(), ids=LAMBDAS)
@pytest.mark.parametrize("join", TYPES)
def test_lambdas_in_conditions(lists: SparkSession, join: str, condition: str) -> None:
    df = lists.sql(f"SELECT * FROM lists a {join} JOIN lists b ON {condition}")
    if join == "FULL" and condition in OF_PAIRS:
        with pytest.raises(UnsupportedPlanError, match="no lambdas over both sides in a join of the type OUTER"):
            plan_of(df, "datafusion")
    else:
        assert_same_rows(df, empty=None)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT n, n IN (SELECT n FROM lists b WHERE exists(a.v, x -> x > b.n)) AS y FROM lists a",
        "SELECT n, EXISTS (SELECT 1 FROM lists b WHERE exists(a.v, x -> x > b.n)) AS y FROM lists a",
        "SELECT n FROM lists a WHERE n NOT IN (SELECT n FROM lists b WHERE exists(a.v, x -> x > b.n))",
        "SELECT a.n, s FROM (SELECT n, v, sum(n) OVER () AS s FROM lists) a, lists b WHERE exists(b.v, x -> x < a.s)",
        "SELECT n, m FROM (SELECT a.v, b.n, b.n + 1 AS m FROM lists a, lists b ORDER BY 2 LIMIT 99) WHERE exists(v, x -> x > m)",
        "SELECT v, n, count(*) AS y FROM (SELECT a.v, b.n FROM lists a, lists b) GROUP BY v, n HAVING exists(v, x -> x > n)",
    ],
)
def test_lambdas_that_become_conditions_of_joins(lists: SparkSession, query: str) -> None:
    assert_same_rows(lists.sql(query))


SPANNING = (
    "SELECT a.n, b.n, d.n FROM u a JOIN (u b JOIN u d ON b.n = d.n) ON a.n = b.n + d.n",
    "SELECT a.n, b.n, d.n FROM u a JOIN (u b JOIN u d ON b.n = d.n) ON a.n <=> b.n + d.n",
    "SELECT a.n, b.n, d.n FROM (u b JOIN u d ON b.n = d.n) JOIN u a ON a.n = b.n + d.n",
    "SELECT a.n, b.n, d.n FROM u a JOIN (u b CROSS JOIN u d) ON a.n = b.n + d.n",
    "SELECT a.n, b.n, d.n FROM u a JOIN (u b CROSS JOIN u d) ON a.n = b.n + d.n AND a.n >= b.n",
    "SELECT a.n, b.n, d.n FROM u a JOIN (u b JOIN u d ON b.n = d.n) ON a.n > b.n WHERE a.n = b.n + d.n",
    "SELECT a.n, b.n, d.n FROM u a LEFT JOIN (u b JOIN u d ON b.n = d.n) ON a.n = b.n + d.n",
    "SELECT a.n, b.n, d.n FROM u a LEFT JOIN (u b JOIN u d ON b.n = d.n) ON a.n = b.n + d.n WHERE coalesce(b.n, 0) > 0",
    "SELECT a.n, b.n, d.n FROM u a RIGHT JOIN (u b JOIN u d ON b.n = d.n) ON a.n = b.n + d.n",
    "SELECT a.n, b.n, d.n FROM u a FULL JOIN (u b LEFT JOIN u d ON b.n = d.n) ON a.n = b.n + d.n",
    "SELECT a.n, b.n, d.n, e.n FROM u a JOIN (u b JOIN u d ON b.n = d.n) ON a.n = b.n + d.n JOIN u e ON e.n = a.n",
    "SELECT a.n, b.n, d.n, e.n FROM u e JOIN (u a JOIN (u b JOIN u d ON b.n = d.n) ON a.n = b.n + d.n) ON e.n = a.n",
    "SELECT a.n, b.n, d.n, e.n FROM u e JOIN u a ON e.n = a.n JOIN (u b JOIN u d ON b.n = d.n) ON a.n + e.n = b.n + d.n",
    "SELECT a.n, b.n, d.n, e.n FROM (u b JOIN u d ON b.n = d.n) JOIN (u e JOIN u a ON e.n = a.n) ON a.n + e.n = b.n",
    "SELECT a.n, b.n, d.n FROM u a CROSS JOIN u b CROSS JOIN u c JOIN u d ON d.n = b.n + c.n AND d.n - 1 = a.n",
    "SELECT a.n, s.x FROM u a JOIN (SELECT b.n + d.n AS x FROM u b JOIN u d ON b.n = d.n WHERE b.n < 5) s ON a.n = s.x",
    "SELECT a.n, b.k, d.k FROM u a JOIN (u b JOIN u d ON b.k = d.k) ON a.k = (b.k AND d.k)",
    "SELECT a.n FROM u a WHERE EXISTS (SELECT 1 FROM u b JOIN u d ON b.n = d.n WHERE a.n = b.n + d.n)",
    "SELECT a.n FROM u a WHERE a.n NOT IN (SELECT b.n + d.n FROM u b JOIN u d ON b.n = d.n)",
)
"""Joins whose keys need several inputs of a join below."""


@pytest.fixture(scope="module")
def numbers(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """The session, with a table `u` of numbers and conditions."""
    path = str(tmp_path_factory.mktemp("joins") / "u")
    spark.sql("SELECT * FROM VALUES (1, true), (2, false), (3, null), (4, true), (null, false) t(n, k)").write.parquet(
        path
    )
    spark.read.parquet(path).createOrReplaceTempView("u")
    return spark


@pytest.mark.parametrize("query", SPANNING)
def test_keys_over_several_inputs(numbers: SparkSession, query: str) -> None:
    assert_same_rows(numbers.sql(query))


@pytest.mark.parametrize(("tables", "joined_on"), [(2, pa.string_view()), (3, pa.string())])
def test_texts_that_joins_pass_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: int, joined_on: pa.DataType
) -> None:
    """As views, which DataFusion compares faster, they would keep ever more buffers from one join to the next."""
    path = str(tmp_path / "texts")
    spark.range(30).selectExpr("id", "string(id) AS s", "string(id % 3) AS t").write.parquet(path)
    found: list[tuple[bool, pa.Schema]] = []
    as_stored = ParquetReader._as_stored

    def noted(reader: ParquetReader, columns: Columns) -> pa.Schema:
        found.append(("t" in columns.used, as_stored(reader, columns)))
        return found[-1][1]

    monkeypatch.setattr(ParquetReader, "_as_stored", noted)
    read = spark.read.parquet(path)
    joined = read.where("t <> '1'").select("id", "s")
    for n in range(1, tables):
        joined = joined.join(read.select("id", F.col("s").alias(f"s{n}")), "id")
    assert_same_rows(joined, canonical=False)  # of how DataFusion reads files
    assert len(found) == tables
    assert {schema.field("s").type for _, schema in found} == {joined_on}
    assert [schema.field("t").type for used, schema in found if used] == [pa.string_view()]
