"""Groups of every kind on random data: pivots, grouping sets, DISTINCT aggregates, multisets; windows upon each other."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from releases import later, since
from rows import assert_same_rows, plan_of

from substrait_spark import check

SCHEMA = "id int, k int, s string, d double, c decimal(5,2), b boolean"


def rows(generator: random.Random, first: int, count: int) -> list[tuple[Any, ...]]:
    """Rows with an id of their own and columns of few values, nulls among them."""
    values: list[list[Any]] = [
        [None, 1, 2, 3, 4],
        [None, "a", "b", "", "é", "A"],
        [None, 0.0, -0.0, 1.5, float("nan"), float("inf"), -2.0],
        [None, Decimal("1.10"), Decimal("-3.25"), Decimal("999.99")],
        [None, True, False],
    ]
    return [(first + n, *map(generator.choice, values)) for n in range(count)]


@pytest.fixture(scope="module", autouse=True)
def _tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    generator = random.Random(7)
    for name, first, count in (("x", 0, 120), ("y", 100, 40)):
        path = str(tmp_path_factory.mktemp("grouping") / name)
        # Files, so that the optimizer can't compute the query itself.
        spark.createDataFrame(rows(generator, first, count), SCHEMA).repartition(1).write.parquet(path)
        spark.read.parquet(path).createOrReplaceTempView(name)


def same(df: DataFrame, tolerance: float | None = None, empty: bool = False) -> None:
    """The canonical plan is well-formed, and DataFusion has Spark's rows."""
    plan_of(df)
    assert_same_rows(df, tolerance=tolerance, empty=empty)


# ---- pivots


PIVOTS = {
    "values": lambda x: x.groupBy("k").pivot("s", ["a", "b", "none"]).agg(F.sum("c")),
    "no values": lambda x: x.groupBy("k").pivot("s").agg(F.sum("c").alias("t"), F.count("id"), F.max("d")),
    "booleans": lambda x: x.groupBy("k", "s").pivot("b").count(),
    "doubles": lambda x: x.groupBy("k").pivot("d", [-0.0, 1.5, float("nan")]).agg(F.avg("id")),
    "all doubles": lambda x: x.groupBy("k").pivot("d").agg(F.avg("id")),
    "dates": lambda x: (
        x.selectExpr("k", "id", "date_add(DATE'2024-01-01', k) AS t").groupBy("k").pivot("t").agg(F.max("id"))
    ),
    "no groups": lambda x: x.groupBy().pivot("k").agg(F.min("s"), F.avg("c")),
    "collections": lambda x: (
        x.groupBy("k").pivot("b", [True, False]).agg(F.sort_array(F.collect_list("s")), F.countDistinct("s"))
    ),
}


@pytest.mark.parametrize("pivot", PIVOTS)
def test_pivot(spark: SparkSession, pivot: str) -> None:
    same(PIVOTS[pivot](spark.table("x")))


def test_pivot_in_sql(spark: SparkSession) -> None:
    pivoted = "PIVOT (sum(c) AS t, count(*) AS n FOR s IN ('a' AS a, 'b' AS b, NULL AS n))"
    same(spark.sql(f"SELECT * FROM (SELECT k, s, c FROM x) {pivoted}"))
    same(spark.sql("SELECT * FROM (SELECT k, s, id FROM x) PIVOT (max(id) FOR k IN (1, 2, 9))"))


PIVOTS_OF_VALUES = {
    "decimals": "SELECT * FROM (SELECT k, c, id FROM x) PIVOT (max(id) FOR c IN (1.1, -3.25BD, 7BD, NULL))",
    "several columns": "SELECT * FROM (SELECT k, s, b, id FROM x) PIVOT (max(id) AS m, count(*) AS n "
    "FOR (k, s) IN ((1, 'a') AS a, (2, NULL) AS b, (9, 'x')))",
}


@pytest.mark.parametrize("query", PIVOTS_OF_VALUES.values(), ids=PIVOTS_OF_VALUES.keys())
def test_pivots_of_values(spark: SparkSession, query: str) -> None:
    same(spark.sql(query))


def test_averages_of_short_decimals(spark: SparkSession) -> None:
    """Spark averages them in doubles; what can be told of their digits is more than what the type says."""
    calls = [
        "avg(CASE WHEN b THEN 1.0 ELSE 0 END)",
        "avg(CASE WHEN b THEN 1.00 WHEN d > 1 THEN -2.5 END)",
        "avg(if(s > 'a', 0.5, 1))",
        "avg(if(id % 16 = 0, 0.1, 0))",
        "avg(CAST(k AS SMALLINT) * 1.0BD)",
    ]
    same(spark.sql(f"SELECT k, {', '.join(calls)} FROM x GROUP BY k"))
    same(spark.sql(f"SELECT {', '.join(calls)} FROM x"))


# ---- grouping sets


@pytest.mark.parametrize(
    ("sets", "keys"),
    [
        ("ROLLUP(k, s)", "ks"),
        ("CUBE(k, b, s)", "kbs"),
        ("GROUPING SETS ((k, s), (s), (), ())", "ks"),
        ("GROUPING SETS ((k, d), (d))", "kd"),
        ("k, ROLLUP(s, b)", "ksb"),
        ("CUBE(k), ROLLUP(s)", "ks"),
    ],
)
def test_grouping_sets(spark: SparkSession, sets: str, keys: str) -> None:
    groupings = ", ".join(f"{key}, grouping({key})" for key in keys)
    results = "grouping_id(), count(*), sum(c), count(DISTINCT s), max(id), avg(id)"
    same(spark.sql(f"SELECT {groupings}, {results} FROM x GROUP BY {sets}"))


def test_grouping_sets_by_api_and_of_their_own_keys(spark: SparkSession) -> None:
    x = spark.table("x")
    same(x.rollup("k", "s").agg(F.grouping_id().alias("g"), F.sum("id")))
    same(x.cube("k", "d").agg(F.grouping("d").alias("g"), F.countDistinct("s")))
    same(spark.sql("SELECT k, s, sum(id) FROM x GROUP BY ROLLUP(k, s) HAVING grouping(s) = 1"))
    same(spark.sql("SELECT k + 1, sum(k), count(k) FROM x GROUP BY ROLLUP(k + 1)"))
    same(spark.sql("SELECT k, count(*) FROM x WHERE id < 0 GROUP BY ROLLUP(k)"), empty=True)


# ---- several DISTINCT aggregates


@pytest.mark.parametrize("group", ["", "k", "d", "s, b"])
def test_several_distinct_aggregates(spark: SparkSession, group: str) -> None:
    results = [
        "count(DISTINCT s)",
        "count(DISTINCT d)",
        "count(DISTINCT s, b)",
        "sum(DISTINCT c)",
        "avg(DISTINCT c)",
        "sum(c)",
        "avg(c)",
        "sum(id)",
        "max(s)",
        "count(DISTINCT s) FILTER (WHERE b)",
        "sum(DISTINCT c) FILTER (WHERE id < 0)",
        "max(id) FILTER (WHERE id < 50)",
        "size(collect_list(named_struct('s', s)))",
    ]
    columns = ", ".join([group, *results] if group else results)
    same(spark.sql(f"SELECT {columns} FROM x" + (f" GROUP BY {group}" if group else "")))


def test_product(spark: SparkSession) -> None:
    x = spark.table("x")
    number = F.when(F.col("k") == 1, F.col("id") + 0.5)
    assert_same_rows(x.groupBy("k").agg(F.product("id"), F.product(number)), tolerance=1e-12)
    assert_same_rows(x.where("id < 0").agg(F.product("id")))
    in_order = Window.partitionBy("k").orderBy("id")
    frames = (in_order, in_order.rowsBetween(-2, 1), in_order.rowsBetween(0, Window.unboundedFollowing))
    products = [F.product(value).over(frame) for value in ("id", number) for frame in frames]
    assert_same_rows(x.select("id", *(each.alias(f"p{n}") for n, each in enumerate(products))))


# ---- rows from columns, and multisets


def test_unpivot(spark: SparkSession) -> None:
    x = spark.table("x")
    same(x.unpivot(["id"], ["d", "k"], "n", "v"))
    same(x.select("id", "k").melt(["id"], None, "n", "v"))
    same(spark.sql("SELECT * FROM x UNPIVOT INCLUDE NULLS ((p, q) FOR n IN ((id, k) AS one, (k, id) AS two))"))
    same(spark.sql("SELECT * FROM x UNPIVOT ((p, q) FOR n IN ((id, k), (k, id)))"))


def test_drop_duplicates(spark: SparkSession) -> None:
    x = spark.table("x")
    same(x.union(x).dropDuplicates(["id"]))
    same(x.dropDuplicates(["k", "d"]).select("k", "d"))
    same(x.dropDuplicates(["k", "s"]).groupBy("k").count())
    same(x.drop("id").dropDuplicates())


@pytest.mark.parametrize("columns", ["k, s", "d", "k, d", "b", "c"])
@pytest.mark.parametrize("operation", ["EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"])
def test_multisets(spark: SparkSession, operation: str, columns: str) -> None:
    df = spark.sql(f"SELECT {columns} FROM x {operation} SELECT {columns} FROM y")
    assert_same_rows(df, empty=operation == "EXCEPT" and columns in ("d", "b", "c"))


# ---- windows and groups upon each other


def test_the_same_window_again(spark: SparkSession) -> None:
    """Engines may name a window's result by its text: what it is computed from must not have that name."""
    window = Window.partitionBy("k").orderBy("id")
    numbered = spark.table("x").withColumn("n", F.row_number().over(window))
    same(numbered.where("n > 2").withColumn("m", F.row_number().over(window)))
    summed = spark.table("x").withColumn("n", F.sum("id").over(window))
    same(summed.where("n > 50").withColumn("m", F.sum("id").over(window)).withColumn("o", F.avg("id").over(window)))
    same(numbered.alias("l").join(numbered.alias("r"), F.expr("l.id = r.n")))


@pytest.mark.parametrize(
    "query",
    [
        (
            "SELECT k, max(r), sum(f) FROM (SELECT k, row_number() OVER (PARTITION BY k ORDER BY id) r,"
            " sum(id) OVER (PARTITION BY s ORDER BY id) f FROM x) GROUP BY k"
        ),
        "SELECT k, sum(id), sum(sum(id)) OVER (ORDER BY k), rank() OVER (ORDER BY sum(id) DESC) FROM x GROUP BY k",
        "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY id DESC) r FROM x) WHERE r <= 2",
        later(
            "4.0",
            "SELECT k, mode(b, true), kurtosis(n) FROM (SELECT k, b, rank() OVER (ORDER BY d) n FROM x) GROUP BY k",
        ),
        (
            "SELECT id, last(s, true) OVER (ORDER BY id) f, lag(f, 1) IGNORE NULLS OVER (ORDER BY id) g"
            " FROM (SELECT *, first(k, true) OVER (PARTITION BY s ORDER BY id) f FROM x)"
        ),
        (
            "SELECT window(t, '2 hours', '1 hour').start w, count(*) FROM"
            " (SELECT timestamp_seconds(id * 3600) t FROM x) GROUP BY window(t, '2 hours', '1 hour')"
        ),
    ],
)
def test_windows_and_groups(spark: SparkSession, query: str) -> None:
    same(spark.sql(query), tolerance=1e-9)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, transform(collect_list(id), v -> v + k) AS l FROM (SELECT * FROM x ORDER BY id) GROUP BY k",
        "SELECT transform(array('a', 'b'), v -> v || concat('k', s)) AS l FROM x GROUP BY concat('k', s)",
        "SELECT transform(array(1, 2), v -> v + sum(id) + k) AS l FROM x GROUP BY k HAVING exists(array(2), v -> v <= k)",
        "SELECT s, k, filter(array(1, 2), v -> exists(array(k), w -> w = v)) AS l FROM x GROUP BY ROLLUP(s, k)",
        "SELECT v, filter(array('ka', 'b'), e -> e = v) AS l FROM (SELECT 'ka' AS v FROM x GROUP BY CUBE('ka'))",
        "SELECT id, transform(array(1, 2), v -> v + row_number() OVER (ORDER BY id)) AS l FROM x",
    ],
)
def test_keys_and_results_in_lambdas(spark: SparkSession, query: str) -> None:
    same(spark.sql(query))


# ---- subqueries


@pytest.mark.parametrize(
    "query",
    [
        (
            "SELECT id, (SELECT max(y.id) FROM y WHERE y.k = x.k) m,"
            " (SELECT count(*) + 1 FROM y WHERE y.k = x.k AND y.s = x.s) n FROM x"
        ),
        "SELECT id, (SELECT count(*) FROM y WHERE y.k < x.k) m FROM x",
        "SELECT id FROM x WHERE id > (SELECT avg(y.k) * 10 FROM y WHERE y.s = x.s)",
        later("4.0", "SELECT id, (SELECT y.id FROM y WHERE y.k = x.k ORDER BY y.id DESC LIMIT 1) m FROM x"),
        "SELECT id FROM x WHERE k NOT IN (SELECT y.k FROM y WHERE y.s = x.s)",
        "SELECT id FROM x WHERE k IN (SELECT k FROM y WHERE k > 2) OR s IN (SELECT s FROM y WHERE b)",
        "SELECT id, k IN (SELECT k FROM y) i, NOT EXISTS (SELECT 1 FROM y WHERE y.d = x.d) f FROM x",
        "SELECT id FROM x WHERE EXISTS (SELECT 1 FROM y WHERE y.k > x.k AND y.d = x.d)",
        "SELECT x.id, z.* FROM x, LATERAL (SELECT max(y.id) m, count(*) n FROM y WHERE y.k = x.k) z",
        "SELECT x.id, z.* FROM x LEFT JOIN LATERAL (SELECT y.id i, y.s FROM y WHERE y.k = x.k AND y.id > x.id) z",
        later("4.0", "SELECT x.id, z.i FROM x, LATERAL (SELECT y.id i FROM y WHERE y.k = x.k ORDER BY y.id LIMIT 2) z"),
    ],
)
def test_correlated_subqueries(spark: SparkSession, query: str) -> None:
    same(spark.sql(query))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, count(*) AS n FROM x GROUP BY K",
        "SELECT K + 1 AS next, max(D) AS d FROM x GROUP BY k + 1 HAVING count(S) > 0",
        "SELECT K, s, count(*) AS n FROM x GROUP BY ROLLUP (k, S)",
        "SELECT DISTINCT X.K, sum(C) OVER (PARTITION BY k) AS t FROM x",
        "SELECT a.K, count(b.ID) AS n FROM x a JOIN y b ON A.k = B.K WHERE a.S IN (SELECT s FROM Y WHERE Y.K = A.k) GROUP BY A.k",
    ],
)
def test_names_in_other_letters(spark: SparkSession, query: str) -> None:
    same(spark.sql(query))


@since("4.0", "maps as keys")
def test_maps_as_keys(spark: SparkSession) -> None:
    df = spark.sql("SELECT map('k', k, 's', id % 2) AS m, count(*) AS n FROM x GROUP BY ALL")
    assert plan_of(df)
    assert not check(df, dialect="datafusion")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT y.id FROM y JOIN (SELECT d.k FROM (SELECT DISTINCT k FROM x) d JOIN x ON x.k > d.k GROUP BY x.k, d.k) q ON y.k = q.k",
        "SELECT y.id FROM y LEFT JOIN (SELECT DISTINCT d.k, x.s FROM (SELECT DISTINCT k FROM x) d CROSS JOIN x) q ON y.k = q.k",
        "SELECT y.id FROM y JOIN (SELECT DISTINCT m.k, x.s FROM (SELECT max(k) AS k FROM x) m CROSS JOIN x) q ON y.k = q.k",
        "SELECT y.id FROM y JOIN (SELECT DISTINCT x.k, x.s FROM x WHERE k IN (SELECT k FROM y)) q ON y.k = q.k",
        "SELECT x.k, x.s, count(*) FROM x JOIN y ON x.k = y.k WHERE x.k IN (SELECT k FROM y) AND x.id NOT IN (SELECT 1) GROUP BY x.k, x.s",
        "SELECT d.k, x.s, count(*) FROM (SELECT DISTINCT k FROM x) d JOIN x ON x.k >= d.k WHERE x.k IN (SELECT k FROM y) GROUP BY d.k, x.s",
        "SELECT k, s FROM (SELECT DISTINCT d.k, x.s FROM (SELECT DISTINCT k FROM x) d CROSS JOIN x) WHERE k IN (SELECT k FROM y) OR s = 'b'",
    ],
)
def test_keys_that_a_join_multiplies(spark: SparkSession, query: str) -> None:
    """An engine that takes the keys of the inner groups for unique would leave rows out."""
    same(spark.sql(query))


@pytest.mark.parametrize("aggregates", ["", ", count(*)", ", max(id)"])
def test_keys_that_a_condition_keeps_from_null(spark: SparkSession, aggregates: str) -> None:
    """An engine may see that they are never null in one place, and not in another."""
    rows = "SELECT id % 4 AS k, nullif(id % 3, 2) AS c, id FROM range(30)"
    same(spark.sql(f"SELECT CASE WHEN c = k THEN k ELSE 0 END AS key{aggregates} FROM ({rows}) GROUP BY 1"))


@pytest.mark.parametrize(
    "value",
    [
        "named_struct('s', x.s)",
        "named_struct('s', x.s, 'l', array(x.id), 'n', named_struct('e', 1))",
        "array(named_struct('e', x.id))",
        "make_dt_interval(1, 2)",
        "make_ym_interval(1, 2)",
    ],
)
def test_keys_that_a_join_multiplies_beside_nested_values(spark: SparkSession, value: str) -> None:
    spread = f"SELECT d.k, {value} AS t FROM (SELECT DISTINCT k FROM x) d CROSS JOIN x"
    same(spark.sql(f"SELECT DISTINCT * FROM ({spread})"))


SORTED = "(SELECT id AS v, k FROM x ORDER BY id LIMIT 4)"
SORTED_THRICE = f"({SORTED} UNION ALL {SORTED} UNION ALL {SORTED})"
COUNTED = "(SELECT k, s, count(*) OVER (PARTITION BY k) AS n FROM x)"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT v, count(*) FROM {SORTED_THRICE} GROUP BY v ORDER BY v LIMIT 3",
        f"SELECT DISTINCT v FROM {SORTED_THRICE} ORDER BY v LIMIT 3",
        f"SELECT v + 1 AS w, c FROM (SELECT v, count(*) AS c FROM {SORTED_THRICE} GROUP BY v) ORDER BY w LIMIT 3",
        f"SELECT count(*) FROM (SELECT v, max(k) FROM {SORTED_THRICE} GROUP BY v ORDER BY v LIMIT 3)",
        f"SELECT count(*) FROM (SELECT DISTINCT k, n FROM {COUNTED} LIMIT 30)",
        f"SELECT k, n FROM {COUNTED} GROUP BY k, n LIMIT 30",
        f"SELECT count(*) FROM (SELECT k, max(s) FROM {COUNTED} GROUP BY k, n LIMIT 2 OFFSET 1)",
        f"SELECT count(*) FROM (SELECT DISTINCT k, n FROM {COUNTED} UNION ALL SELECT id, id FROM y LIMIT 3)",
        "SELECT k, sort_array(collect_list(id)), count(*) FROM x GROUP BY k ORDER BY k LIMIT 3",
    ],
)
def test_limits_above_groups_of_sorted_rows(spark: SparkSession, query: str) -> None:
    assert_same_rows(spark.sql(query))
    for _ in range(3):  # what a limit cuts too early hangs on which core is first
        assert_same_rows(spark.sql(query), canonical=False)


@pytest.fixture(scope="module")
def named_alike(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tables with a column `id`, of which each file has other values than the others."""
    folder = tmp_path_factory.mktemp("alike")
    tables = {
        "orders": [pa.table({"id": range(n, n + 10), "item": range(79 - n, 69 - n, -1)}) for n in range(0, 80, 10)],
        "items": [pa.table({"id": range(n, n + 10), "price": range(n, n + 10)}) for n in range(0, 80, 10)],
        "wanted": [pa.table({"id": [70, 75]})],
    }
    for name, parts in tables.items():
        (folder / name).mkdir()
        for n, part in enumerate(parts):
            pq.write_table(part, folder / name / f"{n}.parquet")
        spark.read.parquet(str(folder / name)).createOrReplaceTempView(name)


JOINED = "orders JOIN items ON orders.item = items.id"


@pytest.mark.parametrize(
    "groups",
    [
        f"SELECT orders.id AS a, items.id AS b, sum(price) AS s FROM {JOINED} GROUP BY orders.id, items.id",
        f"SELECT DISTINCT orders.id AS a, items.id AS b FROM {JOINED}",
        f"SELECT sum(orders.id) AS a, items.id AS b FROM {JOINED} GROUP BY items.id",
        f"SELECT max(orders.id + items.id) AS a, items.id AS b FROM {JOINED} GROUP BY items.id",
        "SELECT DISTINCT orders.id AS a, items.id AS b FROM orders CROSS JOIN items WHERE orders.id + items.id = 79",
        "SELECT DISTINCT a.id AS a, b.id AS b FROM items a JOIN items b ON a.id = 79 - b.id",
        f"SELECT a, b FROM (SELECT orders.id AS a, items.id AS b, rank() OVER (ORDER BY price) AS r FROM {JOINED}) WHERE r > 0",
    ],
)
@pytest.mark.parametrize("join", ["JOIN", "RIGHT JOIN", "LEFT SEMI JOIN"])
@pytest.mark.usefixtures("named_alike")
def test_joins_with_groups_by_columns_of_one_name(spark: SparkSession, groups: str, join: str) -> None:
    assert_same_rows(spark.sql(f"SELECT * FROM ({groups}) {join} wanted ON wanted.id = b"))
    assert_same_rows(spark.sql(f"SELECT * FROM ({groups}) ORDER BY b LIMIT 3"))
