"""Forms that plans of other producers have and ours don't: run in Spark, and lowered for DataFusion or refused by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from pyspark.sql import SparkSession
from releases import since
from rows import differences, other_session, spark_table
from substrait.algebra_pb2 import Expression as Message
from substrait.algebra_pb2 import Rel, SetRel
from substrait.plan_pb2 import ExecutionBehavior, Plan
from test_bounds import bounded, i32, read

from substrait_spark import InvalidPlanError, PlanningError, UnsupportedPlanError, lower
from substrait_spark.algebra import types
from substrait_spark.algebra.builder import CallBuilder, Traits
from substrait_spark.algebra.expression import (
    AggregateFunction,
    ContextVariable,
    Exists,
    Expression,
    FieldReference,
    InSubquery,
    Literal,
    Nested,
    ScalarSubquery,
)
from substrait_spark.algebra.relation import Aggregate, Filter, Join, LateralJoin, Project, Relation, VirtualTable
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.extensions import registry
from substrait_spark.plan.message import build
from substrait_spark.testing import structural_problems

I64 = types.of("i64")
T = [(1, 10), (1, 11), (2, 20), (3, None), (None, 40)]
U = [(1, 10), (2, 19), (2, 21), (None, 5), (4, None)]

e = CallBuilder(Traits())


def table(rows: Sequence[tuple[int | None, ...]]) -> VirtualTable:
    return VirtualTable([tuple(Literal(v, I64) for v in row) for row in rows], ["k", "v"], [I64, I64])


def column(ordinal: int, outer: int = 0) -> FieldReference:
    return FieldReference(ordinal, I64, (), outer)


t, u = table(T), table(U)


@pytest.fixture(scope="module", autouse=True)
def views(spark: SparkSession) -> Iterator[None]:
    for name, rows in (("t", T), ("u", U)):
        spark.createDataFrame(rows, "k bigint, v bigint").createOrReplaceTempView(name)
    yield
    for name in ("t", "u"):
        spark.catalog.dropTempView(name)


def plan_of(relation: Relation, change: Callable[[Any], object] | None = None, width: int | None = None) -> Plan:
    """The plan of a relation, with its root's message changed, which then has so many columns."""
    fields = sum(1 + types.field_count(kind) for kind in relation.types)
    plan = build(relation, [f"c{n}" for n in range(fields if width is None else width)])
    if change is not None:
        change(plan.relations[0].root.input)
    return plan


def assert_rows(
    spark: SparkSession, plan: Plan, query: str, lowers: bool = True, parameters: dict[Any, Any] | None = None
) -> None:
    """The plan has the rows of a query in Spark, and in DataFusion where it can be lowered; else it is refused."""
    found = spark_engine.execute(plan, other_session(spark), parameters=parameters)
    wanted = spark_table(spark.sql(query).toDF(*found.columns))
    assert not (lines := differences(wanted, spark_table(found))), "\n".join(lines)
    assert wanted.num_rows, "vacuous: there is no row"
    if not lowers:
        with pytest.raises((UnsupportedPlanError, PlanningError)):
            datafusion.execute(lower(plan, "datafusion"))
        return
    lowered = lower(plan, "datafusion")
    assert not structural_problems(lowered)
    actual = datafusion.execute(lowered, parameters=parameters)
    assert not (lines := differences(wanted.rename_columns(actual.column_names), actual)), "\n".join(lines)


# ---- joins


SAME_KEY = e.equal(column(0), column(2))


def joined(join_type: str) -> Callable[[Any], object]:
    def change(rel: Any) -> None:
        rel.join.type = rel.join.JoinType.Value(f"JOIN_TYPE_{join_type}")

    return change


@pytest.mark.parametrize(
    ("join_type", "width", "query"),
    [
        ("RIGHT_SEMI", 2, "SELECT u.* FROM u LEFT SEMI JOIN t ON t.k = u.k"),
        ("RIGHT_ANTI", 2, "SELECT u.* FROM u LEFT ANTI JOIN t ON t.k = u.k"),
    ],
)
def test_right_joins(spark: SparkSession, join_type: str, width: int, query: str) -> None:
    assert_rows(spark, plan_of(Join(t, u, "INNER", SAME_KEY), joined(join_type), width), query)


def test_a_right_mark_join(spark: SparkSession) -> None:
    plan = plan_of(Join(t, u, "INNER", SAME_KEY), joined("RIGHT_MARK"), 3)
    assert_rows(spark, plan, "SELECT u.*, CASE WHEN u.k IN (1, 2, 3) THEN true END FROM u")


@pytest.mark.parametrize(("needle", "value"), [(1, True), (None, None), (9, None)])
def test_an_unknown_subquery_is_told_from_a_false_one(
    spark: SparkSession, needle: int | None, value: bool | None
) -> None:
    """By DataFusion; Spark itself doesn't, and has the same rows where nothing tells the two apart."""
    found = InSubquery((Literal(needle, I64),), t.select([0]))
    plan = plan_of(Project(u, [found, e.is_null(found)]).select([2, 3]))
    rows = datafusion.execute(lower(plan, "datafusion")).to_pylist()
    assert [tuple(row.values()) for row in rows] == [(value, value is None)] * len(U)
    with pytest.raises(UnsupportedPlanError, match="Spark has false for an IN subquery"):
        spark_engine.execute(plan, spark)
    known = plan_of(Project(u, [e.coalesce(found, e.false())]).select([0, 2]))
    assert_rows(spark, known, f"SELECT k, {value is True} FROM u")
    kept = plan_of(Filter(u, e.or_(found, e.is_null(column(0)))))
    assert_rows(spark, kept, f"SELECT * FROM u WHERE {value is True} OR k IS NULL")
    left_out = plan_of(Filter(u, e.or_(e.not_(found), e.is_null(column(0)))))
    assert_rows(spark, left_out, "SELECT * FROM u WHERE k IS NULL")


@since("4.0", "the single join")
def test_a_right_single_join(spark: SparkSession) -> None:
    one = Filter(t, e.equal(column(1), Literal(10, I64)))
    plan = plan_of(Join(one, u, "INNER", SAME_KEY), joined("RIGHT_SINGLE"))
    assert_rows(spark, plan, "SELECT t.k, t.v, u.k, u.v FROM u LEFT JOIN (SELECT * FROM t WHERE v = 10) t ON t.k = u.k")
    several = plan_of(Join(t, u, "INNER", SAME_KEY), joined("RIGHT_SINGLE"))
    with pytest.raises(Exception, match=r"(?i)single|more than one"):
        spark_engine.execute(several, spark).collect()


def test_a_filter_after_a_join(spark: SparkSession) -> None:
    def change(rel: Any) -> None:
        join = Rel()
        join.CopyFrom(rel.filter.input)
        join.join.post_join_filter.CopyFrom(rel.filter.condition)
        rel.CopyFrom(join)

    plan = plan_of(Filter(Join(t, u, "LEFT", SAME_KEY), e.is_null(column(3))), change)
    assert_rows(spark, plan, "SELECT * FROM t LEFT JOIN u ON t.k = u.k WHERE u.v IS NULL")


# ---- subqueries


ABOVE = e.call("comparison:gt", column(1), column(1, 1))
SAME_OUTER = e.equal(column(0), column(0, 1))
GREATEST = Aggregate(Filter(u, SAME_OUTER), [], [e.aggregate("arithmetic:max", column(1))])


@pytest.mark.parametrize(
    ("relation", "query"),
    [
        (Filter(t, Exists(Filter(u, SAME_OUTER))), "SELECT * FROM t WHERE EXISTS (SELECT * FROM u WHERE u.k = t.k)"),
        (
            Filter(t, e.not_(Exists(Filter(u, e.and_(SAME_OUTER, ABOVE))))),
            "SELECT * FROM t WHERE NOT EXISTS (SELECT * FROM u WHERE u.k = t.k AND u.v > t.v)",
        ),
        (Filter(t, InSubquery((column(0), column(1)), u)), "SELECT * FROM t WHERE (k, v) IN (SELECT * FROM u)"),
        (Project(t, [Exists(Filter(u, SAME_OUTER))]), "SELECT t.*, coalesce(t.k IN (1, 2, 4), false) FROM t"),
    ],
    ids=["exists", "not_exists", "in", "projected"],
)
def test_subqueries(spark: SparkSession, relation: Relation, query: str) -> None:
    assert_rows(spark, plan_of(relation), query)


def test_a_scalar_subquery_of_the_row(spark: SparkSession) -> None:
    query = "SELECT *, (SELECT max(v) FROM u WHERE u.k = t.k) FROM t"
    assert_rows(spark, plan_of(Project(t, [ScalarSubquery(GREATEST)])), query)


@since("4.0", "a reference over two queries")
@pytest.mark.parametrize("in_projection", [False, True])
def test_references_over_two_queries(spark: SparkSession, in_projection: bool) -> None:
    """The innermost query asks for a column of the outermost one."""
    innermost = Filter(u, e.and_(e.equal(column(0), column(0, 1)), e.equal(column(1), column(1, 2))))
    if in_projection:
        least = Aggregate(innermost, [], [e.aggregate("arithmetic:min", column(1))])
        inner: Relation = Filter(u, e.equal(column(1), ScalarSubquery(least)))
    else:
        inner = Filter(u, Exists(innermost))
    assert_rows(
        spark,
        plan_of(Filter(t, Exists(inner))),
        "SELECT * FROM t WHERE v IN (SELECT v FROM u WHERE k IS NOT NULL)",
        lowers=False,
    )


Compared = Message.Subquery.SetComparison


def filtered_by_comparison(reduction: str, operator: str, value: Expression, relation: Relation) -> Plan:
    """A filter by a comparison of a value with the rows of a subquery."""

    def change(rel: Any) -> None:
        wanted = rel.filter.condition.subquery
        compared = Compared(
            reduction_op=Compared.ReductionOp.Value(f"REDUCTION_OP_{reduction}"),
            comparison_op=Compared.ComparisonOp.Value(f"COMPARISON_OP_{operator}"),
            left=wanted.in_predicate.needles[0],
            right=wanted.in_predicate.haystack,
        )
        wanted.set_comparison.CopyFrom(compared)

    return plan_of(Filter(t, InSubquery((value,), relation)), change)


@pytest.mark.parametrize(
    ("reduction", "operator", "query"),
    [
        ("ANY", "EQ", "SELECT * FROM t WHERE v IN (SELECT v FROM u)"),
        ("ANY", "GT", "SELECT * FROM t WHERE v > (SELECT min(v) FROM u)"),
        ("ANY", "NE", "SELECT * FROM t WHERE v IS NOT NULL"),
        ("ALL", "GE", "SELECT * FROM t WHERE v >= (SELECT max(v) FROM u)"),
        ("ALL", "LT", "SELECT * FROM t WHERE v < (SELECT min(v) FROM u)"),
    ],
)
def test_set_comparisons(spark: SparkSession, reduction: str, operator: str, query: str) -> None:
    known = Filter(u, e.is_not_null(column(1))).select([1])
    if operator == "LT":
        known = Filter(u, e.call("comparison:gt", column(1), Literal(10, I64))).select([1])
        query = query.replace("FROM u", "FROM u WHERE v > 10")
    assert_rows(spark, filtered_by_comparison(reduction, operator, column(1), known), query)


def test_comparisons_with_all_of_rows_that_are_null(spark: SparkSession) -> None:
    plan = filtered_by_comparison("ALL", "GE", column(1), u.select([1]))
    assert spark_engine.execute(plan, spark).collect() == []


def test_unique(spark: SparkSession) -> None:
    def change(rel: Any) -> None:
        rel.filter.condition.subquery.set_predicate.predicate_op = Message.Subquery.SetPredicate.PREDICATE_OP_UNIQUE

    keys = Filter(u, SAME_OUTER).select([0])
    plan = plan_of(Filter(t, Exists(keys)), change)
    assert_rows(spark, plan, "SELECT * FROM t WHERE k IS NULL OR k <> 2", lowers=False)


# ---- lateral joins

SAME_KEY_AS_LEFT = Filter(u, SAME_OUTER)


@pytest.mark.parametrize(
    ("join_type", "width", "query"),
    [
        ("INNER", 3, "SELECT * FROM t, LATERAL (SELECT max(v) FROM u WHERE u.k = t.k)"),
        ("LEFT", 4, "SELECT * FROM t LEFT JOIN LATERAL (SELECT * FROM u WHERE u.k = t.k AND u.v > t.v) ON true"),
        ("LEFT_SEMI", 2, "SELECT * FROM t LEFT SEMI JOIN u ON u.k = t.k"),
        ("LEFT_ANTI", 2, "SELECT * FROM t LEFT ANTI JOIN u ON u.k = t.k"),
        ("LEFT_MARK", 3, "SELECT *, coalesce(k IN (1, 2), false) FROM t"),
    ],
)
def test_lateral_joins(spark: SparkSession, join_type: str, width: int, query: str) -> None:
    right: Relation = SAME_KEY_AS_LEFT
    if join_type == "INNER":
        right = GREATEST
    if join_type == "LEFT":
        right = Filter(SAME_KEY_AS_LEFT, ABOVE)

    def change(rel: Any) -> None:
        rel.lateral_join.type = _join_type(join_type)

    assert_rows(spark, plan_of(LateralJoin(t, right, "INNER", e.true()), change, width), query)


def _join_type(name: str) -> int:
    return Rel().join.JoinType.Value(f"JOIN_TYPE_{name}")


@since("4.0", "a reference over two queries")
def test_a_lateral_join_in_a_subquery(spark: SparkSession) -> None:
    """Its right input asks for a column of the query around the subquery."""
    right = Filter(u, e.and_(e.equal(column(0), column(0, 1)), e.equal(column(1), column(1, 2))))
    inner = LateralJoin(u, right, "INNER", e.true())
    plan = plan_of(Filter(t, Exists(inner)))
    query = "SELECT * FROM t WHERE v IN (SELECT v FROM u WHERE k IS NOT NULL)"
    assert_rows(spark, plan, query, lowers=False)
    assert "rel_reference" in str(plan)
    assert "steps_out: 1" in str(plan)


def test_a_lateral_single_join(spark: SparkSession) -> None:
    def change(rel: Any) -> None:
        rel.lateral_join.type = _join_type("LEFT_SINGLE")

    plan = plan_of(LateralJoin(t, GREATEST, "INNER", e.true()), change)
    assert_rows(spark, plan, "SELECT *, (SELECT max(v) FROM u WHERE u.k = t.k) FROM t")


# ---- references and masks


def test_relations_that_several_share(spark: SparkSession) -> None:
    def twice(shared: int, other: int) -> Plan:
        plan = plan_of(Join(t, u, "INNER", SAME_KEY))
        join = plan.relations[0].root.input.join
        rel = Rel()
        rel.CopyFrom(join.left)
        plan.relations.add().rel.CopyFrom(rel)
        join.left.reference.subtree_ordinal = shared
        join.right.reference.subtree_ordinal = other
        return plan

    assert_rows(spark, twice(1, 1), "SELECT * FROM t AS a JOIN t AS b ON a.k = b.k")
    with pytest.raises(UnsupportedPlanError, match="refers to the relation 7 of a plan that has 2"):
        spark_engine.execute(twice(7, 1), spark)
    with pytest.raises(UnsupportedPlanError, match="the relation 0 of the plan refers to itself"):
        spark_engine.execute(twice(1, 0), spark)
    unused = plan_of(t)
    unused.relations.add().rel.CopyFrom(unused.relations[0].root.input)
    with pytest.raises(UnsupportedPlanError, match="nothing refers to the relation 1"):
        lower(unused, "datafusion")


def test_too_many_shared_relations() -> None:
    """Each is referred to twice by the next, so that written out they are more than a billion."""
    plan = plan_of(t)
    first = Rel()
    first.CopyFrom(plan.relations[0].root.input)
    plan.relations.add().rel.CopyFrom(first)
    for ordinal in range(1, 31):
        both = plan.relations.add().rel.cross
        both.left.reference.subtree_ordinal = both.right.reference.subtree_ordinal = ordinal
    plan.relations[0].root.input.reference.subtree_ordinal = 31
    with pytest.raises(UnsupportedPlanError, match="more than 10000 relations"):
        lower(plan, "datafusion")


def test_too_many_columns_of_shared_relations() -> None:
    """Few relations, so that their bound isn't met, of so many columns that written out they are a million."""
    plan = Plan()
    read(plan, i32(), 2000)
    for ordinal in range(9):
        union = plan.relations.add().rel.set
        union.op = SetRel.SET_OP_UNION_ALL
        for _ in range(2):
            union.inputs.add().reference.subtree_ordinal = ordinal
    root = plan.relations.add().root
    root.input.reference.subtree_ordinal = 9
    root.names.extend(f"c{n}" for n in range(2000))
    with bounded(), pytest.raises(UnsupportedPlanError, match="more than 500000 columns"):
        lower(plan, "datafusion")


def test_masked_reads(spark: SparkSession) -> None:
    def change(rel: Any) -> None:
        rel.read.projection.select.struct_items.add(field=1)

    plan = plan_of(t, change)
    del plan.relations[0].root.names[1:]
    assert_rows(spark, plan, "SELECT v FROM t")


def test_masked_structs(spark: SparkSession) -> None:
    record = Nested(types.of("struct", I64, I64, I64), (column(0), column(1), column(0)))

    def change(rel: Any) -> None:
        rel.project.common.emit.output_mapping[:] = [3]
        inner = rel.project.input
        inner.project.common.ClearField("emit_kind")
        selection = rel.project.expressions[0].selection
        selection.ClearField("direct_reference")
        item = selection.masked_reference.select.struct_items.add(field=2)
        for field in (2, 0):
            item.child.struct.struct_items.add(field=field)

    input = Project(t, [e.if_then(e.is_null(column(1)), e.null(record.type), record)])
    plan = plan_of(Project(input, [FieldReference(2, input.types[2])]), change)
    plan.relations[0].root.names[:] = ["s", "a", "b"]
    found = spark_engine.execute(plan, spark)
    assert found.schema.simpleString() == "struct<s:struct<a:bigint,b:bigint>>"
    assert_rows(spark, plan, "SELECT IF(v IS NULL, NULL, struct(k AS a, k AS b)) FROM t")


# ---- expressions


def replaced(expression: Message) -> Callable[[Any], object]:
    """The one expression of a project."""

    def change(rel: Any) -> None:
        rel.project.expressions[0].CopyFrom(expression)

    return change


def message(expression: Expression) -> Message:
    found: Message = plan_of(Project(t, [expression])).relations[0].root.input.project.expressions[0]
    return found


def test_switch(spark: SparkSession) -> None:
    found = Message()
    switch = found.switch_expression
    switch.match.CopyFrom(message(e.call("arithmetic:add", column(0), column(0))))
    for value, then in ((2, "one"), (4, "two")):
        clause = switch.ifs.add()
        getattr(clause, "if").i64 = value
        clause.then.literal.string = then
    getattr(switch, "else").literal.string = "many"
    plan = plan_of(Project(t, [e.call("arithmetic:add", column(0), column(0))]), replaced(found))
    assert_rows(spark, plan, "SELECT *, CASE k + k WHEN 2 THEN 'one' WHEN 4 THEN 'two' ELSE 'many' END FROM t")


def test_lists_of_records(spark: SparkSession) -> None:
    found = Message()
    found.multi_or_list.value.extend([message(column(0)), message(column(1))])
    for row in ((1, 10), (3, 30)):
        found.multi_or_list.options.add(fields=[message(Literal(value, I64)) for value in row])
    plan = plan_of(Project(t, [column(0)]), replaced(found))
    assert_rows(
        spark,
        plan,
        "SELECT *, k = 1 AND v = 10 OR k = 3 AND v = 30 FROM t",
    )


def test_parameters(spark: SparkSession) -> None:
    found = Message()
    found.dynamic_parameter.parameter_reference = 3
    found.dynamic_parameter.type.i64.nullability = types.message(I64).i64.nullability
    plan = plan_of(Project(t, [column(0)]), replaced(found))
    with pytest.raises(InvalidPlanError, match="The parameter 3 \\(i64\\?\\) has no value"):
        spark_engine.execute(plan, spark)
    assert_rows(spark, plan, "SELECT *, -7L FROM t", parameters={3: -7})
    binding = plan.parameter_bindings.add(parameter_anchor=3)
    binding.value.i64 = 7
    assert_rows(spark, plan, "SELECT *, 7L FROM t")
    binding.value.string = "seven"
    with pytest.raises(UnsupportedPlanError, match="the parameter 3 is i64\\?, and bound to string"):
        lower(plan, "datafusion")


def test_variables_that_are_evaluated_for_each_record(spark: SparkSession) -> None:
    plan = plan_of(Project(t, [ContextVariable("current_date")]))
    assert spark_engine.execute(plan, spark).count() == len(T)
    plan.execution_behavior.variable_eval_mode = ExecutionBehavior.VARIABLE_EVALUATION_MODE_PER_RECORD
    with pytest.raises(UnsupportedPlanError, match="its variables are evaluated for each record"):
        spark_engine.execute(plan, spark)


@pytest.mark.parametrize("overflow", ["SILENT", "SATURATE", "ERROR"])
def test_an_average_of_integers_never_overflows(in_mode: SparkSession, overflow: str) -> None:
    """Their sum may, and is no part of the result."""
    greatest = 2**63 - 1
    rows = table([(1, greatest), (1, greatest), (2, -greatest), (2, -greatest), (2, -greatest + 1), (3, None)])
    declaration = registry.resolved("aggregate", "arithmetic:avg", (I64,))
    assert declaration is not None
    average = AggregateFunction(declaration, (column(1),), (("overflow", overflow),))
    plan = plan_of(Aggregate(rows, [column(0)], [average]))
    expected = {(1, greatest), (2, -greatest + 1), (3, None)}
    assert set(map(tuple, spark_engine.execute(plan, in_mode).collect())) == expected
    found = datafusion.execute(lower(plan, "datafusion"))
    assert set(zip(*found.to_pydict().values(), strict=True)) == expected
