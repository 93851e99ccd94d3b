"""Relations: sorts, limits, sets, reads of every kind of data, and the steps that mean nothing to a plan."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from releases import later, since
from rows import assert_same_rows, plan_of
from substrait.algebra_pb2 import Expression, FetchRel, ReadRel, Rel, SortRel
from substrait.plan_pb2 import Plan

from substrait_spark import InvalidPlanError, UnsupportedPlanError, check, df_to_substrait
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import datafusion
from substrait_spark.plan.message import build
from substrait_spark.reading.plan import read_plan
from substrait_spark.testing import structural_problems

Bound = Expression.WindowFunction.Bound

ROWS = """VALUES
  (1, 'a', 1.0D, 1.10BD, date'2024-01-01', true), (1, 'a', -0.0D, 1.10BD, NULL, false),
  (1, 'B', 0.0D, -1.0BD, NULL, NULL), (2, 'b', double('NaN'), NULL, date'2024-01-02', true),
  (2, NULL, double('inf'), 2.00BD, date'1500-01-02', NULL), (NULL, 'c', NULL, 3.00BD, NULL, false),
  (3, '', double('-inf'), 0.00BD, date'2024-01-03', true), (3, 'ä', 2.0D, 9.99BD, NULL, true)"""
COLUMNS = "k int, s string, d double, c decimal(4,2), t date, b boolean"


@pytest.fixture(scope="module", autouse=True)
def _tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("relations") / "t")
    # Files, so that the optimizer can't compute the query itself.
    spark.sql(f"SELECT * FROM {ROWS} t(k, s, d, c, t, b)").repartition(1).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("t")


def found(plan: Plan, kind: type) -> list[Any]:
    return [message for message in messages(plan) if isinstance(message, kind)]


# ---- sort


@pytest.mark.parametrize("nulls", ["FIRST", "LAST"])
@pytest.mark.parametrize("direction", ["ASC", "DESC"])
@pytest.mark.parametrize("column", ["k", "s", "d", "c", "t", "b"])
def test_sort(spark: SparkSession, column: str, direction: str, nulls: str) -> None:
    where = "d IS NULL OR d <> 0" if column == "d" else "true"  # both zeros tie
    df = spark.sql(f"SELECT {column} FROM t WHERE {where} ORDER BY {column} {direction} NULLS {nulls}")
    assert_same_rows(df, ordered=True)
    (sort,) = found(plan_of(df), SortRel)
    name = f"SORT_DIRECTION_{direction}_NULLS_{nulls}"
    assert sort.sorts[0].direction == sort.sorts[0].SortDirection.Value(name)


def test_sort_by_several_keys_and_expressions(spark: SparkSession) -> None:
    assert_same_rows(spark.sql("SELECT k, s, d FROM t ORDER BY k DESC NULLS LAST, d ASC NULLS FIRST, s"), ordered=True)
    assert_same_rows(spark.sql("SELECT k, -k AS m FROM t ORDER BY m"), ordered=True)
    assert_same_rows(spark.sql("SELECT k, d FROM t ORDER BY k + 1, d > 0, 2"))
    assert_same_rows(spark.sql("SELECT s FROM t ORDER BY k, d"))


def test_sort_within_partitions_promises_no_order(spark: SparkSession) -> None:
    plan = assert_same_rows(spark.table("t").sortWithinPartitions("k")).plan
    assert not found(plan, SortRel)
    assert not found(assert_same_rows(spark.sql("SELECT * FROM t DISTRIBUTE BY k SORT BY s")).plan, SortRel)


# ---- limit and offset


@pytest.mark.parametrize("offset", [None, 0, 2, 100])
@pytest.mark.parametrize("limit", [None, 0, 1, 3, 100])
def test_limit_and_offset(spark: SparkSession, limit: int | None, offset: int | None) -> None:
    clauses = "" if limit is None else f" LIMIT {limit}"
    clauses += "" if offset is None else f" OFFSET {offset}"
    df = spark.sql(f"SELECT k, s, d FROM t ORDER BY k, s, d{clauses}")
    assert_same_rows(df, ordered=True, empty=limit == 0 or offset == 100)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM (SELECT k FROM t ORDER BY k DESC LIMIT 5) ORDER BY k LIMIT 2",
        "SELECT * FROM (SELECT k FROM t ORDER BY k DESC LIMIT 2) ORDER BY k LIMIT 5",
        "SELECT * FROM (SELECT k FROM t ORDER BY k DESC LIMIT 5 OFFSET 1) ORDER BY k LIMIT 2 OFFSET 1",
        "SELECT * FROM (SELECT k FROM t ORDER BY k DESC OFFSET 3) ORDER BY k OFFSET 2",
        "SELECT * FROM t WHERE k IN (SELECT k FROM t ORDER BY k DESC LIMIT 2)",
        "(SELECT k FROM t ORDER BY k LIMIT 2) UNION ALL (SELECT k FROM t ORDER BY k DESC LIMIT 1)",
        "SELECT a.k, u.s FROM (SELECT k FROM t ORDER BY k LIMIT 3) a JOIN t u ON a.k = u.k",
        "SELECT count(*) FROM (SELECT k FROM t LIMIT 3)",
        "SELECT count(*) FROM (SELECT k FROM t LIMIT 3 OFFSET 7)",
        "SELECT k, count(*) n FROM t GROUP BY k ORDER BY n DESC, k LIMIT 2",
        "SELECT k FROM t ORDER BY k LIMIT 1 + 1",
        "SELECT k FROM t ORDER BY k LIMIT ALL",
    ],
)
def test_nested_limits(spark: SparkSession, query: str) -> None:
    assert_same_rows(spark.sql(query))


def test_limit_and_offset_are_one_fetch(spark: SparkSession) -> None:
    (fetch,) = found(plan_of(spark.sql("SELECT k FROM t ORDER BY k LIMIT 3 OFFSET 2")), FetchRel)
    assert fetch.offset_expr.literal.i64 == 2
    assert fetch.count_expr.literal.i64 == 3
    (fetch,) = found(plan_of(spark.table("t").offset(1).limit(2)), FetchRel)
    assert (fetch.offset_expr.literal.i64, fetch.count_expr.literal.i64) == (1, 2)


@pytest.mark.parametrize("field", ["offset", "offset_expr"])
def test_bounds_say_their_offset_in_both_fields(spark: SparkSession, field: str) -> None:
    """Readers from before `offset_expr` know only the other. What has only one of them is read alike."""
    frame = "ORDER BY k ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING"
    plan = plan_of(spark.sql(f"SELECT sum(k) OVER ({frame}) FROM t"))
    bounds = [*found(plan, Bound.Preceding), *found(plan, Bound.Following)]
    assert [(bound.offset, bound.offset_expr.literal.i64) for bound in bounds] == [(2, 2), (1, 1)]
    older = Plan.FromString(plan.SerializeToString())
    for bound in (*found(older, Bound.Preceding), *found(older, Bound.Following)):
        bound.ClearField(field)
    assert structural_problems(older) == []
    read = read_plan(older)
    assert read.root is not None
    assert build(read.root, read.names) == plan


# ---- sets


def test_union(spark: SparkSession) -> None:
    assert_same_rows(spark.sql("SELECT k, s FROM t UNION ALL SELECT k, s FROM t UNION ALL SELECT 7, 'x'"))
    assert_same_rows(spark.sql("SELECT k, s FROM t UNION SELECT k, s FROM t"))
    assert_same_rows(spark.sql("SELECT k FROM t UNION ALL (SELECT k FROM t UNION ALL SELECT k + 1 FROM t)"))
    assert_same_rows(spark.sql("SELECT k FROM t UNION ALL SELECT c FROM t UNION ALL SELECT d FROM t"))


@pytest.mark.smoke
def test_union_by_name(spark: SparkSession) -> None:
    left, right = spark.table("t").select("k", "s"), spark.table("t").select("s", "d", "k")
    assert_same_rows(left.unionByName(right, allowMissingColumns=True))
    assert_same_rows(left.unionByName(right.select("s", "k")))


def test_union_of_other_nullability(spark: SparkSession) -> None:
    required = spark.range(2).select(F.col("id").alias("a"), F.array("id").alias("l"), F.struct("id").alias("r"))
    nullable = spark.sql(
        "SELECT CAST(k AS bigint), array(CAST(k AS bigint)), named_struct('id', CAST(k AS bigint)) FROM t"
    )
    plan_of(required.union(nullable))
    plan_of(nullable.union(required))
    assert_same_rows(required.select("a").union(nullable.select(nullable.columns[0])))


def test_union_of_nested(spark: SparkSession) -> None:
    schema = "a int, r struct<x:int,y:array<string>>, m map<string,int>"
    rows: list[Any] = [(1, (1, ["a", None]), {"k": None}), (None, None, None), (2, (None, None), {})]
    df = spark.createDataFrame(rows, schema)
    assert_same_rows(df.union(df).unionByName(df))


@pytest.mark.parametrize("columns", ["k", "k, s", "d", "c, t", "b"])
def test_distinct(spark: SparkSession, columns: str) -> None:
    assert_same_rows(spark.sql(f"SELECT DISTINCT {columns} FROM t"))
    assert_same_rows(spark.sql(f"SELECT {columns} FROM t").dropDuplicates())


def test_drop_duplicates_by_a_subset(spark: SparkSession) -> None:
    df = spark.table("t").where("k = 3 OR k IS NULL").dropDuplicates(["k", "d"])
    report = check(df)
    assert report, str(report)
    assert_same_rows(df)


# ---- steps that move rows or advise, and mean nothing to a plan


@pytest.mark.parametrize(
    "step",
    [
        lambda df: df.repartition(3),
        lambda df: df.repartition(3, "k"),
        lambda df: df.repartitionByRange(2, "k"),
        lambda df: df.coalesce(1),
        lambda df: df.hint("broadcast"),
        lambda df: df.hint("rebalance"),
        lambda df: df.hint("unknown_hint"),
        lambda df: df.alias("x"),
    ],
)
def test_no_ops_leave_no_trace(spark: SparkSession, step: Any) -> None:
    df = spark.table("t").where("k > 1")
    assert plan_of(step(df)) == plan_of(df)
    assert_same_rows(step(df))


def test_cached_frames_are_exported_as_their_query(spark: SparkSession) -> None:
    query = "SELECT k, count(*) AS n FROM t WHERE k > 1 GROUP BY k"
    expected = plan_of(spark.sql(query).where("n > 1"))
    cached = spark.sql(query).cache()
    try:
        cached.count()
        assert plan_of(cached.where("n > 1")) == expected
        assert plan_of(spark.sql(query).where("n > 1")) == expected
        assert_same_rows(cached.join(spark.table("t"), "k"))
    finally:
        cached.unpersist()


def test_checkpoints_are_rows(spark: SparkSession) -> None:
    df = spark.table("t").where("k > 1").localCheckpoint()
    assert_same_rows(df)
    with pytest.raises(UnsupportedPlanError, match="inline_limit allows 2"):
        df_to_substrait(df, inline_limit=2)


# ---- columns


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, k, s AS k FROM t",
        "SELECT k AS A, s AS a FROM t",
        "SELECT s, k FROM t",
        "SELECT k + 1, k, k + 1 FROM t",
        "SELECT *, k FROM t",
        "SELECT 1 AS one FROM t",
        "SELECT k FROM t WHERE k IS NOT NULL AND s <> '' AND NOT b",
        "SELECT k FROM (SELECT k, s FROM t WHERE s IS NOT NULL) WHERE k > 1",
        "SELECT k FROM t WHERE true",
        "SELECT k FROM t WHERE b",
        "SELECT 1",
        "SELECT 1 WHERE 1 = 1",
        "VALUES (1, 'a'), (2, NULL)",
        "SELECT count(*) FROM t",
        "SELECT count(*) FROM (SELECT 1 FROM t)",
    ],
)
def test_projections_and_filters(spark: SparkSession, query: str) -> None:
    assert_same_rows(spark.sql(query))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k + 1, count(*) FROM t GROUP BY k + 1",
        "SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) > 1",
        "SELECT k FROM t GROUP BY k HAVING sum(k) > 2",
        "SELECT k FROM t GROUP BY k, s",
        "SELECT count(*) FILTER (WHERE k > 1), sum(k) FILTER (WHERE s IS NOT NULL) FROM t",
        "SELECT k, sum(k) FROM t GROUP BY ALL",
        "SELECT k, s, count(*) FROM t GROUP BY ROLLUP (k, s)",
        "SELECT k, s, count(*), grouping_id() FROM t GROUP BY CUBE (k, s)",
        "SELECT k, s, b, count(*) FROM t GROUP BY GROUPING SETS ((k), (s, b), ())",
        "SELECT d, count(*) FROM t GROUP BY d",
        "SELECT * FROM (SELECT k, d, d * 2 AS e FROM t) UNPIVOT (v FOR n IN (d, e))",
        "SELECT * FROM (SELECT k, d, d * 2 AS e FROM t) UNPIVOT INCLUDE NULLS (v FOR n IN (d, e))",
        "SELECT sum(k) FROM t WHERE k > 100",
        "SELECT count(*) FROM t WHERE k > 100",
        "WITH c AS (SELECT k, count(*) n FROM t GROUP BY k) SELECT * FROM c a JOIN c b ON a.n = b.n",
    ],
)
def test_groups(spark: SparkSession, query: str) -> None:
    assert_same_rows(spark.sql(query))


def test_frames_without_columns(spark: SparkSession) -> None:
    nothing = spark.table("t").select()
    assert list(plan_of(nothing).relations[0].root.names) == []
    assert datafusion.execute(plan_of(nothing, "datafusion")).num_columns == 0
    assert_same_rows(nothing.groupBy().count())
    assert_same_rows(nothing.selectExpr("1 AS one"))


def test_empty_frames(spark: SparkSession) -> None:
    empty = spark.createDataFrame([], COLUMNS)
    assert_same_rows(empty, empty=True)
    assert_same_rows(spark.table("t").where("false"), empty=True)
    assert_same_rows(empty.union(spark.table("t")))
    assert_same_rows(spark.table("t").join(empty.withColumnRenamed("s", "s2"), "k", "left"))
    assert_same_rows(empty.groupBy().count())
    assert_same_rows(spark.createDataFrame([], "a int").join(spark.createDataFrame([], "a int"), "a"), empty=True)


# ---- local data


def local_frames(spark: SparkSession) -> Iterator[DataFrame]:
    yield spark.createDataFrame([(1, "a"), (2, None), (None, "c")], "k int, s string")
    yield spark.createDataFrame([Row(k=1, s="a"), Row(k=2, s=None)])
    yield spark.createDataFrame([{"k": 1, "s": "a"}, {"k": None, "s": "b"}])
    yield spark.createDataFrame([1, 2, 3], "int")
    yield spark.createDataFrame([[1, [2, 3]], [4, []]], "a int, l array<int>")
    yield spark.createDataFrame([(dt.datetime(2024, 1, 1, 2, 3, 4, 5),)], "ts timestamp")
    yield spark.sql("SELECT * FROM VALUES (1, 'a'), (2, NULL) t(k, s)")


@pytest.mark.parametrize("number", range(7))
@pytest.mark.smoke
def test_local_data(spark: SparkSession, number: int) -> None:
    df = list(local_frames(spark))[number]
    assert_same_rows(df)
    assert_same_rows(df.select(df.columns[0]).distinct())


@pytest.mark.parametrize("arrow", ["true", "false"])
def test_pandas(spark: SparkSession, arrow: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"k": [1, 2, 3], "d": [1.5, float("nan"), -0.0], "s": ["a", "b", ""]})
    spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", arrow)
    try:
        assert_same_rows(spark.createDataFrame(frame))
    finally:
        spark.conf.unset("spark.sql.execution.arrow.pyspark.enabled")


@since("4.0", "a DataFrame of an Arrow table")
def test_arrow(spark: SparkSession) -> None:
    table = pa.table({"k": [1, None], "l": [[1, None], None], "r": [{"a": 1, "b": "x"}, None]})
    assert_same_rows(spark.createDataFrame(table))


@pytest.mark.parametrize(
    "bounds", [(5,), (2, 7), (10, -10, -3), (0, 10, 4), (-(2**63), -(2**63) + 3), (3, 3), (2**63 - 3, 2**63 - 1, 1)]
)
@pytest.mark.smoke
def test_range(spark: SparkSession, bounds: tuple[int, ...]) -> None:
    assert_same_rows(spark.range(*bounds), empty=bounds == (3, 3))


def test_range_by_sql(spark: SparkSession) -> None:
    assert_same_rows(spark.sql("SELECT * FROM range(1, 6, 2) JOIN range(5) b USING (id)"))


def test_inline_limit_is_exact(spark: SparkSession) -> None:
    frames = [
        spark.createDataFrame([(n,) for n in range(5)], "i int"),
        spark.sql("SELECT * FROM VALUES (1), (2), (3), (4), (5) t(i)"),
    ]
    for df in frames:
        (read,) = found(df_to_substrait(df, inline_limit=5), ReadRel)
        assert len(read.virtual_table.expressions) == 5
        (problem,) = check(df, inline_limit=4)
        assert "inline_limit allows 4" in problem.reason
        assert "Parquet" in problem.hint
    assert df_to_substrait(spark.createDataFrame([], "i int"), inline_limit=0)


@pytest.mark.parametrize("limit", [2, 3, 10])
@pytest.mark.parametrize(
    "bounds",
    [(11,), (100,), (1, 1000, 7), (500, -777, -3), (-(2**63), -(2**63) + 200), (2**63 - 1, 2**63 - 205, -2)],
)
def test_long_ranges_are_sums_of_a_few_rows(spark: SparkSession, bounds: tuple[int, ...], limit: int) -> None:
    plan = df_to_substrait(spark.range(*bounds), dialect="datafusion", inline_limit=limit)
    assert all(len(read.virtual_table.expressions) <= limit for read in found(plan, ReadRel))
    (column,) = datafusion.execute(plan).columns
    assert sorted(column.to_pylist()) == sorted(range(*bounds))


def test_ranges_of_any_length(spark: SparkSession) -> None:
    whole = spark.range(-(2**63), 2**63 - 1)
    for df in (whole, spark.range(2**63 - 1, -(2**63), -1), spark.range(-(2**63), 2**63 - 1, 2**62)):
        assert plan_of(df)
    assert_same_rows(spark.range(3_000_001).where("id % 1000003 = 5"))
    assert "inline_limit allows 1" in str(check(whole, inline_limit=1))


def test_no_more_rows_are_fetched_than_needed(spark: SparkSession, tmp_path: Path) -> None:
    log = tmp_path / "touched"

    def touch(n: int) -> tuple[int]:
        with log.open("a") as lines:
            lines.write(f"{n}\n")
        return (n,)

    df = spark.createDataFrame(spark.sparkContext.parallelize(range(5000), 5).map(touch), "i int")
    assert not check(df, inline_limit=10)
    # The first partition, once: Spark asks Python for its rows in batches.
    assert 0 < len(log.read_text().splitlines()) <= 1000


@pytest.mark.parametrize("limit", [-1, 2**31, True, "5", 1.5, None])
def test_inline_limit_is_a_number_of_rows(spark: SparkSession, limit: Any) -> None:
    with pytest.raises(ValueError, match="inline_limit must be a number of rows"):
        df_to_substrait(spark.range(1), inline_limit=limit)


# ---- views, tables and files


@pytest.mark.smoke
def test_views(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TEMP VIEW v AS SELECT k, s FROM t WHERE k > 1")
    spark.sql("CREATE OR REPLACE GLOBAL TEMP VIEW g AS SELECT k AS q FROM v")
    assert_same_rows(spark.sql("SELECT * FROM v JOIN global_temp.g ON k = q"))
    spark.catalog.dropTempView("v")
    spark.catalog.dropGlobalTempView("g")


@pytest.fixture
def saved(spark: SparkSession) -> Iterator[str]:
    spark.sql("CREATE DATABASE IF NOT EXISTS shop")
    spark.table("t").repartition(1).write.mode("overwrite").saveAsTable("shop.saved")
    yield "shop.saved"
    spark.sql("DROP DATABASE shop CASCADE")


@pytest.mark.smoke
def test_saved_tables(spark: SparkSession, saved: str) -> None:
    df = spark.table(saved).where("k > 1")
    for reads in ("auto", "tables"):
        (read,) = found(df_to_substrait(df, reads=reads), ReadRel)
        assert list(read.named_table.names)[-2:] == ["shop", "saved"]
    (read,) = found(df_to_substrait(df, reads="files"), ReadRel)
    assert all(item.uri_file.startswith("file:///") for item in read.local_files.items)
    location = Path(str(spark.conf.get("spark.sql.warehouse.dir")).removeprefix("file:")) / "shop.db" / "saved"
    (file,) = location.glob("*.parquet")
    assert_same_rows(df, tables={"saved": str(file)})
    assert_same_rows(df, tables={".".join(read_names(df)): pq.read_table(file)})


def read_names(df: DataFrame) -> list[str]:
    (read,) = found(df_to_substrait(df), ReadRel)
    return list(read.named_table.names)


def test_names_with_dots_are_one_part(spark: SparkSession) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS shop")
    spark.range(1).write.mode("overwrite").format("parquet").saveAsTable("shop.plain")
    try:
        assert read_names(spark.table("shop.plain"))[-1] == "plain"
    finally:
        spark.sql("DROP DATABASE shop CASCADE")


def test_reads_must_be_a_known_way(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="auto, files, tables"):
        df_to_substrait(spark.range(1), reads="paths")


def test_files_have_no_table(spark: SparkSession) -> None:
    (problem,) = check(spark.table("t"), reads="tables")
    assert "no catalog names" in problem.reason


def test_every_file_with_its_own_length(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "ä b%20c"
    spark.range(100).repartition(3).write.parquet(str(path))
    df = spark.read.parquet(str(path))
    (read,) = found(assert_same_rows(df).plan, ReadRel)
    lengths = sorted(file.stat().st_size for file in path.glob("*.parquet"))
    assert sorted(item.length for item in read.local_files.items) == lengths


@pytest.mark.parametrize(
    "where", ["true", "day > DATE'2024-01-01' AND v IS NOT NULL", "country IS NULL", "n = 2 OR country = 'FR'"]
)
def test_columns_named_by_folders(spark: SparkSession, tmp_path: Path, where: str) -> None:
    rows = [(1, 1.5, "2024-01-01", "DE", 1), (2, None, "2024-01-01", "FR", 2), (3, 0.0, "2024-01-02", None, 2)]
    df = spark.createDataFrame(rows, "id long, v double, day string, country string, n int")
    df.write.partitionBy("day", "country", "n").parquet(str(tmp_path / "folders"))
    read = spark.read.parquet(str(tmp_path / "folders"))
    assert_same_rows(read.where(where))
    assert_same_rows(read.groupBy("country").agg(F.max("day"), F.count("*")))


def test_one_row_and_range_need_no_table(spark: SparkSession) -> None:
    plan = plan_of(spark.sql("SELECT 1 AS a, 'x' AS b"))
    kinds = [message.WhichOneof("rel_type") for message in found(plan, Rel)]
    assert kinds == ["project", "read"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT * FROM t TABLESAMPLE (50 PERCENT)", "Sample"),
        ("SELECT rand() FROM t", "random values"),
        ("SELECT k FROM t WHERE rand() > 0.5", "random values"),
        ("SELECT TRANSFORM(k) USING 'cat' AS (x) FROM t", "ScriptTransformation"),
        later(
            "4.0",
            "SELECT listagg(s) WITHIN GROUP (ORDER BY s), listagg(s) WITHIN GROUP (ORDER BY k, s) FROM t",
            "in one order only",
        ),
    ],
)
def test_refused_steps(spark: SparkSession, query: str, reason: str) -> None:
    report = check(spark.sql(query), dialect="datafusion")
    assert not report
    assert reason in str(report)


def test_decimal_sums_beside_distinct_keep_their_type(spark: SparkSession) -> None:
    numbers = "VALUES (1, 2.50BD), (1, 3.25BD), (NULL, 1.00BD), (2, NULL) t(k, d)"
    assert_same_rows(spark.sql(f"SELECT count(DISTINCT k), sum(d), max(d), count(d) FROM {numbers}"))
    assert_same_rows(spark.sql(f"SELECT k, count(DISTINCT d), sum(d) FROM {numbers} GROUP BY k"))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k FROM VALUES (1), (2) t(k) WHERE 0Y IN (SELECT 1Y FROM (SELECT count(*) AS c FROM range(3)))",
        "SELECT k FROM VALUES (1), (2) t(k) WHERE 1Y IN (SELECT 1Y FROM (SELECT count(*) AS c FROM range(3)))",
        "SELECT count(*) FROM VALUES (1), (2) t(k) WHERE EXISTS (SELECT 1 FROM range(3) HAVING count(*) > 5)",
        "SELECT DISTINCT 0 AS zero FROM (SELECT k, count(*) FROM VALUES (1), (2) t(k) GROUP BY ROLLUP (k))",
        "SELECT count(*) FROM (SELECT k, count(*) FROM VALUES (1), (2) t(k) GROUP BY ROLLUP (k))",
        "SELECT count(*) FROM range(3) a CROSS JOIN range(2) b LEFT ANTI JOIN range(0) c",
    ],
)
def test_relations_without_columns(spark: SparkSession, query: str) -> None:
    assert_same_rows(spark.sql(query), empty="0Y IN" in query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, t FROM {steps} WHERE t > TIMESTAMP'2024-03-09 12:00:00'",
        "SELECT id FROM (SELECT * FROM {steps} ORDER BY id DESC LIMIT 20) WHERE t > TIMESTAMP'2024-03-09 12:00:00'",
        "SELECT id FROM {steps} WHERE CAST(CAST(t AS STRING) AS TIMESTAMP) = t ORDER BY id LIMIT 7",
        "SELECT id FROM moments WHERE EXISTS (SELECT 1 FROM {steps} s WHERE s.id = moments.id + 1 AND t > '2024-03-10')",
        "SELECT count(*) FROM {steps} WHERE t > TIMESTAMP'2024-03-10' GROUP BY hour(t) HAVING max(t) < current_date()",
    ],
)
def test_filters_over_what_is_computed_of_computed(spark: SparkSession, query: str) -> None:
    """Written out over their input, the steps of a change of clocks would take DataFusion hours to evaluate."""
    spark.range(50).selectExpr(
        "id", "timestamp_micros(1710000000000000 + id * 3000000000) AS ts"
    ).createOrReplaceTempView("moments")
    steps = "(SELECT id, date_trunc('hour', ts + INTERVAL 1 DAY) AS t FROM moments)"
    assert_same_rows(spark.sql(query.format(steps=steps)))


@pytest.mark.parametrize(("names", "message"), [([], "fewer names than"), (["id", "more"], "2 names, more than")])
def test_a_root_has_a_name_for_each_column(spark: SparkSession, names: list[str], message: str) -> None:
    plan = df_to_substrait(spark.range(3), dialect="datafusion")
    plan.relations[0].root.names[:] = names
    with pytest.raises(InvalidPlanError, match=message):
        datafusion.execute(plan)


def test_observed_metrics_leave_the_rows_as_they_are(spark: SparkSession) -> None:
    observed = spark.table("t").observe("seen", F.count("*").alias("n"), F.max("d").alias("last"))
    assert_same_rows(observed.where("k > 1").select("s"))
    assert_same_rows(observed.groupBy("k").count().observe("groups", F.sum("count")).orderBy("k"), ordered=True)
