"""Counts how many plans of TPC-H and TPC-DS each reader of Substrait takes, and writes the table into docs/reference/what-readers-need.md.

`PYTHONPATH=examples python scripts/count_readers.py`. Maven, Go and Cargo bring the readers that are no packages of Python; why a plan
isn't taken is in the folder build/readers, beside the plans.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import tpc_data
from datafusion import DataFrame, SessionConfig, SessionContext
from datafusion.substrait import Consumer, Serde
from pyspark.sql import SparkSession
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

import substrait_spark
from substrait_spark import df_to_substrait, lower
from substrait_spark.algebra.message_walk import messages
from substrait_spark.catalyst.query_order import Ordering, ordering
from substrait_spark.engines.comparison.tables import compared
from substrait_spark.engines.spark.rows import spark_rows

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "what-readers-need.md"
PROGRAMS = Path(__file__).parent / "readers"
BUILD = ROOT / "build" / "readers"
EXTENSIONS = Path(substrait_spark.__file__).parent / "extensions" / "functions_spark.yaml"
BENCHMARKS = ("tpch", "tpcds")
SCALE_FACTOR = 0.01

OLDER = "metadata: {abilities: {fetch_expressions: false, optimizations: false}}"
"""A dialect of readers that know neither the newer fields of a fetch, nor the note of concessions."""

COLUMNS: Mapping[str, Callable[[Plan], Plan]] = {
    "canonical": lambda plan: plan,
    "with `decimal_rounding`": lambda plan: lower(plan, _dialect(""), accept={"decimal_rounding"}),
    "… for older readers": lambda plan: lower(plan, _dialect(OLDER), accept={"decimal_rounding"}),
}
"""The forms that plans are counted in."""


class Reader(NamedTuple):
    """A reader as the table names it, and what gives the refusals of some plans, a line each."""

    title: str
    refusals: Callable[[Sequence[Path]], Sequence[str]]


def _dialect(metadata: str) -> Path:
    path = BUILD / "dialect.yaml"
    path.write_text(f"name: older readers\n{metadata}\n", encoding="utf-8")
    return path


# ---- plans


class Query(NamedTuple):
    """A query's canonical plan, and its rows and their order in Spark."""

    plan: Plan
    rows: pa.Table
    order: Ordering


def queries() -> dict[str, Query]:
    """The queries of the benchmarks, by the names of their plans' files."""
    return {f"{benchmark}_{number}": each for benchmark in BENCHMARKS for number, each in _of_benchmark(benchmark)}


def plans(canonical: Mapping[str, Plan]) -> dict[str, list[Path]]:
    """The plans of all queries, of tables that go by one name, by the form that they are in."""
    written: dict[str, list[Path]] = {}
    for column, form in COLUMNS.items():
        folder = BUILD / re.sub(r"\W+", "_", column).strip("_")
        folder.mkdir(exist_ok=True)
        written[column] = [folder / name for name in canonical]
        for file in written[column]:
            file.write_bytes(form(canonical[file.name]).SerializeToString())
    return written


def _of_benchmark(benchmark: str) -> Iterator[tuple[int, Query]]:
    """The queries of a benchmark, whose tables are the session's in the meantime."""
    spark = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", str(BUILD)).getOrCreate()
    data = BUILD / benchmark
    if not data.exists():
        tpc_data.generate(benchmark, SCALE_FACTOR, data)
    for file in data.glob("*.parquet"):
        spark.sql(f"DROP TABLE IF EXISTS {file.stem}")
        spark.sql(f"CREATE TABLE {file.stem} USING parquet LOCATION '{file}'")
    for number, text in tpc_data.queries(data).items():
        df = spark.sql(text)
        yield number, Query(_named(df_to_substrait(df, reads="tables")), spark_rows(df), ordering(df))


def _named(plan: Plan) -> Plan:
    """The plan with tables by their own names, without Spark's catalog and schema."""
    for message in messages(plan):
        if isinstance(message, ReadRel.NamedTable):
            del message.names[:-1]
    return plan


# ---- readers


def readers(known: Mapping[str, Query]) -> list[Reader]:
    classes = BUILD / "jars"
    maven = ["mvn", "--batch-mode", "--quiet", "-f", str(PROGRAMS / "substrait_java" / "pom.xml")]
    subprocess.run([*maven, "dependency:copy-dependencies", f"-DoutputDirectory={classes}"], check=True)
    go = BUILD / "substrait_go"
    subprocess.run(["go", "build", "-o", str(go), "."], check=True, cwd=PROGRAMS / "substrait_go")
    rust = BUILD / "rust"
    build = ["cargo", "build", "--release", "--quiet", "--target-dir", str(rust)]
    subprocess.run(build, check=True, cwd=PROGRAMS / "rust")
    take = str(rust / "release" / "take_plans")
    crates = dict(
        re.findall(r'name = "(substrait[\w-]*)"\nversion = "(.+)"', (PROGRAMS / "rust" / "Cargo.lock").read_text())
    )
    java = ["java", "-cp", f"{classes}/*", str(PROGRAMS / "substrait_java" / "TakePlans.java")]
    jar = next(classes.glob("isthmus-*.jar")).stem.removeprefix("isthmus-")
    required = (PROGRAMS / "substrait_go" / "go.mod").read_text("utf-8").partition("substrait-go/v8 v")[2]
    return [
        Reader(f"substrait-java {jar}, its core", _told_by([*java, "core", str(EXTENSIONS)])),
        Reader(f"Isthmus {jar}, which makes SQL", _told_by([*java, "isthmus", str(EXTENSIONS)])),
        Reader(f"substrait-go {required.split()[0]}", _told_by([str(go), str(EXTENSIONS)])),
        Reader(f"substrait {crates['substrait']} (Rust), which decodes", _told_by([take, "decode"])),
        Reader(f"substrait-explain {crates['substrait-explain']} (Rust)", _told_by([take, "explain"])),
        Reader(f"DataFusion {version('datafusion')}, by itself", _refused_by_datafusion),
        Reader(f"DataFusion {version('datafusion')}, by itself, with Spark's rows", partial(_other_rows, known)),
    ]


def _told_by(command: Sequence[str]) -> Callable[[Sequence[Path]], Sequence[str]]:
    """What a program writes of the plans that it doesn't take."""

    def refusals(files: Sequence[Path]) -> Sequence[str]:
        arguments = [*command, *map(str, files)]
        return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()

    return refusals


def _refused_by_datafusion(files: Sequence[Path]) -> Sequence[str]:
    return [f"{file.name}: {said}" for file in files if isinstance(said := _in_datafusion(file), str)]


def _other_rows(known: Mapping[str, Query], files: Sequence[Path]) -> Sequence[str]:
    """The plans that DataFusion takes, but fails at, or has other rows of than Spark; those that it doesn't take as well."""
    return [f"{file.name}: {said}" for file in files if (said := _difference(known[file.name], _in_datafusion(file)))]


def _in_datafusion(file: Path) -> DataFrame | str:
    """What DataFusion makes of a plan by its own consumer, or why it takes none."""
    # PyArrow compares few views of texts.
    context = SessionContext(SessionConfig().set("datafusion.execution.parquet.schema_force_view_types", "false"))
    for table in (BUILD / file.name.partition("_")[0]).glob("*.parquet"):
        context.register_parquet(table.stem, str(table))
    try:
        plan = Consumer.from_substrait_plan(context, Serde.deserialize_bytes(file.read_bytes()))
        return context.create_dataframe_from_logical_plan(plan)
    except Exception as error:  # noqa: BLE001 - whatever it raises is a refusal
        return str(error).partition("\n")[0]


def _difference(query: Query, made: DataFrame | str) -> str:
    """What is otherwise than in Spark; nothing where rows are the same. Sums of doubles may differ in their last digits."""
    if isinstance(made, str):
        return made
    try:
        found = compared(query.rows, made.to_arrow_table(), tolerance=1e-9, order=query.order)
    except BaseException as error:  # noqa: BLE001 - panics of Rust's are no Exceptions
        return str(error).partition("\n")[0]
    is_same = found.only_in_spark is found.only_in_engine is None and found.out_of_order is None
    return "" if is_same else str(found).replace("\n", " ")


# ---- the table


def _taken(reader: Reader, column: str, files: Sequence[Path]) -> str:
    refusals = reader.refusals(files)
    told = BUILD / f"{reader.title} {column}.txt"
    told.write_text("\n".join(refusals), encoding="utf-8")
    refused = {line.partition(":")[0] for line in refusals}
    return " / ".join(
        str(sum(file.name.startswith(f"{benchmark}_") and file.name not in refused for file in files))
        for benchmark in BENCHMARKS
    )


def table() -> str:
    BUILD.mkdir(parents=True, exist_ok=True)
    known = queries()
    written = plans({name: query.plan for name, query in known.items()})
    lines = [f"| reader | {' | '.join(COLUMNS)} |", f"|---|{'---|' * len(COLUMNS)}"]
    for reader in readers(known):
        counts = [_taken(reader, column, files) for column, files in written.items()]
        lines.append(f"| {reader.title} | {' | '.join(counts)} |")
    return "\n".join(lines)


MARKED = re.compile(r"(<!-- Written by scripts/count_readers.py. -->\n).*?(\n<!-- End. -->)", re.DOTALL)

if __name__ == "__main__":
    counted = table()
    PAGE.write_text(MARKED.sub(lambda match: f"{match[1]}{counted}{match[2]}", PAGE.read_text("utf-8")), "utf-8")
    print(counted)
