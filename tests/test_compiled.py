"""Compiled modules: which there are, and that they are of the sources beside them. `make compiled` runs tests with them."""

from __future__ import annotations

import importlib
import pkgutil
import runpy
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

import substrait_spark
from substrait_spark.compiled import DIGESTS, is_compiled

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with one module, which is compiled of the source beside it."""
    source = tmp_path / "algebra" / "types.py"
    source.parent.mkdir()
    source.write_text("INTEGERS = ()", "utf-8")
    digest = sha256(source.read_bytes()).hexdigest()
    (tmp_path / DIGESTS).write_text(f"{digest}  algebra/types.py\n", "utf-8")
    return tmp_path


def test_compiled_modules_belong_to_the_sources_beside_them(package: Path) -> None:
    assert is_compiled(package)
    (package / DIGESTS).unlink()
    assert not is_compiled(package)


def changed(source: Path) -> None:
    source.write_text("INTEGERS = (1,)", "utf-8")


@pytest.mark.parametrize("change", [changed, Path.unlink])
def test_compiled_modules_of_other_sources_are_refused(package: Path, change: Callable[[Path], None]) -> None:
    change(package / "algebra" / "types.py")
    with pytest.raises(ImportError, match=r"made of another algebra/types\.py .* Install both of one version"):
        is_compiled(package)


def test_no_class_inherits_across_the_line_between_compiled_modules_and_others() -> None:
    """Python refuses a class of another module that inherits from a compiled one. The other way round, its process may end."""
    setup = runpy.run_path(str(ROOT / "compiled" / "setup.py"))
    compiled = {
        "substrait_spark." + ".".join(path.relative_to(setup["PACKAGE"]).with_suffix("").parts)
        for path in setup["compiled_modules"]()
    }
    assert len(compiled) > 100
    classes: set[type] = set()
    for found in pkgutil.walk_packages([str(Path(substrait_spark.__file__).parent)], "substrait_spark."):
        if not found.name.endswith("__main__"):
            here = vars(importlib.import_module(found.name)).values()
            classes |= {
                each
                for each in here
                if isinstance(each, type) and str(getattr(each, "__module__", "")).startswith("substrait_spark.")
            }
    across = [
        f"{each.__module__}.{each.__qualname__} inherits from {base.__module__}.{base.__qualname__}"
        for each in classes
        for base in each.__mro__
        if base in classes and (each.__module__ in compiled) != (base.__module__ in compiled)
    ]
    assert not across, "compile both modules, or none: MODULES and PURE of compiled/setup.py"
