"""Finds engines: the folders of `engines/`, and the packages that other distributions bring.

Such a distribution has an entry point of the group `substrait_spark.engines`, whose name is the engine's, and whose value is the
package that holds its `dialect.yaml`. In `pyproject.toml`:

    [project.entry-points."substrait_spark.engines"]
    pocket = "pocket_engine"
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points

GROUP = "substrait_spark.engines"
"""The group of entry points, which is also the package of the built-in engines."""

DIALECT = "dialect.yaml"
"""The file that says what an engine supports."""

RUNNER = "engine.py"
"""The module that says how plans run on an engine."""


@cache
def built_in(file: str) -> Mapping[str, str]:
    """The packages of the engines that come with this one and have a file, by the engines' names: `datafusion-plain` of
    `datafusion_plain`."""
    folders = sorted(importlib.resources.files(GROUP).iterdir(), key=lambda folder: folder.name)
    return {
        folder.name.replace("_", "-"): f"{GROUP}.{folder.name}" for folder in folders if folder.joinpath(file).is_file()
    }


def brought(file: str) -> Mapping[str, str]:
    """The packages of the engines that other distributions bring, as far as they have a file, by the engines' names."""
    packages = {entry.name: entry.value for entry in entry_points(group=GROUP)}
    return {name: package for name, package in packages.items() if _has(package, file)}


def _has(package: str, file: str) -> bool:
    try:
        return importlib.resources.files(package).joinpath(file).is_file()
    except (ImportError, TypeError):  # a distribution that is installed in part
        return False


def engines(file: str) -> Mapping[str, str]:
    """The packages of all engines that have a file, by the engines' names: built-in ones first, which no other replaces."""
    return {
        **built_in(file),
        **{name: package for name, package in brought(file).items() if name not in built_in(file)},
    }
