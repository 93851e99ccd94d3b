"""Statements that change rows of Iceberg's and Delta's tables: what their plans leave is what Spark leaves."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from releases import since
from row_changes import left_by, query_of, replaced, root
from rows import differences, other_session, spark_table
from substrait.plan_pb2 import Plan

from substrait_spark import UnsupportedPlanError, sql_to_substrait
from substrait_spark.engines import spark as spark_engine
from substrait_spark.testing import structural_problems

ROWS = """VALUES (1, 'a', 1.5D, named_struct('a', 1, 'b', 'x')), (1, 'a', 1.5D, named_struct('a', 1, 'b', 'x')),
    (2, NULL, double('NaN'), NULL), (NULL, '', 1e308D, named_struct('a', NULL, 'b', '')), (2147483647, 'b', NULL, NULL),
    (-3, 'a', 0.0D, named_struct('a', 3, 'b', NULL)) AS t(k, s, d, n)"""

TABLES = {
    "Delta": ("spark_catalog.default.changing", "delta", "'delta.enableDeletionVectors'='true'"),
    "Iceberg, copy on write": ("ice.db.changing", "iceberg", "'format-version'='2'"),
    "Iceberg, merge on read": (
        *("ice.db.changing", "iceberg"),
        "'format-version'='2', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read'",
    ),
}

STATEMENTS = (
    "DELETE FROM {t} WHERE k > 1",
    "DELETE FROM {t} WHERE d = double('NaN') OR n.a IS NULL",
    "DELETE FROM {t}",
    "DELETE FROM {t} AS x WHERE x.s = 'a' AND NOT (x.n.a <=> 3)",
    "UPDATE {t} SET k = 5, s = 'new' WHERE s = 'a'",
    "UPDATE {t} SET n.a = k, d = d * 2 WHERE d <= 1.5 OR d IS NULL",
    "UPDATE {t} AS x SET s = s || 'y', k = length(s)",
)


@pytest.fixture
def made(spark: SparkSession, request: pytest.FixtureRequest) -> str:
    name, format, properties = TABLES[request.param]
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    columns = "(k INT, s STRING, d DOUBLE, n STRUCT<a: INT, b: STRING>)"
    spark.sql(f"CREATE TABLE {name} {columns} USING {format} TBLPROPERTIES ({properties})")
    spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ * FROM {ROWS}")
    return name


def differing(spark: SparkSession, name: str, statement: str, left: Plan) -> list[str]:
    """Run a statement; what its table has then is what a query of the rows before has."""
    other = other_session(spark)
    before = other.sql(f"SELECT * FROM {ROWS}")
    actual = spark_table(spark_engine.execute(left, other, tables={name.rpartition(".")[2]: before}))
    spark.sql(statement)
    return differences(spark_table(spark.table(name)), actual)


UPDATES = since("4.0", "analysing UPDATE over another table where Delta's rules are")


@pytest.mark.parametrize(
    ("made", "statement"),
    [
        pytest.param(name, statement, marks=[UPDATES] if statement.startswith("UPDATE") else [])
        for name in TABLES
        for statement in STATEMENTS[:: 3 if "merge" in name else 1]
    ],
    indirect=["made"],
)
def test_changed_rows(spark: SparkSession, made: str, statement: str) -> None:
    statement = statement.format(t=made)
    plan = sql_to_substrait(spark, statement)
    assert not structural_problems(plan)
    assert list(root(plan).named_table.names) == made.split(".")
    assert spark.table(made).count() == 6, "the statement has run"
    assert not differing(spark, made, statement, left_by(plan))


@pytest.mark.parametrize("made", ["Delta", "Iceberg, copy on write"], indirect=True)
def test_replaced_rows(spark: SparkSession, made: str) -> None:
    plan = sql_to_substrait(spark, f"INSERT INTO {made} REPLACE WHERE k = 1 SELECT 1, 'z', 2.0D, NULL")
    expected = spark_table(spark.sql(f"SELECT * FROM {made} WHERE k = 1"))
    assert expected.num_rows == 2
    other = other_session(spark)
    before = other.sql(f"SELECT * FROM {ROWS}")
    found = spark_engine.execute(query_of(plan, replaced(root(plan))), other, tables={"changing": before})
    assert not differences(expected, spark_table(found))


@UPDATES
@pytest.mark.parametrize("made", ["Delta"], indirect=True)
def test_refused(spark: SparkSession, made: str) -> None:
    path = spark.sql(f"DESCRIBE DETAIL {made}").select("location").collect()[0][0]
    for statement in (f"DELETE FROM delta.`{path}` WHERE k = 1", f"UPDATE delta.`{path}` SET k = 1"):
        with pytest.raises(UnsupportedPlanError, match="known by its path alone"):
            sql_to_substrait(spark, statement)
    merge = f"MERGE INTO {made} USING (SELECT 1 AS k) v ON v.k = {made}.k WHEN MATCHED THEN DELETE"
    with pytest.raises(UnsupportedPlanError, match="Substrait has no relation that merges rows"):
        sql_to_substrait(spark, merge)


@UPDATES
def test_updates_of_generated_columns_are_refused(spark: SparkSession) -> None:
    tables = spark._jvm.io.delta.tables.DeltaTable  # type: ignore[union-attr]
    column = tables.columnBuilder(spark._jsparkSession, "g").dataType("INT").generatedAlwaysAs("k + 1").build()
    tables.create(spark._jsparkSession).tableName("generated").addColumn("k", "INT").addColumn(column).execute()
    with pytest.raises(UnsupportedPlanError, match="the table computes columns of others"):
        sql_to_substrait(spark, "UPDATE generated SET k = 5")
    assert root(sql_to_substrait(spark, "DELETE FROM generated WHERE g = 1")).op
