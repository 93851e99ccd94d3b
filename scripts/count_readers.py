"""Counts how many plans of TPC-H and TPC-DS each reader of Substrait takes, and writes the table into docs/reference/what-readers-need.md.

`PYTHONPATH=examples python scripts/count_readers.py`. Maven, Go and Cargo bring the readers that are no packages of Python; why a plan
isn't taken is in the folder build/readers, beside the plans.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import tpc_data
from datafusion import SessionContext
from datafusion.substrait import Consumer, Serde
from pyspark.sql import SparkSession
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

import substrait_spark
from substrait_spark import df_to_substrait, lower
from substrait_spark.algebra.message_walk import messages

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


def plans() -> dict[str, list[Path]]:
    """The plans of all queries, of tables that go by one name, by the form that they are in."""
    canonical = {
        f"{benchmark}_{number}": _named(df) for benchmark in BENCHMARKS for number, df in _queries(benchmark).items()
    }
    written: dict[str, list[Path]] = {}
    for column, form in COLUMNS.items():
        folder = BUILD / re.sub(r"\W+", "_", column).strip("_")
        folder.mkdir(exist_ok=True)
        written[column] = [folder / name for name in canonical]
        for file in written[column]:
            file.write_bytes(form(canonical[file.name]).SerializeToString())
    return written


def _queries(benchmark: str) -> dict[int, Plan]:
    """The canonical plans of a benchmark, whose tables are the session's in the meantime."""
    spark = SparkSession.builder.master("local[2]").config("spark.sql.warehouse.dir", str(BUILD)).getOrCreate()
    data = BUILD / benchmark
    if not data.exists():
        tpc_data.generate(benchmark, SCALE_FACTOR, data)
    for file in data.glob("*.parquet"):
        spark.sql(f"DROP TABLE IF EXISTS {file.stem}")
        spark.sql(f"CREATE TABLE {file.stem} USING parquet LOCATION '{file}'")
    texts = tpc_data.queries(data).items()
    return {number: df_to_substrait(spark.sql(text), reads="tables") for number, text in texts}


def _named(plan: Plan) -> Plan:
    """The plan with tables by their own names, without Spark's catalog and schema."""
    for message in messages(plan):
        if isinstance(message, ReadRel.NamedTable):
            del message.names[:-1]
    return plan


# ---- readers


def readers() -> list[Reader]:
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
    ]


def _told_by(command: Sequence[str]) -> Callable[[Sequence[Path]], Sequence[str]]:
    """What a program writes of the plans that it doesn't take."""

    def refusals(files: Sequence[Path]) -> Sequence[str]:
        arguments = [*command, *map(str, files)]
        return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()

    return refusals


def _refused_by_datafusion(files: Sequence[Path]) -> Sequence[str]:
    refusals = []
    for file in files:
        context = SessionContext()
        for table in (BUILD / file.name.partition("_")[0]).glob("*.parquet"):
            context.register_parquet(table.stem, str(table))
        try:
            Consumer.from_substrait_plan(context, Serde.deserialize_bytes(file.read_bytes()))
        except Exception as error:  # noqa: BLE001 - whatever it raises is a refusal
            refusals.append(f"{file.name}: {str(error).partition(chr(10))[0]}")
    return refusals


# ---- the table


def _taken(reader: Reader, column: str, files: Sequence[Path]) -> str:
    refusals = reader.refusals(files)
    told = BUILD / f"{reader.title.partition(' ')[0]} {column}.txt"
    told.write_text("\n".join(refusals), encoding="utf-8")
    refused = {line.partition(":")[0] for line in refusals}
    return " / ".join(
        str(sum(file.name.startswith(f"{benchmark}_") and file.name not in refused for file in files))
        for benchmark in BENCHMARKS
    )


def table() -> str:
    BUILD.mkdir(parents=True, exist_ok=True)
    written = plans()
    lines = [f"| reader | {' | '.join(COLUMNS)} |", f"|---|{'---|' * len(COLUMNS)}"]
    for reader in readers():
        counts = [_taken(reader, column, files) for column, files in written.items()]
        lines.append(f"| {reader.title} | {' | '.join(counts)} |")
    return "\n".join(lines)


MARKED = re.compile(r"(<!-- Written by scripts/count_readers.py. -->\n).*?(\n<!-- End. -->)", re.DOTALL)

if __name__ == "__main__":
    counted = table()
    PAGE.write_text(MARKED.sub(lambda match: f"{match[1]}{counted}{match[2]}", PAGE.read_text("utf-8")), "utf-8")
    print(counted)
