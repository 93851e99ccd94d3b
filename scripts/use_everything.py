"""Import every module, and use each part of the library once: what `make floors` runs on the oldest dependencies."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import substrait_spark
from substrait_spark import check, df_to_substrait, diff, explain, lower, to_html
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.testing import assert_well_formed

PACKAGES = (
    "protobuf",
    "substrait",
    "pyyaml",
    "jsonschema",
    "click",
    "datafusion",
    "pyarrow",
    "pytest",
    "syrupy",
    "pyspark",
)

QUERY = "SELECT id % 2 AS odd, count(*) AS n, sum(CAST(id AS DECIMAL(10, 2))) AS s FROM range(10) GROUP BY 1 ORDER BY 1"

SNAPSHOT = """
import pytest
from pyspark.sql import SparkSession


@pytest.fixture
def spark():
    return SparkSession.builder.getOrCreate()


def test_plan(spark, plan_snapshot):
    assert spark.range(3).where("id > 1") == plan_snapshot
"""


def main() -> None:
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES))
    for module in pkgutil.walk_packages(substrait_spark.__path__, "substrait_spark."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    df = spark.sql(QUERY)
    rows = [tuple(row) for row in df.collect()]
    canonical, plan = df_to_substrait(df), df_to_substrait(df, dialect="datafusion")
    assert_well_formed(canonical)
    assert all((explain(canonical), to_html(canonical), diff(canonical, plan)))
    assert lower(canonical, "datafusion") == plan
    assert [tuple(row.values()) for row in datafusion.execute(plan).to_pylist()] == rows
    assert [tuple(row) for row in spark_engine.execute(canonical, spark).collect()] == rows
    assert not check(spark.sql("SELECT input_file_name()"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _on_the_command_line(folder)
        (folder / "test_plan.py").write_text(SNAPSHOT)
        for options in (["--snapshot-update"], []):
            _run("pytest", ["-q", *options, "test_plan.py"], folder)
    spark.stop()


def _on_the_command_line(folder: Path) -> None:
    for arguments in (
        ["export", QUERY, "--dialect", "datafusion", "-o", "q.plan"],
        ["explain", "q.plan"],
        ["run", "q.plan"],
        ["run", "q.plan", "-o", "q.parquet"],
        ["check", "q.plan", "--dialect", "datafusion"],
        ["diff", "q.plan", "q.plan"],
        ["support", "abs"],
        ["--version"],
    ):
        _run("substrait_spark", arguments, folder)


def _run(module: str, arguments: list[str], folder: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{module} {arguments}: {ran.stdout}{ran.stderr}"


if __name__ == "__main__":
    main()
