"""What an engine lacks of TPC-H: the canonical plans of its queries, kept with the package, in the forms of the engine's dialect.

`tpch.parquet` has a row for each query: its number and the plan's message, which reads the tables by their names.
`make queries` writes it.
"""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from substrait.plan_pb2 import Plan

from ...dialects import load
from ...lowering.plan import lower_plan

FILE = "tpch.parquet"

SCHEMA = pa.schema([("query", pa.int32()), ("plan", pa.binary())])


class Lacking(NamedTuple):
    """What a dialect lacks of TPC-H."""

    queries: int
    """How many queries there are."""
    refused: tuple[int, ...]
    """The queries that have no plan in the dialect."""
    by_reason: Mapping[str, tuple[int, ...]]
    """What is lacking, and of which queries: what most of them want comes first."""


def plans() -> Iterator[tuple[int, Plan]]:
    """The queries by their numbers."""
    with importlib.resources.files(__package__).joinpath(FILE).open("rb") as file:
        rows = pq.read_table(file).to_pylist()
    for row in rows:
        yield row["query"], Plan.FromString(row["plan"])


def lacking(dialect: Path) -> Lacking:
    """What the dialect of a file lacks of the queries."""
    wanted = load(dialect)
    by_reason: dict[str, dict[int, None]] = {}
    refused, queries = [], 0
    for number, plan in plans():
        lowered, problems = lower_plan(plan, wanted)
        queries += 1
        if lowered is None:
            refused.append(number)
        for problem in problems:
            reason = problem.reason.removeprefix(f"the dialect {wanted.name} ").partition("; in its place")[0]
            by_reason.setdefault(reason, {})[number] = None
    most_wanted = sorted(by_reason.items(), key=lambda each: (-len(each[1]), each[0]))
    return Lacking(queries, tuple(refused), {reason: tuple(numbers) for reason, numbers in most_wanted})


def write(path: Path, of_queries: Mapping[int, Plan]) -> None:
    """Write the plans of the queries."""
    rows = [
        {"query": number, "plan": plan.SerializeToString(deterministic=True)} for number, plan in of_queries.items()
    ]
    pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path, compression="zstd", compression_level=19)
