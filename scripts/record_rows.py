"""Records what Spark makes of the corpus that engines are measured by: `substrait_spark/engines/measuring/recorded.parquet`.

    .venv/bin/python scripts/record_rows.py          # what is new in the corpus, or changed
    .venv/bin/python scripts/record_rows.py --all    # everything; some hours

Each canonical plan runs in Spark with its rows written into it. Sessions are ended after some cases, since what Spark keeps of
as many plans fills its memory. The file is written then: what was ended goes on where it stopped.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from substrait.plan_pb2 import Plan

from substrait_spark import EngineError, SubstraitSparkError, UnsupportedPlanError, dialects, lower
from substrait_spark.algebra.expression import AggregateFunction, Expression, FieldReference, WindowCall
from substrait_spark.algebra.references import inlined
from substrait_spark.algebra.relation import Aggregate, Project, Relation, Window
from substrait_spark.algebra.traversal import rewritten
from substrait_spark.engines import datafusion
from substrait_spark.engines.measuring import recorded
from substrait_spark.engines.measuring.case import Case, output_names, read
from substrait_spark.engines.measuring.corpus import cases
from substrait_spark.engines.measuring.listed import functions
from substrait_spark.engines.measuring.recorded import Truth, stream_of
from substrait_spark.engines.measuring.values import Table
from substrait_spark.engines.spark.correlation import by_single_steps
from substrait_spark.errors import Unsupported
from substrait_spark.reading.plan import read_plan
from substrait_spark.user_functions.declared import NO_FUNCTIONS

RECORD = Path(recorded.__file__).with_name(recorded.FILE)
BATCH = 350
"""Cases of a session."""
DIALECTS = ("datafusion", "datafusion-plain", "acero")
"""The dialects of which what they list is recorded first."""
GROUP = 32
"""Cases that are one plan, where they can be."""
MOST_RAISING = 3
"""How many rows that raise are kept of a case."""
LARGEST = 2**14
"""How many bytes of a row's result are kept at most: some sequences have millions of elements."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "4g",
    "spark.driver.extraJavaOptions": "-XX:+ExitOnOutOfMemoryError",  # or it hangs
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.session.timeZone": "America/Los_Angeles",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.constraintPropagation.enabled": "false",
}
COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation",
}
COMPILED_FUNCTIONS = {("spark", "levenshtein")}
"""Functions that Spark's interpreter computes otherwise than its compiled code, which queries run by: `levenshtein('a', 'b', NULL)`."""


def session() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("record_rows")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    return spark


def record(spark: Any, case: Case) -> Truth | None:
    """What Spark makes of a case; None where it can't run it."""
    try:
        whole = _rows(spark, case, case.tables)
    except SubstraitSparkError as error:  # what can't be recorded is told, and left out
        print(f"{case.name}: {str(error)[:200]}", file=sys.stderr)
        return None
    if whole is not None or not case.by_rows:
        kept = tuple(range(len(case.tables["t"].rows))) if case.by_rows else None
        return Truth(case.digest(), kept, (), whole)
    return _of_rows(spark, case, case.tables["t"])


def record_all(spark: Any, some: Sequence[Case]) -> Iterator[tuple[Case, Truth | None]]:
    """What Spark makes of cases that can be one plan, found by halves where any of them raises."""
    if len(some) == 1:
        yield some[0], record(spark, some[0])
        return
    try:
        stream = _together(spark, some)
    except SubstraitSparkError:
        stream = None
    if stream is None:
        middle = len(some) // 2
        yield from record_all(spark, some[:middle])
        yield from record_all(spark, some[middle:])
        return
    rows = pa.ipc.open_stream(stream).read_all()
    keys = rows.num_columns - len(some)
    for n, case in enumerate(some):
        found = rows.select([*range(keys), keys + n]).rename_columns(list(case.names))
        if not case.by_rows:
            yield case, Truth(case.digest(), None, (), stream_of(found))
            continue
        kept, raising = guessed(case)
        own = found.slice(0, len(kept)).set_column(0, found.schema.field(0), _numbers(case, kept))
        shown = [n for n in raising[:MOST_RAISING] if _rows(spark, case, {"t": case.tables["t"].only([n])}) is None]
        yield case, Truth(case.digest(), tuple(kept), tuple(shown), stream_of(own))


def _together(spark: Any, some: Sequence[Case]) -> bytes | None:
    """The rows of one plan of several cases, without those for which DataFusion raises; None where Spark raises."""
    if some[0].by_rows:
        tables = [case.tables["t"].only(guessed(case)[0]) for case in some]
        most = max(len(table.rows) for table in tables)
        tables = [table._replace(rows=(*table.rows, *table.rows[-1:] * (most - len(table.rows)))) for table in tables]
        some = [case._replace(tables={"t": table}) for case, table in zip(some, tables, strict=True)]
    whole = merged(some)
    return _rows(spark, whole, whole.tables)


def _numbers(case: Case, kept: Sequence[int]) -> pa.Array:
    """The numbers of the rows of a case, for those of a plan of several."""
    return pa.array([case.tables["t"].rows[n][0] for n in kept], pa.int32())


def kind_of_plan(case: Case) -> tuple[Any, ...] | None:
    """What is the same of cases that can be one plan; None for one that can be in none with others."""
    relation = case.relation
    if set(case.tables) != {"t"} or case.ordered or any("f0" in name for name in case.names) or _is_compiled(case):
        return None
    count = len(case.tables["t"].rows)
    if case.by_rows and isinstance(relation, Project) and len(relation.computed) == 1 and guessed(case)[0]:
        return ("project",)
    if isinstance(relation, Aggregate) and case.subject.section == "aggregate":
        # Those of distinct values have each row twice, and so other keys than others of as many rows.
        return ("aggregate", tuple([row[:2] for row in case.tables["t"].rows]), len(relation.groupings))
    if isinstance(relation, Window) and case.subject.section in ("aggregate", "window"):
        return ("window", count)
    return None


def merged(some: Sequence[Case]) -> Case:
    """One plan of several cases: their tables side by side, their calls or measures in turn."""
    first = some[0]
    fixed = 1 if isinstance(first.relation, Project) else 2
    names, schema = list(first.tables["t"].names[:fixed]), list(first.tables["t"].schema[:fixed])
    columns = list(zip(*(row[:fixed] for row in first.tables["t"].rows), strict=True)) or [()] * fixed
    offsets = []
    for n, case in enumerate(some):
        table = case.tables["t"]
        offsets.append(len(names) - fixed)
        names += [f"c{n}_{name}" for name in table.names[fixed:]]
        schema += table.schema[fixed:]
        columns += list(zip(*(row[fixed:] for row in table.rows), strict=True)) or [()] * (len(table.names) - fixed)
    table = Table(tuple(names), tuple(schema), tuple(zip(*columns, strict=True)))
    source = read("t", table)
    relation: Relation
    if isinstance(first.relation, Project):
        computed = [_moved(_project(case).computed[0], by, fixed) for case, by in zip(some, offsets, strict=True)]
        relation = Project(source, computed).select([0, *range(len(names), len(names) + len(computed))])
    elif isinstance(first.relation, Window):
        calls = [_moved_call(_window(case).calls[0], by, fixed) for case, by in zip(some, offsets, strict=True)]
        over = Window(source, calls, first.relation.partition, first.relation.sorts)
        relation = over.select([0, *range(len(names), len(names) + len(calls))])
    else:
        measures = [
            _moved_call(_aggregate(case).measures[0], by, fixed) for case, by in zip(some, offsets, strict=True)
        ]
        relation = Aggregate(source, _aggregate(first).groupings, measures)
    return first._replace(relation=relation, tables={"t": table}, names=output_names(relation))


Call = TypeVar("Call", AggregateFunction, WindowCall)


def _moved_call(call: Call, by: int, fixed: int) -> Call:
    """A call over columns that are so many further right, but for the first ones."""
    return call.with_expressions([_moved(each, by, fixed) for each in call.expressions()])


def _window(case: Case) -> Window:
    assert isinstance(case.relation, Window)  # noqa: S101 - for the type checker
    return case.relation


def _project(case: Case) -> Project:
    assert isinstance(case.relation, Project)  # noqa: S101 - for the type checker
    return case.relation


def _aggregate(case: Case) -> Aggregate:
    assert isinstance(case.relation, Aggregate)  # noqa: S101 - for the type checker
    return case.relation


def _moved(expression: Expression, by: int, fixed: int) -> Expression:
    """An expression over columns that are so many further right, but for the first ones."""

    def change(part: Expression) -> Expression | None:
        if isinstance(part, FieldReference) and part.parameter is None and part.ordinal >= fixed:
            return FieldReference(part.ordinal + by, part.type, part.path)
        return None

    return rewritten(expression, change)


def _runs(spark: Any, case: Case) -> bool:
    """Whether the library has a form of Spark's for a case. The JVM isn't asked."""
    from substrait_spark.engines.spark.builder import Builder
    from substrait_spark.engines.spark.reads import Tables
    from substrait_spark.engines.spark.relations import RelationBuilder

    rows = {name: table.only(range(min(1, len(table.rows)))) for name, table in case.tables.items()}
    read_back = read_plan(case.plan_of_rows(rows))
    builder = Builder(Tables(spark, {}), NO_FUNCTIONS, str(SETTINGS["spark.sql.session.timeZone"]))
    if read_back.root is None:
        return False
    try:
        RelationBuilder(builder).plan(by_single_steps(inlined(read_back.root)))
    except (Unsupported, NotImplementedError):
        return False
    return not builder.problems


def _builds(spark: Any, case: Case) -> bool:
    """Whether Spark takes a case: it costs less to know before it is a part of a plan of several."""
    from substrait_spark.engines import spark as engine

    rows = {name: table.only(range(min(1, len(table.rows)))) for name, table in case.tables.items()}
    try:
        engine.execute(case.plan_of_rows(rows), spark)
    except SubstraitSparkError as error:  # what can't be recorded is told, and left out
        print(f"{case.name}: {str(error)[:200]}", file=sys.stderr)
        return False
    return True


def _of_rows(spark: Any, case: Case, table: Table) -> Truth:
    """What Spark makes of a case of which some rows raise."""
    result, raising = guessed(case)
    rows = _rows(spark, case, {"t": table.only(result)}) if result and raising else None
    if (result and rows is None) or not raising:
        everything = range(len(table.rows))
        raising = _raising(spark, case, table, everything, known=True)
        result = [n for n in everything if n not in raising]
        rows = _rows(spark, case, {"t": table.only(result)}) if result else None
    shown = [n for n in raising[:MOST_RAISING] if _rows(spark, case, {"t": table.only([n])}) is None]
    return Truth(case.digest(), tuple(result), tuple(shown), rows)


def guessed(case: Case) -> tuple[list[int], list[int]]:
    """The rows for which DataFusion has a result, and those for which it raises: Spark, which is asked then, takes ten times as long.

    All have one where DataFusion lacks what the case calls.
    """
    if case.name not in GUESSES:
        GUESSES[case.name] = _guess(case)
    return GUESSES[case.name]


GUESSES: dict[str, tuple[list[int], list[int]]] = {}
"""By the names of cases: they are asked for several times."""


def _guess(case: Case) -> tuple[list[int], list[int]]:
    table = case.tables["t"]
    everything = list(range(len(table.rows)))
    try:
        plan = lower(case.plan(), "datafusion")
    except UnsupportedPlanError:
        return everything, []
    if _has_rows(plan, table):
        return everything, []
    kept = [n for n in everything if _has_rows(plan, table.only([n]))]
    return kept, [n for n in everything if n not in kept]


def _has_rows(plan: Plan, table: Table) -> bool:
    """Whether DataFusion has a result for a table."""
    try:
        datafusion.execute(plan, tables={"t": table.arrow()})
    except SubstraitSparkError:
        return False
    return True


def _raising(spark: Any, case: Case, table: Table, positions: Sequence[int], *, known: bool = False) -> list[int]:
    """The rows for which Spark raises, found by halves."""
    if not known and _rows(spark, case, {"t": table.only(positions)}) is not None:
        return []
    if len(positions) == 1:
        return list(positions)
    middle = len(positions) // 2
    left = _raising(spark, case, table, positions[:middle])
    return left + _raising(spark, case, table, positions[middle:], known=not left)


def _rows(spark: Any, case: Case, tables: Any) -> bytes | None:
    """Spark's rows, None where it raises."""
    from substrait_spark.engines import spark as engine
    from substrait_spark.engines.spark.rows import spark_rows

    settings = COMPILED if _is_compiled(case) else {}
    try:
        for key, value in settings.items():
            spark.conf.set(key, value)
        return stream_of(spark_rows(engine.execute(case.plan_of_rows(tables), spark)))
    except EngineError:
        return None
    finally:
        for key in settings:
            spark.conf.unset(key)


def _is_compiled(case: Case) -> bool:
    return case.subject.key[:2] in COMPILED_FUNCTIONS


def batch(some: Sequence[Case]) -> list[tuple[str, Truth | None]]:
    """What Spark makes of some cases, in a session of its own."""
    spark = session()
    found: list[tuple[str, Truth | None]] = []
    for group in _groups([case for case in some if _runs(spark, case) and _builds(spark, case)]):
        try:
            found += [(case.name, truth and _without_large(truth)) for case, truth in record_all(spark, group)]
        except Exception as error:  # noqa: BLE001 - what can't be recorded is told, and left out
            print(f"{group[0].name} … {group[-1].name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
    spark.stop()
    return found


def _without_large(truth: Truth) -> Truth:
    """What is recorded of a case, without the rows of which the result is large."""
    if truth.stream is None or len(truth.stream) <= LARGEST or truth.kept is None:
        return truth
    rows = truth.rows
    if rows is None or rows.num_rows != len(truth.kept):
        return truth
    small = [n for n in range(rows.num_rows) if len(stream_of(rows.slice(n, 1))) <= LARGEST]
    if len(small) == rows.num_rows:
        return truth
    return truth._replace(kept=tuple([truth.kept[n] for n in small]), stream=stream_of(rows.take(small)))


def _groups(runnable: Sequence[Case]) -> Iterator[Sequence[Case]]:
    """Cases that can be one plan, few enough for one."""
    by_kind: dict[Any, list[Case]] = {}
    for case in runnable:
        by_kind.setdefault(kind_of_plan(case) or case.name, []).append(case)
    for some in by_kind.values():
        yield from (some[n : n + GROUP] for n in range(0, len(some), GROUP))


def _listed() -> set[tuple[Any, ...]]:
    """The functions that the dialects of this package list, by section, file, name, signature and options."""
    return {
        (*each[:4], frozenset(each.options))
        for engine in DIALECTS
        for each in functions(dialects.load(engine).document)
    }


def _urgency(case: Case, listed: Collection[tuple[Any, ...]]) -> tuple[bool, ...]:
    """What is recorded first: what dialects of ours list; the functions as they are, then with options, then their variants."""
    is_call = case.subject.section in ("scalar", "aggregate", "window")
    return (
        is_call and (case.subject.section, *case.subject.key[:3], frozenset(case.subject.key[3])) not in listed,
        case.subject.variant not in ("", "literals", "many"),
        case.subject.key[0] == "logarithmic",
        is_call and bool(case.subject.key[3]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default=[""], nargs="+", help="how the names of cases begin")
    asked = parser.parse_args()
    corpus = sorted(cases(), key=partial(_urgency, listed=_listed()))
    digests = {case.name: case.digest() for case in corpus}
    known = dict(recorded.truths()) if RECORD.exists() else {}
    found = {name: truth for name, truth in known.items() if digests.get(name) == truth.digest}
    names = [case.name for case in cases()]
    wanted = [
        case for case in corpus if case.name.startswith(tuple(asked.only)) and (asked.all or case.name not in found)
    ]
    for start in range(0, len(wanted), BATCH):
        some = wanted[start : start + BATCH]
        for name, truth in batch(some):
            found.pop(name, None)
            if truth is not None:
                found[name] = truth
        recorded.write(RECORD, found, names)
        print(f"{start + len(some)} of {len(wanted)}; {len(found)} have rows", flush=True)


if __name__ == "__main__":
    main()
