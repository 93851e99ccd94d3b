"""Rows that tie: Spark keeps to the order below where it can, and so do plans."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow as pa
import pytest
import slow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from releases import later, since
from rows import assert_same_rows, canonical_rows, lowered_rows

from substrait_spark import check
from substrait_spark.engines import datafusion

SO_FAR = "(ORDER BY g ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"

RESULTS = {
    "row_number": "row_number() OVER (ORDER BY 1)",
    "row_number in partitions": "row_number() OVER (PARTITION BY g ORDER BY g)",
    "row_number among ties": "row_number() OVER (ORDER BY g)",
    "lag": "lag(v) OVER (ORDER BY 1)",
    "lead": "lead(id, 2) OVER (ORDER BY g)",
    "ntile": "ntile(3) OVER (ORDER BY 1)",
    "nth_value": "nth_value(id, 2) OVER (PARTITION BY g ORDER BY g ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    "first": "first(v) OVER (PARTITION BY g)",
    "last": "last(v) OVER (PARTITION BY g)",
    "last that is known": "last(v) IGNORE NULLS OVER (PARTITION BY g)",
    "last known so far": f"last(v) IGNORE NULLS OVER {SO_FAR}",
    "list": "collect_list(id) OVER (PARTITION BY g)",
    "sum so far": f"sum(id) OVER {SO_FAR}",
    "neighbours": "sum(id) OVER (ORDER BY g ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "rank beside row_number": "rank() OVER (ORDER BY g) * 1000 + row_number() OVER (ORDER BY g)",
    "by range": "sum(id) OVER (ORDER BY g)",
}

OTHERS_ALIKE = ("row_number in partitions", "row_number among ties", "lead", "last", "neighbours", "last known so far")
"""Results that hang on the order below as another does."""


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    values = random.Random(5)
    data = [(n, values.choice("abcd"), values.choice([None, 1, 2, 3])) for n in range(300)]
    return spark.createDataFrame(data, "id int, g string, v int")


@pytest.mark.parametrize("name", slow.some(RESULTS, lambda name: name in OTHERS_ALIKE))
def test_windows_above_a_sort(rows: DataFrame, name: str) -> None:
    ordered = rows.orderBy(F.desc("v"), "id")
    assert_same_rows(ordered.withColumn("x", F.expr(RESULTS[name])))
    assert_same_rows(ordered.where("id > 7").coalesce(1).withColumn("x", F.expr(RESULTS[name])))


def test_windows_above_windows_and_limits(rows: DataFrame) -> None:
    ordered = rows.orderBy(F.desc("v"), "id")
    assert_same_rows(ordered.select("*", *[F.expr(result).alias(name) for name, result in RESULTS.items()]))
    assert_same_rows(ordered.limit(20).withColumn("x", F.expr(RESULTS["row_number"])))


def test_windows_in_an_order_of_null(spark: SparkSession, rows: DataFrame) -> None:
    rows.createOrReplaceTempView("tied_rows")
    windows = "row_number() OVER (ORDER BY (SELECT NULL)) AS n, rank() OVER (PARTITION BY g ORDER BY NULL) AS r"
    assert_same_rows(spark.sql(f"SELECT *, {windows} FROM (SELECT * FROM tied_rows ORDER BY v, id)"))


def test_columns_that_are_gone(rows: DataFrame) -> None:
    ordered = rows.orderBy(F.desc("v"), "id")
    assert_same_rows(ordered.select("g").withColumn("n", F.expr(RESULTS["row_number"])))
    assert_same_rows(ordered.select("g", "v").groupBy("g").agg(F.collect_list("v"), F.last("v")))
    assert_same_rows(ordered.where("id > 7").select("id", F.length("g").alias("k")).agg(F.collect_list("k")))


ORDERED = "(SELECT * FROM tied_rows ORDER BY v, id)"

ABOVE_EXPANDS_AND_GENERATES = {
    "rollup": f"SELECT g, collect_list(id) FROM {ORDERED} GROUP BY ROLLUP(g)",
    "cube": f"SELECT g, v, first(id), last(id) FROM {ORDERED} GROUP BY CUBE(g, v)",
    "distinct counts": f"SELECT g, collect_list(id), count(DISTINCT v), count(DISTINCT id % 5) FROM {ORDERED} GROUP BY g",
    "several lists": "SELECT g, collect_list(id), collect_list(v) FROM (SELECT * FROM tied_rows ORDER BY v + 1, id) GROUP BY g",
    "explode": f"SELECT g, collect_list(x) FROM (SELECT g, explode(array(id, v, -id)) AS x FROM {ORDERED}) GROUP BY g",
    "explode of a map": f"SELECT first(k) FROM (SELECT explode(map(id, v, -1 - id, length(g))) AS (k, e) FROM {ORDERED})",
    "posexplode": f"""
        SELECT g, collect_list(y) FROM (
            SELECT g, y FROM (SELECT g, explode(sequence(0, id % 4)) AS x FROM {ORDERED})
            LATERAL VIEW OUTER posexplode(filter(sequence(0, x), e -> e <> 2)) AS p, y)
        GROUP BY g""",
    "window above": f"SELECT g, lag(x) OVER (PARTITION BY g ORDER BY 1) FROM (SELECT g, explode(array(id, v)) AS x FROM {ORDERED})",
    "a key twice": "SELECT g, listagg(string(id), ',') WITHIN GROUP (ORDER BY v, v DESC, id, v) FROM tied_rows GROUP BY g",
    "distinct values": "SELECT g, collect_list(DISTINCT v + 1) FROM (SELECT * FROM tied_rows ORDER BY v + 1 DESC) GROUP BY g",
}


@pytest.mark.parametrize(
    "name",
    [later("4.0", name) if "listagg" in query else name for name, query in ABOVE_EXPANDS_AND_GENERATES.items()],
)
def test_orders_go_through_expands_and_generates(spark: SparkSession, rows: DataFrame, name: str) -> None:
    rows.createOrReplaceTempView("tied_rows")
    assert_same_rows(spark.sql(ABOVE_EXPANDS_AND_GENERATES[name]))


def test_rows_of_one_row_stay_together_among_ties(spark: SparkSession) -> None:
    """Which of the tied rows comes first, Spark leaves open; that theirs don't mix, it doesn't."""
    tied = spark.range(8).selectExpr("0 AS k", "array(id, id, id) AS a").orderBy("k")
    listed = tied.selectExpr("explode(a) AS e").agg(F.collect_list("e").alias("l"))
    for table in (lowered_rows(listed), canonical_rows(listed)):
        (values,) = table.column("l").to_pylist()
        assert [values[n] for n in range(0, 24, 3) for _ in range(3)] == values


ORDER_LOST = {
    "union": f"SELECT g, collect_list(id) FROM (SELECT * FROM {ORDERED} UNION ALL SELECT * FROM {ORDERED}) GROUP BY g",
    "inline": f"SELECT collect_list(x) FROM (SELECT inline(array(struct(id AS x), struct(v AS x))) FROM {ORDERED})",
    "distinct values": "SELECT g, collect_list(DISTINCT v) FROM (SELECT * FROM tied_rows ORDER BY id) GROUP BY g",
}


@pytest.mark.parametrize("name", ORDER_LOST)
def test_orders_that_nothing_tells(spark: SparkSession, rows: DataFrame, name: str) -> None:
    rows.createOrReplaceTempView("tied_rows")
    (problem,) = check(spark.sql(ORDER_LOST[name]))
    assert (
        "which a sort below gives, and no column tells" in problem.reason or "which no column tells" in problem.reason
    )


def test_lists_above_a_window_are_in_its_order(rows: DataFrame) -> None:
    numbered = rows.withColumn("n", F.expr("row_number() OVER (PARTITION BY g ORDER BY v DESC, id)"))
    lists = [F.collect_list("id"), F.first("id"), F.last("id")]
    assert_same_rows(numbered.groupBy("g").agg(*lists))
    assert_same_rows(numbered.where("n < 9").groupBy("g").agg(*lists))


@since("4.0", "listagg")
def test_distinct_lists_beside_other_orders(spark: SparkSession, rows: DataFrame) -> None:
    rows.createOrReplaceTempView("tied_rows")
    listed = "listagg(DISTINCT g, ',') WITHIN GROUP (ORDER BY g {order})"
    both = f"SELECT listagg(g, ',') WITHIN GROUP (ORDER BY g), {listed} FROM tied_rows"
    assert_same_rows(spark.sql(both.format(order="")))
    assert "in one order only" in str(check(spark.sql(both.format(order="DESC")), dialect="datafusion"))


@pytest.mark.parametrize("call", ["last(id)", "first(v)", "collect_list(id)", later("4.0", "listagg(string(id), ',')")])
def test_orders_that_spark_does_not_keep_beside_distinct_values(
    spark: SparkSession, rows: DataFrame, call: str
) -> None:
    """It groups by the distinct values first, unless there are several aggregates of such."""
    rows.createOrReplaceTempView("tied_rows")
    query = f"SELECT g, {call}, count(DISTINCT v) AS n FROM {ORDERED} GROUP BY g"
    (problem,) = check(spark.sql(query))
    assert "does not keep beside an aggregate of distinct values" in problem.reason
    assert_same_rows(spark.sql(query.replace("count(DISTINCT v)", "count(DISTINCT v), count(DISTINCT id % 5)")))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM (SELECT * FROM twins UNION ALL SELECT * FROM twins) ORDER BY v, w, id LIMIT 40",
        "SELECT * FROM (SELECT * FROM twins UNION ALL SELECT id, 1, 2 FROM twins) ORDER BY w, id DESC, v LIMIT 40",
        "SELECT * FROM (SELECT *, v AS u FROM (SELECT * FROM twins UNION ALL SELECT * FROM twins)) ORDER BY u, id, v",
    ],
)
def test_sorts_of_unions_by_equal_columns(spark: SparkSession, rows: DataFrame, query: str) -> None:
    pairs = rows.alias("a").join(rows.where("id < 20").alias("b"), F.expr("a.v = b.v AND a.v > 0"))
    pairs.selectExpr("a.id", "a.v", "b.v AS w").createOrReplaceTempView("twins")
    assert_same_rows(spark.sql(query), ordered=True)


def test_equal_columns_of_unions(spark: SparkSession, rows: DataFrame) -> None:
    pairs = rows.alias("a").join(rows.where("id < 20").alias("b"), F.expr("a.v = b.v AND a.v > 0"))
    pairs = pairs.selectExpr("a.id", "a.v", "b.v AS w")
    union = pairs.union(pairs)
    assert_same_rows(union.groupBy("v", "w").count())
    assert_same_rows(union.union(pairs.groupBy("id", "v", "w").count().drop("count")).groupBy("v", "w").count())
    assert_same_rows(union.selectExpr("sum(id) OVER (PARTITION BY w ORDER BY v, id) AS s"))
    assert_same_rows(
        union.selectExpr("id", "v AS u", "v").orderBy("v", "u", "id").groupBy("v").agg(F.collect_list("u"))
    )


CUT = "(SELECT * FROM ordered_rows ORDER BY v DESC, id LIMIT 250)"

OF_SEVERAL_BATCHES = {
    "computed column": "SELECT id + 1 AS x FROM (SELECT * FROM ordered_rows ORDER BY v, id DESC)",
    "computed column above a limit": f"SELECT id + 1 AS x FROM {CUT}",
    "filter above a limit": f"SELECT id, g, g AS h FROM {CUT} WHERE g <> 'a'",
    "limits around a filter": f"SELECT id + 1 AS x FROM {CUT} WHERE g <> 'a' LIMIT 7",
    "offsets around a filter": f"SELECT id + 1 AS x FROM {CUT} WHERE g <> 'a' LIMIT 7 OFFSET 4",
    "offset with a count": "SELECT id FROM ordered_rows ORDER BY v, id LIMIT 200 OFFSET 5",
    "computed columns above an offset": "SELECT id + 1 AS x FROM (SELECT * FROM ordered_rows ORDER BY v, id OFFSET 5)",
    "what raises for a row that is cut off": "SELECT id, 9 div (v - 1) AS x FROM (SELECT * FROM ordered_rows ORDER BY v DESC NULLS LAST, id LIMIT 100)",
    "several limits": f"SELECT id + 1 AS x FROM (SELECT * FROM {CUT} WHERE g <> 'a' ORDER BY id LIMIT 50) WHERE v > 1",
    "computed keys": "SELECT id + 1 AS x FROM (SELECT * FROM ordered_rows ORDER BY abs(id - 150), v + 1, id DESC NULLS LAST)",
    "keys of structs": "SELECT id + 1 AS x FROM (SELECT * FROM ordered_rows ORDER BY struct(g, id))",
    "explode": f"SELECT e FROM {CUT} LATERAL VIEW explode(array(id, v)) t AS e",
    "explode among ties": "SELECT e + 1 AS e FROM (SELECT id, array(id, id) AS l FROM ordered_rows ORDER BY 1 LIMIT 250) LATERAL VIEW explode(l) t AS e",
    "limit above explode": f"SELECT e + 1 AS x FROM {CUT} LATERAL VIEW OUTER posexplode(array(id, v)) t AS p, e WHERE g <> 'a' LIMIT 9",
    "explode twice": f"SELECT e + f AS x FROM {CUT} LATERAL VIEW explode(array(id, v)) t AS e LATERAL VIEW explode(array(1, e)) u AS f WHERE g <> 'a'",
    "explode of literals": f"SELECT id + e AS x FROM {CUT} LATERAL VIEW posexplode(array(5, 1, 3)) t AS p, e WHERE g <> 'a'",
    "explode of a column": "SELECT e + 1 AS x FROM (SELECT *, sequence(0, id % 4) AS l FROM ordered_rows ORDER BY v, id LIMIT 250) LATERAL VIEW explode(l) AS e",
    "stack": f"SELECT stack(2, id, v, -id, 5) AS (a, b) FROM {CUT} WHERE g <> 'a'",
    "inline": f"SELECT x + 1 AS x, y FROM (SELECT inline(array(struct(id AS x, g AS y), struct(v AS x, g AS y))) FROM {CUT})",
    "fields of JSON": f"SELECT a, id + 1 AS id FROM {CUT} LATERAL VIEW json_tuple('{{\"a\": ' || id || '}}', 'a') AS a",
    "scalar subquery": f"SELECT id + (SELECT max(id) FROM ordered_rows) AS x FROM {CUT}",
    "existence": f"SELECT id + 1 AS x FROM {CUT} WHERE EXISTS (SELECT * FROM ordered_rows WHERE id = 3)",
    "groups": "SELECT g || 'x' AS x, c FROM (SELECT g, count(*) AS c FROM ordered_rows GROUP BY g ORDER BY c, g)",
    "windows": "SELECT n + 1 AS x FROM (SELECT row_number() OVER (ORDER BY v, id) AS n FROM ordered_rows ORDER BY n DESC)",
    "union": "SELECT -id AS x FROM (SELECT * FROM ordered_rows UNION ALL SELECT -1 - id, g, v FROM ordered_rows ORDER BY v, id)",
    "windows below a limit": "SELECT id, n FROM (SELECT id, v, row_number() OVER (ORDER BY v, id) AS n FROM ordered_rows ORDER BY v, id LIMIT 250) WHERE id > 9",
    "filter in another order": "SELECT v, g FROM (SELECT v, g, id FROM (SELECT v, id, g FROM ordered_rows ORDER BY id LIMIT 250) WHERE v > 1) ORDER BY id",
    "limit in another order": "SELECT v, g FROM (SELECT v, g, id FROM (SELECT v, id, g FROM ordered_rows ORDER BY id LIMIT 250) WHERE v > 1 ORDER BY id LIMIT 99) WHERE v < 3 ORDER BY id LIMIT 7",
    "intervals": "SELECT make_dt_interval(id) AS x, id FROM ordered_rows ORDER BY v, id",
    "intervals above a limit": f"SELECT x FROM (SELECT make_dt_interval(id) AS x, g FROM {CUT}) WHERE g <> 'a' LIMIT 99",
    "rows counted after a limit": f"SELECT sum(id) AS x FROM (SELECT * FROM {CUT} WHERE g <> 'a' LIMIT 7)",
}


@pytest.mark.parametrize("name", OF_SEVERAL_BATCHES)
def test_orders_of_several_batches(spark: SparkSession, rows: DataFrame, name: str) -> None:
    rows.createOrReplaceTempView("ordered_rows")
    df = spark.sql(OF_SEVERAL_BATCHES[name])
    expected = df.toArrow().to_pylist()
    for settings in ({"batch_size": 2, "target_partitions": 3}, {"target_partitions": 1}):
        ctx = datafusion.context()
        for setting, value in settings.items():
            ctx.sql(f"SET datafusion.execution.{setting} = {value}").collect()
        for _ in range(3):
            assert datafusion.collect(df, ctx=ctx).to_pylist() == expected


@pytest.mark.parametrize(
    "name", [name for name, query in OF_SEVERAL_BATCHES.items() if "explode" in query or "stack" in query]
)
def test_orders_of_what_several_rows_are_made_of(spark: SparkSession, rows: DataFrame, name: str) -> None:
    rows.createOrReplaceTempView("ordered_rows")
    df = spark.sql(OF_SEVERAL_BATCHES[name] + (" LIMIT 50" if "LIMIT 9" not in OF_SEVERAL_BATCHES[name] else ""))
    assert canonical_rows(df).to_pylist() == df.toArrow().to_pylist()


def test_functions_over_rows_of_several_batches(spark: SparkSession, rows: DataFrame) -> None:
    def numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(batches)
        yield from table.append_column("n", pa.array(range(len(table)), pa.int32())).to_batches()

    cut = rows.orderBy("v", F.desc("id")).limit(250).where("g <> 'a'").coalesce(1)
    df = cut.mapInArrow(numbered, "id int, g string, v int, n int")
    ctx = datafusion.context()
    ctx.sql("SET datafusion.execution.batch_size = 2").collect()
    assert datafusion.collect(df, ctx=ctx, functions=[numbered]).to_pylist() == df.toArrow().to_pylist()
