"""SQL of Isthmus: DuckDB's rows of it are Spark's, and what the SQL can't say is refused; test_tpcds.py has TPC-DS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import tpc_data
from functions import grid
from isthmus_rows import FAMILIES, is_same, wrong_calls
from pyspark.sql import SparkSession
from rows import spark_table

from substrait_spark import PlanningError, SubstraitSparkError, UnsupportedPlanError, check, df_to_substrait
from substrait_spark.algebra import types
from substrait_spark.algebra.expression import Literal
from substrait_spark.algebra.relation import Project, VirtualTable
from substrait_spark.engines import Comparison, compare, isthmus
from substrait_spark.engines.comparison.tables import compared
from substrait_spark.engines.result import named
from substrait_spark.engines.spark.rows import spark_rows
from substrait_spark.plan.message import build


@pytest.fixture(scope="module", autouse=True)
def _archives() -> None:
    try:
        isthmus.fetch()
    except SubstraitSparkError as error:
        pytest.skip(f"Maven Central can't be reached: {error}")


def test_tpch(spark: SparkSession, tpch: Path) -> None:
    for number, query in tpc_data.queries(tpch).items():
        df = spark.sql(query)
        assert is_same(df, spark_table(df)), f"query {number}"


@pytest.fixture(scope="module")
def edges(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The table of edge values in Spark."""
    with grid.in_spark(spark, tmp_path_factory.mktemp("isthmus")):
        yield


QUERIES = [
    "SELECT count(*) FROM grid",
    "SELECT count(*) FROM VALUES (1), (NULL), (2) AS t(x)",
    "SELECT 1 AS one FROM grid",
    "SELECT x, y + 1 FROM VALUES (1, 2.5BD), (NULL, NULL), (3, -0.5BD) AS t(x, y) WHERE x IS NOT NULL",
    "SELECT x FROM VALUES (double('NaN')), (-0.0D), (double('Infinity')), (1e300D), (NULL) AS t(x) ORDER BY x DESC",
    "SELECT x FROM VALUES (double('NaN')), (0.0D), (double('-Infinity')), (1e-300D), (NULL) AS t(x) ORDER BY x DESC",
    "SELECT x FROM VALUES ('it''s'), ('日本語 \\\\'), ('\"'), (''), (NULL) AS t(x) ORDER BY x NULLS LAST",
    "SELECT x FROM VALUES (X'00FF41'), (X'') AS t(x)",
    "SELECT count(*) FROM (SELECT id FROM grid LIMIT 7) a CROSS JOIN (SELECT id FROM grid LIMIT 3) b",
    "SELECT f64, count(*), sum(i32), min(f64), max(f64) FROM grid GROUP BY f64",
    "SELECT s, min(i32), max(i64), sum(d5_2), count(s), count(DISTINCT i32), min(s), max(s) FROM grid GROUP BY s",
    "SELECT count(*), sum(i32), sum(d18_4), avg(f64), max(dt), min(ts) FROM grid WHERE id < 0",
    "SELECT id, f64 FROM grid ORDER BY f64 DESC NULLS LAST, id LIMIT 7",
    "SELECT id, f64 FROM grid ORDER BY f64 NULLS FIRST, id DESC LIMIT 9 OFFSET 3",
    "SELECT s FROM grid ORDER BY i32 DESC, id OFFSET 2",
    "SELECT id, s FROM grid ORDER BY s, id",
    "SELECT DISTINCT bool, dt FROM grid UNION ALL SELECT bool, dt FROM grid UNION SELECT true, date'2024-02-29'",
    "SELECT i32, s FROM grid EXCEPT SELECT i16, s FROM grid WHERE bool",
    "SELECT i32, s FROM grid INTERSECT ALL SELECT i32, s FROM grid WHERE id > 3",
    "SELECT bool, dt, count(*), sum(i16) FROM grid GROUP BY ROLLUP (bool, dt)",
    "SELECT id FROM grid WHERE i32 > (SELECT max(i8) FROM grid)",
    "SELECT id FROM grid a WHERE EXISTS (SELECT 1 FROM grid b WHERE a.i32 = b.i32 AND a.id <> b.id)",
    "SELECT id FROM grid WHERE i32 NOT IN (SELECT i16 FROM grid WHERE i16 IS NOT NULL)",
    "SELECT id FROM grid WHERE i32 IN (SELECT i16 FROM grid) OR id = 1",
    "SELECT a.id, b.id, a.s FROM grid a LEFT JOIN grid b ON a.i32 = b.i32 AND b.id > 3 AND a.bool",
    "SELECT a.id, b.id FROM (SELECT * FROM grid WHERE id < 9) a FULL JOIN grid b ON a.id < b.id AND b.id < 9",
    "SELECT a.id, b.id FROM grid a JOIN grid b ON a.s <=> b.s AND a.f64 <=> b.f64",
    "SELECT id, row_number() OVER (PARTITION BY bool ORDER BY i32 DESC, id), sum(i16) OVER (PARTITION BY bool) FROM grid",
    "SELECT id, rank() OVER (ORDER BY i32 NULLS LAST), count(*) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM grid",
    "SELECT * FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM grid) WHERE n BETWEEN 3 AND 5",
    "SELECT id, s LIKE '%a_c%', s LIKE '_', s NOT LIKE '日%語', contains(s, 'a') FROM grid",
    "SELECT id, substring(s, 2, 3), substring(s, 1, 0), substr(s, 5), length(s) FROM grid",
    'SELECT id AS `SELECT`, i32 AS `a"b`, s AS `a b`, bool AS `Ümlaut` FROM grid',
    "SELECT id AS a, i32 AS A FROM grid",
    "SELECT a.x, A.X FROM (SELECT id AS x, i32 AS X2 FROM grid) t JOIN (SELECT id AS y, i16 AS X FROM grid) a ON t.x = a.y JOIN (SELECT id AS x FROM grid) b ON b.x = a.y",
    "SELECT extract(YEAR FROM dt) AS y, count(*) FROM grid GROUP BY 1",
    "SELECT count(*) FILTER (WHERE i32 > 0), sum(i32) FILTER (WHERE bool), count_if(bool) FROM grid",
    "SELECT id, i32 & 3, i64 | 5L, ~i8, shiftright(i32, 3), shiftright(i64, 63) FROM grid",
    "SELECT id, date_add(dt, 5), date_add(dt, pos) FROM grid",
    "SELECT id, lower(s), upper(s) FROM grid WHERE s < 'z' AND NOT s LIKE 'stra%'",
    "SELECT id, upper(s) FROM grid",
    "SELECT bool, stddev_samp(i32), stddev_pop(d5_2), var_samp(i8), var_pop(i64), std(d38_10) FROM grid GROUP BY bool",
    "SELECT bool, stddev(f64) FROM grid GROUP BY bool",
    "SELECT id, f64 / i32, f64 / f32 FROM grid WHERE i32 <> 0 AND f32 <> 0",
    "SELECT id, f64 / f32 FROM grid",
    "SELECT id, cast(d5_2 AS INT), cast(d18_4 AS BIGINT), try_cast(d38_10 AS SMALLINT) FROM grid",
    "SELECT id, count(*) OVER (PARTITION BY bool ORDER BY id RANGE BETWEEN 10 PRECEDING AND 20 FOLLOWING), min(f64) OVER (ORDER BY pos DESC NULLS LAST RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING) FROM grid",
    "SELECT id, count(*) OVER (ORDER BY dt RANGE BETWEEN 30 PRECEDING AND 1 FOLLOWING) FROM grid",
    "SELECT id, ts, ts > ts2, coalesce(ts, ts2) FROM grid WHERE ts > timestamp'2024-03-10 02:30:00.5' ORDER BY ts, id",
    "SELECT ts, min(ts2), max(ts), count(DISTINCT ntz) FROM grid GROUP BY ts",
    "SELECT * FROM VALUES (1, timestamp'2024-03-10 02:30:00.123456', 'a'), (2, NULL, NULL), (3, timestamp'0001-01-01 00:00:00', '') AS t(x, y, z)",
    "SELECT id, concat(s) FROM grid",
    "SELECT CASE WHEN i32 > 0 THEN 'a' WHEN bool THEN s END, coalesce(s, 'none'), nullif(i32, 0), if(bool, 1L, NULL) FROM grid",
]


@pytest.mark.usefixtures("edges")
@pytest.mark.parametrize("query", QUERIES)
def test_queries(in_mode: SparkSession, query: str) -> None:
    df = in_mode.sql(query)
    if not check(df, dialect="isthmus"):
        pytest.skip(str(check(df, dialect="isthmus")).replace("\n", " ")[:200])
    found = compare(df, engine="isthmus")
    assert found or (found.spark_error and found.engine_error) or is_loud(found), found


ROWS = [query for query in QUERIES if " grid" not in query]


@pytest.mark.parametrize("query", ROWS)
def test_rows_of_the_plan_are_in_its_sql(spark: SparkSession, query: str) -> None:
    df = spark.sql(query)
    if not check(df, dialect="isthmus"):
        pytest.skip(str(check(df, dialect="isthmus")).replace("\n", " ")[:200])
    with duckdb.connect() as database:
        found = database.execute(isthmus.to_sql(df_to_substrait(df))).to_arrow_table()
    assert compared(spark_rows(df), named(found, df.columns)), found


LOUD = ("of a text that is not ASCII", "Date out of range")
"""In the errors of a text whose case DuckDB would map otherwise, and of dates beyond its calendar, which the how-to tells of."""


def is_loud(found: Comparison) -> bool:
    """Whether DuckDB raised what it may raise alone."""
    return any(each in str(found.engine_error) for each in LOUD)


@pytest.mark.slow
@pytest.mark.usefixtures("edges")
@pytest.mark.parametrize("family", FAMILIES)
def test_functions(in_mode: SparkSession, family: str, request: pytest.FixtureRequest) -> None:
    """Each call of the grid that has SQL."""
    mode = "ansi" if "ansi" in request.node.name else "legacy"
    wrong = wrong_calls(in_mode, family, mode, "isthmus", is_loud)
    assert not wrong, "\n".join(wrong)


def test_tables_go_by_their_names(spark: SparkSession) -> None:
    spark.range(3).write.saveAsTable("isthmus_numbers")
    query = isthmus.to_sql(
        df_to_substrait(spark.sql("SELECT id + 1 AS n FROM isthmus_numbers"), dialect="isthmus", reads="tables")
    )
    spark.sql("DROP TABLE isthmus_numbers")
    with duckdb.connect() as database:
        database.execute("CREATE TABLE isthmus_numbers AS SELECT unnest([5, 6])::BIGINT AS id")
        assert database.execute(query).fetchall() == [(6,), (7,)]


@pytest.mark.parametrize("database", isthmus.DATABASES)
def test_columns_that_nothing_uses_may_be_nested(spark: SparkSession, database: str) -> None:
    spark.sql("SELECT array(id) AS l, id, named_struct('a', id) AS s, string(id) AS t FROM range(3)").write.saveAsTable(
        "isthmus_nested"
    )
    table = spark.table("isthmus_nested")
    queries = [
        isthmus.to_sql(df_to_substrait(df, reads="tables"), database)
        for df in (table.where("id > 1").selectExpr("t AS c", "id + 1 AS d"), table.groupBy().count())
    ]
    with pytest.raises(UnsupportedPlanError, match="has no type list"):
        isthmus.to_sql(df_to_substrait(table.select("l"), reads="tables"), database)
    spark.sql("DROP TABLE isthmus_nested")
    assert not any(name in query for query in queries for name in ('"l"', '"s"'))
    if database == "duckdb":
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE isthmus_nested AS SELECT 2 AS id, [1] AS l, '2' AS t, {'a': 1} AS s")
            assert [connection.execute(query).fetchall() for query in queries] == [[("2", 3)], [(1,)]]


def test_a_negative_zero_stays_one() -> None:
    row = Project(VirtualTable([(Literal(1, types.I64),)], ["n"], [types.I64]), [Literal(-0.0, types.FP64)])
    with duckdb.connect() as database:
        assert database.execute(isthmus.to_sql(build(row.select([1]), ["x"]))).fetchall()[0][0].hex() == "-0x0.0p+0"


def test_averages_ask_for_the_concession(spark: SparkSession) -> None:
    """Of a canonical plan, and of one in the dialect's forms: both call the standard's function."""
    df = spark.sql("SELECT avg(cast(x AS DECIMAL(20, 2))) AS mean FROM VALUES (1.5BD), (2.25BD) AS t(x)")
    for plan in (df_to_substrait(df), df_to_substrait(df, dialect="isthmus", accept={"decimal_rounding"})):
        with pytest.raises(UnsupportedPlanError, match="only with last digits of its own"):
            isthmus.to_sql(plan)
        assert "AVG" in isthmus.to_sql(plan, accept={"decimal_rounding"})


def test_what_has_no_sql_is_told(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = df_to_substrait(spark.range(3).selectExpr("id + 1 AS n"), dialect="isthmus")
    with pytest.raises(ValueError, match="database must be 'duckdb' or 'postgresql', not 'oracle'"):
        isthmus.to_sql(plan, "oracle")
    with pytest.raises(UnsupportedPlanError, match="has no function shift_left"):
        isthmus.to_sql(df_to_substrait(spark.range(3).selectExpr("shiftleft(id, 1) AS n")))
    with pytest.raises(UnsupportedPlanError, match="finds only literals without %"):
        df_to_substrait(spark.sql("SELECT contains(string(id), '%') FROM range(3)"), dialect="isthmus")
    averages = spark.sql("SELECT avg(x) FROM VALUES (1.5BD), (2.25BD) AS t(x)")
    assert not check(averages, dialect="isthmus")
    assert check(averages, dialect="isthmus", accept={"decimal_rounding"})
    spark.range(3).write.parquet(str(tmp_path / "ids"))
    with pytest.raises(PlanningError, match="The plan reads files"):
        isthmus.to_sql(df_to_substrait(spark.read.parquet(str(tmp_path / "ids")), dialect="isthmus"))
    monkeypatch.setenv("SUBSTRAIT_SPARK_ISTHMUS", str(tmp_path))
    monkeypatch.setattr("substrait_spark.engines.isthmus.converter._converters", {})
    with pytest.raises(SubstraitSparkError, match=r"There are no archives of Isthmus .*isthmus\.fetch\(\)"):
        isthmus.to_sql(plan)
