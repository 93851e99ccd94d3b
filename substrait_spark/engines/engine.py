"""What an engine says of itself in its module `engine.py`, so that its rows can be compared with Spark's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..dialects import discovery

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from substrait.plan_pb2 import Plan

Rows = Callable[
    ["Plan", "Mapping[str, Any] | None", "Iterable[str | Path] | None", "Sequence[Any]", "SparkSession | None"],
    "pa.Table",
]
"""From a plan, the tables that it reads by name, the folders that it may read files in, the users' functions that it calls, and the
session of an engine in Spark."""


class Engine(NamedTuple):
    """An engine that runs plans: the value `ENGINE` of its module `engine.py`."""

    title: str
    """What it is called beside Spark, which runs the query."""
    dialect: str | None
    """The dialect of its plans; None where these are canonical."""
    rows: Rows
    in_spark: bool = False
    """Whether it runs plans in a Spark session, and its tables are DataFrames."""


def by_execute(module: str) -> Rows:
    """The rows by a module's `execute(plan, tables=…, files_under=…)`, of an engine without users' functions and without a session.

    The module is imported when a plan runs: it has what the engine itself needs.
    """

    def rows(
        plan: Plan,
        tables: Mapping[str, Any] | None,
        files_under: Iterable[str | Path] | None,
        _functions: Sequence[Any],
        _session: object,
    ) -> pa.Table:
        found: pa.Table = import_module(module).execute(plan, tables=tables, files_under=files_under)
        return found

    return rows


def names() -> list[str]:
    """The names of all engines that run plans."""
    return list(discovery.engines(discovery.RUNNER))


def engine_of(name: str) -> Engine:
    """The engine with a name. Raises ValueError where there is none."""
    # Built-in ones first: to look what other distributions bring takes 10 ms.
    package = discovery.built_in(discovery.RUNNER).get(name) or discovery.brought(discovery.RUNNER).get(name)
    if package is None:
        raise ValueError(f"engine must be {' or '.join(map(repr, names()))}, not {name!r}.")
    engine: Engine = import_module(f"{package}.engine").ENGINE
    return engine
