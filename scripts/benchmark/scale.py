"""The largest queries: the time and the memory of each conversion, and whether ours grows faster than the query does."""

from __future__ import annotations

import math
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from substrait_spark import SubstraitSparkError, UnsupportedPlanError, df_to_substrait
from substrait_spark.conversion import RECENT

from .memory import in_use
from .scaling import Make, columns, files, literals
from .stages import planned, quiet_garbage_collector

WORKS = "works"

ROUNDS = 3
"""Conversions of which the fastest counts, since the machine has other things to do."""

LIMIT = 2**31 - 1
"""Rows and files that may be written into a plan here."""

MEGABYTE = 2**20
"""Bytes of a megabyte."""


class Size(NamedTuple):
    """How to make a query of a size; the largest, and a smaller one to compare it with."""

    make: Make
    smaller: int
    largest: int


def unions(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """A union of so many inputs."""
    del directory
    frames = [spark.range(n, n + 2) for n in range(size)]
    while len(frames) > 1:  # in pairs, since Spark analyses every union anew
        frames = [reduce(DataFrame.unionAll, frames[n : n + 2]) for n in range(0, len(frames), 2)]
    return frames[0]


def joins(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """So many inputs, each joined with the one before: Spark takes far longer where all have one key."""
    del directory
    inputs = [f"(SELECT id AS k{n}, id % 7 AS v{n} FROM range({n + 9}))" for n in range(size)]
    joined = " ".join(f"JOIN {input} ON k{n} = v{n - 1}" for n, input in enumerate(inputs) if n)
    return spark.sql(f"SELECT * FROM {inputs[0]} {joined}")


def one_literal(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """One string of so many bytes."""
    del directory
    return spark.range(1).selectExpr(f"repeat('x', {size}) AS s")


def local_rows(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """Local rows of so many bytes, a thousand each."""
    del directory
    return spark.createDataFrame([(n, "x" * 992) for n in range(size // 1000)], "k long, s string")


def joined_subqueries(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """So many IN subqueries, each within the one before."""
    del directory
    df = spark.range(9)
    for n in range(size):
        df = spark.range(n + 9).join(df, "id", "left_semi")
    return df


def scalar_subqueries(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """So many scalar subqueries, each within the one before."""
    del directory
    query = "SELECT max(id) FROM range(3)"
    for n in range(size):
        query = f"SELECT max(id) FROM range({n + 3}) WHERE id >= ({query})"
    return spark.sql(query)


SIZES: dict[str, Size] = {
    "inputs of a union": Size(unions, 500, 2_000),
    "tables of a join": Size(joins, 50, 200),
    "columns": Size(columns, 12_500, 50_000),
    "numbers in an IN list": Size(literals, 250_000, 1_000_000),
    "bytes of one literal": Size(one_literal, 25_000_000, 100_000_000),
    "bytes of local rows": Size(local_rows, 25_000_000, 100_000_000),
    "semi joins, each in the one before": Size(joined_subqueries, 75, 300),
    "scalar subqueries, each in the one before": Size(scalar_subqueries, 25, 300),
    "files": Size(files, 25_000, 100_000),
}


def measure(spark: SparkSession, minutes: float) -> dict[str, Any]:
    """What came of each size, and of conversions in threads for so many minutes."""
    return {"sizes": {name: size_of(spark, name) for name in SIZES}, "threads": threads(spark, minutes)}


def size_of(spark: SparkSession, name: str) -> dict[str, Any]:
    """What came of the largest query of one kind, and how its time compares with that of a smaller one."""
    df_to_substrait(spark.range(1))  # compiles the reader
    with tempfile.TemporaryDirectory() as directory:
        return _measured(spark, SIZES[name], Path(directory))


def _measured(spark: SparkSession, size: Size, directory: Path) -> dict[str, Any]:
    smaller = _conversion(spark, size.make, size.smaller, directory)
    largest = _conversion(spark, size.make, size.largest, directory)
    if largest["outcome"] == smaller["outcome"] == WORKS:
        times, sizes = largest["of its own"] / smaller["of its own"], size.largest / size.smaller
        largest["slope"] = math.log(times) / math.log(sizes)
    return {"size": size.largest, "smaller": size.smaller, "seconds of the smaller": smaller.get("seconds"), **largest}


def _conversion(spark: SparkSession, make: Make, size: int, directory: Path) -> dict[str, Any]:
    """A conversion after Spark has planned the query: the seconds of both, the plan's size, and the memory at most."""
    try:
        df, planning = planned(lambda: make(spark, size, directory))
    except Exception as error:  # noqa: BLE001 - whatever Spark ends in
        return {"outcome": f"Spark can't plan it: {type(error).__name__}"}
    seconds, own = [], []
    peaks = _Peaks(spark)
    for _ in range(ROUNDS):
        RECENT.clear()  # else all rounds but the first would only read
        with quiet_garbage_collector():
            started, used = time.perf_counter(), _processor(spark)
            outcome, megabytes = _outcome(df)
            seconds.append(time.perf_counter() - started)
            own.append(_processor(spark) - used)
    python, jvm = peaks.grown()
    return {
        "outcome": outcome,
        "planning": planning,
        "seconds": min(seconds),
        "of its own": min(own),
        "plan, MB": megabytes,
        "Python, MB": python,
        "JVM, MB": jvm,
    }


def _outcome(df: DataFrame) -> tuple[str, float]:
    """`works` and the megabytes of the plan, or the sentence that there is in its place."""
    try:
        return WORKS, df_to_substrait(df, inline_limit=LIMIT, list_files=LIMIT).ByteSize() / MEGABYTE
    except UnsupportedPlanError as error:
        return error.problems[0].reason, 0
    except SubstraitSparkError as error:
        return str(error), 0


def _processor(spark: SparkSession) -> float:
    """Seconds that Python's process and the JVM's thread that answers it have worked, whatever else the machine does."""
    jvm: Any = spark._jvm
    thread = jvm.java.lang.management.ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime()
    return time.process_time() + float(thread) / 1e9


class _Peaks:
    """The most memory of Python's process (where Linux tells it) and of the JVM's heap from now on, garbage included."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        jvm.java.lang.System.gc()
        beans = jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
        self.pools = [pool for pool in beans if str(pool.getType().name()) == "HEAP"]
        for pool in self.pools:
            pool.resetPeakUsage()
        clear = Path("/proc/self/clear_refs")
        if clear.exists():
            clear.write_text("5")
        self.before = (_resident(), self._heap())

    def _heap(self) -> float:
        return float(sum(pool.getPeakUsage().getUsed() for pool in self.pools)) / MEGABYTE

    def grown(self) -> tuple[float, float]:
        """Megabytes by which both have grown at most."""
        return _resident() - self.before[0], self._heap() - self.before[1]


def _resident() -> float:
    """Megabytes that this process has held at most."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (line,) = [line for line in status.read_text("utf-8").splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


# ---- threads

THREADS = 16

QUERIES: tuple[Callable[[int], str], ...] = (
    lambda n: f"SELECT id % {n % 7 + 2} AS g, count(*) AS n, sum(id + {n}) AS s FROM range(9) GROUP BY 1 ORDER BY 1",
    lambda n: f"SELECT a.id FROM range({n % 50 + 2}) a JOIN range(9) b ON a.id = b.id WHERE a.id > {n % 5}",
    lambda n: f"SELECT id, row_number() OVER (PARTITION BY id % 3 ORDER BY id) AS r FROM range({n % 50 + 2})",
    lambda n: f"SELECT concat(CAST(id AS STRING), 'x{n % 50}') AS s FROM range(4) UNION ALL SELECT 'y'",
    lambda n: f"SELECT java_method('java.lang.Math', 'abs', CAST(id AS INT) + {n % 50}) AS refused FROM range(3)",
)


def threads(spark: SparkSession, minutes: float) -> dict[str, Any]:
    """Conversions in threads for so many minutes, each compared with the same conversion made before, alone."""
    alone = {(kind, n): _plan(spark, kind, n) for kind in range(len(QUERIES)) for n in range(50)}
    before, ends = in_use(spark), time.monotonic() + 60 * minutes

    def work(thread: int) -> tuple[int, int, list[str]]:
        done, wrong, errors = 0, 0, []
        while time.monotonic() < ends:
            key = (done + thread) % len(QUERIES), (7 * done + thread) % 50
            try:
                wrong += _plan(spark, *key) != alone[key]
            except Exception as error:  # noqa: BLE001 - these are what is counted
                errors.append(f"{type(error).__name__}: {error}"[:200])
            done += 1
        return done, wrong, errors

    with ThreadPoolExecutor(THREADS) as pool:
        outcomes = list(pool.map(work, range(THREADS)))
    after = in_use(spark)
    return {
        "minutes": minutes,
        "threads": THREADS,
        "conversions": sum(done for done, _, _ in outcomes),
        "other than alone": sum(wrong for _, wrong, _ in outcomes),
        "errors": sorted({error for _, _, errors in outcomes for error in errors}),
        "before": before,
        "after": after,
    }


def _plan(spark: SparkSession, kind: int, n: int) -> bytes | str:
    """The plan of a query, or why there is none."""
    df = spark.sql(QUERIES[kind](n))
    try:
        RECENT.clear()  # so that nearly all are converted, and not taken from those before
        return df_to_substrait(df).SerializeToString()
    except SubstraitSparkError as error:
        return str(error)
