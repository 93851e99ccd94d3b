"""What a conversion costs in a Spark Connect session beside a classic one: TPC-H over tables of a server on this machine.

A process has one kind of session, and Spark's planner is fast once it has planned much: `python -m benchmark.connecting URL FOLDER
ROUNDS` measures either kind in a process of its own, the classic one where the URL is `classic`.
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

CLASSIC = "classic"

DATABASE = "benchmark"


def measure(rounds: int) -> dict[str, Any]:
    """Seconds from a query's text to its plan in both kinds of session; and the requests that a conversion makes."""
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as place:
        tpc_data.generate("tpch", SCALE_FACTOR, Path(directory))
        classic = _apart(CLASSIC, directory, rounds)
        server = ConnectServer(Path(place), {})
        try:
            connect = _apart(f"sc://127.0.0.1:{server.port}", directory, rounds)
        finally:
            server.kill()
    columns: dict[str, list[float]] = {
        "classic": classic["seconds"],
        "connect": connect["seconds"],
        "more": [there - here for here, there in zip(classic["seconds"], connect["seconds"], strict=True)],
    }
    return {
        **{
            name: {"median": middle(found), "ninetieth": ninetieth(found), "most": max(found)}
            for name, found in columns.items()
        },
        "requests": connect["requests"],
    }


def _apart(url: str, folder: str, rounds: int) -> dict[str, Any]:
    """What `main` prints."""
    found = subprocess.run(
        [sys.executable, "-m", "benchmark.connecting", url, folder, str(rounds)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=True,
    )
    return dict(json.loads(found.stdout.splitlines()[-1]))


def main(url: str, folder: str, rounds: str) -> None:
    """Print the seconds of each query's conversion, and of a server the numbers of requests."""
    found = _classic(Path(folder), int(rounds)) if url == CLASSIC else _connect(url, Path(folder), int(rounds))
    sys.stdout.write(json.dumps(found))


def _classic(folder: Path, rounds: int) -> dict[str, Any]:
    """For each query, the seconds that Spark's analysis and the conversion take."""
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory() as warehouse:
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        spark = builder.config("spark.sql.warehouse.dir", warehouse).getOrCreate()
        with _tables(spark, folder):
            seconds = _medians(rounds, lambda text: _seconds(lambda: df_to_substrait(spark.sql(text))), folder)
        spark.stop()
    return {"seconds": seconds}


def _connect(url: str, folder: Path, rounds: int) -> dict[str, Any]:
    """For each query, the seconds of the conversion, for which the local planner analyses it; and the numbers of requests."""
    requests = Requests()
    spark = requests.session(url)
    with _tables(spark, folder):
        for name in ("one", "another", "third", "fourth"):
            spark.sql(f"CREATE TABLE {name} (a INT) USING parquet")
        df_to_substrait(spark.table("one"))
        counts = {
            "known": requests.during(lambda: df_to_substrait(spark.table("one"))),
            "new": requests.during(lambda: df_to_substrait(spark.table("another"))),
            "two new": requests.during(lambda: df_to_substrait(spark.sql("SELECT * FROM third JOIN fourth USING (a)"))),
        }
        return {"seconds": _medians(rounds, lambda text: _conversion(spark, text), folder), "requests": counts}


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
