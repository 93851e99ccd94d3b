"""Types that a plan declares once and refers to."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from rows import differences, other_session, spark_table
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type
from test_bounds import circular_aliases, doubling_aliases

from substrait_spark import InvalidPlanError, df_to_substrait, explain, lower
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.plan.type_aliases import declare_aliases, without_aliases
from substrait_spark.testing import structural_problems

NESTED = "VALUES (named_struct('x', 1), array(named_struct('x', 1)), array(named_struct('x', 2))) AS t(a, b, c)"

QUERIES = {
    "nested columns": f"SELECT * FROM {NESTED}",
    "casts": "SELECT CAST(id AS decimal(9, 2)) AS a, CAST(id AS decimal(9, 2)) * 2 AS b FROM range(3)",
    "typed nulls": "SELECT CAST(NULL AS array<date>) AS a, CAST(NULL AS array<date>) AS b FROM range(3)",
    "empty lists": "SELECT CAST(array() AS array<decimal(5, 1)>) AS a, CAST(id AS decimal(5, 1)) AS b FROM range(3)",
    "maps": "SELECT map(id, array(map(id, 'a'))) AS a, map(id, 'b') AS b FROM range(3)",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_every_reader_takes_them(spark: SparkSession, query: str) -> None:
    df = spark.sql(query)
    plain, aliased = df_to_substrait(df), df_to_substrait(df, type_aliases=True)
    assert aliased.type_aliases, "vacuous: no type occurs twice"
    assert not structural_problems(aliased)
    assert without_aliases(aliased) == plain
    assert lower(aliased, "datafusion") == lower(plain, "datafusion")
    assert_spark_runs(aliased, df)


def assert_spark_runs(plan: Plan, df: DataFrame) -> None:
    found = spark_engine.execute(plan, other_session(df.sparkSession))
    assert not differences(spark_table(df), spark_table(found))


def test_the_engine_takes_them_of_any_plan(spark: SparkSession) -> None:
    df = spark.sql(QUERIES["casts"])
    plan = df_to_substrait(df, dialect="datafusion")
    declare_aliases(plan)
    assert plan.type_aliases
    assert not differences(spark_table(df), datafusion.execute(plan))


def test_inner_types_come_first_and_are_referred_to(spark: SparkSession) -> None:
    plan = df_to_substrait(spark.sql(QUERIES["nested columns"]), type_aliases=True)
    lines = explain(plan).splitlines()
    assert [line for line in lines if line.startswith("alias@")] == ["alias@1: struct<i32>", "alias@2: list<alias@1>"]


def test_what_is_inside_of_one_declared_type_alone_is_no_alias(spark: SparkSession) -> None:
    df = spark.sql("SELECT CAST(NULL AS array<decimal(9, 2)>) AS a, CAST(NULL AS array<decimal(9, 2)>) AS b")
    plan = df_to_substrait(df, type_aliases=True)
    assert [alias.type.WhichOneof("kind") for alias in plan.type_aliases] == ["list"]


def test_nullability_is_said_where_an_alias_is_referred_to(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT CAST(id AS decimal(9, 2)) AS a, CAST(if(id > 1, id, NULL) AS decimal(9, 2)) AS b FROM range(3)"
    )
    plan = df_to_substrait(df, type_aliases=True)
    (alias,) = plan.type_aliases
    alias.type.decimal.nullability = Type.NULLABILITY_UNSPECIFIED
    assert not structural_problems(plan)
    assert_spark_runs(plan, df)


def test_an_alias_of_an_alias_breaks_a_rule(spark: SparkSession) -> None:
    plan = df_to_substrait(spark.sql(QUERIES["casts"]), type_aliases=True)
    again = plan.type_aliases.add(type_alias_anchor=9).type
    again.CopyFrom(plan.type_aliases[0].type)
    reference = plan.type_aliases[0].type.alias
    reference.type_alias_reference, reference.nullability = 9, Type.NULLABILITY_REQUIRED
    assert any("the type alias 1 is one of an alias" in problem for problem in structural_problems(plan))


@pytest.mark.parametrize(
    ("plan", "message"),
    [(circular_aliases(), "refers to itself"), (doubling_aliases(), "more than 500,000 types|nest deeper than 100")],
)
def test_aliases_that_stand_for_too_much_end_in_a_sentence(plan: Plan, message: str) -> None:
    with pytest.raises(InvalidPlanError, match=message):
        without_aliases(plan)


def test_undeclared_aliases_end_in_a_sentence(spark: SparkSession) -> None:
    plan = df_to_substrait(spark.sql(QUERIES["casts"]), type_aliases=True)
    plan.type_aliases[0].type_alias_anchor = 7
    with pytest.raises(InvalidPlanError, match="the type alias 1, which it doesn't declare"):
        without_aliases(plan)


def test_a_dialect_that_reads_none_refuses_them(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="the dialect datafusion reads no aliases of types"):
        df_to_substrait(spark.range(1), dialect="datafusion", type_aliases=True)
    with pytest.raises(ValueError, match="type_aliases must be True or False, not 'yes'"):
        df_to_substrait(spark.range(1), type_aliases="yes")  # type: ignore[arg-type]


def test_a_wide_table_of_nested_columns(spark: SparkSession) -> None:
    kind = "array<struct<a: int, b: struct<d: decimal(10, 2), t: timestamp>, m: map<string, array<int>>>>"
    df = spark.createDataFrame([], ", ".join(f"c{n} {kind}" for n in range(500)))
    plain, aliased = df_to_substrait(df), df_to_substrait(df, type_aliases=True)
    assert len(aliased.type_aliases) == 1
    assert aliased.ByteSize() < plain.ByteSize() / 2
