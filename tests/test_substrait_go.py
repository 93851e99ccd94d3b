"""substrait-go, which knows an older release of the specification, loads our extension file, and reads plans for a dialect of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import tpc_data
from pyspark.sql import SparkSession
from rows import plan_of

import substrait_spark
from substrait_spark import lower

HERE = Path(__file__).parents[1] / "scripts" / "readers" / "substrait_go"

EXTENSION_FILE = Path(substrait_spark.__file__).parent / "extensions" / "functions_spark.yaml"


@pytest.fixture(scope="module")
def substrait_go(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that reads plans."""
    if shutil.which("go") is None:
        pytest.skip("Go brings and runs substrait-go")
    program = tmp_path_factory.mktemp("substrait_go") / "read"
    subprocess.run(["go", "build", "-o", str(program), "."], check=True, cwd=HERE)
    return program


def refused(program: Path, *plans: Path) -> str:
    """What Go says of plans that it can't read. Fails where it doesn't load the extension file."""
    command = [program, EXTENSION_FILE, *plans]
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.mark.slow
def test_loads_the_extension_file(substrait_go: Path) -> None:
    assert refused(substrait_go) == ""


DIALECT = "name: substrait-go 8.1.1\nmetadata: {abilities: {fetch_expressions: false}}"


@pytest.mark.slow
def test_reads_plans_for_a_dialect_of_its_release(
    substrait_go: Path, spark: SparkSession, tpch: Path, tmp_path: Path
) -> None:
    """All of TPC-H but those with subqueries, which the reader doesn't take by itself."""
    (tmp_path / "go.yaml").write_text(DIALECT)
    files = []
    for number, query in tpc_data.queries(tpch).items():
        plan = lower(plan_of(spark.sql(query)), tmp_path / "go.yaml")
        files.append(tmp_path / f"q{number}")
        files[-1].write_bytes(plan.SerializeToString())
    lines = refused(substrait_go, *files).splitlines()
    assert len(lines) <= 3
    assert all("subquery expressions require a subquery converter" in line for line in lines)
