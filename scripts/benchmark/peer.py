"""Conversion beside the nearest peer's, substrait-java's Spark module, on the same optimized plans in one JVM."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError

from substrait_spark.catalyst.compiler import JavaClass

from .queries import over_tables
from .stages import converted, middle, planned, quiet_garbage_collector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PEERS = JavaClass(__package__, "Peer")


def measure(spark: SparkSession, rounds: int) -> dict[str, Any]:
    """For each benchmark, medians over the queries that both convert."""
    return {name: _benchmark(spark, name, rounds) for name in ("tpch", "tpcds")}


def _benchmark(spark: SparkSession, name: str, rounds: int) -> dict[str, Any]:
    with over_tables(spark, name) as texts:
        runs: dict[int, list[dict[str, float] | None]] = {number: [] for number in texts}
        for _ in range(rounds + 1):
            for number, text in texts.items():
                runs[number].append(_once(spark, text))
    # In the first round the JVM is still cold.
    both = [[run for run in found[1:] if run is not None] for found in runs.values() if found[-1] is not None]
    queries = [{way: middle([run[way] for run in found]) for way in found[0]} for found in both]
    return {
        "queries": len(texts),
        "both": len(queries),
        **{way: middle([query[way] for query in queries]) for way in queries[0]},
        **{
            f"{way} by planning": middle([query[way] / query["planning"] for query in queries])
            for way in ("ours", "peer")
        },
        "ours by peer": middle([query["ours"] / query["peer"] for query in queries]),
    }


def _once(spark: SparkSession, text: str) -> dict[str, float] | None:
    """Seconds to plan a query, and to convert it; None where the peer can't."""
    with quiet_garbage_collector():
        df, planning = planned(partial(spark.sql, text))
        ours = sum(converted(df).values())
        theirs = _peer_seconds(df)
    return None if theirs is None else {"planning": planning, "ours": ours, "peer": theirs}


def _peer_seconds(df: DataFrame) -> float | None:
    session: Any = df.sparkSession
    peer = _PEERS.of(session._sc._gateway)
    try:
        return float(peer.convert(df._jdf.queryExecution().optimizedPlan())) / 1e9
    except Py4JJavaError:
        return None
