"""Which files the plans of others may have opened: regular ones of this machine, and none outside the folders allowed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from substrait.algebra_pb2 import DdlRel, Rel, WriteRel
from substrait.plan_pb2 import ExecutionBehavior, Plan
from substrait.type_pb2 import Type

from substrait_spark import InvalidPlanError, PlanningError, SubstraitSparkError, UnsupportedPlanError
from substrait_spark.command_line.commands import group
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine

SECRET = "secret"


def reading(uri: str, kind: str = "uri_file", format: str = "text") -> Plan:
    """A plan that reads a file's rows, as lines of text or as Parquet."""
    plan = Plan()
    plan.version.minor_number = 106
    plan.execution_behavior.variable_eval_mode = ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_PLAN
    root = plan.relations.add().root
    root.names.append("line")
    read = root.input.read
    read.base_schema.names.append("line")
    read.base_schema.struct.nullability = Type.NULLABILITY_REQUIRED
    read.base_schema.struct.types.add().string.nullability = Type.NULLABILITY_NULLABLE
    item = read.local_files.items.add()
    setattr(item, kind, uri)
    if format == "text":
        item.text.field_delimiter = "\x01"
    else:
        getattr(item, format).SetInParent()
    return plan


def in_datafusion(plan: Plan, spark: SparkSession, files_under: Sequence[str | Path] | None = None) -> list[Any]:
    return list(datafusion.execute(plan, files_under=files_under)["line"].to_pylist())


def in_spark(plan: Plan, spark: SparkSession, files_under: Sequence[str | Path] | None = None) -> list[Any]:
    return [row.line for row in spark_engine.execute(plan, spark, files_under=files_under).collect()]


Run = Callable[..., list[Any]]
engines = pytest.mark.parametrize("run", [in_datafusion, in_spark])


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "outside" / "secret.txt"
    path.parent.mkdir()
    path.write_text(f"{SECRET}\n")
    return path


@pytest.fixture
def allowed(tmp_path: Path) -> Path:
    path = tmp_path / "inside"
    path.mkdir()
    (path / "open.txt").write_text("open\n")
    return path


@engines
def test_a_file_in_an_allowed_folder(spark: SparkSession, run: Run, allowed: Path) -> None:
    plan = reading((allowed / "open.txt").as_uri())
    assert run(plan, spark, [allowed]) == run(plan, spark, ["/nowhere", str(allowed)]) == run(plan, spark) == ["open"]


@engines
@pytest.mark.parametrize(
    "way",
    [
        "{outside}/secret.txt",
        "{inside}/../outside/secret.txt",
        "{inside}/%2e%2e/outside/secret.txt",
        "{inside}/link.txt",
    ],
)
def test_files_outside_are_not_opened(spark: SparkSession, run: Run, allowed: Path, secret: Path, way: str) -> None:
    (allowed / "link.txt").symlink_to(secret)
    plan = reading("file://" + way.format(inside=allowed, outside=secret.parent))
    assert run(plan, spark) == [SECRET]
    for folders in ([allowed], [str(allowed)], []):
        with pytest.raises(SubstraitSparkError, match="in none of the folders that files_under allows"):
            run(plan, spark, folders)


def test_patterns_find_no_files_outside(spark: SparkSession, allowed: Path, secret: Path) -> None:
    (allowed / "folder").symlink_to(secret.parent)
    (allowed / "link.txt").symlink_to(secret)
    for uri in (f"file://{secret.parent}/*.txt", f"file://{allowed}/folder/*.txt", f"file://{allowed}/*.txt"):
        plan = reading(uri, "uri_path_glob")
        assert SECRET in in_datafusion(plan, spark)
        with pytest.raises(InvalidPlanError, match="in none of the folders"):
            in_datafusion(plan, spark, [allowed])
        with pytest.raises(UnsupportedPlanError, match="takes files that the plan names one by one"):
            in_spark(plan, spark, [allowed])


@engines
@pytest.mark.parametrize("kind", ["uri_file", "uri_path_glob", "uri_path", "uri_folder"])
def test_what_is_no_regular_file(spark: SparkSession, run: Run, tmp_path: Path, kind: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        started = time.monotonic()
        with pytest.raises(SubstraitSparkError):
            run(reading(path.as_uri(), kind), spark)
        assert time.monotonic() - started < 10
    with pytest.raises(SubstraitSparkError, match="pipe is no regular file"):
        run(reading((tmp_path / "pip*").as_uri().replace("%2A", "*"), "uri_path_glob"), spark)


@engines
@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("file://elsewhere/etc/hostname", "of the host 'elsewhere'"),
        ("file:///etc/hostname?version=1", "a query or a fragment"),
        ("file:///etc/hostname#x", "a query or a fragment"),
        ("file:etc/hostname", "no absolute path"),
        ("file:///etc/host%00name", "no absolute path"),
        ("file://[::1/etc/hostname", "is no URI"),
        ("file:///" + "x" * 5000, "can't be read"),
    ],
)
def test_uris_that_are_no_local_file(spark: SparkSession, run: Run, uri: str, reason: str) -> None:
    with pytest.raises(SubstraitSparkError, match=reason):
        run(reading(uri), spark)


@engines
def test_other_machines_are_not_allowed(spark: SparkSession, run: Run, allowed: Path) -> None:
    with pytest.raises(SubstraitSparkError, match="Only local files can be read here"):
        run(reading("s3://bucket/key", format="parquet"), spark, [allowed])


NOT_RUN = r"feature is not implemented: (Write|Ddl)|it writes, and only queries are run"


@engines
@pytest.mark.parametrize("kind", ["write", "ddl"])
def test_plans_that_write_are_not_run(spark: SparkSession, run: Run, allowed: Path, kind: str) -> None:
    plan = reading((allowed / "open.txt").as_uri())
    root = plan.relations[0].root
    rows, changed = Rel.FromString(root.input.SerializeToString()), getattr(root.input, kind)
    root.ClearField("names")
    if kind == "write":
        changed.op, changed.named_table.names[:] = WriteRel.WRITE_OP_CTAS, ["written"]
        changed.table_schema.CopyFrom(rows.read.base_schema)
        changed.input.CopyFrom(rows)
    else:
        changed.op, changed.object, changed.named_object.names[:] = DdlRel.DDL_OP_DROP, DdlRel.DDL_OBJECT_TABLE, ["t"]
    with pytest.raises(PlanningError if run is in_datafusion else UnsupportedPlanError, match=NOT_RUN):
        run(plan, spark)
    assert not spark.catalog.tableExists("written")


def test_a_format_and_a_path_are_no_table(spark: SparkSession, secret: Path) -> None:
    plan = reading("file:///")
    plan.relations[0].root.input.read.named_table.names.extend(["text", str(secret)])
    with pytest.raises(UnsupportedPlanError, match="there is no table text"):
        in_spark(plan, spark)


def test_the_systems_own_files_are_not_waited_for(spark: SparkSession) -> None:
    assert in_datafusion(reading("file:///proc/self/status"), spark) == []


def test_text_that_is_too_long_is_not_read(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    with path.open("wb") as file:
        file.truncate(2**31)
    with pytest.raises(InvalidPlanError, match="2,147,483,648 bytes of text, and at most 1,073,741,824"):
        in_datafusion(reading(path.as_uri()), spark)


@pytest.mark.parametrize("value", ["/data", b"/data", 5])
def test_folders_are_a_list(spark: SparkSession, value: Any) -> None:
    for execute in (
        lambda: datafusion.execute(Plan(), files_under=value),
        lambda: spark_engine.execute(Plan(), spark, files_under=value),
    ):
        with pytest.raises(TypeError, match="files_under must be a list of folders, not"):
            execute()


def test_folders_on_the_command_line(allowed: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"line": ["open"]}), allowed / "open.parquet")
    saved = tmp_path / "lines.plan"
    saved.write_bytes(reading((allowed / "open.parquet").as_uri(), format="parquet").SerializeToString())
    assert "open" in CliRunner().invoke(group, ["run", str(saved), "--files-under", str(allowed)]).output
    outcome = CliRunner().invoke(group, ["run", str(saved), "--files-under", str(tmp_path / "other")])
    assert isinstance(outcome.exception, InvalidPlanError)
