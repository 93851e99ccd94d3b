"""DataFusion without Spark's functions, as it is compared with Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engine import Engine

if TYPE_CHECKING:
    import pyarrow as pa
    from substrait.plan_pb2 import Plan


def _rows(
    plan: Plan,
    tables: Mapping[str, Any] | None,
    files_under: Iterable[str | Path] | None,
    functions: Sequence[Any],
    _session: object,
) -> pa.Table:
    from ..datafusion.run import execute
    from ..datafusion.session import plain_context

    return execute(plan, plain_context(), tables=tables, files_under=files_under, functions=functions)


ENGINE = Engine("DataFusion without Spark's functions", "datafusion-plain", _rows)
