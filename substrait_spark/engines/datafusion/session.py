"""DataFusion contexts that run plans of its dialect: their settings, their memory, and where they spill."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakKeyDictionary

from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext

from ...errors import kind_of

SETTINGS = {
    # The planner takes `CASE WHEN nullif(x, 2) = y THEN y ELSE 0 END` for required as a key in one place, and for nullable in another.
    "datafusion.execution.skip_physical_aggregate_schema_check": "true",
    # Gives the same name to two columns where fields of structs are used several times.
    "datafusion.optimizer.enable_leaf_expression_pushdown": "false",
    # Spark writes timestamps of any year; nanoseconds would end in 2262.
    "datafusion.execution.parquet.coerce_int96": "us",
    # The plan's schema says string and binary.
    "datafusion.execution.parquet.schema_force_view_types": "false",
    # Statistics leave NaN out, so that pruning by them loses rows.
    "datafusion.execution.parquet.pruning": "false",
    "datafusion.execution.parquet.skip_metadata": "true",
}

HASH_JOINS = "datafusion.optimizer.prefer_hash_join"

BATCH = "datafusion.execution.batch_size"

KEPT = "datafusion.execution.sort_spill_reservation_bytes"
"""How many bytes each part of a sort keeps for merging what it has spilled."""

MOST_KEPT = 64 * 2**20

CORES = os.cpu_count() or 1

LIMITS: WeakKeyDictionary[SessionContext, int] = WeakKeyDictionary()
"""The memory that contexts of ours have, of those that have a limit."""


def context(*, memory_limit: int | str | None = None, spill_folder: str | Path | None = None) -> SessionContext:
    """A DataFusion context that runs the plans of the `datafusion` dialect: Spark's functions are enabled in it.

    `memory_limit` is how much memory its queries may take together, in bytes, or as a text such as `"500M"` or `"2G"`; without
    one they take what they need. What exceeds it is spilled by sorts, aggregates and joins into files in `spill_folder`, by
    default in the system's folder for temporary files; where that isn't possible, as in queries with joins without equalities, the query ends in
    an EngineError. What counts is what these keep. Beyond it are the rows that a query is given in memory, those of files that aren't Parquet, the
    partitions of windows, and the result.

    Raises ValueError for a limit that is no size, and TypeError for a folder that is no path.
    """
    limit = None if memory_limit is None else _bytes(memory_limit)
    config = SessionConfig()
    for key, value in {**SETTINGS, **({} if limit is None else {KEPT: str(_kept(limit))})}.items():
        config = config.set(key, value)
    ctx = SessionContext(config, _runtime(limit, spill_folder))
    ctx.enable_spark_functions()
    if limit is not None:
        LIMITS[ctx] = limit
    return ctx


def plain_context() -> SessionContext:
    """A DataFusion context that runs the plans of the `datafusion-plain` dialect: it has DataFusion's own functions alone."""
    config = SessionConfig()
    for key, value in SETTINGS.items():
        config = config.set(key, value)
    return SessionContext(config)


def _bytes(limit: int | str) -> int:
    if isinstance(limit, str):
        try:
            limit = SessionContext.parse_capacity_limit("memory_limit", limit)
        except Exception:  # noqa: BLE001 - DataFusion raises a bare Exception for a text that is no size
            limit = 0
    if not isinstance(limit, int) or isinstance(limit, bool) or limit <= 0:
        raise ValueError("memory_limit must be a number of bytes, or a text such as '500M' or '2G'.")
    return limit


def _kept(limit: int) -> int:
    """What sorts keep of a limited memory: half of it.

    With DataFusion's 10 MB they fill what is left, so that nothing remains to merge their parts, and the merge fails:
    `SELECT * FROM t ORDER BY k` of 20 million rows in 200 MB.
    """
    return min(MOST_KEPT, limit // (2 * CORES))


@contextmanager
def joining_sorted(ctx: SessionContext) -> Iterator[None]:
    """What is planned in the block, in a context of LIMITS, joins sorted inputs, which spill.

    A hash join holds an input in memory, or fails. A join of sorted inputs has two sorts for each core. With these settings,
    which were found by trying, joins of tables of two to five times the memory come through; with others fewer do.
    """
    limit = LIMITS[ctx]
    _set(ctx, {HASH_JOINS: "false", BATCH: "512", KEPT: str(limit // (20 * CORES))})
    try:
        yield
    finally:
        _set(ctx, {HASH_JOINS: "true", BATCH: "8192", KEPT: str(_kept(limit))})


def without_spilling(ctx: SessionContext) -> SessionContext:
    """A context like one of LIMITS, in which a query ends in an error in place of spilling.

    A nested loop join that spills loses rows, or has some twice: https://github.com/apache/datafusion/issues/24745, 24675, 24676.
    """
    runtime = RuntimeEnvBuilder().with_disk_manager_disabled().with_fair_spill_pool(LIMITS[ctx])
    return SessionContext(ctx.copied_config(), runtime)


def _set(ctx: SessionContext, settings: Mapping[str, str]) -> None:
    for key, value in settings.items():
        ctx.sql(f"SET {key} = {value}")


def _runtime(limit: int | None, spill_folder: str | Path | None) -> RuntimeEnvBuilder:
    runtime = RuntimeEnvBuilder()
    if limit is not None:
        runtime = runtime.with_fair_spill_pool(limit)
    if spill_folder is None:
        return runtime.with_disk_manager_os()
    if not isinstance(spill_folder, str | Path):
        raise TypeError(f"spill_folder must be the path of a folder, not {kind_of(spill_folder)}.")
    Path(spill_folder).mkdir(parents=True, exist_ok=True)
    return runtime.with_disk_manager_specified(str(spill_folder))
