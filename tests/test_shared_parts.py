"""Parts of expressions that are used several times: computed once, in columns with names of a bounded length."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from rows import assert_same_rows
from substrait.plan_pb2 import Plan

from substrait_spark.algebra import types
from substrait_spark.algebra.expression import FieldReference, Literal, ScalarFunction
from substrait_spark.algebra.message_walk import messages
from substrait_spark.algebra.relation import Project, Relation, Set, VirtualTable
from substrait_spark.dialects.file import load
from substrait_spark.engines import datafusion
from substrait_spark.engines.datafusion.defects.column_names import shorten_names
from substrait_spark.extensions import registry
from substrait_spark.lowering.builder import LoweringBuilder
from substrait_spark.lowering.lowering import Lowering
from substrait_spark.plan.message import build


def _doubled(times: int) -> Relation:
    """A number, added to itself again and again: each project uses the column of the one below twice."""
    relation: Relation = VirtualTable([(Literal(1, types.I64),)], ["n"], [types.I64])
    add = registry.resolve("scalar", "datafusion", "add", (types.I64, types.I64))
    assert add is not None
    for _ in range(times):
        column = FieldReference(0, types.I64)
        relation = Project(relation, [ScalarFunction(add, (column, column))]).select([1])
    return relation


def builder() -> LoweringBuilder:
    def report(*problem: object) -> None:
        pytest.fail(str(problem))

    return Lowering(load("datafusion"), report).builder()


def test_names_that_would_double_with_each_project_are_cut() -> None:
    plan = build(shorten_names(builder(), _doubled(36)), ["n"])
    assert datafusion.execute(plan).to_pydict() == {"n": [2**36]}


def test_short_names_stay() -> None:
    relation = _doubled(5)
    assert shorten_names(builder(), relation) is relation
    assert not any(isinstance(part, Set) for part in relation.inputs)


@pytest.mark.parametrize(
    "query",
    [
        # to_date raises where a text is no date; without sharing, these nest hundreds of messages deep.
        "SELECT months_between(DATE'2024-02-28', to_date(s)) AS m FROM texts",
        "SELECT timestampdiff(YEAR, to_date(s), DATE'2024-02-28') AS y, date_trunc('WEEK', CAST(s AS TIMESTAMP)) AS w FROM texts",
        "SELECT date_trunc('MONTH', CAST(s AS TIMESTAMP)) AS m, count(*) AS n FROM texts GROUP BY 1",
    ],
)
def test_parts_that_may_raise(spark: SparkSession, query: str) -> None:
    texts = [("2024-02-29",), ("1900-03-01",), (None,), ("1969-12-31",)]
    spark.createDataFrame(texts, "s string").createOrReplaceTempView("texts")
    assert_same_rows(spark.sql(query))


def test_what_is_shared_is_written_once(spark: SparkSession) -> None:
    df = spark.sql("SELECT date_trunc('WEEK', CAST(s AS TIMESTAMP)) AS w FROM VALUES ('2024-03-10 02:30:00') AS t(s)")
    plan: Plan = assert_same_rows(df).plan
    casts = [m for m in messages(plan) if m.DESCRIPTOR.full_name == "substrait.Expression.Cast"]
    assert len(casts) < 100


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, explode(sequence(1, k)) AS n FROM VALUES (2), (3), (NULL) AS t(k) WHERE k > 1",
        "SELECT map_from_arrays(array('min', 'max'), array(min(id), max(id))) AS m FROM range(3)",
        "SELECT array_sort(collect_set(id % 3)) AS s FROM range(7)",
    ],
)
def test_parts_of_generators_maps_and_lists(spark: SparkSession, query: str) -> None:
    assert_same_rows(spark.sql(query))
