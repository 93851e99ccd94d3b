"""DuckDB by SQL of Isthmus, as it is compared with Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engine import Engine

if TYPE_CHECKING:
    import pyarrow as pa
    from substrait.plan_pb2 import Plan


def rows(
    plan: Plan,
    tables: Mapping[str, Any] | None,
    files_under: Iterable[str | Path] | None,
    _functions: Sequence[Any],
    _session: object,
) -> pa.Table:
    """The rows of a plan."""
    from .run import execute

    return execute(plan, tables=tables, files_under=files_under)


ENGINE = Engine("DuckDB", "isthmus", rows)
