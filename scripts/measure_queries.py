"""Records what becomes of TPC-H's and TPC-DS's queries on each engine, and writes docs/reference/engines.md: `make queries`.

TPC-H's canonical plans are kept with the package, so that a measurement tells what an engine lacks of them.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import tpc_data
import tpcds_data
from pyspark.sql import SparkSession
from query_outcomes import BENCHMARKS, ENGINES, Refused, lacking, record, recorded
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from substrait_spark import df_to_substrait
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines.measuring import tpch

GENERATE = {"tpch": lambda folder: tpc_data.generate("tpch", 0.01, folder), "tpcds": tpcds_data.generate}
"""By benchmark, what writes the data that the tests have."""


def refused(spark: SparkSession, folder: Path, engine: str) -> Iterator[tuple[str, list[str]]]:
    """The queries that an engine refuses, and what it lacks of each."""
    for number, query in tpc_data.queries(folder).items():
        if reasons := lacking(spark.sql(query), engine):
            yield str(number), reasons


def plan_of_tables(spark: SparkSession, query: str) -> Plan:
    """The canonical plan of a query, which reads the tables by their names."""
    plan = df_to_substrait(spark.sql(query))
    for message in messages(plan):
        if isinstance(message, ReadRel):
            message.named_table.names.append(Path(message.local_files.items[0].uri_file).stem)
    return plan


def measured(engines: list[str], root: Path) -> dict[str, dict[str, Refused]]:
    """What is recorded, with these engines measured anew."""
    found = recorded()
    spark = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "2").getOrCreate()
    for benchmark in BENCHMARKS:
        folder = root / benchmark
        GENERATE[benchmark](folder)
        tpc_data.register(spark, folder)
        if benchmark == "tpch":
            plans = {number: plan_of_tables(spark, query) for number, query in tpc_data.queries(folder).items()}
            tpch.write(Path(tpch.__file__).with_name(tpch.FILE), plans)
        for engine in engines:
            found.setdefault(engine, {})[benchmark] = dict(refused(spark, folder, engine))
            print(f"{engine}, {benchmark}: {len(found[engine][benchmark])} refused")
    spark.stop()
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*", default=ENGINES)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        record(measured(list(given.engines), Path(temporary)))
