"""Measure, keep the results beside the earlier ones, and write the pages and the plot."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import substrait_spark
from substrait_spark.compiled import IS_COMPILED

from . import (
    capturing,
    connecting,
    exactness,
    execution,
    memory,
    other_functions,
    own_functions,
    peer,
    queries,
    report,
    scale,
    scaling,
    start,
    using,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"
README = DOCS.parent / "README.md"
NEWEST = DOCS / "measurements" / "benchmark.json"
HISTORY = DOCS / "measurements" / "benchmark_history.json"
SCALE = DOCS / "measurements" / "scale.json"
PEER = DOCS / "measurements" / "peer.json"
FUNCTIONS = DOCS / "measurements" / "own_functions.json"
EXECUTION = DOCS / "measurements" / "execution.json"
COMPILED = DOCS / "measurements" / "compiled.json"
OTHER = DOCS / "measurements" / "other_functions.json"


def session(archives: Path | None = None) -> SparkSession:
    """A local session as a user starts it, with the archives of a folder where there is one."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    if archives is not None:
        builder = builder.config("spark.driver.extraClassPath", f"{archives.resolve()}/*")
    for key, value in {"spark.log.level": "ERROR", "spark.ui.enabled": "false"}.items():
        builder = builder.config(key, value)
    return builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()


def machine() -> str:
    """The machine in a few words."""
    names = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        if line.startswith("model name")
    ]
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores" + (f" of {names[0]}" if names else "")


def circumstances(spark: SparkSession) -> dict[str, str]:
    """When, where and with what is measured."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "version": substrait_spark.__version__,
        "spark": spark.version,
        "python": platform.python_version(),
        "machine": machine(),
    }


def measure(rounds: int) -> dict[str, Any]:
    """All measurements of one run, but for those of scale."""
    spark = session()
    try:
        return {
            **circumstances(spark),
            "first plan": start.first_plan_seconds(spark),
            "import": start.import_seconds(rounds),
            "queries": queries.measure(spark, rounds),
            "using": using.measure(spark, rounds),
            "scaling": scaling.measure(spark, rounds),
            "capture": capturing.measure(spark, rounds),
            "connect": connecting.measure(rounds),
            "memory": memory.measure(spark),
        }
    finally:
        spark.stop()


def measure_compiled(rounds: int) -> dict[str, Any]:
    """Conversion with compiled modules, which must be there."""
    if not IS_COMPILED:
        raise SystemExit("The modules of substrait_spark are not compiled here: `make bench COMPILED=yes` brings them.")
    spark = session()
    try:
        return {**circumstances(spark), "queries": queries.measure(spark, rounds)}
    finally:
        spark.stop()


def measure_peer(rounds: int, archives: Path) -> dict[str, Any]:
    """Conversion beside the peer of a folder."""
    spark = session(archives)
    try:
        return {**circumstances(spark), "queries": peer.measure(spark, rounds)}
    finally:
        spark.stop()


def measure_scale(minutes: float) -> dict[str, Any]:
    """The largest queries, and conversions in threads for so many minutes."""
    spark = session()
    try:
        return {**circumstances(spark), **scale.measure(spark, minutes)}
    finally:
        spark.stop()


def measure_execution(rounds: int, scale_factor: float) -> dict[str, Any]:
    """What plans take in DataFusion, on data of a scale factor."""
    spark = session()
    try:
        return {**circumstances(spark), **execution.measure(spark, rounds, scale_factor)}
    finally:
        spark.stop()


def measure_other_functions(rounds: int) -> dict[str, Any]:
    """What functions take that Python or Catalyst compute for DataFusion."""
    spark = session()
    try:
        found = other_functions.measure(spark, rounds)
        return {**circumstances(spark), "rows": other_functions.ROWS, "functions": found}
    finally:
        spark.stop()


def measure_functions(rounds: int) -> dict[str, Any]:
    """What users' own functions take in DataFusion and in Spark."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = session()
    try:
        found = own_functions.measure(spark, rounds)
        return {**circumstances(spark), "rounds": rounds, "rows": own_functions.ROWS, "functions": found}
    finally:
        spark.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="measured rounds after the first (default: 5)")
    parser.add_argument(
        "--scale", type=float, metavar="MINUTES", help="measure the largest queries, and threads for so long"
    )
    parser.add_argument(
        "--execution", type=float, metavar="FACTOR", help="measure plans in DataFusion, with TPC-H of this scale factor"
    )
    parser.add_argument(
        "--other-functions",
        action="store_true",
        help="measure functions that Python or Catalyst compute for DataFusion",
    )
    parser.add_argument("--compiled", action="store_true", help="measure conversion with compiled modules")
    parser.add_argument("--functions", action="store_true", help="measure users' own functions in DataFusion and Spark")
    parser.add_argument(
        "--peer",
        type=Path,
        metavar="FOLDER",
        help="measure conversion beside substrait-java's, whose archives are there",
    )
    parser.add_argument("--page-only", action="store_true", help="write page and plot from the results that are there")
    arguments = parser.parse_args()
    if arguments.scale is not None:
        SCALE.write_text(json.dumps(measure_scale(arguments.scale), indent=1) + "\n", "utf-8")
    elif arguments.execution is not None:
        found = measure_execution(arguments.rounds, arguments.execution)
        EXECUTION.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    elif arguments.other_functions:
        OTHER.write_text(json.dumps(measure_other_functions(arguments.rounds), indent=1) + "\n", "utf-8")
    elif arguments.compiled:
        report.write(measure_compiled(arguments.rounds), COMPILED)
    elif arguments.functions:
        FUNCTIONS.write_text(json.dumps(measure_functions(arguments.rounds), indent=1) + "\n", "utf-8")
    elif arguments.peer is not None:
        PEER.write_text(json.dumps(measure_peer(arguments.rounds, arguments.peer), indent=1) + "\n", "utf-8")
    elif not arguments.page_only:
        report.keep(measure(arguments.rounds), NEWEST, HISTORY)
    newest, history = report.load(NEWEST, HISTORY)
    page = report.page(newest, history, _kept(SCALE), _kept(PEER), _kept(FUNCTIONS), _kept(COMPILED))
    (DOCS / "benchmark.md").write_text(page, "utf-8")
    if (executed := _kept(EXECUTION)) is not None:
        text = exactness.page(executed, _kept(OTHER))
        (DOCS / "reference" / "what-exactness-costs.md").write_text(text, "utf-8")
        README.write_text(exactness.readme(README.read_text("utf-8"), executed), "utf-8")
    (DOCS / "images").mkdir(exist_ok=True)
    report.plot(newest, DOCS / "images" / "benchmark.svg")
    print((DOCS / "benchmark.md").read_text("utf-8"))
    return 0


def _kept(path: Path) -> dict[str, Any] | None:
    """The result of an earlier run, where there is one."""
    return json.loads(path.read_text("utf-8")) if path.exists() else None


if __name__ == "__main__":
    sys.exit(main())
