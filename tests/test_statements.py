"""Plans of statements and of DataFrame writers: what they say, that their rows are the query's, and that nothing runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from releases import later
from rows import differences, other_session, spark_table
from substrait.algebra_pb2 import DdlRel, WriteRel
from substrait.plan_pb2 import Plan

from substrait_spark import (
    UnsupportedPlanError,
    UnsupportedSessionError,
    explain,
    lower,
    sql_to_substrait,
    write_to_substrait,
)
from substrait_spark.algebra.extension_messages import unpacked_write
from substrait_spark.display import to_dot
from substrait_spark.engines import spark as spark_engine
from substrait_spark.testing import structural_problems

ROWS = "(1, 'a', DATE'2024-01-01'), (2, NULL, DATE'2024-01-02'), (3, '', NULL)"


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with the tables `p` and `q`, the views `w` and `v`, and a catalog `other` of Spark's data sources, version 2."""
    session = spark.newSession()
    session.conf.set("spark.sql.catalog.other", "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    session.conf.set("spark.sql.catalog.other.url", "jdbc:derby:memory:statements;create=true")
    session.conf.set("spark.sql.catalog.other.driver", "org.apache.derby.jdbc.EmbeddedDriver")
    session.sql("CREATE DATABASE statements")
    session.sql("USE statements")
    session.sql("CREATE TABLE p (k INT, s STRING DEFAULT 'x', d DATE) USING parquet PARTITIONED BY (d)")
    session.sql("CREATE TABLE q (k BIGINT, s STRING) USING json OPTIONS (secret 'planted')")
    session.sql("CREATE TABLE other.APP.T (K INT, L INT)")
    session.sql(f"CREATE TEMP VIEW v AS SELECT * FROM VALUES {ROWS} AS v(k, s, d)")
    session.sql("CREATE VIEW w AS SELECT k FROM p")
    yield session
    session.sql("DROP DATABASE statements CASCADE")
    session.sql("USE default")


def everything(session: SparkSession) -> Any:
    """All that there is, and how many jobs ran."""
    warehouse = Path(str(session.conf.get("spark.sql.warehouse.dir")).removeprefix("file:"))
    tracker = session.sparkContext._jsc.sc().statusTracker()
    found = [
        sorted(map(str, session.sql(f"SHOW TABLES IN {where}").collect())) for where in ("statements", "other.APP")
    ]
    columns = [session.table(name).schema.json() for name in ("p", "q", "w", "v")]
    return found, columns, sorted(map(str, warehouse.rglob("*"))), list(tracker.getJobIdsForGroup(None))


def root(plan: Plan) -> Any:
    assert list(plan.relations[0].root.names) == []
    rel = plan.relations[0].root.input
    return getattr(rel, str(rel.WhichOneof("rel_type")))


def said(plan: Plan) -> dict[str, Any]:
    """What our messages say of a table, by their names."""
    relation = root(plan)
    kind = relation.WhichOneof("write_type")
    found = [relation.advanced_extension.enhancement]
    if kind in ("named_table", "named_object"):
        extension = getattr(relation, kind).advanced_extension
        found += [extension.enhancement, *extension.optimization]
    else:
        found.append(relation.extension_table.detail)
    messages = [unpacked_write(each) for each in found if each.type_url]
    assert {f"type.googleapis.com/{each.DESCRIPTOR.full_name}" for each in messages} == set(plan.expected_type_urls)
    return {field.name: value for each in messages for field, value in each.ListFields()}


def shown(plan: Plan) -> str:
    """What a plan does, in a line."""
    relation = root(plan)
    op = next(part for part in explain(plan).splitlines() if part.startswith("  "))
    assert relation.DESCRIPTOR.name in ("WriteRel", "DdlRel")
    return op.strip().partition(" advanced_extension")[0].partition(" schema ")[0].partition(" output ")[0]


WRITES = {
    "INSERT INTO p SELECT k + 1, s, d FROM v": ("Write INSERT spark_catalog.statements.p", {}),
    "INSERT INTO p (d, k) SELECT d, k FROM v": ("Write INSERT spark_catalog.statements.p", {}),
    "INSERT INTO p BY NAME SELECT d, k FROM v": ("Write INSERT spark_catalog.statements.p", {}),
    "INSERT INTO p PARTITION (d = '2024-01-01') SELECT k, s FROM v": ("Write INSERT spark_catalog.statements.p", {}),
    "INSERT INTO q VALUES (1, 'a'), (2, NULL)": ("Write INSERT spark_catalog.statements.q", {}),
    "WITH c AS (SELECT * FROM v WHERE k > 1) INSERT INTO q SELECT k, s FROM c": ("Write INSERT spark_catalog.statements.q", {}),
    "INSERT OVERWRITE p SELECT * FROM v": ("Write INSERT spark_catalog.statements.p", {"overwrite": True}),
    "INSERT OVERWRITE p PARTITION (d = '2024-01-01') SELECT k, s FROM v": (
        "Write INSERT spark_catalog.statements.p",
        {"overwrite": True, "static_partitions": [("d", "2024-01-01")]},
    ),
    "INSERT OVERWRITE p PARTITION (d = '2024-01-01') IF NOT EXISTS SELECT k, s FROM v": (
        "Write INSERT spark_catalog.statements.p",
        {"overwrite": True, "static_partitions": [("d", "2024-01-01")], "if_not_exists": True},
    ),
    "INSERT OVERWRITE DIRECTORY '/out/planned' USING csv OPTIONS (header true) SELECT k FROM v": (
        "Write INSERT extension_table any('type.googleapis.com/substrait_spark.TableStorage'",
        {"overwrite": True, "format": "csv", "location": "file:///out/planned", "options": [("header", "true")]},
    ),
    "CREATE TABLE new USING orc PARTITIONED BY (d) CLUSTERED BY (k) SORTED BY (s) INTO 4 BUCKETS LOCATION '/out/planned' "
    "COMMENT 'words' OPTIONS (compression 'zlib') AS SELECT d, k, s FROM v": (
        "Write CTAS spark_catalog.statements.new",
        {
            "format": "orc", "location": "file:///out/planned", "options": [("compression", "zlib")], "partition_by": ["d"],
            "buckets": 4, "bucket_by": ["k"], "sort_by": ["s"], "comment": "words",
        },
    ),
    "CREATE TABLE IF NOT EXISTS new USING parquet AS SELECT 1 AS a": (
        "Write CTAS spark_catalog.statements.new",
        {"format": "parquet"},
    ),
    "INSERT INTO other.APP.T SELECT k, k + 1 FROM v": ("Write INSERT other.APP.T", {}),
    "INSERT OVERWRITE other.APP.T SELECT k, k + 1 FROM v": ("Write INSERT other.APP.T", {"overwrite": True}),
    "CREATE TABLE other.APP.NEW AS SELECT k FROM v": ("Write CTAS other.APP.NEW create_mode ERROR_IF_EXISTS", {}),
    "CREATE OR REPLACE TABLE other.APP.T AS SELECT k FROM v": ("Write CTAS other.APP.T create_mode REPLACE_IF_EXISTS", {}),
    "CREATE VIEW new (a, b) COMMENT 'words' AS SELECT k, s FROM v2": ("Ddl CREATE VIEW spark_catalog.statements.new", {"comment": "words"}),
    "CREATE VIEW new (a COMMENT 'of a', b) AS SELECT k, s FROM v2": (
        "Ddl CREATE VIEW spark_catalog.statements.new",
        {"column_comments": [("a", "of a")]},
    ),
    "CREATE VIEW IF NOT EXISTS new AS SELECT k FROM p": ("Ddl CREATE VIEW spark_catalog.statements.new", {"if_not_exists": True}),
    "CREATE OR REPLACE VIEW new AS SELECT k FROM p": ("Ddl CREATE_OR_REPLACE VIEW spark_catalog.statements.new", {}),
    "CREATE TEMP VIEW new AS SELECT k, s FROM v": ("Ddl CREATE VIEW new", {"temporary": "session"}),
    "CREATE OR REPLACE GLOBAL TEMP VIEW new AS SELECT k FROM v": ("Ddl CREATE_OR_REPLACE VIEW new", {"temporary": "global"}),
    "ALTER VIEW w AS SELECT s, k FROM p": ("Ddl ALTER VIEW spark_catalog.statements.w", {}),
}  # fmt: skip
"""Statements with a query, what their plans do, and what our messages say."""

DEFINITIONS = {
    "CREATE TABLE new (a INT NOT NULL, b STRUCT<c: DECIMAL(10,2)>) USING parquet": (
        "Ddl CREATE TABLE spark_catalog.statements.new",
        {"format": "parquet"},
        ["a", "b", "c"],
    ),
    "CREATE TABLE IF NOT EXISTS other.APP.NEW (a INT)": ("Ddl CREATE TABLE other.APP.NEW", {"if_not_exists": True}, ["a"]),
    "CREATE OR REPLACE TABLE other.APP.NEW (a INT)": ("Ddl CREATE_OR_REPLACE TABLE other.APP.NEW", {}, ["a"]),
    "CREATE TABLE new (a INT COMMENT 'of a', b INT, c DATE COMMENT '') USING parquet": (
        "Ddl CREATE TABLE spark_catalog.statements.new",
        {"format": "parquet", "column_comments": [("a", "of a"), ("c", "")]},
        ["a", "b", "c"],
    ),
    "CREATE OR REPLACE TABLE other.APP.NEW (a INT COMMENT 'of a', `b c` INT COMMENT \"it's\")": (
        "Ddl CREATE_OR_REPLACE TABLE other.APP.NEW",
        {"column_comments": [("a", "of a"), ("b c", "it's")]},
        ["a", "b c"],
    ),
    "CREATE TABLE new (a VARCHAR(3), b CHAR(5) NOT NULL) USING parquet": (
        "Ddl CREATE TABLE spark_catalog.statements.new",
        {"format": "parquet"},
        ["a", "b"],
    ),
    "ALTER TABLE p ADD COLUMNS (z INT, v VARCHAR(2))": ("Ddl ALTER TABLE spark_catalog.statements.p", {}, ["k", "s", "z", "v", "d"]),
    "ALTER TABLE p ALTER COLUMN s DROP DEFAULT": ("Ddl ALTER TABLE spark_catalog.statements.p", {}, ["k", "s", "d"]),
    "ALTER TABLE other.APP.T ADD COLUMN n DOUBLE": ("Ddl ALTER TABLE other.APP.T", {}, ["K", "L", "n"]),
    "ALTER TABLE other.APP.T DROP COLUMN L": ("Ddl ALTER TABLE other.APP.T", {}, ["K"]),
    "ALTER TABLE other.APP.T ALTER COLUMN K TYPE BIGINT": ("Ddl ALTER TABLE other.APP.T", {}, ["K", "L"]),
    "DROP TABLE p": ("Ddl DROP TABLE spark_catalog.statements.p", {}, []),
    "DROP TABLE IF EXISTS nothing PURGE": ("Ddl DROP_IF_EXIST TABLE spark_catalog.statements.nothing", {"purge": True}, []),
    "DROP TABLE other.APP.T": ("Ddl DROP TABLE other.APP.T", {}, []),
    "DROP VIEW w": ("Ddl DROP VIEW spark_catalog.statements.w", {}, []),
    "DROP VIEW v": ("Ddl DROP VIEW v", {"temporary": "session"}, []),
}  # fmt: skip
"""Statements without a query, and the names of the columns too."""


def as_plain(found: dict[str, Any]) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, bool | int | str):
            return value
        return [each if isinstance(each, str) else (each.name, each.value) for each in value]

    return {name: plain(value) for name, value in found.items()}


@pytest.fixture
def nothing_runs(session: SparkSession) -> Iterator[None]:
    before = everything(session)
    yield
    assert everything(session) == before


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("stage", ["optimized", "analyzed"])
@pytest.mark.parametrize("sql", WRITES)
def test_statements_with_a_query(session: SparkSession, sql: str, stage: str) -> None:
    does, says = WRITES[sql]
    sql = sql.replace("FROM v2", "FROM statements.p")
    plan = sql_to_substrait(session, sql, stage=stage)
    assert shown(plan).startswith(does)
    assert as_plain(said(plan)) == says
    if "CREATE TABLE" in sql:
        assert root(plan).create_mode == WriteRel.CreateMode.Value(
            f"CREATE_MODE_{'IGNORE' if 'IF NOT' in sql else 'ERROR'}_IF_EXISTS"
        )
    assert not structural_problems(plan)
    assert to_dot(plan).startswith("digraph")
    with pytest.raises(UnsupportedPlanError, match=r"the dialect datafusion has no .* (WRITE|DDL) relations"):
        sql_to_substrait(session, sql, stage=stage, dialect="datafusion")
    with pytest.raises(UnsupportedPlanError, match=r"the dialect datafusion has no .* (WRITE|DDL) relations"):
        lower(plan, "datafusion")


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("sql", DEFINITIONS)
def test_statements_without_a_query(session: SparkSession, sql: str) -> None:
    does, says, columns = DEFINITIONS[sql]
    plan = sql_to_substrait(session, sql)
    assert shown(plan).startswith(does)
    assert as_plain(said(plan)) == says
    assert list(root(plan).table_schema.names) == columns
    assert not structural_problems(plan)
    with pytest.raises(UnsupportedPlanError, match=r"the dialect datafusion has no .* DDL relations"):
        sql_to_substrait(session, sql, dialect="datafusion")


DEFAULTS = {
    "CREATE TABLE new (a TINYINT DEFAULT 1 + 1, b STRING DEFAULT concat('a', 'b'), c DATE, x ARRAY<INT> DEFAULT array(1, NULL)) "
    "USING parquet": "{2::i8, 'ab', null::date?, [1::i32?, null::i32?]}",
    "ALTER TABLE p ADD COLUMNS (z DECIMAL(5,2) DEFAULT 1)": "{null::i32?, 'x', 1.00::decimal<5, 2>, null::date?}",
    "ALTER TABLE p ALTER COLUMN s SET DEFAULT 'y'": "{null::i32?, 'y', null::date?}",
}
"""Statements, and the default values of all columns of the table after them."""


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("sql", DEFAULTS)
def test_default_values(session: SparkSession, sql: str) -> None:
    plan = sql_to_substrait(session, sql)
    assert f"defaults {DEFAULTS[sql]} -> no columns" in explain(plan)
    assert not structural_problems(plan)
    defaults = root(plan).table_defaults
    assert len(defaults.fields) == len(root(plan).table_schema.struct.types)
    del defaults.fields[0]
    assert structural_problems(plan) == ["root/ddl: the default values are not those of the table's columns"]


def query_of(plan: Plan) -> Plan:
    """The plan of the query that a plan writes."""
    found = Plan()
    found.CopyFrom(plan)
    rel = root(plan)
    names = list(rel.table_schema.names)
    found.relations[0].root.input.CopyFrom(rel.input if isinstance(rel, WriteRel) else rel.view_definition)
    found.relations[0].root.names.extend(names)
    return found


ROWS_OF = {
    "INSERT INTO p (d, k) SELECT d, k FROM v": "SELECT k, 'x' AS s, d FROM v",
    "INSERT INTO p BY NAME SELECT d, k FROM v": "SELECT k, 'x' AS s, d FROM v",
    "INSERT INTO p PARTITION (d = '2024-01-01') SELECT k, s FROM v": "SELECT k, s, DATE'2024-01-01' AS d FROM v",
    "INSERT INTO q SELECT k, s FROM v WHERE k < 3": "SELECT CAST(k AS BIGINT) AS k, s FROM v WHERE k < 3",
    "CREATE TABLE new USING orc PARTITIONED BY (d) AS SELECT d, k, s FROM v": "SELECT k, s, d FROM v",
    "CREATE TEMP VIEW new (a, b) AS SELECT k, s FROM v": "SELECT k AS a, s AS b FROM v",
}


@pytest.mark.parametrize("sql", ROWS_OF)
def test_rows(session: SparkSession, sql: str) -> None:
    for stage in ("optimized", "analyzed"):
        plan = query_of(sql_to_substrait(session, sql, stage=stage))
        expected = spark_table(session.sql(ROWS_OF[sql]))
        assert expected.num_rows
        assert not differences(expected, spark_table(spark_engine.execute(plan, other_session(session))))


def test_parameters(session: SparkSession) -> None:
    sql = "INSERT INTO q SELECT k, s FROM v WHERE d >= :since"
    plan = sql_to_substrait(session, sql, parameters={"since": "date"})
    assert "?1::date?" in explain(plan)
    with pytest.raises(UnsupportedPlanError, match="it writes"):
        spark_engine.execute(plan, session, parameters={"since": None})


def test_dynamic_partitions(session: SparkSession) -> None:
    session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        plan = sql_to_substrait(session, "INSERT OVERWRITE p SELECT * FROM v")
        static = sql_to_substrait(session, "INSERT OVERWRITE p PARTITION (d = '2024-01-01') SELECT k, s FROM v")
        saved = write_to_substrait(session.table("v"), path="/out/planned", mode="overwrite", partition_by="d")
    finally:
        session.conf.unset("spark.sql.sources.partitionOverwriteMode")
    assert as_plain(said(plan)) == {"overwrite": True, "dynamic_partitions": True}
    assert "dynamic_partitions" not in said(static)
    assert said(saved)["dynamic_partitions"]


REFUSED = {
    "MERGE INTO other.APP.T USING v ON T.K = v.k WHEN MATCHED THEN DELETE": "the source of its table can't change rows, in Spark either",
    "DELETE FROM other.APP.T WHERE K = 1": "the source of its table can't change rows, in Spark either",
    "UPDATE other.APP.T SET K = 1": "the source of its table can't change rows, in Spark either",
    "DELETE FROM p WHERE k = 1": "UNSUPPORTED_FEATURE|can't change rows",
    "UPDATE p SET k = 1": "UNSUPPORTED_FEATURE|can't change rows",
    "TRUNCATE TABLE p": "Substrait has no relation for this command",
    "ALTER TABLE p RENAME TO r": "Substrait has no relation for this command",
    "ALTER TABLE p SET TBLPROPERTIES ('a' = 'b')": "Substrait has no relation for this command",
    "ALTER TABLE p ALTER COLUMN s COMMENT 'words'": "it changes more of a column than its default value",
    "ALTER TABLE other.APP.T RENAME COLUMN K TO N": "don't tell a column of a new name from a new one",
    "ALTER TABLE other.APP.T REPLACE COLUMNS (K INT)": "don't tell new ones from those that stay",
    "ALTER TABLE other.APP.T ALTER COLUMN K COMMENT 'words'": "comments of columns are in no plan",
    "SHOW TABLES": "Substrait has no relation for this command",
    "SET a = b": "Substrait has no relation for this command",
    "CACHE TABLE p": "Substrait has no relation for this command",
    "FROM v INSERT INTO q SELECT k, s INSERT INTO q SELECT k, s": "several tables at once",
    "CREATE TABLE new (a INT DEFAULT 1, d DATE DEFAULT current_date()) USING parquet": "of the column d is no constant",
    "CREATE TABLE new (a VARCHAR(3) DEFAULT 'x') USING parquet": "the column a of limited length has a default value",
    "CREATE TABLE new (a ARRAY<VARCHAR(3)>) USING parquet": "texts of limited length inside",
    "CREATE TABLE new (a STRUCT<b: INT COMMENT 'of b'>) USING parquet": "its columns a are generated, or have comments",
    "CREATE TABLE new USING parquet LOCATION '/out/nothing'": "its columns are found in its files when it runs",
    "CREATE TABLE new (a INT) USING parquet TBLPROPERTIES ('x' = 'y')": "its properties \\(x\\) are in no plan",
    "CREATE TABLE new (a INT) USING csv OPTIONS (secret 'planted')": "its option secret may hold a secret",
    "REPLACE TABLE other.APP.T AS SELECT 1 AS a": "no mode that replaces a table only if it exists",
    "CREATE TEMP VIEW new USING parquet OPTIONS (path '/out/nothing')": "the columns of its files are found when it runs",
    "CREATE TABLE new USING csv LOCATION 's3a://user:planted@bucket/x' AS SELECT 1 AS a": "holds credentials",
    "EXECUTE IMMEDIATE 'INSERT INTO q VALUES (1, 2)'": "Spark would run it, or the statements in it",
    "BEGIN INSERT INTO q VALUES (1, 'a'); END": "Spark would run it, or the statements in it",
    "INSERT INTO nowhere SELECT 1": "Spark itself can't plan it: \\[TABLE_OR_VIEW_NOT_FOUND\\]",
    "INSERT INTO q SELECT uuid(), k FROM v": "CANNOT_SAFELY_CAST",
}  # fmt: skip

LATER = {
    "CREATE TABLE new (a VARCHAR(3) DEFAULT 'x') USING parquet": "4.0",
    "EXECUTE IMMEDIATE 'INSERT INTO q VALUES (1, 2)'": "4.0",
    "BEGIN INSERT INTO q VALUES (1, 'a'); END": "4.1",
}
"""The releases of Spark with which statements came."""


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("sql", [later(LATER.get(sql, "3.5"), sql) for sql in REFUSED])
def test_refused(session: SparkSession, sql: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=REFUSED[sql]) as refused:
        sql_to_substrait(session, sql)
    assert "planted" not in str(refused.value)


# ---- DataFrame writers


def frame(session: SparkSession) -> DataFrame:
    return session.table("v").where("k < 3")


MODES = {"append": "APPEND", "overwrite": "REPLACE", "ErrorIfExists": "ERROR", "error": "ERROR", "ignore": "IGNORE"}


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("mode", MODES)
def test_writers(session: SparkSession, mode: str) -> None:
    plan = write_to_substrait(frame(session), table="statements.new", mode=mode, partition_by=["S"], format="orc")
    assert shown(plan) == "Write CTAS statements.new"
    assert root(plan).create_mode == WriteRel.CreateMode.Value(f"CREATE_MODE_{MODES[mode]}_IF_EXISTS")
    assert as_plain(said(plan)) == {"format": "orc", "partition_by": ["S"]}
    assert list(root(plan).table_schema.names) == ["k", "d", "s"]


def test_rows_of_writers(session: SparkSession) -> None:
    plan = write_to_substrait(frame(session), table="new", partition_by="s")
    expected = spark_table(frame(session).select("k", "d", "s"))
    assert expected.num_rows
    assert not differences(expected, spark_table(spark_engine.execute(query_of(plan), other_session(session))))


@pytest.mark.usefixtures("nothing_runs")
def test_writers_to_folders(session: SparkSession) -> None:
    plan = write_to_substrait(frame(session), path="/out/planned", options={"compression": "gzip"}, partition_by="d")
    assert as_plain(said(plan)) == {
        "format": "parquet",
        "location": "file:///out/planned",
        "options": [("compression", "gzip")],
        "partition_by": ["d"],
    }
    assert list(root(plan).table_schema.names) == ["k", "s", "d"]


def test_names_in_backticks(session: SparkSession) -> None:
    plan = write_to_substrait(frame(session), table="a.`b.c`.`d``e`")
    assert list(root(plan).named_table.names) == ["a", "b.c", "d`e"]


WRONG_WRITERS: dict[str, tuple[dict[str, Any], str]] = {
    "a table and a path": ({"table": "t", "path": "/out"}, "either a table or a path"),
    "neither": ({}, "either a table or a path"),
    "a mode": ({"table": "t", "mode": "replace"}, "mode must be one of"),
    "no name": ({"table": "a..b"}, "is no name of a table"),
    "a secret": ({"path": "/out", "options": {"password": "planted"}}, "its option password may hold a secret"),
    "no column": ({"path": "/out", "partition_by": "z"}, "there is not one column 'z' to partition by"),
    "all columns": ({"path": "/out", "partition_by": ["k", "s", "d"]}, "partitioned by all of its columns"),
    "a relative path": ({"path": "out"}, "its path is relative"),
}


@pytest.mark.parametrize("name", WRONG_WRITERS)
def test_wrong_writers(session: SparkSession, name: str) -> None:
    given, reason = WRONG_WRITERS[name]
    with pytest.raises((ValueError, UnsupportedPlanError), match=reason) as refused:
        write_to_substrait(frame(session), **given)
    assert "planted" not in str(refused.value)


def test_equal_names(session: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match="several of its columns have one name"):
        write_to_substrait(session.sql("SELECT k, k AS K FROM v"), path="/out/planned")


def test_what_structural_rules_find(session: SparkSession) -> None:
    plan = sql_to_substrait(session, "CREATE TABLE new USING parquet AS SELECT k, s FROM v")
    write = root(plan)
    write.create_mode = WriteRel.CreateMode.CREATE_MODE_UNSPECIFIED
    write.table_schema.struct.types[0].i64.nullability = 1
    assert len(structural_problems(plan)) == 2
    ddl = sql_to_substrait(session, "DROP TABLE p")
    root(ddl).op = DdlRel.DdlOp.DDL_OP_UNSPECIFIED
    del root(ddl).named_object.names[:]
    assert len(structural_problems(ddl)) == 2


def test_spark_connect_is_refused() -> None:
    class Remote:
        __module__ = "pyspark.sql.connect.session"

    with pytest.raises(UnsupportedSessionError, match="statements are analysed on the server"):
        sql_to_substrait(Remote(), "SELECT 1")  # type: ignore[arg-type]


def test_the_text_is_told(session: SparkSession) -> None:
    plan = sql_to_substrait(session, "INSERT OVERWRITE p PARTITION (d = '2024-01-01') SELECT k, s FROM v")
    assert 'static_partitions { name: "d" value: "2024-01-01" }' in explain(plan)
    assert json.dumps("overwrite") not in explain(plan)
