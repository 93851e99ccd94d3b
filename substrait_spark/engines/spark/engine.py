"""Spark as an engine of canonical plans, as it is compared with Spark itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engine import Engine

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from substrait.plan_pb2 import Plan


def _rows(
    plan: Plan,
    tables: Mapping[str, Any] | None,
    files_under: Iterable[str | Path] | None,
    functions: Sequence[Any],
    session: SparkSession | None,
) -> pa.Table:
    assert session is not None  # noqa: S101 - for the type checker: it is an engine in Spark
    from .rows import spark_rows
    from .run import execute

    return spark_rows(execute(plan, session, tables=tables, files_under=files_under, functions=functions))


ENGINE = Engine("the plan in Spark", None, _rows, in_spark=True)
