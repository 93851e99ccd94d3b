"""DataFusion, as it is compared with Spark."""

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
    functions: Sequence[Any],
    _session: object,
    *,
    plain: bool = False,
) -> pa.Table:
    """The rows of a plan, in a context with Spark's functions or, if it is to be `plain`, without."""
    from . import execute, plain_context

    ctx = plain_context() if plain else None
    return execute(plan, ctx, tables=tables, files_under=files_under, functions=functions)


ENGINE = Engine("DataFusion", "datafusion", rows)
