"""What is supported: each of Spark's functions as it was measured, and the relations and expressions of the tables."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple


class FunctionSupport(NamedTuple):
    """What becomes of one of Spark's functions, measured on the calls of its own documentation and of our tests."""

    name: str
    """Spark's SQL name."""
    catalyst_class: str
    """The class that Spark's registry names: of the expression, or of what builds it."""
    group: str
    """Spark's own group: `string_funcs`."""
    canonical: str
    """`yes`, `partly` (some calls are refused), `no`, or `untried` (it needs packages or settings that no session has by default)."""
    form: tuple[str, ...]
    """The functions that its canonical plan calls, as `alias:name`; none where it is a literal, a cast or a reference."""
    in_spark: str
    """The canonical plan's rows in Spark: `equal` (Spark's own), `partly` (some calls are refused), `refused`, `different`
    (they hang on chance), or empty."""
    datafusion: str
    """`equal` (Spark's rows), `partly` (some calls are refused), `refused`, `different` (a defect), or empty."""
    with_catalyst: str
    """The same of DataFusion with Catalyst, which evaluates in Spark's JVM what DataFusion lacks."""
    on_grid: bool
    """Whether the rows were compared on the tests' grid of edge values, not only on documented calls."""
    refused: tuple[str, ...]
    """Why calls have no canonical plan."""
    refused_in_spark: tuple[str, ...]
    """Why calls that have one can't be run by Spark."""
    refused_datafusion: tuple[str, ...]
    """Why calls that have one are refused for DataFusion."""
    refused_with_catalyst: tuple[str, ...]
    """Why documented calls are refused for DataFusion with Catalyst."""
    unread: tuple[str, ...]
    """Values for which DataFusion raises an error, and Spark has a result."""


@lru_cache(maxsize=1)
def measured() -> Mapping[str, FunctionSupport]:
    """Every function of the newest Spark's registry, by name."""
    return {name: _function(name, entry) for name, entry in _record()["functions"].items()}


def _function(name: str, entry: Mapping[str, Any]) -> FunctionSupport:
    return FunctionSupport(
        name,
        entry["class"],
        entry["group"],
        entry["canonical"],
        tuple(entry.get("form", ())),
        entry.get("in_spark", ""),
        _both(entry.get("datafusion", ""), entry.get("grid", "")),
        _both(entry.get("with_catalyst", ""), entry.get("grid_with_catalyst", "")),
        "grid" in entry,
        tuple(entry.get("refused", ())),
        tuple(entry.get("refused_in_spark", ())),
        tuple(dict.fromkeys([*entry.get("refused_datafusion", ()), *entry.get("refused_on_grid", ())])),
        tuple(entry.get("refused_with_catalyst", ())),
        tuple(_record()["unread"].get(name if entry["class"] == "Cast" else entry["class"], ())),
    )


def _both(documented: str, on_grid: str) -> str:
    """One verdict of that on documented calls and that on the grid."""
    if documented == "different" or not on_grid or documented == on_grid:
        return documented
    return "partly"


def spark_version() -> str:
    """The Spark whose registry was measured."""
    return str(_record()["spark"])


@lru_cache(maxsize=1)
def _record() -> Mapping[str, Any]:
    text = importlib.resources.files(__package__).joinpath("functions.json").read_text("utf-8")
    record: Mapping[str, Any] = json.loads(text)
    return record


def relations() -> tuple[str, ...]:
    """The Catalyst classes of plan nodes that become relations."""
    from ..rel.dispatch import HANDLERS

    return tuple(sorted(HANDLERS))


def expressions() -> tuple[str, ...]:
    """The Catalyst classes of expressions that are no function calls: literals, casts, conditions, nested values."""
    from ..functions.dispatch import EXPRESSIONS

    return tuple(sorted(EXPRESSIONS))
