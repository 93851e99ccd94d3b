"""Dialects of readers of older releases: what these read in other fields is written there, and what they can't be told is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from rows import differences, plan_of, spark_table
from substrait.algebra_pb2 import AggregateRel, FetchRel, ReadRel
from substrait.plan_pb2 import Plan

from substrait_spark import UnsupportedPlanError, check, lower
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import datafusion
from substrait_spark.plan.concessions import uses_in
from substrait_spark.reading.encodings import unknown_fields

VALUES = "VALUES (1, 'a'), (2, NULL), (2, 'b'), (NULL, ''), (3, 'a') t(i, s)"

QUERIES = {
    "fetch": f"SELECT i, s FROM {VALUES} ORDER BY i, s LIMIT 2 OFFSET 1",
    "fetch without offset": f"SELECT i, s FROM {VALUES} ORDER BY i, s LIMIT 3",
    "fetch without count": f"SELECT i, s FROM {VALUES} ORDER BY i, s OFFSET 2",
    "groups": f"SELECT i, count(s) FROM {VALUES} GROUP BY i",
    "grouping sets": f"SELECT i, s, count(*) FROM {VALUES} GROUP BY ROLLUP (i, s)",
    "windows": f"SELECT i, sum(i) OVER (ORDER BY i, s ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM {VALUES}",
    "functions of ours": "SELECT substring(string(id), id, 1), shiftleft(id, 3) FROM range(5)",
}

Write = Callable[[str], str]


@pytest.fixture
def dialect(tmp_path: Path) -> Write:
    """Writes a dialect file of some metadata, and gives its path."""

    def write(metadata: str) -> str:
        path = tmp_path / "older.yaml"
        path.write_text(f"name: older\nmetadata: {{{metadata}}}")
        return str(path)

    return write


@pytest.mark.parametrize("name", QUERIES)
def test_older_forms_mean_the_same(spark: SparkSession, dialect: Write, name: str) -> None:
    df = spark.sql(QUERIES[name])
    older = lower(plan_of(df), dialect("release: '0.56'"))
    rows = datafusion.execute(lower(older, "datafusion"))
    assert rows.num_rows
    assert not differences(spark_table(df), rows)


def removed(plan: Plan, kind: type) -> set[int]:
    """The removed fields that messages of a kind have."""
    return {field for each in messages(plan) if isinstance(each, kind) for field in unknown_fields(each)}


@pytest.mark.parametrize(
    ("release", "has"),
    [
        ("0.56", {"fetch", "groups", "rows", "uris"}),
        ("0.58.1", {"fetch", "rows", "uris"}),
        ("0.62", {"fetch", "uris"}),
        ("0.74", {"uris"}),
        ("0.75", set()),
        ("0.106", set()),
    ],
)
def test_release_says_which_fields_are_written(
    spark: SparkSession, dialect: Write, release: str, has: set[str]
) -> None:
    df = spark.createDataFrame([(1, "a")], "i int, s string").groupBy("i").count().limit(3)
    plan = lower(plan_of(df), dialect(f"release: '{release}'"))
    written = {
        "fetch": removed(plan, FetchRel) == {3, 4},
        "groups": removed(plan, AggregateRel.Grouping) == {1},
        "rows": removed(plan, ReadRel.VirtualTable) == {1},
        "uris": bool(unknown_fields(plan)),
    }
    assert {name for name, is_written in written.items() if is_written} == has


def test_uris_stand_beside_urns(spark: SparkSession, dialect: Write) -> None:
    plan = lower(plan_of(spark.sql(QUERIES["functions of ours"])), dialect("abilities: {extension_urns: false}"))
    uris = [bytes(uri) for uri in unknown_fields(plan)[1]]
    assert len(uris) == len(plan.extension_urns) == 2
    assert any(uri.endswith(b"/extensions/functions_arithmetic.yaml") for uri in uris)
    assert any(uri.endswith(b"extension:io.github.substrait-spark:functions_spark") for uri in uris)
    for each in plan.extensions:
        function = each.extension_function
        assert unknown_fields(function) == {1: [function.extension_urn_reference]}


def test_abilities_come_before_the_release(spark: SparkSession, dialect: Write) -> None:
    df = spark.range(5).limit(3)
    plan = lower(plan_of(df), dialect("release: '0.60', abilities: {fetch_expressions: true}"))
    assert not removed(plan, FetchRel)


def test_notes_of_concessions_are_left_out(spark: SparkSession, dialect: Write) -> None:
    """substrait-java takes no plan with an optimization that it doesn't know."""
    plan = plan_of(spark.range(5).selectExpr("CAST(id AS decimal(9, 2)) / 3"), accept={"decimal_rounding"})
    assert uses_in(plan)
    assert not uses_in(lower(plan, dialect("abilities: {optimizations: false}")))
    assert uses_in(lower(plan, dialect("release: '0.56'")))


RANGE = "RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW"


def test_computed_bounds_are_refused(spark: SparkSession, dialect: Write) -> None:
    """A reader of numbers takes a bound without one for 0."""
    df = spark.sql(f"SELECT sum(i) OVER (ORDER BY d {RANGE}) FROM VALUES (1, DATE'2024-01-01') t(i, d)")
    assert check(df, dialect=dialect("release: '0.102'"))
    with pytest.raises(UnsupportedPlanError, match="bounds are other than whole numbers"):
        lower(plan_of(df), dialect("release: '0.101'"))
