"""What a conversion costs in a Spark Connect session beside a classic one: TPC-H over tables of a server on this machine.

A process has one kind of session: `python -m benchmark.connecting URL FOLDER ROUNDS` measures the other one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import tpc_data
from connect_requests import Requests
from connect_server import ConnectServer

from substrait_spark import df_to_substrait

from .queries import SCALE_FACTOR
from .stages import middle, ninetieth, quiet_garbage_collector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATABASE = "benchmark"


def measure(spark: SparkSession, rounds: int) -> dict[str, Any]:
    """Seconds from a query's text to its plan in both kinds of session; and the requests that a conversion makes."""
    with tempfile.TemporaryDirectory() as directory:
        tpc_data.generate("tpch", SCALE_FACTOR, Path(directory))
        classic = _classic(spark, Path(directory), rounds)
        connect = _connect(directory, rounds)
    columns: dict[str, list[float]] = {
        "classic": classic,
        "connect": connect["seconds"],
        "more": [there - here for here, there in zip(classic, connect["seconds"], strict=True)],
    }
    return {
        **{
            name: {"median": middle(found), "ninetieth": ninetieth(found), "most": max(found)}
            for name, found in columns.items()
        },
        "requests": connect["requests"],
    }


def _classic(spark: SparkSession, folder: Path, rounds: int) -> list[float]:
    """For each query, the seconds that Spark's analysis and the conversion take."""
    with _tables(spark, folder):
        return _medians(rounds, lambda text: _seconds(lambda: df_to_substrait(spark.sql(text))), folder)


def _connect(folder: str, rounds: int) -> dict[str, Any]:
    """What `main` prints, in a process of its own with a server of its own."""
    with tempfile.TemporaryDirectory() as place:
        server = ConnectServer(Path(place), {})
        try:
            url = f"sc://127.0.0.1:{server.port}"
            found = subprocess.run(
                [sys.executable, "-m", "benchmark.connecting", url, folder, str(rounds)],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                stdout=subprocess.PIPE,
                check=True,
            )
        finally:
            server.kill()
    return dict(json.loads(found.stdout))


def main(url: str, folder: str, rounds: str) -> None:
    """Print the seconds of each query's conversion, for which the local planner analyses it, and the numbers of requests."""
    requests = Requests()
    spark = requests.session(url)
    with _tables(spark, Path(folder)):
        spark.sql("CREATE TABLE one (a INT) USING parquet")
        for name in ("another", "third", "fourth"):
            spark.sql(f"CREATE TABLE {name} (a INT) USING parquet")
        df_to_substrait(spark.table("one"))
        counts = {
            "known": requests.during(lambda: df_to_substrait(spark.table("one"))),
            "new": requests.during(lambda: df_to_substrait(spark.table("another"))),
            "two new": requests.during(lambda: df_to_substrait(spark.sql("SELECT * FROM third JOIN fourth USING (a)"))),
        }
        seconds = _medians(int(rounds), lambda text: _conversion(spark, text), Path(folder))
    sys.stdout.write(json.dumps({"seconds": seconds, "requests": counts}))


@contextmanager
def _tables(spark: SparkSession, folder: Path) -> Iterator[None]:
    """The tables of TPC-H in the current database, which is one of their own."""
    spark.sql(f"CREATE DATABASE {DATABASE}")
    spark.sql(f"USE {DATABASE}")
    for file in sorted(folder.glob("*.parquet")):
        spark.sql(f"CREATE TABLE {file.stem} USING parquet LOCATION '{file}'")
    try:
        yield
    finally:
        spark.sql("USE default")
        spark.sql(f"DROP DATABASE {DATABASE} CASCADE")


def _medians(rounds: int, once: Callable[[str], float], folder: Path) -> list[float]:
    """The median of each query, without the first round, in which JVMs are cold and tables are new."""
    texts = tpc_data.queries(folder).values()
    runs = [[once(text) for text in texts] for _ in range(rounds + 1)]
    return [middle(list(found)) for found in zip(*runs[1:], strict=True)]


def _conversion(spark: SparkSession, text: str) -> float:
    """Without `spark.sql`, for which the client asks the server."""
    df = spark.sql(text)
    return _seconds(lambda: df_to_substrait(df))


def _seconds(act: Callable[[], Any]) -> float:
    with quiet_garbage_collector():
        start = perf_counter()
        act()
        return perf_counter() - start


if __name__ == "__main__":
    main(*sys.argv[1:])
