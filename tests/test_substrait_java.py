"""substrait-java loads our extension files, and reads our plans: what it writes of them says the same."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import tpc_data
from pyspark.sql import SparkSession
from rows import plan_of
from substrait.algebra_pb2 import Expression, FetchRel
from substrait.plan_pb2 import Plan

import substrait_spark
from substrait_spark import explain
from substrait_spark.algebra.message_walk import messages

Bound = Expression.WindowFunction.Bound

HERE = Path(__file__).parent / "substrait_java"

PACKAGE = Path(substrait_spark.__file__).parent

VALUES = "VALUES (1, 1.5BD, 'a', DATE'2024-01-31', TIMESTAMP'2024-03-10 02:30:00'), (2, NULL, 'b', NULL, NULL) t(i, d, s, day, at)"

QUERIES = {
    "arithmetic": "SELECT d / i, d * d * d, pmod(i, 2), shiftleft(i, 3), try_add(i, 1), round(cast(d AS DOUBLE), 1) FROM t",
    "text": "SELECT substring(s, i, 2), lpad(s, i, 'x'), concat_ws(',', s, array(s)), s LIKE 'a!_%' ESCAPE '!' FROM t",
    "time": "SELECT date_add(day, i), year(at), date_trunc('month', at), day + INTERVAL '1' MONTH, at - at FROM t",
    "collections": "SELECT transform(array(i), (x, n) -> x + n), map(s, i)[s], named_struct('x', i).x, array_sort(array(s)) FROM t",
    "aggregates": "SELECT first(i), collect_list(s), max(s), avg(d), mode(i), try_sum(i) FROM t",
    "windows": "SELECT sum(i) OVER (ORDER BY i ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING), first_value(s) OVER (ORDER BY i) FROM t",
    "sets": "SELECT s, i, count(*) FROM t GROUP BY GROUPING SETS ((s), (i), ())",
    "random": "SELECT rand(1), uuid() FROM t",
    "rows": "SELECT explode(array(i, 2)) FROM t",
}
"""Queries over functions of our own, and types that the TPC-H plans lack."""


@pytest.fixture(scope="module")
def substrait_java(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the library's classes."""
    if shutil.which("mvn") is None or shutil.which("java") is None:
        pytest.skip("Maven and Java bring and run substrait-java")
    classes = tmp_path_factory.mktemp("substrait_java")
    arguments = ["-f", str(HERE / "pom.xml"), "dependency:copy-dependencies", f"-DoutputDirectory={classes}"]
    subprocess.run(["mvn", "--batch-mode", "--quiet", *arguments], check=True)
    return classes


def _read(classes: Path, extensions: Path, plans: Path, written: Path) -> str:
    """What Java says of plans that it can't read; those that it can it writes anew."""
    command = ["java", "-cp", f"{classes}/*", *map(str, (HERE / "ReadPlans.java", extensions, plans, written))]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [
        "extensions/functions_spark.yaml",
        "extensions/functions_spark_intervals.yaml",
        "engines/datafusion/functions.yaml",
    ],
)
def test_loads_extension_file(substrait_java: Path, tmp_path: Path, file: str) -> None:
    _read(substrait_java, PACKAGE / file, tmp_path, tmp_path)


@pytest.mark.slow
def test_reads_plans(substrait_java: Path, spark: SparkSession, tpch: Path, tmp_path: Path) -> None:
    plans, written = tmp_path / "plans", tmp_path / "written"
    plans.mkdir()
    written.mkdir()
    queries = {f"tpch_{number}": text for number, text in tpc_data.queries(tpch).items()}
    spark.sql(f"SELECT * FROM {VALUES}").createOrReplaceTempView("t")
    queries |= QUERIES
    for name, query in queries.items():
        (plans / name).write_bytes(plan_of(spark.sql(query)).SerializeToString())
    assert _read(substrait_java, PACKAGE / "extensions/functions_spark.yaml", plans, written) == ""
    for name in queries:
        assert _text(written / name) == _text(plans / name), name


def _text(file: Path) -> str:
    """A plan without what substrait-java 0.89 does not keep, and without the removed fields that it writes, too.

    It drops the plan's execution behavior, the bounds' expressions beside their numbers, and the counts of Fetch.
    """
    plan = Plan.FromString(file.read_bytes())
    plan.DiscardUnknownFields()
    plan.ClearField("execution_behavior")
    for message in messages(plan):
        if isinstance(message, Bound.Preceding | Bound.Following):
            message.ClearField("offset_expr")
        if isinstance(message, FetchRel):
            message.ClearField("offset_expr")
            message.ClearField("count_expr")
    return explain(plan)
