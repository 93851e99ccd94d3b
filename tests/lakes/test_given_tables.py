"""Lake tables that are given to DataFusion by name, and what is said where their readers are missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyiceberg.table import StaticTable
from pyspark.sql import SparkSession

from substrait_spark import InvalidPlanError, UnsupportedPlanError, df_to_substrait
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine

ROWS = [{"k": 1, "s": "a"}, {"k": 2, "s": None}]


@pytest.fixture(scope="module")
def delta(spark: SparkSession) -> str:
    """The folder of the table `given`, without the file of a row that was there before."""
    spark.sql("CREATE TABLE given (k INT, s STRING) USING delta TBLPROPERTIES ('delta.enableDeletionVectors'='true')")
    spark.sql("INSERT INTO given SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, NULL), (3, 'c')")
    spark.sql("DELETE FROM given WHERE k = 3")
    return str(spark.sql("DESCRIBE DETAIL given").collect()[0]["location"]).removeprefix("file:")


@pytest.fixture(scope="module")
def iceberg(spark: SparkSession) -> str:
    """The metadata file of a table."""
    spark.sql("CREATE TABLE ice.db.given (k INT, s STRING) USING iceberg")
    spark.sql("INSERT INTO ice.db.given VALUES (1, 'a'), (2, NULL)")
    plan = df_to_substrait(spark.table("ice.db.given"))
    return str(plan.relations[0].root.input.read.iceberg_table.direct.metadata_uri)


def rows(table: pa.Table) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=lambda row: row["k"])


def test_tables_by_themselves(spark: SparkSession, delta: str, iceberg: str) -> None:
    plan = df_to_substrait(spark.table("given"), dialect="datafusion")
    for given in (delta, Path(delta), DeltaTable(delta), StaticTable.from_metadata(iceberg), iceberg):
        assert rows(datafusion.execute(plan, tables={"given": given})) == ROWS
    with pytest.raises(TypeError, match=r"must be a pyarrow\.Table, a path"):
        datafusion.execute(plan, tables={"given": object()})


def test_the_number_of_rows(spark: SparkSession, delta: str, iceberg: str) -> None:
    plan = df_to_substrait(spark.sql("SELECT 1 AS one FROM given"), dialect="datafusion")
    for given in (delta, iceberg):
        assert datafusion.execute(plan, tables={"given": given}).num_rows == 2


def test_on_the_command_line(spark: SparkSession, delta: str, iceberg: str, tmp_path: Path) -> None:
    plan = df_to_substrait(spark.table("given").orderBy("k"), dialect="datafusion")
    (tmp_path / "plan.bin").write_bytes(plan.SerializeToString())
    for given in (delta, iceberg):
        command = [
            sys.executable,
            "-m",
            "substrait_spark",
            "run",
            str(tmp_path / "plan.bin"),
            "--table",
            f"given={given}",
        ]
        shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        assert "a" in shown.split()
        assert "c" not in shown.split()


@pytest.mark.parametrize("package", ["pyiceberg", "deltalake"])
def test_missing_readers(
    spark: SparkSession, delta: str, iceberg: str, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, "pyiceberg.table" if package == "pyiceberg" else package, None)
    table = "ice.db.given" if package == "pyiceberg" else "given"
    plan = df_to_substrait(spark.table(table), reads="files", dialect="datafusion")
    with pytest.raises(InvalidPlanError, match=rf"takes the package {package}: pip install 'substrait-spark\[lakes\]'"):
        datafusion.execute(plan)


def test_files_under(spark: SparkSession, delta: str, iceberg: str) -> None:
    for table in ("given", "ice.db.given"):
        df = spark.table(table)
        with pytest.raises(InvalidPlanError, match="which files_under can't confine"):
            datafusion.execute(df_to_substrait(df, reads="files", dialect="datafusion"), files_under=["/"])
        with pytest.raises(UnsupportedPlanError, match="not confined to the folders of files_under"):
            spark_engine.execute(df_to_substrait(df, reads="files"), spark, files_under=["/"])


def test_a_version_that_is_not_there(spark: SparkSession, delta: str) -> None:
    plan = df_to_substrait(spark.table("given"), reads="files", dialect="datafusion")
    detail = plan.relations[0].root.input.read.extension_table.detail
    detail.value = detail.value[:-1] + b"\x63"
    with pytest.raises(InvalidPlanError, match="can't be read by deltalake"):
        datafusion.execute(plan)


@pytest.mark.parametrize("format", ["iceberg", "delta"])
def test_files_that_filters_leave_out(spark: SparkSession, format: str) -> None:
    """They are not opened: one is not there any more."""
    table = "ice.db.left_out" if format == "iceberg" else "left_out"
    spark.sql(f"CREATE TABLE {table} (k INT, s STRING) USING {format}")
    for row in ("(1, 'a')", "(2, NULL)"):
        spark.sql(f"INSERT INTO {table} VALUES {row}")
    (file,) = spark.sql(f"SELECT input_file_name() FROM {table} WHERE k = 2").collect()[0]
    location = spark.sql("DESCRIBE DETAIL left_out").collect()[0]["location"] if format == "delta" else ""
    tables = {"left_out": str(location).removeprefix("file:")}
    Path(str(file).removeprefix("file:")).unlink()
    for wanted, there in (("k < 2", True), ("1 = k AND s > ''", True), ("k + 1 = 2", False)):
        plan = df_to_substrait(spark.sql(f"SELECT k, s FROM {table} WHERE {wanted}"), dialect="datafusion")
        if there:
            assert rows(datafusion.execute(plan, tables=tables)) == ROWS[:1]
        else:
            with pytest.raises(InvalidPlanError, match="can't be read by"):
                datafusion.execute(plan, tables=tables)
