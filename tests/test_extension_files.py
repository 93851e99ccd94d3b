"""Our extension files: by the specification's schema, and with names that no standard function has."""

from __future__ import annotations

import importlib.resources
from typing import Any

import jsonschema
import pytest

from substrait_spark.extensions import registry
from substrait_spark.extensions.yaml_text import parsed

FILES = importlib.resources.files("substrait_extensions.extensions")


def _content(name: str) -> Any:
    return parsed(FILES.joinpath(name).read_text("utf-8"))


def _names(content: Any) -> set[str]:
    """The functions that an extension file declares, of whatever kind."""
    return {function["name"] for kind in registry.KINDS.values() for function in content.get(kind) or ()}


@pytest.mark.parametrize("alias", [*registry.OWN, *registry.ENGINES])
def test_keeps_to_the_schema(alias: str) -> None:
    jsonschema.validate(registry.load(alias), _content("simple_extensions_schema.yaml"))


def test_no_function_has_a_standard_name() -> None:
    """Readers that look functions up by name alone would take one for the standard function."""
    standard = {name: _names(_content(name)) for name in _standard_files()}
    assert len(standard) > len(registry.STANDARD)
    own = set().union(*(_names(registry.load(alias)) for alias in registry.OWN))
    assert {file: own & names for file, names in standard.items() if own & names} == {}


def _standard_files() -> list[str]:
    """All of them, those too that no plan of ours uses."""
    names = [file.name for file in FILES.iterdir()]
    return [name for name in names if name.endswith(".yaml") and not name.endswith("_schema.yaml")]


def test_names_with_spark_stand_for_standard_names() -> None:
    """`spark_` is for functions that Spark calls as the standard calls another, and for no others."""
    standard = set().union(*(_names(_content(name)) for name in _standard_files()))
    prefixed = {name.removeprefix("spark_") for name in _names(registry.load("spark")) if "spark_" in name}
    assert prefixed
    assert prefixed <= standard
