"""What the make targets ask of the machine: one sentence where Java or Python is missing or too old."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "scripts"
REPORTS = {
    "8": 'openjdk version "1.8.0_392"\nOpenJDK Runtime Environment (build 1.8.0_392-b08)',
    "11": 'openjdk version "11.0.21" 2023-10-17\nOpenJDK Runtime Environment 18.9 (build 11.0.21+9)',
    "17": 'openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment (build 17.0.15+6)',
    "21": 'Picked up JAVA_TOOL_OPTIONS: -Xmx1g\njava version "21" 2023-09-19 LTS',
    "26": 'openjdk version "26-ea" 2026-03-17',
    "odd": "this is no Java",
}


def program(directory: Path, name: str, report: str, status: int = 0) -> Path:
    """A program that only prints a report on standard error."""
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ncat >&2 <<'REPORT'\n{report}\nREPORT\nexit {status}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def tools(directory: Path) -> Path:
    """A PATH with what the scripts use, and no Java."""
    bin = directory / "bin"
    bin.mkdir()
    for tool in ("sh", "sed", "head", "cat"):
        (bin / tool).symlink_to(str(shutil.which(tool)))
    return bin


def run(script: str, path: Path, *arguments: str, java_home: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(path)} | ({} if java_home is None else {"JAVA_HOME": str(java_home)})
    command = [str(path / "sh"), str(SCRIPTS / script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def assert_one_sentence(ran: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert ran.returncode != 0
    assert ran.stdout == ""
    assert len(ran.stderr.splitlines()) == 1
    assert ran.stderr.endswith(".\n")
    for part in parts:
        assert part in ran.stderr


@pytest.mark.parametrize("version", ["17", "21", "26"])
def test_java_is_new_enough(tmp_path: Path, version: str) -> None:
    path = tools(tmp_path)
    program(path, "java", REPORTS[version])
    ran = run("require_java", path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize(("version", "shown"), [("8", "1.8.0_392"), ("11", "11.0.21"), ("odd", "unknown version")])
def test_java_is_too_old(tmp_path: Path, version: str, shown: str) -> None:
    path = tools(tmp_path)
    program(path, "java", REPORTS[version])
    assert_one_sentence(run("require_java", path), "Java 17 or later", "on PATH", shown, "install a JDK 17")


def test_there_is_no_java(tmp_path: Path) -> None:
    assert_one_sentence(run("require_java", tools(tmp_path)), "there is none on PATH", "install a JDK 17")


def test_java_only_offers_to_be_installed(tmp_path: Path) -> None:
    path = tools(tmp_path)
    program(path, "java", "Unable to locate a Java Runtime.", status=1)
    assert_one_sentence(run("require_java", path), "there is none on PATH")


def test_java_home_comes_first(tmp_path: Path) -> None:
    path = tools(tmp_path)
    program(path, "java", REPORTS["8"])
    home = tmp_path / "jdk"
    program(home / "bin", "java", REPORTS["17"])
    assert run("require_java", path, java_home=home).returncode == 0


def test_java_home_without_java(tmp_path: Path) -> None:
    path = tools(tmp_path)
    program(path, "java", REPORTS["17"])
    ran = run("require_java", path, java_home=tmp_path / "gone")
    assert_one_sentence(ran, f"there is none in JAVA_HOME ({tmp_path / 'gone'})")


def test_there_is_no_python(tmp_path: Path) -> None:
    assert_one_sentence(run("require_python", tools(tmp_path), "python3"), "Python 3.10 or later", "'python3'")


def test_python_is_too_old(tmp_path: Path) -> None:
    path = tools(tmp_path)
    old = path / "python3"
    old.write_text('#!/bin/sh\ncase "$2" in *platform*) echo 3.8.18;; *) exit 1;; esac\n', encoding="utf-8")
    old.chmod(0o755)
    assert_one_sentence(run("require_python", path, "python3"), "is Python 3.8.18", "Python 3.10 or later")


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_stops_with_the_sentence(tmp_path: Path) -> None:
    """`make demo` without Java says so before it installs anything."""
    root = SCRIPTS.parent
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(root / name, tmp_path)
    shutil.copytree(SCRIPTS, tmp_path / "scripts")
    environment = {**os.environ, "JAVA_HOME": str(tmp_path / "gone")}
    ran = subprocess.run(["make", "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode != 0
    assert ran.stderr.startswith("Spark needs Java and there is none in JAVA_HOME")
    assert not (tmp_path / ".venv").exists()
