"""The record of fuzzing in docs/: one entry for each run, and the page that is written from them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from . import oracle

DOCS = Path(__file__).resolve().parents[2] / "docs"
RUNS = DOCS / "measurements" / "fuzz.json"
PAGE = DOCS / "fuzzing.md"
KINDS = (
    oracle.EQUAL,
    oracle.RAISED,
    oracle.REFUSED,
    oracle.LOUD,
    oracle.UNNEEDED,
    oracle.OPTIMIZED,
    oracle.WRONG,
    oracle.FOREIGN,
    oracle.UNSTABLE,
)

INTRODUCTION = """\
---
search:
  exclude: true
---

# Fuzzing

`make fuzz` makes random tables' queries, each as SQL and as DataFrame operations, in ANSI mode and without, in several
time zones. Their expressions nest the calls of the functions' own verdicts. Spark's rows or error are compared with
DataFusion's on our plan, or with those of the canonical plan, which Spark runs in a session of other settings
(`make fuzz FUZZ="--canonical"`), or with those of plans of queries as they are written (`--engine "datafusion, analyzed"`);
`--engine` may come several times. DataFusion runs every other plan as it does those over large tables: in many small batches, on
three threads, with the joins and groups of many rows. Every plan must keep the structural rules, have the same bytes twice, and, of optimized
queries, be the same for both forms of the query. A failure is made smaller and printed as a regression test.
`make fuzz FUZZ="--queries 1000 --record"` adds a run to this page; the test suite runs some hundred queries of a fixed seed.

*Equal* and *raised by both* are what must be; what is *refused* was refused before anything ran; *raised by the engine
alone* is a failure of the engine where Spark has rows; the plan of a query as it is written may raise where the optimized one has
rows, since it computes what the optimizer leaves out, as below `LEFT JOIN t ON false`. *Raised by Spark alone* is an error over rows that the result
hangs on in no way: an engine leaves out columns that nobody uses, one side of a join whose other side is empty, and rows that a
filter or a limit drops, and raises as well when it computes the relation by itself; or Spark's optimizer raises, which computes
constants (`0 % 0`) though the table has no rows. *Wrong* rows, *foreign exceptions* and *unstable plans* are defects.

## Plans that were changed

`make fuzz FUZZ="--mutate"` changes valid plans of several producers, and plans with what ours have by option, of our own types,
formats and relations, with parameters, and for writes, and expressions by themselves: it clears, sets, begins, replaces, repeats and
leaves out fields, and changes bytes. Text, difference, pictures, structural rules, conformance, lowering and running must each
answer, or raise an error of this library, within 2 seconds, and all together take no more than 500 MB. The test suite tries
240 mutants of fixed seeds. Of seeds 1 to 20,012 (2026-11-23), three let a foreign exception out of `lower` at last, which is
mended: IN queries over values of another type, and rows of other types than their columns. Two differences took 2.2 seconds on a
machine that others used; the processes needed at most 310 MB. Since 2026-11-24, a seed makes a plan of the producers' and one of
ours. Of seeds 40,000 to 40,648 two let a foreign exception out of texts and pictures, which is mended: a union with an input of fewer columns.
Of seeds 50,000 to 50,399, no plan of ours did; the process needed at most 276 MB.
"""


def record(run: dict[str, Any]) -> None:
    """Add a run, and write the page anew."""
    runs = [*_runs(), run]
    RUNS.write_text("[\n" + ",\n".join(map(json.dumps, runs)) + "\n]\n", "utf-8")
    PAGE.write_text(page(runs), "utf-8")


def _runs() -> list[dict[str, Any]]:
    return list(json.loads(RUNS.read_text("utf-8"))) if RUNS.exists() else []


TITLES = {
    "datafusion": "Plans for DataFusion",
    "spark": "Canonical plans, in Spark",
    "datafusion, analyzed": "Plans of queries as written, for DataFusion",
    "spark, analyzed": "Canonical plans of queries as written, in Spark",
}
"""Headings by engine."""


def page(runs: list[dict[str, Any]]) -> str:
    """The page: by engine, what came of the queries, in all and by run, the remarks on runs, and why queries were refused."""
    parts = [INTRODUCTION]
    for engine, title in TITLES.items():
        of_engine = [run for run in runs if run["engine"] == engine]
        if of_engine:
            parts.append(f"## {title}\n\n{_section(of_engine)}")
    return "\n".join(parts)


def _section(runs: list[dict[str, Any]]) -> str:
    lines = ["| date | Spark | seeds | queries | " + " | ".join(KINDS) + " |", "|---" * (4 + len(KINDS)) + "|"]
    lines += [_row(run["date"], run["spark"], _seeds(run), run["kinds"]) for run in runs]
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for run in runs:
        total.update(run["kinds"])
        for reason, count in run["refusals"].items():
            reasons[_family(reason)] += count
    lines += [_row("**all**", "", "", total), ""]
    lines += [f"* Seeds {_seeds(run)}: {run['remark']}" for run in runs if "remark" in run]
    lines += ["", "| refused | reason |", "|---|---|"]
    lines += [f"| {count} | {reason.replace('|', chr(92) + '|')} |" for reason, count in reasons.most_common()]
    return "\n".join(lines) + "\n"


def _family(reason: str) -> str:
    """A reason without what differs from query to query: where a plan is too deep, and the types of one query's columns."""
    reason = re.sub(r"nests \d+ messages deep, and Substrait readers stop at 100.*", "nests too deep", reason)
    return re.sub(r"column '\w+'", "column", re.sub(r"\?", "", reason))


def _seeds(run: dict[str, Any]) -> str:
    first, last = run["seeds"]
    return f"{first}-{last}"


def _row(date: str, spark: str, seeds: str, kinds: dict[str, int]) -> str:
    queries = sum(kinds.get(kind, 0) for kind in KINDS)
    return (
        f"| {date} | {spark} | {seeds} | {queries:,} | "
        + " | ".join(f"{kinds.get(kind, 0):,}" for kind in KINDS)
        + " |"
    )
