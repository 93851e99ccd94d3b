"""Users' type checkers take what the package says of its types (`py.typed`), and notebooks what it says of its options."""

from __future__ import annotations

import dataclasses
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import substrait_spark
from substrait_spark.context import Settings

USER = Path(__file__).with_name("typed_user.py")
WRONG = ("dialect: Dialect = load(", "dialect: Report = load(")
"""A line of the user's, and one with another type, which a checker must not take."""


@pytest.fixture(params=[True, False], ids=["right", "wrong"])
def user(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, bool]:
    """The user's file, somewhere else than the package, as it is or with a mistake; and whether it is right."""
    text = USER.read_text("utf-8")
    assert WRONG[0] in text
    (tmp_path / "user.py").write_text(text if request.param else text.replace(*WRONG), "utf-8")
    return tmp_path / "user.py", request.param


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy keeps of the packages from one run to the next."""
    return tmp_path_factory.mktemp("mypy")


@pytest.mark.slow
def test_mypy(user: tuple[Path, bool], cache: Path) -> None:
    path, is_right = user
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", f"--cache-dir={cache}", path.name]
    done = subprocess.run(command, cwd=path.parent, check=False, capture_output=True, text=True)
    assert done.returncode == (0 if is_right else 1), done.stdout
    assert is_right or 'variable has type "Report"' in done.stdout


@pytest.mark.slow
def test_pyright(user: tuple[Path, bool]) -> None:
    path, is_right = user
    (path.parent / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard"}))
    command = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable, "--project", "."]
    done = subprocess.run(command, cwd=path.parent, check=False, capture_output=True, text=True)
    assert done.returncode == (0 if is_right else 1), done.stdout
    assert is_right or 'not assignable to declared type "Report"' in done.stdout


def test_signatures_name_the_options_and_what_holds_without_them() -> None:
    shown = inspect.signature(substrait_spark.df_to_substrait).parameters
    kept = {field.name: field.default for field in dataclasses.fields(Settings)}
    # Made of what is given, or no setting of the plan.
    unlike = {"accept", "dialect", "functions", "allow_version_mismatch"}
    assert {name: shown[name].default for name in shown if name not in {"df", *unlike}} == {
        name: kept[name] for name in kept if name not in {"writes", *unlike}
    }
    assert "stage" not in inspect.signature(substrait_spark.capture).parameters


@pytest.mark.parametrize(("name", "option"), [("check", "writes"), ("capture", "stage"), ("df_to_substrait", "inline")])
def test_an_unknown_option_is_refused_as_python_does(name: str, option: str) -> None:
    function: Any = getattr(substrait_spark, name)
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument '{option}'"):
        function(None, **{option: True})
