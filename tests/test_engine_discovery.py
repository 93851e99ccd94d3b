"""Engines are found by their folders, and by the entry points of distributions from outside."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from substrait_spark import DialectError, df_to_substrait, dialects, explain
from substrait_spark.command_line.commands import group
from substrait_spark.dialects import discovery
from substrait_spark.engines import compare, engine

DIALECT = """
name: Pocket
dependencies:
  boolean: extension:io.substrait:functions_boolean
  comparison: extension:io.substrait:functions_comparison
supported_expressions: [LITERAL, SELECTION, SCALAR_FUNCTION]
supported_scalar_functions:
  - {source: boolean, name: and, supported_impls: [bool]}
  - {source: boolean, name: not, supported_impls: [bool]}
  - {source: comparison, name: gt, supported_impls: [any_any]}
  - {source: comparison, name: is_not_null, supported_impls: [any]}
"""

RUNNER = """
from substrait_spark.engines import datafusion
from substrait_spark.engines.engine import Engine

ENGINE = Engine("Pocket", "pocket", lambda plan, tables, files_under, functions, session: datafusion.execute(plan))
"""


@pytest.fixture
def pocket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A distribution with an engine, as an installer lays it down."""
    information = tmp_path / "pocket-1.0.dist-info"
    information.mkdir()
    information.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: pocket\nVersion: 1.0\n")
    information.joinpath("entry_points.txt").write_text(
        "[substrait_spark.engines]\npocket = pocket_engine\ndatafusion = pocket_engine\nhalf = half_installed\n"
    )
    package = tmp_path / "pocket_engine"
    package.mkdir()
    package.joinpath("__init__.py").touch()
    package.joinpath("dialect.yaml").write_text(DIALECT)
    package.joinpath("engine.py").write_text(RUNNER)
    monkeypatch.syspath_prepend(tmp_path)
    yield package
    for name in [name for name in sys.modules if name.startswith("pocket_engine")]:
        del sys.modules[name]


def test_the_engines_of_the_package_are_its_folders() -> None:
    folder = Path(discovery.__file__).parents[1] / "engines"
    for file in (discovery.DIALECT, discovery.RUNNER):
        expected = sorted(path.parent.name.replace("_", "-") for path in folder.glob(f"*/{file}"))
        assert sorted(discovery.built_in(file)) == expected != []


@pytest.mark.usefixtures("pocket")
def test_an_engine_from_outside_is_found_by_its_entry_point(spark: SparkSession) -> None:
    assert discovery.engines(discovery.DIALECT)["pocket"] == "pocket_engine"
    assert "pocket" in engine.names()
    assert "half" not in engine.names()
    df = spark.createDataFrame([(1,), (2,), (None,)], "a int").where("a <= 1")
    plan = df_to_substrait(df, dialect="pocket")
    assert "not(gt(" in explain(plan)
    comparison = compare(df, engine="pocket")
    assert comparison, comparison
    assert "Spark and Pocket have the same 1 row" in str(comparison)


@pytest.mark.usefixtures("pocket")
def test_no_engine_from_outside_takes_the_name_of_one_of_ours() -> None:
    assert discovery.engines(discovery.DIALECT)["datafusion"] == "substrait_spark.engines.datafusion"
    assert dialects.load("datafusion").name == "datafusion"


def test_an_unknown_engine_is_told_with_those_that_there_are(pocket: Path, spark: SparkSession) -> None:
    with pytest.raises(DialectError, match=r"no dialect 'sqlite'.*\(.*datafusion, .*pyarrow, pocket\)"):
        dialects.load("sqlite")
    with pytest.raises(ValueError, match=r"engine must be .*'datafusion' or .*'spark' or 'pocket', not 'sqlite'"):
        compare(spark.range(1), engine="sqlite")
    pocket.joinpath("dialect.yaml").write_text("supported_types: [NOTHING]")
    with pytest.raises(DialectError, match="is no valid Substrait dialect"):
        dialects.load("pocket")


def test_the_command_line_offers_the_engines_that_run_plans() -> None:
    shown = CliRunner().invoke(group, ["run", "--help"]).output
    assert "|".join(engine.names()) in "".join(shown.split())
