"""What becomes of TPC-H's and TPC-DS's queries on each engine: how that is found, where it is recorded, and the page on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame

from substrait_spark import UnsupportedPlanError, df_to_substrait
from substrait_spark.catalyst.query_order import ordering
from substrait_spark.engines import compare
from substrait_spark.engines.comparison.result import Comparison
from substrait_spark.engines.comparison.tables import compared
from substrait_spark.engines.engine import engine_of

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "reference" / "engines.md"
RECORD = DOCS / "measurements" / "engines.json"

ENGINES = ("datafusion", "datafusion-plain", "acero", "spark")
PROVED_ELSEWHERE = {"datafusion", "spark"}
"""Engines that have all queries: test_tpch and test_tpcds compare their rows."""

TRIED = [engine for engine in ENGINES if engine not in PROVED_ELSEWHERE]

BENCHMARKS = {"tpch": ("TPC-H", 22), "tpcds": ("TPC-DS", 99)}
"""The name of each benchmark, and how many queries it has."""

Refused = Mapping[str, list[str]]
"""By number, the queries that are refused, and what the engine lacks of them."""


def lacking(df: DataFrame, engine: str, rows: pa.Table | None = None) -> list[str]:
    """What an engine lacks of a query, nothing if it has Spark's rows. Raises AssertionError where it has others.

    Spark computes its rows, unless they are there already.
    """
    try:
        found = compare(df, engine=engine, tolerance=1e-9) if rows is None else _compared(df, engine, rows)
    except UnsupportedPlanError as refused:
        reasons = (problem.reason.removeprefix(f"the dialect {engine} ") for problem in refused.problems)
        return sorted({reason.partition("; in its place")[0] for reason in reasons})
    assert found, found
    return []


def _compared(df: DataFrame, engine: str, rows: pa.Table) -> Comparison:
    runner = engine_of(engine)
    plan = df_to_substrait(df, dialect=runner.dialect, reads="files")
    return compared(rows, runner.rows(plan, None, None, (), None), tolerance=1e-9, order=ordering(df))


def recorded() -> dict[str, dict[str, Refused]]:
    """By engine and benchmark, the queries that are refused; all others have Spark's rows."""
    found: dict[str, dict[str, Refused]] = json.loads(RECORD.read_text("utf-8"))
    return found


def record(found: Mapping[str, Mapping[str, Refused]]) -> None:
    """Write what was found, and the page."""
    RECORD.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(written(found), "utf-8")


HEAD = """# What engines run

Each query of TPC-H and TPC-DS, planned for each engine, is *equal*, which means that the engine's rows of its plan are Spark's, or it is
refused by what the engine lacks, before anything runs. No query has other rows. Tests see to it (`tests/test_query_outcomes.py`), and
`make queries` writes this page.

* `datafusion` is DataFusion with Spark's functions registered, as `substrait_spark.engines.datafusion` has it.
* `datafusion-plain` is DataFusion without them, as servers built on it have it.
* `acero` is PyArrow's own engine.
* `spark` runs canonical plans in Spark.

The `pyarrow` dialect is for expressions over Arrow's data, and has no queries: [Filter Arrow data](../how-to/filter-arrow-data.md).
Other engines are [measured](../how-to/measure-an-engine.md) by a command.
"""


def written(found: Mapping[str, Mapping[str, Refused]]) -> str:
    """The page."""
    return "\n".join([HEAD, *_counts(found), *(line for each in BENCHMARKS for line in _queries(each, found))]) + "\n"


def _counts(found: Mapping[str, Mapping[str, Refused]]) -> Iterator[str]:
    columns = [f"{name} {outcome}" for name, _ in BENCHMARKS.values() for outcome in ("equal", "refused")]
    yield f"| engine | {' | '.join(columns)} |"
    yield f"|---{'|--:' * len(columns)}|"
    for engine in ENGINES:
        counts = [count for key, (_, of) in BENCHMARKS.items() for count in _count(found[engine][key], of)]
        yield f"| `{engine}` | {' | '.join(map(str, counts))} |"


def _count(refused: Refused, of: int) -> tuple[int, int]:
    return of - len(refused), len(refused)


def _queries(benchmark: str, found: Mapping[str, Mapping[str, Refused]]) -> Iterator[str]:
    name, count = BENCHMARKS[benchmark]
    yield from ("", f"## {name}", "")
    yield f"| query | {' | '.join(f'`{engine}`' for engine in ENGINES)} |"
    yield f"|--:{'|---' * len(ENGINES)}|"
    for number in map(str, range(1, count + 1)):
        cells = [_cell(found[engine][benchmark].get(number)) for engine in ENGINES]
        yield f"| {number} | {' | '.join(cells)} |"


def _cell(reasons: list[str] | None) -> str:
    return (
        "equal" if reasons is None else f"refused: it {'; it '.join(reasons)}".replace("|", "\\|").replace("<", "&lt;")
    )
