"""Several rows of one: as rows where the number is known, as an extension relation where it is not. And samples."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from rows import assert_canonical_rows, assert_same_rows, differences, other_session, plan_of, spark_table

from substrait_spark import check
from substrait_spark.algebra.extension_messages import Generate, Sample
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import spark as spark_engine
from substrait_spark.engines.generate import generated
from substrait_spark.engines.result import named
from substrait_spark.plan.message import build
from substrait_spark.reading.plan import read_plan

TABLE = """SELECT * FROM VALUES (1, 'a', array(1, 2), map('k', 1)), (2, NULL, array(), map()), (3, 'c', NULL, NULL),
  (NULL, '', array(NULL, 7), map('x', NULL, 'y', 2)) AS t(k, s, l, m)"""

PAIRS = """SELECT k, named_struct('x', a, 'y', b) AS p, array(b, a) AS l
  FROM VALUES (1, 3, 4), (2, NULL, 5), (NULL, 6, NULL) AS t(k, a, b)"""


@pytest.fixture(scope="module", autouse=True)
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("generate") / "t")
    spark.sql(TABLE).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("t")
    pairs = str(tmp_path_factory.mktemp("generate") / "pairs")
    spark.sql(PAIRS).write.parquet(pairs)
    spark.read.parquet(pairs).createOrReplaceTempView("pairs")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT stack(2, k, s, 7, 'x') FROM t",
        "SELECT k, a.* FROM t LATERAL VIEW stack(3, k, s, 7, 'x', 9) a",
        "SELECT explode(array(1, 2, k)) FROM t",
        "SELECT s, posexplode(array(k, NULL, 3)) FROM t",
        "SELECT k, explode_outer(array(k, 1)) FROM t",
        "SELECT k, explode(array(1, 2, 3)) FROM t",
        "SELECT explode(sequence(1, 5))",
        "SELECT k, posexplode(array('a', NULL)) FROM t",
        "SELECT explode(map('a', k, 'b', 2)) FROM t",
        "SELECT k, a.* FROM t LATERAL VIEW inline(array(struct(k AS x, s AS y), struct(1 AS x, 'q' AS y))) a",
        "SELECT e, count(*) FROM t LATERAL VIEW explode(array(k, 1)) x AS e WHERE e > 0 GROUP BY e",
        "SELECT k FROM (SELECT k, explode(array(k, 1)) AS e FROM t) WHERE e = 1 UNION ALL SELECT k FROM t",
        "SELECT * FROM (SELECT k, size(l) AS a, size(m) AS b FROM t) UNPIVOT (v FOR n IN (a, b))",
        "SELECT k, stack(4, 0.0D, -0.0D, CAST(k AS DOUBLE), 0.0D) FROM t",
        "SELECT k, stack(3, array(0.0D, -1D), array(-0.0D, -1D), array(1.5D)) FROM t",
        "SELECT k, stack(3, '', NULL, '') FROM t",
        "SELECT k, stack(3, p.x, p.y, k) FROM pairs",
        "SELECT k, explode(array(p.y, p.x)) FROM pairs",
        "SELECT k, stack(2, l[1], l[0]), p.x FROM pairs",
    ],
)
def test_known_number_of_rows(spark: SparkSession, query: str) -> None:
    df = spark.sql(query)
    assert_same_rows(df)
    plan_of(df)


@pytest.mark.parametrize(
    ("query", "outer"),
    [
        ("SELECT k, explode(l) FROM t", False),
        ("SELECT k, explode_outer(l) FROM t", True),
        ("SELECT posexplode(l) FROM t", False),
        ("SELECT k, posexplode_outer(m) FROM t", True),
        ("SELECT k, explode(m) FROM t", False),
        ("SELECT k, inline_outer(map_entries(m)) AS (a, b) FROM t", True),
        ("SELECT e FROM t LATERAL VIEW explode(split(s, ',')) x AS e WHERE e <> ''", False),
        ("SELECT k FROM t INTERSECT ALL SELECT k + 1 FROM t", False),
        ("SELECT k, s FROM (SELECT * FROM t UNION ALL SELECT * FROM t) EXCEPT ALL SELECT k, s FROM t", False),
        ("SELECT k, count(*) FROM t LATERAL VIEW posexplode(m) x AS p, a, b GROUP BY ALL", False),
    ],
)
def test_generate_relation(spark: SparkSession, query: str, outer: bool) -> None:
    df = spark.sql(query)
    details = [message for message in messages(plan_of(df)) if message.DESCRIPTOR.full_name == "google.protobuf.Any"]
    (detail,) = [Generate.FromString(message.value) for message in details]  # type: ignore[attr-defined]
    assert detail.outer is outer
    assert_same_rows(df)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, e FROM t LATERAL VIEW explode(l) a AS e WHERE e > (SELECT min(e) FROM t LATERAL VIEW explode(l) b AS e)",
        "SELECT e, f FROM t LATERAL VIEW explode(l) a AS e LATERAL VIEW OUTER explode(array_repeat(e, e)) b AS f",
        "SELECT a.e, b.e FROM (SELECT explode(l) AS e FROM t) a LEFT JOIN (SELECT explode_outer(l) AS e FROM t) b ON a.e = b.e",
    ],
)
def test_several_generators(spark: SparkSession, query: str) -> None:
    assert_same_rows(spark.sql(query))


def test_json_tuple_is_an_extension_relation(spark: SparkSession) -> None:
    df = spark.sql("SELECT json_tuple(s, 'a', 'b') FROM t")
    assert any(message.DESCRIPTOR.full_name == "google.protobuf.Any" for message in messages(plan_of(df)))
    assert_same_rows(df)


def test_json_tuple_in_spark(spark: SparkSession) -> None:
    texts = ['{"a": 1, "b": {"c": [2, null]}}', '{"a": null, "a": "x"}', "{", "", "null", '{"b": "\\u00e9"}', None]
    spark.createDataFrame([(n, text) for n, text in enumerate(texts)], "n int, j string").createOrReplaceTempView("j")
    for query in (
        "SELECT n, json_tuple(j, 'a', 'b', 'missing') FROM j",
        "SELECT n, a FROM j LATERAL VIEW OUTER json_tuple(j, 'a') AS a WHERE a IS NOT NULL OR n > 2",
        "SELECT n, a, b FROM j LATERAL VIEW json_tuple(j, if(n = 0, 'b', 'a'), 'a') AS a, b",
    ):
        df = spark.sql(query)
        found = spark_table(spark_engine.execute(plan_of(df), other_session(spark)))
        assert not differences(spark_table(df), found)


def test_a_struct_by_itself_in_spark(spark: SparkSession) -> None:
    df = spark.sql("SELECT k, inline(array(p)) FROM pairs")
    assert not differences(spark_table(df), spark_table(spark_engine.execute(plan_of(df), other_session(spark))))
    assert_same_rows(df)


def test_sample(spark: SparkSession) -> None:
    df = spark.table("t").sample(withReplacement=True, fraction=0.5, seed=3)
    (any_,) = [message for message in messages(plan_of(df)) if message.DESCRIPTOR.full_name == "google.protobuf.Any"]
    detail = Sample.FromString(any_.value)  # type: ignore[attr-defined]
    assert (detail.lower_bound, detail.upper_bound, detail.with_replacement, detail.seed) == (0.0, 0.5, True, 3)
    assert "Sample" in str(check(df, dialect="datafusion"))
    assert_same_rows(spark.table("t").sample(fraction=1.0, seed=3))  # all rows


def test_plans_name_their_extension_messages(spark: SparkSession) -> None:
    """Each type once, in the order of first use; and so does what is read from the plan and written anew."""
    exploded = spark.sql("SELECT a, explode(l) AS b FROM t LATERAL VIEW explode(l) AS a")
    plan = plan_of(exploded.sample(fraction=0.5, seed=3))
    prefix = "type.googleapis.com/substrait_spark"
    assert list(plan.expected_type_urls) == [f"{prefix}.Generate", f"{prefix}.Sample"]
    read = read_plan(plan)
    assert read.root is not None
    assert build(read.root, read.names) == plan
    assert not plan_of(spark.table("t")).expected_type_urls


def test_values_below_null_lists_are_nobodys() -> None:
    """An engine may leave values where a list is null."""
    values = pa.array([{"c0": n} for n in range(7)])
    offsets = pa.array([0, 2, 5, 7], pa.int32())
    full = pa.ListArray.from_arrays(offsets, values)
    second_is_null = pa.py_buffer(bytes([0b101]))
    lists = pa.ListArray.from_buffers(full.type, 3, [second_is_null, full.buffers()[1]], children=[values])
    assert lists.to_pylist() == [[{"c0": 0}, {"c0": 1}], None, [{"c0": 5}, {"c0": 6}]]

    renamed = named(pa.table({"x": lists}), ["x", "n"])
    assert renamed.to_pydict() == {"x": [[{"n": 0}, {"n": 1}], None, [{"n": 5}, {"n": 6}]]}
    rows = generated(pa.table({"id": [1, 2, 3], "x": lists}), Generate(whole_elements=True, outer=True))
    assert rows.to_pydict()["c0"] == [1, 1, 2, 3, 3]
    assert [row and row["c0"] for row in rows.to_pydict()["c1"]] == [0, 1, None, 5, 6]


def test_elements_without_a_type(spark: SparkSession) -> None:
    assert_same_rows(spark.sql("SELECT id, explode_outer(array()) FROM range(2)"))


def test_entries_of_a_lateral_join_in_spark(spark: SparkSession) -> None:
    """Spark computes them in place where it has no other condition: it joins by no maps."""
    assert_canonical_rows(spark.sql("SELECT k, x.* FROM t, LATERAL explode(m) AS x"), "analyzed")
