"""Snapshots of plans: what is left out of them, how they differ, and the pytest plugin as its users run it."""

from __future__ import annotations

import html
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from substrait_spark.explain.layout import in_full
from substrait_spark.testing import normalised
from substrait_spark.testing.normalised import ASIDE, TEMPORARY

snapshot = pytest.importorskip("substrait_spark.testing.snapshot", reason="the extra `testing` is not installed")
pytestmark = pytest.mark.usefixtures("another_pytest")


def plan_of_files(*uris: str) -> Plan:
    plan = Plan()
    plan.version.minor_number = 106
    plan.version.producer = "substrait-spark 0.1.0"
    read = plan.relations.add().root.input.read
    for index, uri in enumerate(uris):
        item = read.local_files.items.add(uri_file=uri, partition_index=index, start=4, length=1000 + index)
        item.parquet.SetInParent()
    read.common.hint.stats.row_count = 17
    return plan


def files(plan: Plan) -> list[ReadRel.LocalFiles.FileOrFiles]:
    return list(plan.relations[0].root.input.read.local_files.items)


SPARKS = [f"file:///data/lake/orders/day=1/part-0000{n}-5f1c-c000.snappy.parquet" for n in range(3)]


def test_what_is_left_out() -> None:
    plan = plan_of_files("file:///data/lake/a%20b.parquet", "s3://bucket/x/c.parquet")
    before = plan.SerializeToString(deterministic=True)
    found = normalised(plan, roots={"/data": ".", "/data/lake": "<lake>", "s3://bucket": "<bucket>"})
    assert [item.uri_file for item in files(found)] == ["<lake>/a%20b.parquet", "<bucket>/x/c.parquet"]
    assert all((item.partition_index, item.start, item.length) == (0, 0, 0) for item in files(found))
    assert found.version.producer == ""
    assert found.version.minor_number == 106
    assert not found.relations[0].root.input.read.common.hint.HasField("stats")
    assert plan.SerializeToString(deterministic=True) == before


def test_everything_can_be_kept() -> None:
    plan = plan_of_files(*SPARKS)
    assert normalised(plan, keep=ASIDE, roots={"/data": "."}) == plan


@pytest.mark.parametrize("what", ASIDE)
def test_each_can_be_kept(what: str) -> None:
    kept = normalised(plan_of_files(*SPARKS), keep=[what], roots={"/data": "."})
    read = kept.relations[0].root.input.read
    assert (read.local_files.items[0].uri_file == SPARKS[0]) == (what == "locations")
    assert (read.local_files.items[0].length == 1000) == (what == "sizes")
    assert read.common.hint.HasField("stats") == (what == "statistics")
    assert bool(kept.version.producer) == (what == "producer")


def test_part_files_are_one() -> None:
    found = normalised(plan_of_files(*SPARKS), roots={"/data": "."})
    assert [item.uri_file for item in files(found)] == ["./lake/orders/day=1/part-*.parquet"]


def test_temporary_folders_lose_their_numbers() -> None:
    uris = [f"file:///run/tests/{path}/x7/part9.parquet" for path in ("lake10", "7", "day2/at12", "table")]
    found = normalised(plan_of_files(*uris), roots={"/run/tests": TEMPORARY})
    below = [item.uri_file.removeprefix("<tmp>/").removesuffix("/x7/part9.parquet") for item in files(found)]
    assert below == ["lake", "7", "day/at12", "table"]


def test_unknown_words_are_refused() -> None:
    with pytest.raises(ValueError, match="What can be kept is locations, sizes, statistics, producer, not size"):
        normalised(Plan(), keep=["size"])


def test_difference_has_no_noise_from_indentation() -> None:
    old = "root [a]\n  Read t -> a: i64\n"
    new = "root [a]\n  Filter $0\n    Read t -> a: i64\n"
    assert list(snapshot.difference(old, new)) == ["  root [a]", "+   Filter $0", "      Read t -> a: i64"]


def test_snapshots_with_every_schema_where_it_is_used_stay_valid() -> None:
    """They were written before schemas that occur again were referred to by number."""
    plan = Plan()
    for _ in range(2):
        read = plan.relations.add().rel.read
        read.named_table.names.append("customers")
        read.base_schema.names.extend(f"column_{n}" for n in range(6))
        for _ in range(6):
            read.base_schema.struct.types.add().i64.SetInParent()
        read.common.emit.output_mapping.append(2)
    extension = snapshot.PlanSnapshotExtension()
    text = extension.serialize(plan)
    assert "schema 1: " in text
    old = in_full(text)
    assert old.count("column_1: i64!") == 2
    assert extension.matches(serialized_data=text, snapshot_data=text)
    assert extension.matches(serialized_data=text, snapshot_data=old)
    plan.relations[1].rel.read.base_schema.names[1] = "other"
    changed = extension.serialize(plan)
    assert not extension.matches(serialized_data=changed, snapshot_data=old)
    assert [line[0] for line in snapshot.difference(old, changed)].count("-") == 1
    del plan.relations[0].rel.read.common.emit.output_mapping[:]
    plan.relations[1].rel.read.base_schema.names[1] = "column_1"
    said = [line for line in snapshot.difference(old, extension.serialize(plan)) if line[0] in "-+"]
    assert len(said) == 2
    assert all("Read customers schema [column_0: i64!" in line for line in said)


def test_difference_leaves_out_what_is_far() -> None:
    lines = [f"line {number}" for number in range(30)]
    found = list(snapshot.difference("\n".join(lines), "\n".join([*lines[:15], "other", *lines[16:]])))
    assert found[0] == found[-1] == "  …"
    assert found[6:8] == ["- line 15", "+ other"]
    assert len(found) == 2 * snapshot.CONTEXT + 4


# ---- the plugin

TESTS = """
from substrait.plan_pb2 import Plan

def plan(path, table="orders"):
    found = Plan()
    found.version.producer = "somebody 1.2.3"
    relation = found.relations.add()
    relation.root.names.append("item")
    read = relation.root.input.filter.input.read
    read.named_table.names.append(table)
    relation.root.input.filter.condition.literal.boolean = True
    files = found.relations.add().rel.read.local_files
    files.items.add(uri_file=f"file://{path}/x.parquet", length=3).parquet.SetInParent()
    return found

def test_first(plan_snapshot, tmp_path):
    assert plan(tmp_path) == plan_snapshot

def test_second(plan_snapshot, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lake")
    assert plan_snapshot == plan(folder)
    assert plan(folder, "refunds") == plan_snapshot(name="refunds")
    assert plan(folder) == plan_snapshot.keeping("producer", "sizes").below({str(folder): "<lake>"})(name="kept")
"""


class Project:
    """A project with tests, run by pytest in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.tests = folder / "test_plans.py"
        self.tests.write_text(TESTS, "utf-8")
        self.settings = folder / "pytest.ini"
        self.settings.write_text("[pytest]\n", "utf-8")
        self.snapshots = folder / "__snapshots__" / "test_plans"

    def pytest(self, *arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "pytest", *arguments]
        environment = {**os.environ, "COLUMNS": "160"}
        done = subprocess.run(
            command, cwd=self.tests.parent, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project whose snapshots are written."""
    made = Project(tmp_path_factory.mktemp("project"))
    missing, shown = made.pytest()
    assert missing == 1
    assert "There is no snapshot test_first yet: pytest --snapshot-update writes it." in shown
    code, shown = made.pytest("--snapshot-update")
    assert code == 0, shown
    return made.snapshots.parent


@pytest.fixture
def project(written: Path, tmp_path: Path) -> Project:
    """A copy of that project."""
    shutil.copytree(written, tmp_path / "__snapshots__")
    return Project(tmp_path)


def test_plugin(project: Project) -> None:
    assert sorted(path.name for path in project.snapshots.iterdir()) == [
        "test_first.substrait.txt",
        "test_second.substrait.txt",
        "test_second[kept].substrait.txt",
        "test_second[refunds].substrait.txt",
    ]
    first = (project.snapshots / "test_first.substrait.txt").read_text("utf-8")
    assert "'<tmp>/test_first/x.parquet'" in first
    assert "1.2.3" not in first
    kept = (project.snapshots / "test_second[kept].substrait.txt").read_text("utf-8")
    assert "'<lake>/x.parquet'" in kept
    assert "length 3" in kept
    assert "somebody 1.2.3" in kept
    # Again, in another order, and in two processes.
    project.tests.write_text(
        f"{TESTS}\ndef test_other(tmp_path_factory):\n    tmp_path_factory.mktemp('lake')\n", "utf-8"
    )
    other_first = [f"test_plans.py::test_{name}" for name in ("other", "second", "first")]
    for arguments in ([], other_first, ["-n", "2"]):
        code, shown = project.pytest(*arguments)
        assert code == 0, shown
        assert "4 snapshots passed" in shown


def test_a_changed_plan_fails_with_the_difference(project: Project) -> None:
    changed = project.tests.read_text("utf-8").replace('table="orders"', 'table="old_orders"')
    project.tests.write_text(changed, "utf-8")
    code, shown = project.pytest("-k", "first", "--show-capture=no", "--junitxml=report.xml")
    assert code == 1
    assert "The plan differs from the snapshot test_first (- snapshot, + plan):" in shown
    lines = shown.splitlines()
    removed, added = (next(line for line in lines if line.startswith(f"E         {mark} ")) for mark in "-+")
    removed, added = removed.removeprefix("E         "), added.removeprefix("E         ")
    assert removed.replace("orders", "old_orders")[1:] == added[1:]
    assert "Filter true" in shown
    assert added in html.unescape(project.tests.with_name("report.xml").read_text("utf-8"))
    code, shown = project.pytest("--snapshot-update")
    assert code == 0, shown
    assert "3 snapshots updated" in shown


def test_a_dropped_test_leaves_an_unused_snapshot(project: Project) -> None:
    project.tests.write_text(TESTS.replace("def test_first", "def helper"), "utf-8")
    code, shown = project.pytest()
    assert code == 1
    assert "1 snapshot unused" in shown


def test_settings(project: Project) -> None:
    project.settings.write_text(
        f"[pytest]\nplan_snapshot_keep = producer\nplan_snapshot_roots =\n    {project.tests.parent.parent} = <up>\n",
        "utf-8",
    )
    code, shown = project.pytest("-k", "first")
    assert code == 1
    assert "producer 'somebody 1.2.3'" in shown


def test_what_is_no_plan_is_told(project: Project) -> None:
    project.tests.write_text("def test_none(plan_snapshot):\n    assert None == plan_snapshot\n", "utf-8")
    code, shown = project.pytest()
    assert code == 1
    assert "The plan can't be made:" in shown
    assert "Give a PySpark DataFrame, not None" in shown
    assert "Traceback" not in shown
