"""Every function in the tables, on edge values, against the rows that Spark computes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import quick_spark
import slow
from functions import cases, grid
from functions.cases import Case
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from releases import RELEASE, since
from rows import (
    assert_plan_raises,
    assert_same_outcome,
    canonical,
    canonical_rows,
    differences,
    lowered_rows,
    plan_of,
    spark_table,
)

from substrait_spark import EngineError, check
from substrait_spark.catalyst.versions import release
from substrait_spark.functions.aggregate import AGGREGATE
from substrait_spark.functions.window import WINDOW

GROUPED = ("s", "f32", "f64")
"""Keys by which aggregates are grouped in slow tests alone: how rows are grouped, other tests show."""

COMPILED = ("map(f64, 1)", "levenshtein(s, s2, pos)")
"""Calls that mean something else where Spark interprets them, as these tests have it unless slow ones are asked for."""


def _is_slow(case: Case) -> bool:
    return case.repeats or case.group_by in GROUPED or case.call in COMPILED


CASES = [case for case in cases.load() if slow.asked() or not _is_slow(case)]
BATCH = 40
"""How many calls run as one query: Spark's start-up of a query costs more than forty columns."""


class Grid:
    """The grid in Spark, the cases that run over it, and the results of the batches so far."""

    def __init__(self, spark: SparkSession, cases: list[Case]) -> None:
        self.spark = spark
        self._cases = cases
        self._results: dict[tuple[str, ...], dict[str, list[pa.Table] | Exception]] = {}

    @contextmanager
    def mode(self, mode: str) -> Iterator[None]:
        self.spark.conf.set("spark.sql.ansi.enabled", str(mode == "ansi").lower())
        try:
            yield
        finally:
            self.spark.conf.unset("spark.sql.ansi.enabled")

    def columns(self, case: Case) -> list[pa.Table]:
        """Spark's and the engines' columns of a case: key and result."""
        key = tuple(map(str, case.batch or ()))
        if key not in self._results:
            calls = sorted({other.call for other in self._cases if other.batch == case.batch}, key=_together)
            self._results[key] = {}
            for _, group in itertools.groupby(calls, key=lambda call: _together(call)[:2]):
                members = list(group)
                for start in range(0, len(members), BATCH):
                    self._results[key].update(self._run(members[start : start + BATCH], case))
        found = self._results[key][case.call]
        if isinstance(found, Exception):
            raise found
        return found

    def _run(self, calls: list[str], case: Case) -> dict[str, list[pa.Table] | Exception]:
        try:
            tables = run(self.spark.sql(case.query(calls)), case)
        except Exception as error:  # noqa: BLE001 - a case that fails, or lacks its mark `raises`, then shows its own error
            half = len(calls) // 2
            return {**self._run(calls[:half], case), **self._run(calls[half:], case)} if half else {calls[0]: error}
        return {call: [_picked(table, n) for table in tables] for n, call in enumerate(calls)}


def _together(call: str) -> tuple[str, list[str], str]:
    """Calls run together that have the first two in common: their window or order, and what tells them from others.

    DataFusion takes a minute to plan a correlation over one window below calls over another, and has no lists in two
    orders. Spark can't plan all aggregates beside DISTINCT ones, and sums decimals unchecked beside lists.
    """
    function, _, window = call.partition(" OVER ")
    _, _, order = function.partition(" WITHIN GROUP ")
    return window or order, [word for word in ("agg(", "DISTINCT", "try_") if word in function], function


def _picked(table: pa.Table, n: int) -> pa.Table:
    names = [name for name in table.column_names if name == "k"] + [f"r{n}"]
    return table.select(names)


def run(df: DataFrame, case: Case) -> list[pa.Table]:
    """Spark's rows, those of the canonical plan, and those of the plan for DataFusion where there is one."""
    return [spark_table(df), canonical_rows(df), *([lowered_rows(df)] if case.runs_in_datafusion else [])]


@pytest.fixture(scope="module")
def edges(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession
) -> Iterator[Grid]:
    path = tmp_path_factory.mktemp("grid") / "grid.parquet"
    grid.write(path)
    spark.read.parquet(str(path)).createOrReplaceTempView("grid")
    # As users run them: a few functions are others when Spark interprets them, or takes its rows in another order. That
    # takes half as long again, and CI does it.
    for key in quick_spark.SETTINGS if slow.asked() else ():
        spark.conf.unset(key)
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield Grid(spark, _selected(request.session.items))
    for key, value in quick_spark.SETTINGS.items():
        spark.conf.set(key, value)


def _selected(items: Sequence[pytest.Item]) -> list[Case]:
    """The cases of a run: a batch has no others. The Spark that runs here has their functions."""
    tests = [item for item in items if isinstance(item, pytest.Function) and item.function is test_function]
    found: list[Any] = [test.callspec.params["case"] for test in tests]
    return [case for case in found if release(case.since) <= RELEASE]


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case.id, marks=since(case.since, "the call, or this meaning of it,")) for case in CASES],
)
def test_function(edges: Grid, case: Case) -> None:
    with edges.mode(case.mode):
        if case.batch is not None:
            assert_equal(edges.columns(case), case)
        elif case.is_judged:
            compare_raising(edges.spark.sql(case.query()), case)
        if not case.runs_in_datafusion:
            exportable(edges.spark.sql(case.query()), case)


@pytest.mark.slow
def test_functions_of_nulls_that_a_file_makes_known(edges: Grid, tmp_path: Path) -> None:
    path = tmp_path / "nulls.parquet"
    grid.write_nulls(path)
    edges.spark.read.parquet(str(path)).createOrReplaceTempView("nulls")
    judged = [case for case in CASES if case.runs_in_datafusion and case.is_judged and release(case.since) <= RELEASE]
    known = [
        replace(case, source="nulls", raises=False) for case in judged if case.by_rows and case.source == cases.GRID
    ]
    nulls = Grid(edges.spark, known)
    for case in known:
        with nulls.mode(case.mode):
            try:
                tables = nulls.columns(case)
            except EngineError:  # Spark may raise for nulls, too
                assert_same_outcome(edges.spark.sql(case.query()))
            else:
                assert_equal(tables, case)


def test_every_aggregate_and_window_function_has_a_case() -> None:
    without = {"AggregateExpression", "PivotFirst", "Product"}  # test_grouping.py has what is no SQL function
    without |= {"CollectFrequentItems", "SchemaOfVariantAgg"}  # as test_uncommon_functions.py and test_variant.py
    assert {*AGGREGATE, *WINDOW} - {case.catalyst_class for case in CASES} == without


def exportable(df: DataFrame, case: Case) -> None:
    """The canonical and the dialect's plan are well-formed, as every plan in the tests, or refused as the case says."""
    report = check(df)
    assert bool(report) == case.canonical, str(report)
    report = check(df, dialect="datafusion")
    assert bool(report) == case.runs_in_datafusion, str(report)


def assert_equal(tables: list[pa.Table], case: Case) -> None:
    """Spark's rows, and all others."""
    expected, *others = tables
    assert expected.num_rows, "no row was compared"
    for name, actual in zip(("the canonical plan in Spark", "DataFusion"), others, strict=False):
        found = differences(expected, actual, tolerance=case.tolerance)
        assert not found, "\n".join([f"{name}:", *found[:5]])


def compare_raising(df: DataFrame, case: Case) -> None:
    """Where Spark raises, so do the engines."""
    if case.by_rows:
        compare_row_by_row(df, case)
    else:
        all_raise(df, case)


def compare_row_by_row(df: DataFrame, case: Case) -> None:
    """Rows for which Spark raises must raise in the engines, each by itself; the others must be equal."""
    raising = raising_rows(df)
    assert raising, "no row of the grid raises"
    assert raising_rows(canonical(df)) == raising
    spark, query = df.sparkSession, case.query()
    if len(raising) < grid.ROWS:
        assert_equal(run(spark.sql(f"{query} WHERE id NOT IN ({', '.join(map(str, raising))})"), case), case)
    if case.runs_in_datafusion:
        for row in raising[:: max(1, len(raising) // 4)][:4]:
            assert_plan_raises(plan_of(spark.sql(f"{query} WHERE id = {row}"), "datafusion"))


def all_raise(df: DataFrame, case: Case) -> None:
    """Spark raises somewhere among the groups or windows, and so do the engines."""
    for run_by_spark in (df, canonical(df)):
        with pytest.raises(EngineError):
            spark_table(run_by_spark)
    if case.runs_in_datafusion:
        assert_plan_raises(plan_of(df, "datafusion"))


def raising_rows(df: DataFrame) -> list[int]:
    """The ids of the rows for which Spark raises: its interpreter evaluates the call row by row."""
    project = df._jdf.queryExecution().optimizedPlan()
    assert project.nodeName() == "Project", "only calls without aggregates are told apart by rows"
    spark = df.sparkSession
    jvm: Any = spark._jvm
    sql = jvm.org.apache.spark.sql
    package = sql.classic if RELEASE >= (4, 0) else sql
    rows = package.Dataset.ofRows(spark._jsparkSession, project.child()).queryExecution().executedPlan()
    columns = sql.catalyst.expressions.package.AttributeSeq(project.child().output())
    key, call = (project.projectList().apply(n) for n in range(2))
    return list(_interpreter(spark.sparkContext).find(key, call, columns, rows.executeCollect()))


@cache
def _interpreter(context: SparkContext) -> Any:
    """RaisingRows.java, compiled in the JVM."""
    jvm: Any = context._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook((Path(cases.__file__).parent / "RaisingRows.java").read_text("utf-8"))
    return compiler.getClassLoader().loadClass("functions.RaisingRows").newInstance()
