"""`make fuzz`: random queries for as long as one lets it, or for a number of them; prints what came of them."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from substrait_spark import __version__

from . import function_forms, mutants, oracle, report, tables
from .queries import Query, queries
from .session import TIME_ZONES, session

SHOWN = (oracle.LOUD, oracle.UNNEEDED, oracle.OPTIMIZED)
"""Outcomes that are no failures of ours, if someone has looked at the query."""

UNKNOWN = ("its form is not known", "is no function that plans have", "is not among the columns")
"""In refusals that may be gaps of ours, and so are shown."""

CHUNK = 100
"""Queries by one seed: after a failure, the next seed goes on."""


class Tally:
    """What came of the queries so far."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.details: dict[str, Counter[str]] = {}

    def add(self, outcome: oracle.Outcome) -> None:
        self.kinds[outcome.kind] += 1
        self.details.setdefault(outcome.kind, Counter())[outcome.detail.split("\n", 1)[0][:200]] += 1

    def run(self, spark: str, engine: str, seeds: tuple[int, int]) -> dict[str, Any]:
        """What the record keeps."""
        return {
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            "version": __version__,
            "spark": spark,
            "engine": engine,
            "seeds": seeds,
            "kinds": dict(self.kinds),
            "refusals": dict(self.details.get(oracle.REFUSED, {})),
        }

    def report(self, seconds: float) -> str:
        """The counts, and the commonest details of what isn't equal."""
        valid = sum(self.kinds.values()) - self.kinds[oracle.INVALID]
        lines = [f"{valid} queries in {seconds:.0f} s, and {self.kinds[oracle.INVALID]} that Spark refuses to analyse"]
        for kind, count in self.kinds.most_common():
            lines.append(f"{count:8} {kind} ({100 * count / max(1, valid):.1f} %)")
            if kind not in (oracle.EQUAL, oracle.RAISED):
                lines += [f"         {number:6} {detail}" for detail, number in self.details[kind].most_common(25)]
        return "\n".join(lines)


def run(spark: SparkSession, number: int, tallies: dict[str, Tally]) -> str | None:
    """The queries of one seed, in each engine that there is a tally of.

    Returns a regression test for the smallest query that fails.
    """
    engines = {name: oracle.OFFERED[name] for name in tallies}
    smallest: list[str] = []

    @seed(number)
    @hypothesis_settings(
        max_examples=CHUNK, deadline=None, database=None, print_blob=False, suppress_health_check=list(HealthCheck)
    )
    @given(queries(), st.booleans(), st.sampled_from(TIME_ZONES))
    def check(query: Query, ansi: bool, time_zone: str) -> None:
        oracle.settings(spark, ansi, time_zone)
        outcomes = oracle.judge(spark, query, engines)
        failed = [name for name, outcome in outcomes.items() if outcome.kind in oracle.FAILURES]
        for name, outcome in outcomes.items():
            test = regression_test(query, ansi, time_zone, f"{name}: {outcome.kind}: {outcome.detail}")
            if not smallest:  # what comes after a failure are steps of making it smaller
                tallies[name].add(outcome)
            if outcome.kind in SHOWN or any(gap in outcome.detail for gap in UNKNOWN):
                print(test, flush=True)
            if name in failed:
                smallest[:] = [test]
        if failed:
            raise AssertionError(f"it fails in {failed}")

    try:
        check()
    except AssertionError:
        return smallest[0]
    return None


def regression_test(query: Query, ansi: bool, time_zone: str, came_of_it: str) -> str:
    """A test as it can stand in the file of regressions."""
    return f'''    # {came_of_it}
    Regression(
        ansi={ansi},
        time_zone="{time_zone}",
        sql="""{query.sql()}""",
    ),'''


def report_of(tallies: dict[str, Tally], started: float) -> str:
    """What came of the queries so far, by engine."""
    seconds = time.monotonic() - started
    return "\n".join(f"{name}: {tally.report(seconds)}" for name, tally in tallies.items())


def mutate(first: int, count: int) -> int:
    """Read so many mutants of valid plans, or until interrupted; prints what goes wrong."""
    started, failures, number = time.monotonic(), 0, first - 1
    try:
        for number in range(first, first + count):
            for failure in mutants.failures(number, 1):
                failures += 1
                print(f"seed {failure.seed}: {failure.asked} of {failure.name}: {failure.outcome}", flush=True)
    except KeyboardInterrupt:
        pass
    memory = mutants.grown() // 1024
    print(
        f"{number - first + 1} mutants in {time.monotonic() - started:.0f} s, at most {memory} MB: {failures} failures"
    )
    return 1 if failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--queries", type=int, default=0, help="stop after about so many (0: go on until interrupted)")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument(
        "--engine",
        action="append",
        choices=oracle.OFFERED,
        help="what runs the plans (datafusion); any number of times",
    )
    canonical = "the same as --engine spark: judge canonical plans, which Spark runs"
    parser.add_argument("--canonical", action="append_const", dest="engine", const="spark", help=canonical)
    parser.add_argument("--mutate", action="store_true", help="change valid plans, and have everything read them")
    parser.add_argument("--record", action="store_true", help="add what came of them to docs/fuzzing.md")
    arguments = parser.parse_args()
    if arguments.mutate:
        return mutate(arguments.seed, arguments.queries or sys.maxsize)
    tallies = {name: Tally() for name in arguments.engine or ["datafusion"]}
    started, number, failures, asked = time.monotonic(), arguments.seed, 0, 0
    with tempfile.TemporaryDirectory() as directory, session(Path(directory)) as spark:
        tables.create(spark, Path(directory))
        function_forms.add(spark)
        try:
            while not arguments.queries or asked < arguments.queries:
                failure = run(spark, number, tallies)
                asked = max(sum(tally.kinds.values()) for tally in tallies.values())
                if failure:
                    failures += 1
                    print(f"seed {number}:\n{failure}\n", flush=True)
                elif number % 10 == 0:
                    print(report_of(tallies, started), file=sys.stderr, flush=True)
                number += 1
        except KeyboardInterrupt:
            pass
        if arguments.record:
            for name, tally in tallies.items():
                report.record(tally.run(spark.version, name, (arguments.seed, number - 1)))
    print(report_of(tallies, started))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
