"""Running plans in PostgreSQL, by their SQL: whatever they read is put into temporary tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type as TypeMessage

from ...algebra import types
from ...algebra.types import Type
from ...errors import EngineError, PlanningError, SubstraitSparkError
from ...plan.message import build
from ...reading.plan import read_plan
from ..acero.reads import bound, require_tables
from ..arrow.schema import arrow_type
from ..file_access import folders
from ..isthmus.sql import query
from ..result import named

SERVER = "postgresql://"
"""The server that libpq's environment variables name."""

REFUSES = ("42", "0A")
"""The classes of PostgreSQL's error codes for what it doesn't take: syntax errors, and features that it lacks."""


def execute(
    plan: Plan,
    *,
    tables: Mapping[str, Any] | None = None,
    files_under: Iterable[str | Path] | None = None,
    server: str = "",
) -> pa.Table:
    """The rows of a plan of the dialect `isthmus-postgresql` in PostgreSQL, in columns named and typed as the plan says.

    `tables` and `files_under` are as `engines.acero.execute` takes them; their rows become temporary tables. `server` is a URI of libpq;
    without one, the server is that of its environment variables (`PGHOST`, `PGUSER`, …).
    Raises as `isthmus.to_sql` does; PlanningError where PostgreSQL doesn't take the query; EngineError where it can't be reached, and
    where the query fails while it runs.
    """
    try:
        from adbc_driver_manager import Error
        from adbc_driver_postgresql import dbapi
    except ModuleNotFoundError as error:
        raise SubstraitSparkError(
            "This needs the package adbc-driver-postgresql: pip install adbc-driver-postgresql."
        ) from error
    require_tables(tables or {})
    root, rows = bound(read_plan(plan), tables or {}, folders(files_under), lambda root: root)
    names = list(plan.relations[0].root.names)
    columns = [f"c{n}" for n in range(len(root.types))]
    text = query(build(root, columns), "postgresql")
    try:
        with dbapi.connect(server or SERVER) as connection, connection.cursor() as cursor:
            for name, table in rows.items():
                cursor.adbc_ingest(name, table, temporary=True)
                cursor.executescript(f'ANALYZE "{name}"')  # which nobody else does for temporary tables
            cursor.execute(text)
            found = cursor.fetch_arrow_table()
    except Error as error:
        if str(error.sqlstate or "").startswith(REFUSES):
            raise PlanningError(f"PostgreSQL doesn't take the query: {error}") from error
        raise EngineError(f"PostgreSQL failed: {error}") from error
    return named(_typed(found, [_arrow_of(kind) for kind in root.types]), names)


def _typed(table: pa.Table, kinds: list[pa.DataType]) -> pa.Table:
    """The table with the plan's types: numerics come as texts, in a type around these."""
    columns = [
        pa.chunked_array([_plain(chunk).cast(kind) for chunk in column.chunks], kind)
        for column, kind in zip(table.columns, kinds, strict=True)
    ]
    return pa.table(columns, table.column_names)


def _plain(array: pa.Array) -> pa.Array:
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def _arrow_of(type: Type) -> pa.DataType:
    message = TypeMessage()
    types.write(type, message)
    return arrow_type(message, iter(()))
