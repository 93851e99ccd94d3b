"""Import every module, and use each part of the library once: what `make floors` runs on the oldest dependencies."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import substrait_spark
from substrait_spark import (
    capture,
    check,
    df_to_substrait,
    diff,
    explain,
    expressions_to_substrait,
    lower,
    sql_to_substrait,
    to_html,
    write_to_substrait,
)
from substrait_spark.command_line.commands import group
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
    statement = sql_to_substrait(spark, "SELECT :n + id AS n FROM range(3)", parameters={"n": "bigint"})
    assert datafusion.execute(lower(statement, "datafusion"), parameters={"n": 1})["n"].to_pylist() == [1, 2, 3]
    assert explain(write_to_substrait(df, path="file:/data/odd"))
    assert explain(lower(expressions_to_substrait(df, {"m": "n + 1"}), "pyarrow"))
    with capture(spark) as queries:
        df.collect()
    assert [query.plan for query in queries] == [canonical]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_plan.py").write_text(SNAPSHOT)
        for options in (["--snapshot-update"], []):
            assert pytest.main(["-q", "--rootdir", name, *options, str(folder / "test_plan.py")]) == 0
        _on_the_command_line(folder)


def _on_the_command_line(folder: Path) -> None:
    """Each command, in this process, whose session `export` ends."""
    plan = str(folder / "q.plan")
    for arguments in (
        ["export", QUERY, "--dialect", "datafusion", "-o", plan],
        ["explain", plan],
        ["run", plan],
        ["run", plan, "-o", str(folder / "q.parquet")],
        ["check", plan, "--dialect", "datafusion"],
        ["diff", plan, plan],
        ["support", "abs"],
        ["--version"],
    ):
        ran = CliRunner().invoke(group, arguments)
        assert ran.exit_code == 0, f"{arguments}: {ran.output}{ran.exception!r}"
    subprocess.run([sys.executable, "-m", "substrait_spark", "--version"], check=True)


if __name__ == "__main__":
    main()
