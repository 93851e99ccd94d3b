"""Expressions that are stored apart from their relations, so that none is too deep."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from rows import differences, other_session, spark_table
from substrait.plan_pb2 import Plan

from substrait_spark import UnsupportedPlanError, df_to_substrait, explain, lower
from substrait_spark.algebra import types
from substrait_spark.algebra.builder import CallBuilder, Traits
from substrait_spark.algebra.expression import Expression, FieldReference, Literal, ScalarSubquery
from substrait_spark.algebra.message_walk import depth
from substrait_spark.algebra.relation import Aggregate, Fetch, Filter, Project, Relation, VirtualTable
from substrait_spark.algebra.traversal import inputs_first, subexpressions
from substrait_spark.dialects import load
from substrait_spark.engines import spark as spark_engine
from substrait_spark.lowering.lowering import Lowering
from substrait_spark.plan.message import DEPTH_LIMIT, build
from substrait_spark.reading.plan import read_plan
from substrait_spark.testing import structural_problems

I64 = types.of("i64")
X = FieldReference(0, I64)
e = CallBuilder(Traits())
TABLE = VirtualTable([(Literal(1, I64),)], ["x"], [I64])


def chain(length: int, start: Expression = X) -> Expression:
    """So many sums, each in the next."""
    found = start
    for n in range(length):
        found = e.call("arithmetic:add", Literal(n, I64), found, overflow="ERROR")
    return found


RELATIONS: dict[str, Relation] = {
    "a project": Project(TABLE, [chain(300)]),
    "several chains in one call": Project(TABLE, [e.call("arithmetic:add", chain(99), chain(98), overflow="ERROR")]),
    "a filter and an aggregate": Aggregate(Filter(TABLE, e.equal(chain(150), chain(31))), [chain(80)], []),
    "a chain in a subquery in a chain": Project(
        TABLE, [chain(90, ScalarSubquery(Project(TABLE, [chain(90)]).select([1])))]
    ),
    "rows of a table": VirtualTable([(chain(120, Literal(1, I64)),)], ["x"], [I64]),
}


@pytest.mark.parametrize("relation", RELATIONS.values(), ids=RELATIONS)
def test_a_plan_is_read_back_as_it_was(relation: Relation) -> None:
    names = [f"c{n}" for n in range(len(relation.types))]
    plan = build(relation, names, detach=True)
    assert plan.relations[0].detached_expressions
    assert Plan.FromString(plan.SerializeToString()) == plan
    assert depth(plan) <= DEPTH_LIMIT
    assert not structural_problems(plan)
    read = read_plan(plan)
    assert not read.problems
    assert read.root is not None
    assert build(read.root, names, detach=True) == plan
    assert "detached" in explain(plan)


def test_a_chain_of_ten_thousand_is_read_back() -> None:
    plan = build(Project(TABLE, [chain(10_000)]), ["x", "y"], detach=True)
    assert not structural_problems(plan)
    read = read_plan(Plan.FromString(plan.SerializeToString()))
    assert not read.problems
    assert read.root is not None
    (found,) = read.root.expressions()
    assert sum(1 for _ in subexpressions(found)) == 20_001
    assert build(read.root, read.names, detach=True) == plan


def test_what_fits_is_left_in_its_place() -> None:
    relation = Project(TABLE, [chain(20)])
    assert build(relation, ["x", "y"], detach=True) == build(relation, ["x", "y"])


def test_what_is_stored_apart_is_referred_to_once() -> None:
    plan = build(Project(TABLE, [chain(40)]), ["x", "y"], detach=True)
    assert len(plan.relations[0].detached_expressions) == 2
    plan.relations[0].detached_expressions[1].CopyFrom(plan.relations[0].detached_expressions[0])
    assert any("refers to the detached expression 1 more than once" in each for each in structural_problems(plan))
    with pytest.raises(UnsupportedPlanError, match="more than once"):
        lower(plan, "datafusion")


def test_what_is_not_stored_ends_in_a_sentence() -> None:
    plan = build(Project(TABLE, [chain(40)]), ["x", "y"], detach=True)
    del plan.relations[0].detached_expressions[:]
    assert any("refers to the detached expression 0, and has 0" in problem for problem in structural_problems(plan))
    with pytest.raises(UnsupportedPlanError, match="refers to the detached expression 0, and has 0"):
        lower(plan, "datafusion")
    explain(plan)


def test_a_reference_is_not_stored_apart() -> None:
    plan = build(Project(TABLE, [chain(40)]), ["x", "y"], detach=True)
    plan.relations[0].detached_expressions[0].detached_expression_ordinal = 1
    assert any("the detached expression 0 is a reference itself" in problem for problem in structural_problems(plan))
    explain(plan)


def test_rows(spark: SparkSession) -> None:
    body = "x"
    for n in range(60):
        body = f"greatest({body}, x - {n}) + 1"
    df = spark.sql(f"SELECT transform(array(id, NULL), x -> {body}) AS y FROM range(3)")
    with pytest.raises(UnsupportedPlanError, match="messages deep"):
        df_to_substrait(df)
    plan = df_to_substrait(df, detach=True)
    found = spark_engine.execute(plan, other_session(spark))
    assert not differences(spark_table(df), spark_table(found))
    with pytest.raises(UnsupportedPlanError):
        lower(plan, "datafusion")


def test_a_long_chain_of_spark(spark: SparkSession) -> None:
    df = spark.range(3).selectExpr(" ^ ".join(["id", *(f"shiftleft(id, {n})" for n in range(600))]) + " AS y")
    plan = df_to_substrait(df, detach=True)
    assert plan.relations[0].detached_expressions
    assert not differences(spark_table(df), spark_table(spark_engine.execute(plan, other_session(spark))))


def test_no_dialect_has_them(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="detach can be True only without a dialect"):
        df_to_substrait(spark.range(1), dialect="datafusion", detach=True)


def test_conditions_nest_deeper_than_a_stack() -> None:
    conditions = [e.call("comparison:equal", X, Literal(n, I64)) for n in range(500)]
    nested = conditions[0]
    for n, condition in enumerate(conditions[1:]):
        nested = e.call("boolean:and" if n % 2 else "boolean:or", nested, condition)
    lowered = lower(build(Filter(TABLE, nested), ["x"], detach=True), "datafusion")
    assert read_plan(lowered).root is not None
    assert depth(lowered) <= DEPTH_LIMIT


def test_relations_nest_deeper_than_a_stack() -> None:
    relation: Relation = Filter(TABLE, e.equal(X, Literal(1, I64)))
    for _ in range(1_200):
        relation = Fetch(relation, 0, 5)
    lowering = Lowering(load("datafusion"), lambda *problem: pytest.fail(str(problem)))
    guarded = lowering.lower(Project(relation, [chain(1)]))
    assert sum(isinstance(each, Fetch) for each in inputs_first(guarded)) == 1_200


@pytest.mark.slow
def test_what_is_deeper_than_a_stack_ends_in_a_sentence(spark: SparkSession) -> None:
    plan = build(Project(TABLE, [chain(3_000)]), ["x", "y"], detach=True)
    with pytest.raises(UnsupportedPlanError):
        lower(plan, "datafusion")
