"""How the time of a conversion grows with the plan, along one axis at a time."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from .stages import converted, middle, planned, quiet_garbage_collector

Make = Callable[[SparkSession, int, Path], DataFrame]


def nodes(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """A union of so many filters and ranges."""
    del directory
    frames = [spark.range(1).where(F.col("id") > n) for n in range(size // 2)]
    while len(frames) > 1:  # in pairs, since Spark analyses every union anew
        frames = [reduce(DataFrame.unionAll, frames[n : n + 2]) for n in range(0, len(frames), 2)]
    return frames[0]


def columns(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """A table of so many columns, each added to 1."""
    path = str(directory / f"columns{size}.parquet")
    pq.write_table(pa.table({f"c{n}": pa.array([n]) for n in range(size)}), path)
    sums = ", ".join(f"c{n} + 1 AS d{n}" for n in range(size))
    return spark.sql(f"SELECT {sums} FROM parquet.`{path}`")


def literals(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """An IN list of so many numbers."""
    del directory
    return spark.range(10).where(f"id IN ({', '.join(map(str, range(0, 3 * size, 3)))})")


def rows(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """So many local rows of three columns."""
    del directory
    return spark.createDataFrame([(n, f"row {n}", n / 7) for n in range(size)], "k long, s string, d double")


def files(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """A folder of so many Parquet files."""
    folder = directory / f"files{size}"
    spark.range(1).coalesce(1).write.parquet(str(folder))
    (first,) = folder.glob("*.parquet")
    for n in range(size - 1):
        shutil.copyfile(first, folder / f"part-{n:06}.parquet")
    return spark.read.parquet(str(folder))


def nesting(spark: SparkSession, size: int, directory: Path) -> DataFrame:
    """So many calls, each the argument of the next."""
    del directory
    value = F.col("id").cast("string")
    for _ in range(size // 2):
        value = F.lower(F.upper(value))
    return spark.range(10).select(value.alias("value"))


AXES: dict[str, tuple[Make, tuple[int, ...]]] = {
    "nodes": (nodes, (10, 100, 1_000, 10_000)),
    "columns": (columns, (10, 100, 1_000, 10_000)),
    "literals": (literals, (10, 100, 1_000, 10_000, 100_000)),
    "rows": (rows, (10, 100, 1_000, 10_000)),
    "files": (files, (10, 100, 1_000, 10_000, 100_000)),
    "nesting": (nesting, (10, 30, 100, 300)),
}
"""What grows, and to which sizes."""


def measure(spark: SparkSession, rounds: int) -> dict[str, Any]:
    """The seconds of a conversion by axis and size, and the slope over the larger half of the sizes."""
    found = {}
    for name, (make, sizes) in AXES.items():
        with tempfile.TemporaryDirectory() as directory:
            times = {size: _time(spark, make, size, Path(directory), rounds) for size in sizes}
        found[name] = {"seconds": times, "slope": slope(times)}
    return found


def _time(spark: SparkSession, make: Make, size: int, directory: Path, rounds: int) -> float:
    df, _ = planned(lambda: make(spark, size, directory))
    seconds = []
    for _ in range(rounds):
        with quiet_garbage_collector():
            seconds.append(sum(converted(df).values()))
    return middle(seconds)


def slope(times: dict[int, float]) -> float:
    """The exponent of growth: the least-squares slope of log time over log size, for the larger half of the sizes."""
    points = [(math.log(size), math.log(seconds)) for size, seconds in sorted(times.items())]
    points = points[len(points) // 2 - 1 :]
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
