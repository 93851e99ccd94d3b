"""The wheel: what is in it, and that it works where only it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

CONVERSION = """
import substrait_spark
from pyspark.sql import SparkSession
from substrait_spark import df_to_substrait
from substrait_spark.engines import datafusion

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.warehouse.dir", "warehouse").getOrCreate()
df = spark.range(10).where("id > 6")
print(substrait_spark.__file__)
print(datafusion.execute(df_to_substrait(df, dialect="datafusion")).to_pydict())
spark.stop()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(directory), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (built,) = directory.glob("*.whl")
    return built


def test_content(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    package = ROOT / "substrait_spark"
    data = [path for pattern in ("**/*.java", "**/*.yaml", "py.typed") for path in package.glob(pattern)]
    assert len(data) >= 5
    assert {path.relative_to(ROOT).as_posix() for path in data} <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert all(name.startswith(("substrait_spark/", "substrait_spark-")) for name in names)


def test_metadata_is_complete(wheel: Path) -> None:
    judged = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(wheel)], check=False, capture_output=True, text=True
    )
    assert judged.returncode == 0, judged.stdout


def test_pyspark_is_the_users(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert required
    assert not [line for line in required if "pyspark" in line or "py4j" in line]
    assert "Requires-Python: >=3.10" in metadata
    assert "License-Expression: Apache-2.0" in metadata


@pytest.mark.slow
def test_conversion_elsewhere(wheel: Path, tmp_path: Path) -> None:
    """The wheel in an environment of its own, which takes everything else from this one."""
    environment = tmp_path / "venv"
    venv.create(environment, symlinks=os.name != "nt")
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(environment), "platbase": str(environment)}))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # Folders that a .pth file names are searched last, and their own .pth files (the editable install) are not read.
    (site / "everything-else.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    ran = subprocess.run(
        [python, "-c", CONVERSION],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTHON")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    imported, rows = ran.stdout.splitlines()
    assert Path(imported).is_relative_to(site)
    assert rows == "{'id': [7, 8, 9]}"
