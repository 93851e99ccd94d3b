"""Running plans in DuckDB, by their SQL: whatever they read is bound to tables in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from substrait.plan_pb2 import Plan

from ...errors import EngineError, PlanningError, SubstraitSparkError
from ...plan.message import build
from ...reading.plan import read_plan
from ..acero.reads import bound, require_tables
from ..file_access import folders
from ..result import named
from .sql import query


def execute(
    plan: Plan, *, tables: Mapping[str, Any] | None = None, files_under: Iterable[str | Path] | None = None
) -> pa.Table:
    """The rows of a plan of the dialect `isthmus` in DuckDB, in columns named and typed as the plan says.

    `tables` and `files_under` are as `engines.acero.execute` takes them. Raises as `to_sql` does; PlanningError where DuckDB doesn't take the
    query; EngineError where it fails while it runs.
    """
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise SubstraitSparkError("This needs the package duckdb: pip install duckdb.") from error
    require_tables(tables or {})
    root, rows = bound(read_plan(plan), tables or {}, folders(files_under), lambda root: root)
    names = list(plan.relations[0].root.names)
    text = query(build(root, [f"c{n}" for n in range(len(root.types))]), "duckdb")
    with duckdb.connect() as database:
        for name, table in rows.items():
            database.register(name, table)
        try:
            found = database.execute(text).to_arrow_table()
        except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
            raise PlanningError(f"DuckDB doesn't take the query: {error}") from error
        except duckdb.Error as error:
            raise EngineError(f"DuckDB failed: {error}") from error
    return named(found, names)
