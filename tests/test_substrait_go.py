"""substrait-go, which knows an older release of the specification, loads our extension file, and reads plans for a dialect of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import substrait_spark

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
