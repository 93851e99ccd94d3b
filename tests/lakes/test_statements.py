"""Statements that change rows of Iceberg's and Delta's tables: what their plans leave is what Spark leaves."""

from __future__ import annotations

from functools import reduce
from typing import Any

import pytest
from merged_rows import matched_twice
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import col
from releases import since
from row_changes import left_by, query_of, replaced, root, without
from rows import differences, other_session, spark_table
from substrait.algebra_pb2 import Rel
from substrait.plan_pb2 import Plan

from lakes.beyond_statements import add_columns_with_defaults
from substrait_spark import UnsupportedPlanError, sql_to_substrait, write_to_substrait
from substrait_spark.algebra.extension_messages import WriteBehavior
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
        "'format-version'='2', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read', 'write.merge.mode'='merge-on-read'",
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


DELTAS_UPDATES = since("4.0", "that Iceberg's rules let Spark analyse an UPDATE of Delta's")
"""In Spark 3.5, they fail for each that is not of a table of Iceberg's, in Spark too."""


@pytest.mark.parametrize(
    ("made", "statement"),
    [
        pytest.param(
            name, statement, marks=[DELTAS_UPDATES] if name == "Delta" and statement.startswith("UPDATE") else []
        )
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


# ---- rows that are written

PARTED = {
    "Delta": ("spark_catalog.default.written", "delta"),
    "Iceberg": ("ice.db.written", "iceberg"),
}

NEW_ROWS = "SELECT * FROM VALUES (7, 1.5D, named_struct('a', 1, 'b', '')), (NULL, double('NaN'), NULL) AS v(k, d, n)"

INSERTS = (
    f"INSERT INTO {{t}} SELECT k, 'new', d, n FROM ({NEW_ROWS})",
    "INSERT INTO {t} BY NAME SELECT n, d * 2 AS d, s, CAST(k AS SMALLINT) AS k FROM {t} WHERE k < 5",
    "INSERT OVERWRITE {t} SELECT k, upper(s), -d, n FROM {t} WHERE k > 0",
    f"INSERT OVERWRITE {{t}} PARTITION (s = 'a') {NEW_ROWS}",
    f"INSERT OVERWRITE {{t}} PARTITION (s = 'none') {NEW_ROWS}",
    f"INSERT INTO {{t}} REPLACE WHERE s = 'a' SELECT k, 'a', d, n FROM ({NEW_ROWS})",
    f"INSERT INTO {{t}} REPLACE WHERE s IS NULL OR s = '' SELECT k, NULL, d, n FROM ({NEW_ROWS})",
    "INSERT INTO {t} REPLACE WHERE s = 'a' SELECT * FROM {t} WHERE false",
)


@pytest.fixture
def parted(spark: SparkSession, request: pytest.FixtureRequest) -> str:
    """A table that is partitioned by s."""
    name, format = PARTED[request.param]
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    columns = "(k INT, s STRING, d DOUBLE, n STRUCT<a: INT, b: STRING>)"
    spark.sql(f"CREATE TABLE {name} {columns} USING {format} PARTITIONED BY (s)")
    spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ * FROM {ROWS}")
    return name


def present(spark: SparkSession, name: str) -> DataFrame:
    """The rows that a table has now, for another session, whatever becomes of the table."""
    table = spark.table(name)
    return other_session(spark).createDataFrame(table.collect(), table.schema)


def written(spark: SparkSession, name: str, plan: Plan) -> DataFrame:
    """The rows that a table has once a plan's are written into it."""
    write, before = root(plan), present(spark, name)
    behavior = WriteBehavior()
    write.named_table.advanced_extension.enhancement.Unpack(behavior)

    def rows(rel: Rel) -> DataFrame:
        return spark_engine.execute(query_of(plan, rel), before.sparkSession, tables={"written": before})

    new = rows(write.input)
    if behavior.HasField("replace_where"):
        return rows(without(write, replaced(write))).unionByName(new)
    if behavior.dynamic_partitions:
        parts = new.select(col("s").alias("part")).distinct()
        return before.join(parts, col("s").eqNullSafe(col("part")), "left_anti").unionByName(new)
    if behavior.static_partitions:
        kept = [~col(part.name).eqNullSafe(part.value) for part in behavior.static_partitions]
        return before.where(reduce(Column.__and__, kept)).unionByName(new)
    return new if behavior.overwrite else before.unionByName(new)


@pytest.mark.parametrize("overwritten", ["static", "dynamic"])
@pytest.mark.parametrize("statement", INSERTS)
@pytest.mark.parametrize("parted", PARTED, indirect=True)
def test_written_rows(spark: SparkSession, parted: str, statement: str, overwritten: str) -> None:
    if overwritten == "dynamic" and "OVERWRITE" not in statement:
        return  # as it is static
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", overwritten)
    try:
        statement = statement.format(t=parted)
        found = spark_table(written(spark, parted, sql_to_substrait(spark, statement)))
        assert spark.table(parted).count() == 6, "the statement has run"
        spark.sql(statement)
        assert not differences(spark_table(spark.table(parted)), found)
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")


@pytest.mark.parametrize("parted", PARTED, indirect=True)
def test_tables_of_queries(spark: SparkSession, parted: str) -> None:
    name, format = f"{parted}_anew", PARTED["Delta" if "spark_catalog" in parted else "Iceberg"][1]
    statements = [
        f"CREATE TABLE {name} USING {format} PARTITIONED BY (k) AS SELECT *, d > 1 AS b FROM {parted}",
        f"CREATE OR REPLACE TABLE {name} USING {format} AS SELECT s, count(*) AS rows FROM {parted} GROUP BY s",
    ]
    if format == "delta" and spark.version.startswith("3."):
        statements.pop()  # In Spark 3.5, Iceberg's rules let no table of Delta's be replaced, in Spark either.
    for statement in statements:
        plan = sql_to_substrait(spark, statement)
        before = present(spark, parted)
        query = query_of(plan, root(plan).input)
        found = spark_engine.execute(query, before.sparkSession, tables={"written": before})
        spark.sql(statement)
        assert list(root(plan).named_table.names) == name.split(".")
        assert not differences(spark_table(spark.table(name)), spark_table(found))
    spark.sql(f"DROP TABLE {name}")


REPLACING = ("s = 'a'", "s = 'a' AND k > 0", "k IS NULL OR s IS NULL", "false")


@DELTAS_UPDATES
@pytest.mark.parametrize("condition", REPLACING)
@pytest.mark.parametrize("parted", ["Delta"], indirect=True)
def test_replacing_by_a_writer(spark: SparkSession, parted: str, condition: str) -> None:
    rows = spark.table(parted).where(condition).selectExpr("n", "-d AS D", "k", "s")
    plan = write_to_substrait(rows, table=parted, format="delta", mode="overwrite", options={"replaceWhere": condition})
    found = spark_table(written(spark, parted, plan))
    rows.write.format("delta").mode("overwrite").option("replaceWhere", condition).saveAsTable(parted)
    assert not differences(spark_table(spark.table(parted)), found)


@DELTAS_UPDATES
@pytest.mark.parametrize("parted", ["Delta"], indirect=True)
def test_partitions_by_a_writer(spark: SparkSession, parted: str) -> None:
    rows = spark.sql(f"SELECT k, 'a' AS s, d, n FROM ({NEW_ROWS})")
    options = {"partitionOverwriteMode": "dynamic"}
    plan = write_to_substrait(rows, table=parted, format="delta", mode="overwrite", partition_by="s", options=options)
    found = spark_table(written(spark, parted, plan).select("k", "s", "d", "n"))
    rows.write.format("delta").mode("overwrite").partitionBy("s").options(**options).saveAsTable(parted)
    assert not differences(spark_table(spark.table(parted)), found)


WRONG_REPLACING: dict[str, tuple[dict[str, Any], str]] = {
    "no table": ({"table": "nowhere"}, "there is no table `nowhere`"),
    "another mode": ({"mode": "append"}, "replaceWhere is known of tables of Delta's"),
    "another format": ({"format": "parquet"}, "replaceWhere is known of tables of Delta's"),
    "options": (
        {"options": {"replaceWhere": "k = 1", "mergeSchema": "true"}},
        "its options mergeschema are in no plan",
    ),
    "a dialect": ({"dialect": "datafusion"}, "a dialect has no words for the rows that it replaces"),
    "partitions that are not said": ({"options": {"partitionOverwriteMode": "dynamic"}}, "if what is there has any"),
}


@pytest.mark.parametrize("parted", ["Delta"], indirect=True)
def test_wrong_replacing(spark: SparkSession, parted: str) -> None:
    given = {"table": parted, "format": "delta", "mode": "overwrite", "options": {"replaceWhere": "s = 'a'"}}
    for wrong, reason in WRONG_REPLACING.values():
        with pytest.raises(UnsupportedPlanError, match=reason):
            write_to_substrait(spark.table(parted), **{**given, **wrong})
    for columns, reason in (
        (["k", "s", "d"], "there is not one column 'n' for the table's"),
        (["k", "s", "d", "n", "k AS more"], "it has columns that the table has not"),
        (["CAST(k AS BIGINT) AS k", "s", "d", "n"], "the table has another type for k"),
    ):
        with pytest.raises(UnsupportedPlanError, match=reason):
            write_to_substrait(spark.table(parted).selectExpr(*columns), **given)  # type: ignore[arg-type]


# ---- rows that are merged

SOURCE = "(SELECT * FROM VALUES (1, 'c'), (2, NULL), (NULL, 'b'), (9, 'z') AS v(k, s)) v"

INSERT = "WHEN NOT MATCHED THEN INSERT (k, s, d) VALUES (v.k, v.s, v.k * 2)"

MERGES = (
    f"MERGE INTO {{t}} USING {SOURCE} ON {{t}}.k = v.k WHEN MATCHED THEN UPDATE SET s = v.s, n.a = v.k + 1 {INSERT}",
    f"MERGE INTO {{t}} t USING {SOURCE} ON t.k <=> v.k WHEN MATCHED AND v.s = 'b' THEN DELETE WHEN MATCHED AND t.k > 1 THEN UPDATE SET d = -d",
    f"""MERGE INTO {{t}} t USING {SOURCE} ON t.k = v.k AND t.s = 'a' WHEN MATCHED AND t.n.a = 2 THEN UPDATE SET k = NULL, s = v.s
        WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND v.k = 2 THEN INSERT (k) VALUES (7) WHEN NOT MATCHED AND v.k IS NULL THEN INSERT (s) VALUES ('null')
        WHEN NOT MATCHED BY SOURCE AND d > 1 THEN DELETE WHEN NOT MATCHED BY SOURCE AND n IS NOT NULL THEN UPDATE SET s = upper(s) || 'z'""",
    f"MERGE INTO {{t}} t USING {SOURCE} ON false {INSERT} WHEN NOT MATCHED BY SOURCE THEN UPDATE SET s = 'left'",
    f"MERGE INTO {{t}} t USING {SOURCE} ON t.k = v.k {INSERT}",
    f"MERGE INTO {{t}} t USING {SOURCE} ON t.k = v.k WHEN NOT MATCHED AND v.s IS NULL THEN INSERT (k) VALUES (v.k) {INSERT}",
    f"MERGE INTO {{t}} t USING (SELECT k FROM {SOURCE} UNION ALL SELECT 1) v ON t.k = v.k WHEN MATCHED THEN DELETE",
    f"MERGE INTO {{t}} t USING (SELECT named_struct('b', s, 'a', k) AS n, k AS d, s, CAST(k AS SMALLINT) AS k FROM {SOURCE}) v ON t.k = v.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "MERGE INTO {t} t USING (SELECT DISTINCT k + 1 AS k FROM {t} WHERE k < 5) v ON t.k = v.k WHEN MATCHED THEN UPDATE SET s = 'next'",
)


@pytest.mark.parametrize(
    ("made", "statement"),
    [pytest.param(name, statement) for name in TABLES for statement in MERGES[:: 2 if "copy" in name else 1]],
    indirect=["made"],
)
def test_merged_rows(spark: SparkSession, made: str, statement: str) -> None:
    statement = statement.format(t=made)
    plan = sql_to_substrait(spark, statement)
    assert not structural_problems(plan)
    assert spark.table(made).count() == 6, "the statement has run"
    assert not twice(spark, made, plan)
    assert not differing(spark, made, statement, left_by(plan))


def twice(spark: SparkSession, name: str, plan: Plan) -> int:
    """How many rows of a table several rows of the source match, where a MERGE doesn't allow that."""
    other = other_session(spark)
    before = other.sql(f"SELECT * FROM {ROWS}")
    return spark_engine.execute(matched_twice(plan), other, tables={name.rpartition(".")[2]: before}).count()


MATCHED_TWICE = (
    "WHEN MATCHED THEN UPDATE SET s = v.s",
    "WHEN MATCHED AND v.s = 'x' THEN UPDATE SET s = v.s",
    "WHEN MATCHED AND v.s = 'x' THEN DELETE WHEN MATCHED AND v.s = 'y' THEN UPDATE SET s = v.s",
    "WHEN MATCHED AND v.s = 'x' THEN DELETE",
    "WHEN MATCHED AND v.s = 'x' THEN UPDATE SET s = 'z' WHEN NOT MATCHED THEN INSERT (k) VALUES (8)",
    "WHEN MATCHED AND v.s = 'x' THEN UPDATE SET s = 'z' WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (k) VALUES (8)",
    "WHEN MATCHED AND v.s = 'none' THEN DELETE WHEN NOT MATCHED BY SOURCE THEN DELETE",
    "WHEN NOT MATCHED BY SOURCE THEN DELETE",
)


@pytest.mark.parametrize(
    ("made", "clauses"),
    [pytest.param(name, clauses) for name in TABLES for clauses in MATCHED_TWICE[:: 3 if "merge" in name else 1]],
    indirect=["made"],
)
def test_rows_that_are_matched_twice(spark: SparkSession, made: str, clauses: str) -> None:
    source = "(SELECT * FROM VALUES (1, 'x'), (1, 'y'), (3, 'z') AS v(k, s)) v"
    statement = f"MERGE INTO {made} t USING {source} ON t.k = v.k {clauses}"
    plan = sql_to_substrait(spark, statement)
    rewrites = made.startswith("ice") and "WHEN MATCHED" not in clauses
    if twice(spark, made, plan) and rewrites:
        spark.sql(statement)
        assert spark.table(made).where("k = 1").count() == 4, "Spark writes rows that match once"
    elif twice(spark, made, plan):
        with pytest.raises(
            Exception, match=r"MERGE_CARDINALITY_VIOLATION|DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
        ):
            spark.sql(statement)
    else:
        assert not differing(spark, made, statement, left_by(plan))


@pytest.mark.parametrize("made", ["Delta"], indirect=True)
def test_refused(spark: SparkSession, made: str) -> None:
    path = f"delta.`{spark.sql(f'DESCRIBE DETAIL {made}').collect()[0]['location']}`"
    source = "(SELECT 1 AS k) v"
    for statement in (
        f"DELETE FROM {path} WHERE k = 1",
        f"MERGE INTO {path} t USING {source} ON v.k = t.k WHEN MATCHED THEN DELETE",
    ):
        with pytest.raises(UnsupportedPlanError, match="known by its path alone"):
            sql_to_substrait(spark, statement)
    spark.conf.set("spark.databricks.delta.schema.autoMerge.enabled", "true")
    try:
        merge = f"MERGE INTO {made} t USING (SELECT 1 AS k, 2 AS more) v ON v.k = t.k WHEN MATCHED THEN UPDATE SET *"
        with pytest.raises(UnsupportedPlanError, match="schema evolution is in no plan"):
            sql_to_substrait(spark, merge)
    finally:
        spark.conf.unset("spark.databricks.delta.schema.autoMerge.enabled")


DEFAULTED = (
    "DELETE FROM {t} WHERE c = 5",
    "DELETE FROM {t} WHERE k = 1 AND c + 0 > 4",
    "UPDATE {t} SET s = 'new' WHERE x = 'ü'",
    "MERGE INTO {t} t USING (SELECT 5 AS c) v ON t.c = v.c WHEN MATCHED THEN DELETE",
    "INSERT INTO {t} REPLACE WHERE c = 5 SELECT 1, 'new', 5, NULL",
)


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_columns_with_default_values(spark: SparkSession, mode: str) -> None:
    name = "ice.db.defaulted"
    modes = ", ".join(f"'write.{kind}.mode'='{mode}'" for kind in ("delete", "update", "merge"))
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} (k INT, s STRING) USING iceberg TBLPROPERTIES ('format-version'='3', {modes})")
    spark.sql(f"INSERT INTO {name} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, NULL), (9, 'z')")
    add_columns_with_defaults(spark, name)
    for statement in DEFAULTED:
        with pytest.raises(UnsupportedPlanError, match="its condition is on a column with a default value"):
            sql_to_substrait(spark, statement.format(t=name))
    source = "(SELECT 2 AS k, 'new' AS s) v"
    for statement in (
        f"UPDATE {name} SET c = c + 1, s = x WHERE k = 1",
        f"MERGE INTO {name} t USING {source} ON t.k = v.k WHEN MATCHED AND t.c = 5 THEN UPDATE SET x = v.s WHEN NOT MATCHED BY SOURCE AND t.x = 'ü' THEN DELETE",
    ):
        if spark.version.startswith("3."):
            with pytest.raises(UnsupportedPlanError, match="with metadata columns of its table"):
                sql_to_substrait(spark, statement)
            continue
        left, before = left_by(sql_to_substrait(spark, statement)), present(spark, name)
        found = spark_table(spark_engine.execute(left, before.sparkSession, tables={"defaulted": before}))
        spark.sql(statement)
        assert not differences(spark_table(spark.table(name)), found)


@DELTAS_UPDATES
def test_generated_columns(spark: SparkSession) -> None:
    tables = spark._jvm.io.delta.tables.DeltaTable  # type: ignore[union-attr]
    column = tables.columnBuilder(spark._jsparkSession, "g").dataType("INT").generatedAlwaysAs("k + 1").build()
    tables.create(spark._jsparkSession).tableName("generated").addColumn("k", "INT").addColumn(column).execute()
    spark.sql("INSERT INTO generated (k) VALUES (1), (2), (NULL)")
    merge = "MERGE INTO generated t USING (SELECT 2 AS k UNION SELECT 7) v ON t.k = v.k WHEN MATCHED THEN UPDATE SET k = 10 WHEN NOT MATCHED THEN INSERT (k) VALUES (v.k)"
    for statement in ("UPDATE generated SET k = 5 WHERE k = 1", merge, "DELETE FROM generated WHERE g = 6"):
        other = other_session(spark)
        before = other.createDataFrame(spark.table("generated").collect(), "k INT, g INT")
        left = left_by(sql_to_substrait(spark, statement))
        actual = spark_table(spark_engine.execute(left, other, tables={"generated": before}))
        spark.sql(statement)
        assert not differences(spark_table(spark.table("generated")), actual)
