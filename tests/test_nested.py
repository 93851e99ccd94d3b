"""Structs, lists and maps: names and positions, in every place that brings several of them together."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from releases import later
from rows import assert_engine_raises, assert_same_rows, plan_of

from substrait_spark import UnsupportedPlanError, check
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import spark as spark_engine

TABLE = """SELECT * FROM VALUES
  (1, named_struct('x', 1, 'y', 'a'), array(named_struct('x', 1, 'y', 'b')), map('k', 1), array(1, NULL, 3)),
  (2, NULL, array(NULL, named_struct('x', 2, 'y', NULL)), map(), array()),
  (3, named_struct('x', NULL, 'y', ''), NULL, NULL, NULL),
  (4, named_struct('x', 1, 'y', 'a'), array(), map('k', NULL, 'j', 2), array(7, 7)) AS t(k, s, l, m, a)"""


@pytest.fixture(scope="module", autouse=True)
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("nested") / "t")
    spark.sql(TABLE).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("t")
    # Each file has one row, so that its columns are constant in it.
    single = str(tmp_path_factory.mktemp("nested") / "single")
    spark.range(1, 5).repartition(4).selectExpr("int(id) AS p", "int(id) % 2 AS q").write.partitionBy("q").parquet(
        single
    )
    spark.read.parquet(single).createOrReplaceTempView("single")


QUERIES = [
    "SELECT k, s, l, m, a FROM t",
    "SELECT s.x, s.y, l[0].y FROM t WHERE size(l) > 0",
    "SELECT k FROM t WHERE s.x = 1 AND s.y IS NOT NULL",
    "SELECT CASE WHEN k > 1 THEN s END, IF(k > 2, NULL, l), coalesce(s, named_struct('x', 9, 'y', 'z')) FROM t",
    "SELECT s.x, count(*), sum(k) FROM t GROUP BY s.x",
    "SELECT s, count(*) FROM t GROUP BY s",
    "SELECT DISTINCT a FROM t",
    "SELECT p.k, q.k AS other FROM t p JOIN t q ON p.s = q.s",
    "SELECT p.k, q.k AS other FROM t p LEFT JOIN t q ON p.s <=> q.s AND p.k < q.k",
    "SELECT k, s FROM t ORDER BY s DESC, k",
    "SELECT s FROM t UNION ALL SELECT named_struct('x', k, 'y', 'new') FROM t",
    # Spark's optimizer leaves the second input alone, by whose names no user knows the fields.
    "SELECT * FROM (SELECT 1 AS v, s FROM t UNION ALL SELECT DISTINCT 2, named_struct('p', k, 'q', 'z') FROM t) WHERE v > 1",
    "SELECT DISTINCT d, n, s FROM (SELECT DISTINCT k AS d FROM t) JOIN (SELECT * FROM t CROSS JOIN (VALUES (1), (2)) u(n)) ON d = k",
    "SELECT k, row_number() OVER (PARTITION BY s ORDER BY k) FROM t",
    "SELECT s IN (named_struct('x', 1, 'y', 'a'), named_struct('x', 2, 'y', CAST(NULL AS STRING))) FROM t",
    "SELECT array(named_struct('x', 1)), CAST(NULL AS STRUCT<x: INT>), array(s, NULL) FROM t",
    "SELECT named_struct('a', named_struct('b', s, 'c', array(s))).a.c[0].y FROM t",
    "SELECT transform(a, v -> transform(a, w -> v < w OR w = k)) FROM t",
    "SELECT k FROM t WHERE exists(a, v -> v > k)",
    "SELECT k, transform(transform(transform(a, v -> coalesce(v, 1)), v -> v + k), v -> v * 2) FROM t",
    "SELECT k, aggregate(transform(a, v -> coalesce(v, 1)), 0, (sum, v) -> sum + v) FROM t",
    "SELECT k, filter(transform(a, v -> v IS NULL), v -> v), exists(transform(a, v -> 5), v -> v > k) FROM t",
    "SELECT k, transform(l, v -> v) FROM (SELECT k, transform(a, v -> CASE WHEN v > 1 THEN 'x' ELSE '' END) AS l FROM t)",
    # A batch of nulls, for which DataFusion computes no lambda.
    "SELECT k, transform(a, v -> coalesce(v, 1)), zip_with(a, array(k), (v, w) -> 'x') FROM t WHERE a IS NULL",
    # Keys that are constant in a file, and others with nulls inside, or with the other zero.
    "SELECT k, p, q FROM t JOIN single ON array(s.x, k) = array(q, p)",
    "SELECT k, named_struct('x', s.x) FROM t INTERSECT SELECT p, named_struct('x', q) FROM single",
    "SELECT k FROM t WHERE (k, array(s.x)) IN (SELECT p, array(q) FROM single)",
    "SELECT k, p FROM t LEFT JOIN single ON array(s.x) = array(q) AND k > 10 / p",
    "SELECT k, p FROM (SELECT k, -0.0D AS zero FROM t) JOIN single ON zero = CAST(q AS DOUBLE) WHERE k / p > 0.1",
    "SELECT k, p FROM t, single WHERE k / p > 0.1 AND array(s.x, k) = array(q, p)",
]


@pytest.mark.parametrize("query", QUERIES)
def test_rows(spark: SparkSession, query: str) -> None:
    df = spark.sql(query)
    assert_same_rows(df)
    plan_of(df)


def test_long_names_beside_structs(spark: SparkSession) -> None:
    query = "SELECT k AS e0, s, l FROM t"
    for n in range(12):
        query = f"SELECT (e{n} * e{n} + e{n} * {n} - e{n}) % 7 AS e{n + 1}, s, l FROM ({query})"
    assert_same_rows(spark.sql(f"SELECT e12, s.x, l, s FROM ({query}) WHERE s.y <> ''"))


def test_struct_updates(spark: SparkSession) -> None:
    s = F.col("s")
    df = spark.table("t").select(
        "k",
        s.withField("z", F.col("k") + 1).alias("added"),
        s.withField("x", F.col("k").cast("string")).alias("replaced"),
        s.dropFields("y").alias("dropped"),
        F.struct(s.alias("in")).alias("o").withField("in.x", F.col("k")).alias("deep"),
    )
    assert_same_rows(df)
    plan_of(df)


def test_references_are_segments(spark: SparkSession) -> None:
    (project,) = [
        message
        for message in messages(plan_of(spark.sql("SELECT s, s.y, get(a, 1), m['k'], get(reverse(a), 1) FROM t")))
        if message.DESCRIPTOR.name == "ProjectRel"
    ]
    field, element, key, part = [expression.selection for expression in project.expressions]  # type: ignore[attr-defined]
    assert field.direct_reference.struct_field.child.struct_field.field == 1
    assert element.direct_reference.struct_field.child.list_element.offset == 1
    assert key.direct_reference.struct_field.child.map_key.map_key.string == "k"
    assert part.direct_reference.list_element.offset == 1
    assert part.expression.HasField("scalar_function")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT CAST(s AS STRUCT<y: INT, x: STRING>).x FROM t",
        "SELECT CAST(s AS STRUCT<y: INT, x: STRING>) FROM t",
        "SELECT s FROM t UNION ALL SELECT named_struct('y', k, 'x', 'new') FROM t",
        "SELECT named_struct('y', k, 'x', 'new') AS s FROM t UNION ALL SELECT s FROM t",
        later("4.0", "SELECT s = named_struct('a', 1, 'b', 'a') FROM t"),
        "SELECT CASE WHEN k > 1 THEN s ELSE named_struct('X', 1, 'Y', 'a') END FROM t",
        "SELECT CAST(l AS ARRAY<STRUCT<y: INT, x: STRING>>) AS a, l FROM t",
        "SELECT CAST(l AS ARRAY<STRUCT<y: BIGINT, x: STRING>>) AS a, CAST(s AS STRUCT<p: DOUBLE, q: STRING>) AS b FROM t",
        "SELECT CAST(array(l, NULL) AS ARRAY<ARRAY<STRUCT<a: INT, b: STRING>>>) AS a FROM t",
        "SELECT try_cast(l AS ARRAY<STRUCT<a: TINYINT, b: INT>>) AS a FROM t",
        "SELECT l FROM t UNION ALL SELECT CAST(l AS ARRAY<STRUCT<p: INT, q: STRING>>) FROM t",
        "SELECT inline(CAST(l AS ARRAY<STRUCT<p: STRING, q: STRING>>)) FROM t",
    ],
)
def test_fields_by_position(spark: SparkSession, query: str) -> None:
    """Spark matches these fields by position, DataFusion by name: it gets structs with the same names."""
    df = spark.sql(query)
    assert_same_rows(df)
    plan_of(df)


def test_fields_in_maps_by_position(spark: SparkSession) -> None:
    df = spark.sql("SELECT CAST(map(k, s) AS MAP<INT, STRUCT<y: INT, x: STRING>>) AS m FROM t WHERE k > 0")
    plan_of(df)
    (problem,) = check(df, dialect="datafusion")
    assert "by the names of their fields" in problem.reason
    assert problem.hint


@pytest.mark.parametrize("key", ["array(k)", "s", "struct(k AS a)", "k, array(k) DESC"])
def test_peers_by_nested_keys(spark: SparkSession, key: str) -> None:
    """DataFusion sorts by such keys, and takes each row for its only peer."""
    for frame in ("ROWS UNBOUNDED PRECEDING", "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"):
        assert_same_rows(spark.sql(f"SELECT k, min(k) OVER (ORDER BY {key}, k {frame}) FROM t"))
    df = spark.sql(f"SELECT count(*) OVER (ORDER BY {key}) FROM t")
    plan_of(df)
    (problem,) = check(df, dialect="datafusion")
    assert "frames by range" in problem.reason


def test_equal_keys_of_maps(spark: SparkSession) -> None:
    df = spark.sql("SELECT map(k, 1, 2, 2) FROM t")
    assert_engine_raises(df)
    (option,) = _options(df)
    assert (option.name, list(option.preference)) == ("duplicate_keys", ["ERROR"])
    spark.conf.set("spark.sql.mapKeyDedupPolicy", "LAST_WIN")
    try:
        last = spark.sql("SELECT map(k, 1, 2, 2) FROM t")
        (option,) = _options(last)
        assert list(option.preference) == ["LAST_WINS"]
        assert not check(last, dialect="datafusion")
        plan = plan_of(last)
        assert spark_engine.execute(plan, spark).collect() == last.collect()
    finally:
        spark.conf.unset("spark.sql.mapKeyDedupPolicy")
    with pytest.raises(UnsupportedPlanError, match="is not LAST_WIN, which the plan wants of equal keys"):
        spark_engine.execute(plan, spark)


def _options(df: object) -> list:  # type: ignore[type-arg]
    return [message for message in messages(plan_of(df)) if message.DESCRIPTOR.name == "FunctionOption"]  # type: ignore[arg-type]


def test_lists_of_structs_in_their_order(spark: SparkSession) -> None:
    rows = [(1, "b", 3), (1, "a", None), (1, None, 5), (2, "z", None), (2, "z", 1), (1, "", -1), (3, None, None)]
    structs = spark.createDataFrame(rows, "k int, s string, n int").groupBy("k")
    assert_same_rows(structs.agg(F.expr("array_sort(collect_list(struct(n, s)))").alias("l")))
