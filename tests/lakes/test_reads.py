"""What queries of lake tables become, and that their plans have Spark's rows in both engines."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from rows import differences, other_session, spark_table
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from lakes.beyond_statements import add_columns_with_defaults
from lakes.cases import DELTA, DELTA_CASES, FILES, ICEBERG, ICEBERG_CASES, NAME, REFUSED, ROWS, SNAPSHOT, Case, Read
from substrait_spark import InvalidPlanError, UnsupportedPlanError, df_to_substrait
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine

PLACES = {"Iceberg": "ice.db.", "Iceberg by REST": "rest.db.", "Delta": "spark_catalog.default."}

BY_REST = (
    "columns changed, and rows written after that",
    "branches and tags",
    "rows deleted and updated, merge on read",
)
"""Cases that a catalog that is served has as one of folders has."""

ALL = [
    pytest.param(format, case, read, id=f"{format}-{case.name}-{number}")
    for format, cases in (
        ("Iceberg", ICEBERG_CASES),
        ("Iceberg by REST", [case for case in ICEBERG_CASES if case.name in BY_REST]),
        ("Delta", DELTA_CASES),
    )
    for case in cases
    for number, read in enumerate(case.reads)
]


@pytest.fixture(scope="module")
def tables(spark: SparkSession) -> Iterator[dict[tuple[str, str], tuple[str, str]]]:
    """The names and first snapshots of the tables that were made, by format and case."""
    made: dict[tuple[str, str], tuple[str, str]] = {}
    yield made
    for name, _ in made.values():
        spark.sql(f"DROP TABLE IF EXISTS {name}")


@pytest.fixture(scope="module")
def parquet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of Parquet files."""
    path = str(tmp_path_factory.mktemp("joined") / "parquet")
    spark.sql("SELECT * FROM VALUES (2, 'x'), (2, NULL), (3, ''), (10, 'y') AS t(k, v)").write.parquet(path)
    return path


def query(
    spark: SparkSession,
    made: dict[tuple[str, str], tuple[str, str]],
    parquet: str,
    format: str,
    case: Case,
    read: Read,
) -> DataFrame:
    if (format, case.name) not in made:
        name, first = f"{PLACES[format]}t{len(made)}", ""
        made[format, case.name] = name, first
        for statement in case.statements:
            if isinstance(statement, str):
                spark.sql(statement.format(t=name))
            else:
                statement(spark, name)
            if not first and format != "Delta" and str(statement).startswith("INSERT"):
                first = str(spark.sql(f"SELECT snapshot_id FROM {name}.snapshots").head()[0])  # type: ignore[index]
        made[format, case.name] = name, first
    name, first = made[format, case.name]
    path = folder(spark, name) if format == "Delta" else ""
    return spark.sql(read.sql.format(t=name, v=first, f=path, p=parquet))


def becomes(plan: Plan) -> str:
    """What the first read of a plan is."""
    read = next(message for message in messages(plan) if isinstance(message, ReadRel))
    kind = read.WhichOneof("read_type")
    if kind == "iceberg_table":
        return SNAPSHOT if read.iceberg_table.direct.HasField("snapshot_id") else ICEBERG
    return {"local_files": FILES, "named_table": NAME, "virtual_table": ROWS, "extension_table": DELTA}[str(kind)]


def names(plan: Plan) -> list[list[str]]:
    """The tables that a plan reads by name."""
    found = [message for message in messages(plan) if isinstance(message, ReadRel)]
    return [list(read.named_table.names) for read in found if read.HasField("named_table")]


def folder(spark: SparkSession, table: str) -> str:
    """The path of a Delta table's folder."""
    location = spark.sql(f"DESCRIBE DETAIL {table}").select("location").collect()[0][0]
    return str(location).removeprefix("file:")


@pytest.mark.parametrize(("format", "case", "read"), ALL)
def test_reads(
    spark: SparkSession,
    tables: dict[tuple[str, str], tuple[str, str]],
    parquet: str,
    format: str,
    case: Case,
    read: Read,
) -> None:
    df = query(spark, tables, parquet, format, case, read)
    if read.becomes == REFUSED:
        for stage in read.stages:
            with pytest.raises(UnsupportedPlanError, match=re.escape(read.says)):
                df_to_substrait(df, reads=read.reads, stage=stage)
        return
    expected = spark_table(df)
    if "without a row" not in case.name:
        assert expected.num_rows, "vacuous"
    for stage in read.stages:
        plan = df_to_substrait(df, reads=read.reads, stage=stage)
        if stage == "optimized":
            assert becomes(plan) == read.becomes
        other = other_session(spark)
        assert not differences(expected, spark_table(spark_engine.execute(plan, other)))
        lowered = df_to_substrait(df, reads=read.reads, stage=stage, dialect="datafusion")
        given = {parts[-1]: folder(spark, ".".join(parts)) for parts in names(lowered)}
        if read.says:
            with pytest.raises(InvalidPlanError, match=re.escape(read.says)):
                datafusion.execute(lowered, tables=given)
        else:
            assert not differences(expected, datafusion.execute(lowered, tables=given))


def test_filters_that_icebergs_reader_gets_wrong(spark: SparkSession) -> None:
    """Columns of a snapshot whose names are others' now, and default values: what is asked of the rows of a plan finds them."""
    name = "ice.db.asked"
    spark.sql(f"CREATE TABLE {name} (k INT, s STRING, o STRING) USING iceberg TBLPROPERTIES ('format-version'='3')")
    spark.sql(f"INSERT INTO {name} VALUES (1, 'a', 'x')")
    (first,) = spark.sql(f"SELECT snapshot_id FROM {name}.snapshots").collect()[0]
    for old, new in (("s", "q"), ("o", "s"), ("q", "o")):
        spark.sql(f"ALTER TABLE {name} RENAME COLUMN {old} TO {new}")
    add_columns_with_defaults(spark, name)
    for query, condition in (
        ("* FROM {t} VERSION AS OF {v}", "s = 'a'"),
        ("* FROM {t}", "c = 5"),
        ("* FROM {t}", "x = 'ü'"),
    ):
        df = spark.sql(f"SELECT {query.format(t=name, v=first)}")
        assert not df.where(condition).collect(), "Iceberg finds them"
        rows = spark_engine.execute(df_to_substrait(df), other_session(spark))
        assert [row.k for row in rows.where(condition).collect()] == [1]
