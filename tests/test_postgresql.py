"""SQL of Isthmus for PostgreSQL: its rows are Spark's, and what the SQL can't say is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import tpc_data
from functions import grid
from isthmus_rows import FAMILIES, is_same, wrong_calls
from postgresql import server
from pyspark.sql import SparkSession
from rows import spark_table
from test_isthmus import QUERIES

from substrait_spark import PlanningError, SubstraitSparkError, UnsupportedPlanError, check, df_to_substrait
from substrait_spark.algebra import types
from substrait_spark.algebra.expression import Literal
from substrait_spark.algebra.relation import Project, VirtualTable
from substrait_spark.engines import Comparison, compare, isthmus
from substrait_spark.engines.isthmus_postgresql import execute, run
from substrait_spark.plan.message import build

dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")

DIALECT = "isthmus-postgresql"

OF_TPCDS = range(2, 100, 8)
"""Queries that run here; the how-to tells of all, which take half an hour."""

LOUD = ("out of range: overflow", "out of range: underflow", "of a text that is not ASCII", "date out of range")
"""In the errors of what PostgreSQL raises alone, as the how-to tells."""


@pytest.fixture(scope="module", autouse=True)
def postgresql() -> Iterator[str]:
    """The server, which plans run in."""
    try:
        isthmus.fetch()
    except SubstraitSparkError as error:
        pytest.skip(f"Maven Central can't be reached: {error}")
    with server() as uri, pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "SERVER", uri)
        yield uri


@pytest.fixture(scope="module")
def edges(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The table of edge values in Spark, without the character that no text of PostgreSQL has."""
    folder = tmp_path_factory.mktemp("postgresql")
    with grid.in_spark(spark, folder):
        rows = spark.table("grid")
        texts = [name for name, kind in rows.dtypes if kind == "string"]
        rows.replace("\0", "\x01", texts).write.parquet(str(folder / "texts"))
        spark.read.parquet(str(folder / "texts")).createOrReplaceTempView("grid")
        yield


def require_same(spark: SparkSession, queries: dict[int, str]) -> None:
    """Fails for a query without SQL, and for one with other rows."""
    frames = {number: spark.sql(query) for number, query in queries.items()}
    assert [number for number, df in frames.items() if not is_same(df, spark_table(df), DIALECT)] == []


@pytest.mark.slow
def test_tpch(spark: SparkSession, tpch: Path) -> None:
    require_same(spark, tpc_data.queries(tpch))


@pytest.mark.slow
def test_tpcds(spark: SparkSession, tpcds: Path) -> None:
    queries = tpc_data.queries(tpcds)
    require_same(spark, {number: queries[number] for number in OF_TPCDS})


OWN = [
    "SELECT id, i16 + i16, i32 * 2, i64 - 1L, f64 * 2, f32 + f32 FROM grid WHERE i32 BETWEEN -99 AND 99 AND i16 BETWEEN -99 AND 99 AND i64 BETWEEN -99 AND 99 AND f32 BETWEEN -9 AND 9",
    "SELECT id, i32 + i32 FROM grid",
    "SELECT id, year(dt), month(dt), day(dt), quarter(dt), dayofyear(dt) FROM grid",
    "SELECT x, year(x), year(cast(x AS TIMESTAMP_NTZ)) FROM VALUES (date'0001-01-01'), (date'0000-12-31'), (date'-0044-03-15'), (date'9999-12-31'), (NULL) AS t(x)",
    "SELECT id, cast(bool AS INT), cast(bool AS BIGINT), cast(bool AS DOUBLE), cast(bool AS STRING), cast(i32 AS BOOLEAN) FROM grid",
    "SELECT id, cast(d18_4 AS STRING), cast(d5_2 AS DOUBLE), cast(d38_10 AS FLOAT), cast(d18_4 AS DECIMAL(10, 1)) FROM grid WHERE d18_4 BETWEEN -9999 AND 9999",
    "SELECT id, try_cast(i64 AS INT), try_cast(d18_4 AS SMALLINT) FROM grid",
    "SELECT id, endswith(s, 'c'), s LIKE '%c', s LIKE 'a%', startswith(s, 'A'), s LIKE '%b_c', s NOT LIKE '%a%c%' FROM grid",
    "SELECT id, s LIKE '%\\\\\\\\%', concat(s, '\\\\', s), replace(s, 'a', '\\\\') FROM grid",
    "SELECT s, count(*) FROM grid WHERE s > 'A' AND s <= 'b' GROUP BY s ORDER BY s DESC NULLS FIRST",
    "SELECT k, count(*) FROM (SELECT CASE WHEN bool THEN 'a' WHEN i32 > 3 THEN 'B' ELSE cast(i32 AS STRING) END AS k FROM grid) GROUP BY k ORDER BY k",
    "SELECT k FROM (SELECT 'b' AS k FROM grid UNION ALL SELECT 'A' FROM grid UNION ALL SELECT concat(s, 'x') FROM grid) ORDER BY k",
    "SELECT k, v FROM VALUES ('b', 1), ('A', 2), ('a', 3), ('B', 4), ('_', 5), (NULL, 6) AS t(k, v) ORDER BY k",
    "SELECT a.id, b.id FROM grid a FULL JOIN grid b ON a.i32 = b.i32 AND a.s < b.s",
    "SELECT a.s, b.s FROM grid a FULL JOIN (SELECT s FROM grid WHERE id > 9) b ON a.s <=> b.s",
    "SELECT bin, count(*) FROM grid GROUP BY bin ORDER BY bin",
    "SELECT id, f64, rank() OVER (ORDER BY f64 DESC NULLS FIRST) FROM grid",
    "SELECT sum(d38_10), sum(d18_4), min(d38_10) FROM grid",
    "SELECT sum(cast(d38_10 AS DECIMAL(38, 0)) + 99999999999999999999999999999999999999BD) FROM grid",
    "SELECT sum(CASE WHEN bool THEN d18_4 ELSE 0.5BD END), max(CASE WHEN bool THEN d38_10 ELSE 0.5BD END) FROM grid",
    "SELECT id, assert_true(id >= 0) FROM grid",
    "SELECT id, assert_true(id < 9) FROM grid",
    "SELECT id, f64 / f32 FROM grid WHERE f64 BETWEEN 0.1 AND 1e9 AND (f32 BETWEEN 0.1 AND 1e9 OR isnan(f32)) OR isnan(f64) AND f32 <> 0",
    "SELECT id, shiftright(i32, 3), shiftright(i32, 31), shiftright(i32, 33), shiftright(i64, 63), shiftright(i64, 64), i64 & 7L, ~i32 FROM grid",
    "SELECT id, 1D / f64 FROM grid WHERE f64 BETWEEN -1e9 AND 1e9",
]


@pytest.mark.usefixtures("edges")
@pytest.mark.parametrize("query", [*QUERIES, *OWN])
def test_queries(in_mode: SparkSession, query: str) -> None:
    df = in_mode.sql(query)
    if not check(df, dialect=DIALECT):
        pytest.skip(str(check(df, dialect=DIALECT)).replace("\n", " ")[:200])
    found = compare(df, engine=DIALECT)
    assert found or (found.spark_error and found.engine_error) or is_loud(found), found


def is_loud(found: Comparison) -> bool:
    """Whether PostgreSQL raised what it may raise alone."""
    return any(each in str(found.engine_error) for each in LOUD)


@pytest.mark.slow
@pytest.mark.usefixtures("edges")
@pytest.mark.parametrize("family", FAMILIES)
def test_functions(in_mode: SparkSession, family: str, request: pytest.FixtureRequest) -> None:
    """Each call of the grid that has SQL."""
    mode = "ansi" if "ansi" in request.node.name else "legacy"
    wrong = wrong_calls(in_mode, family, mode, DIALECT, is_loud)
    assert not wrong, "\n".join(wrong)


def test_tables_go_by_their_names(spark: SparkSession, postgresql: str) -> None:
    spark.createDataFrame([("b",), ("A",)], "name string").write.saveAsTable("postgresql_names")
    query = isthmus.to_sql(
        df_to_substrait(spark.sql("SELECT name FROM postgresql_names ORDER BY name"), reads="tables"), "postgresql"
    )
    spark.sql("DROP TABLE postgresql_names")
    with dbapi.connect(postgresql) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("postgresql_names", pa.table({"name": ["b", "A", "a", "B"]}), temporary=True)
        cursor.execute(query)
        assert cursor.fetchall() == [("A",), ("B",), ("a",), ("b",)]


def test_a_negative_zero_stays_one() -> None:
    row = Project(VirtualTable([(Literal(1, types.I64),)], ["n"], [types.I64]), [Literal(-0.0, types.FP64)])
    found = execute(build(row.select([1]), ["x"]))
    assert found.to_pydict()["x"][0].hex() == "-0x0.0p+0"


def test_what_has_no_sql_is_told(spark: SparkSession, postgresql: str, tmp_path: Path) -> None:
    df = spark.range(3).selectExpr("upper(string(id)) AS n")
    with pytest.raises(UnsupportedPlanError, match="in the forms of an engine already"):
        isthmus.to_sql(df_to_substrait(df, dialect="isthmus"), "postgresql")
    with pytest.raises(UnsupportedPlanError, match="in the forms of an engine already"):
        isthmus.to_sql(df_to_substrait(df, dialect=DIALECT), "duckdb")
    assert isthmus.to_sql(df_to_substrait(df, dialect=DIALECT), "postgresql")
    with pytest.raises(UnsupportedPlanError, match=r"has no type i8"):
        isthmus.to_sql(df_to_substrait(spark.range(3).selectExpr("cast(id AS TINYINT) AS n")), "postgresql")
    with pytest.raises(PlanningError, match="cuts names of more than 63 bytes"):
        isthmus.to_sql(df_to_substrait(spark.range(3).selectExpr(f"id AS `{'é' * 32}`")), "postgresql")
    with pytest.raises(SubstraitSparkError, match="PostgreSQL failed"):
        execute(df_to_substrait(df, dialect=DIALECT), server=f"postgresql:///postgres?host={tmp_path}")
