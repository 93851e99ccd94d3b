"""Measures which of Spark's functions can be exported, and writes `substrait_spark/support/functions.json`.

Each example that Spark's registry gives of a function is exported, canonically and for DataFusion, alone and with Catalyst, with columns for its
arguments, and the rows of both plans, the first run by Spark, are compared with Spark's. Run it with the newest Spark, which takes some minutes: `PYTHONPATH=tests .venv/bin/python scripts/measure_functions.py`; with names of
functions, it measures only these, and prints what becomes of each query.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyspark
import quick_spark
from functions import cases, examples, grid
from functions.examples import Arguments, SparkFunction
from pyspark.sql import DataFrame, SparkSession
from rows import PERMISSIONS, canonical_rows, differences, lowered_rows, spark_table
from substrait.plan_pb2 import Plan

from substrait_spark import UnsupportedPlanError, df_to_substrait
from substrait_spark.extensions import registry
from substrait_spark.plan.unread_values import unread_values

RECORD = Path(__file__).parent.parent / "substrait_spark" / "support" / "functions.json"
GROUP = 25
"""Functions whose arguments share a file."""

TOLERANCE = 1e-12
"""Engines add up floating-point numbers in different orders."""

OPEN = ("collect_list", "collect_set", "array_agg", "listagg", "string_agg", "mode")
"""Functions whose result Spark leaves open: the order of its elements, or which of several."""


WITH_CATALYST = "datafusion-with-catalyst"
"""The dialect that adds Catalyst's own evaluation to DataFusion's; what DataFusion runs, it runs in the same way."""

CAST = "Cast"
"""The class of functions that are called as their types are: what they mean hangs on the type."""


class Judgement(NamedTuple):
    """How an engine's rows compare with Spark's."""

    verdict: str
    """`equal`, `different`, or why the engine refuses the plan or raises."""
    detail: str = ""
    """What is different."""


class Outcome(NamedTuple):
    """What became of one query."""

    query: str
    canonical: str
    """Why there is no canonical plan; empty where there is one."""
    form: tuple[str, ...]
    """The functions that the canonical plan calls."""
    in_spark: Judgement
    """What the canonical plan gives in Spark."""
    datafusion: Judgement
    """What the plan for DataFusion gives."""
    with_catalyst: Judgement
    """What the plan for DataFusion with Catalyst gives."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="functions to measure, all by default")
    parser.add_argument(
        "--values",
        action="store_true",
        help="measure only for which values plans for DataFusion raise, of all functions",
    )
    arguments = parser.parse_args()
    names = arguments.names
    spark = session()
    if arguments.values:
        record = json.loads(RECORD.read_text("utf-8"))
        write({**record, "unread": unread_on_grid(spark)})
        spark.stop()
        return
    chosen = [function for function in examples.functions(spark) if not names or function.name in names]
    measured: dict[str, Any] = {}
    for function, found in outcomes(spark, chosen):
        measured[function.name] = entry(function, found)
        print(f"{len(measured)}/{len(chosen)} {function.name}: {measured[function.name]}", file=sys.stderr)
        for outcome in found:
            if names or "different" in [
                each.verdict for each in (outcome.in_spark, outcome.datafusion, outcome.with_catalyst)
            ]:
                print(f"    {outcome}")
    kept = json.loads(RECORD.read_text("utf-8"))
    unread = kept["unread"] if names else unread_on_grid(spark)
    spark.stop()
    functions = dict(sorted({**(kept["functions"] if names else {}), **measured}.items()))
    write({"spark": pyspark.__version__, "functions": functions, "unread": unread})


def session() -> SparkSession:
    """A quiet session with a time zone that has daylight-saving time, and all types switched on."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    quick_spark.use()
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.memory", "1g")
        .config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "America/Los_Angeles")
        .config("spark.sql.shuffle.partitions", "1")
        .getOrCreate()
    )
    for permission in PERMISSIONS:
        spark.conf.set(permission, "true")
    spark.sparkContext.setLogLevel("OFF")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    return spark


def outcomes(spark: SparkSession, chosen: Sequence[SparkFunction]) -> Iterator[tuple[SparkFunction, list[Outcome]]]:
    """What becomes of the examples of each function, in the forms with the most columns that Spark accepts."""
    # Else the optimizer would evaluate calls on the rows of VALUES.
    spark.conf.set(
        "spark.sql.optimizer.excludedRules", "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
    )
    with tempfile.TemporaryDirectory() as directory:
        for start in range(0, len(chosen), GROUP):
            yield from _group(spark, chosen[start : start + GROUP], Path(directory) / str(start))


def _group(
    spark: SparkSession, group: Sequence[SparkFunction], path: Path
) -> Iterator[tuple[SparkFunction, list[Outcome]]]:
    arguments = Arguments(spark, "arguments")
    forms = [[arguments.variants(function, example) for example in function.examples] for function in group]
    try:
        arguments.write(path / "arguments")
    except examples.REFUSED:
        if len(group) > 1:
            for function in group:
                yield from _group(spark, [function], path / function.name)
            return
        forms = [[variants[-1:] for variants in forms[0]]]
    for function, queries in zip(group, forms, strict=True):
        yield function, [outcome for variants in queries for outcome in _example(spark, function.name, variants)]


def _example(spark: SparkSession, name: str, variants: Sequence[Sequence[str]]) -> list[Outcome]:
    for queries in variants:
        found = [outcome for query in queries if (outcome := _query(spark, name, query)) is not None]
        if found:
            return found
    return []


def _query(spark: SparkSession, name: str, query: str) -> Outcome | None:
    """What becomes of a query; None where Spark doesn't accept it."""
    try:
        df = spark.sql(query)
    except examples.REFUSED:
        return None
    try:
        form = functions_of(df_to_substrait(df))
    except UnsupportedPlanError as error:
        return Outcome(query, reason(error), (), Judgement(""), Judgement(""), Judgement(""))
    expected = spark_rows(df)
    runs = (lambda: canonical_rows(df), lambda: lowered_rows(df), lambda: lowered_rows(df, WITH_CATALYST))
    in_spark, in_datafusion = (judged(expected, run, name in OPEN) for run in runs[:2])
    is_same = in_datafusion.verdict in COMPARED
    with_catalyst = in_datafusion if is_same else judged(expected, runs[2], name in OPEN)
    return Outcome(query, "", form, in_spark, in_datafusion, with_catalyst)


def unread_on_grid(spark: SparkSession) -> dict[str, list[str]]:
    """By Catalyst class, and by name for casts, the values for which plans of the grid's calls raise in DataFusion alone."""
    found: dict[str, dict[str, None]] = {}

    def note(name: str, query: str) -> None:
        try:
            plan = df_to_substrait(spark.sql(query), dialect="datafusion")
        except (UnsupportedPlanError, *examples.REFUSED):
            return
        if values := unread_values(plan):
            found.setdefault(name, {}).update(dict.fromkeys(values))

    with tempfile.TemporaryDirectory() as directory:
        grid.write(Path(directory) / "grid.parquet")
        spark.read.parquet(directory).createOrReplaceTempView(cases.GRID)
        for case in cases.load():
            if not case.runs_in_datafusion or case.repeats:
                continue
            spark.conf.set("spark.sql.ansi.enabled", str(case.mode == "ansi").lower())
            note(case.catalyst_class, case.query())
        for function in examples.functions(spark):
            if function.catalyst_class == CAST:
                for column in grid.COLUMNS:
                    note(function.name, f"SELECT try_cast({column} AS {function.name}) FROM {cases.GRID}")
    found.pop(CAST, None)
    return {name: list(values) for name, values in sorted(found.items())}


def reason(error: UnsupportedPlanError) -> str:
    """Why a query is refused, by its first obstacle."""
    problem = error.problems[0]
    named = problem.reason.startswith(problem.catalyst_class)
    return problem.reason if named else f"{problem.catalyst_class}: {problem.reason}"


def functions_of(plan: Plan) -> tuple[str, ...]:
    """The functions that a plan declares: `string:upper`."""
    aliases = {registry.urn(alias): alias for alias in registry.CANONICAL}
    urns = {entry.extension_urn_anchor: aliases[entry.urn] for entry in plan.extension_urns}
    declared = [entry.extension_function for entry in plan.extensions if entry.HasField("extension_function")]
    return tuple(dict.fromkeys(f"{urns[d.extension_urn_reference]}:{d.name.partition(':')[0]}" for d in declared))


def spark_rows(df: DataFrame) -> pa.Table | str:
    """Spark's rows, or what it says where it raises."""
    try:
        return spark_table(df)
    except Exception as error:  # noqa: BLE001 - whatever Spark raises is an outcome
        return str(error).partition("\n")[0]


def judged(expected: pa.Table | str, run: Callable[[], pa.Table], is_open: bool) -> Judgement:
    """How an engine's rows compare with Spark's; they are equal also where both raise."""
    try:
        actual = run()
    except UnsupportedPlanError as error:
        return Judgement(reason(error))
    except BaseException as error:  # noqa: BLE001 - a panic of the engine is no Exception
        said = RAISES + re.sub(r"(?<= )\d+", "…", str(error).partition("\n")[0])
        return Judgement("equal" if isinstance(expected, str) else said)
    if isinstance(expected, str):
        return Judgement("different", f"Spark raises {expected}")
    found = " ".join(differences(expected, actual, tolerance=TOLERANCE))
    return Judgement("different" if found and not is_open else "equal", found)


def entry(function: SparkFunction, found: Sequence[Outcome]) -> dict[str, Any]:
    """What the record says of a function by its examples alone."""
    typed = [o for o in found if "NULL that nothing gives a type" not in o.canonical] or found
    exported = [o for o in typed if not o.canonical]
    canonical = "untried" if not found else verdict("yes", "no", [not o.canonical for o in typed])
    kept: dict[str, Any] = {"class": function.catalyst_class, "group": function.group, "canonical": canonical}
    if exported:
        kept["form"] = list(exported[0].form)
        kept["in_spark"] = _verdict_of([o.in_spark for o in exported])
        kept["datafusion"] = _verdict_of([o.datafusion for o in exported])
        kept["with_catalyst"] = _verdict_of([o.with_catalyst for o in exported])
    kept["refused"] = list(dict.fromkeys(o.canonical for o in typed if o.canonical))
    kept["refused_in_spark"] = _reasons([o.in_spark for o in exported])
    kept["refused_datafusion"] = _reasons([o.datafusion for o in exported])
    kept["refused_with_catalyst"] = _reasons([o.with_catalyst for o in exported])
    return {key: value for key, value in kept.items() if value or key == "form"}


def _verdict_of(found: Sequence[Judgement]) -> str:
    if any(each.verdict == "different" for each in found):
        return "different"
    return verdict("equal", "refused", [each.verdict == "equal" for each in found])


def _reasons(found: Sequence[Judgement]) -> list[str]:
    return list(dict.fromkeys(each.verdict for each in found if each.verdict not in COMPARED))


RAISES = "where Spark has a value, "
"""How it begins what DataFusion says where it raises."""

COMPARED = ("equal", "different")
"""Verdicts of queries that ran."""


def verdict(all_of: str, none_of: str, held: Sequence[bool]) -> str:
    return all_of if all(held) else "partly" if any(held) else none_of


def write(record: dict[str, Any]) -> None:
    """Write the record of what was measured: a line for each function, so that changes show by function."""
    entries = [f"{_json(name)}: {_json(entry)}" for name, entry in record["functions"].items()]
    functions = ",\n".join(entries)
    unread = ",\n".join(f"{_json(name)}: {_json(values)}" for name, values in record["unread"].items())
    text = f'{{"spark": {_json(record["spark"])}, "functions": {{\n{functions}\n}}, "unread": {{\n{unread}\n}}}}\n'
    RECORD.write_text(text, "utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    main()
