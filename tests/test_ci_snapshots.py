"""The example project of snapshot tests works, and fails on a changed join as its README says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("syrupy")
pytestmark = pytest.mark.usefixtures("another_pytest")

EXAMPLE = Path(__file__).parent.parent / "examples" / "ci_snapshots"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project."""
    ignored = shutil.ignore_patterns("__pycache__", "spark-warehouse", ".pytest_cache")
    return Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("example") / "ci_snapshots", ignore=ignored))


def pytest_in(project: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", *arguments]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    return done.returncode, done.stdout


@pytest.mark.smoke
def test_example_passes(project: Path) -> None:
    """On every supported Spark version: the snapshots are the same."""
    code, shown = pytest_in(project)
    assert code == 0, shown
    assert "4 snapshots passed." in shown


@pytest.mark.slow
def test_example_fails_on_a_changed_join(project: Path) -> None:
    readme = (EXAMPLE / "README.md").read_text("utf-8")
    change = re.search(r"```diff\n-(.*)\n\+(.*)\n```", readme)
    assert change is not None
    job = project / "jobs" / "revenue.py"
    before = job.read_text("utf-8")
    assert change[1] in before
    job.write_text(before.replace(change[1], change[2]), "utf-8")
    code, shown = pytest_in(project)
    assert code == 1
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    (*_, lines) = (text for language, text in blocks if not language)
    for line in lines.splitlines():
        assert line.removesuffix("…") in shown
    assert "2 snapshots failed. 2 snapshots passed." in shown

    code, shown = pytest_in(project, "--snapshot-update")
    assert code == 0, shown
    assert "2 snapshots updated" in shown
    stored = (project / "tests/__snapshots__/test_plans/test_daily_revenue.substrait.txt").read_text("utf-8")
    assert "Join LEFT" not in stored


@pytest.mark.slow
def test_example_fails_on_a_changed_write(project: Path) -> None:
    job = project / "jobs" / "nightly.py"
    before = job.read_text("utf-8")
    job.write_text(
        before.replace('daily_revenue(spark).write.mode("overwrite")', 'daily_revenue(spark).write.mode("append")')
    )
    code, shown = pytest_in(project, "-k", "nightly")
    job.write_text(before, "utf-8")
    assert code == 1
    target = "query 1: save to table spark_catalog.default.daily_revenue"
    assert f"- {target} (parquet, overwrite, partitioned by country)" in shown
    assert f"+ {target} (parquet, append, partitioned by country)" in shown
