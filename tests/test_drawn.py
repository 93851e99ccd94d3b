"""What is drawn at random or numbered: in a plan once, or refused."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from releases import later, since

from substrait_spark import check, df_to_substrait
from substrait_spark.engines import spark as engine
from substrait_spark.extensions import registry
from substrait_spark.testing import assert_well_formed


def drawn(df: DataFrame) -> list[str]:
    """The functions that the canonical plan calls and that are not deterministic, each as often as it is called."""
    plan = df_to_substrait(df)
    assert_well_formed(plan)
    names = {d.extension_function.function_anchor: d.extension_function.name.partition(":")[0] for d in plan.extensions}
    random = {
        name
        for name in names.values()
        for kind in registry.implementations("scalar", "spark", name)
        if not kind.deterministic
    }
    text = str(plan)
    return [
        n for anchor, n in names.items() if n in random for _ in range(text.count(f"function_reference: {anchor}\n"))
    ]


def test_each_call_is_in_the_plan_once(spark: SparkSession) -> None:
    numbers = spark.range(10)
    assert drawn(numbers.select(F.rand(), F.rand(), F.randn(1), F.rand(1))) == ["rand"] * 3 + ["randn"]
    assert drawn(numbers.withColumn("n", F.monotonically_increasing_id())) == ["monotonically_increasing_id"]
    assert drawn(numbers.orderBy(F.rand(3))) == ["rand"]
    assert drawn(numbers.where(F.rand(3) < 0.5).selectExpr("uuid()")) == ["rand", "uuid"]
    split = numbers.where(F.rand(3) < 0.5).unionAll(numbers.where(F.rand(4) >= 0.5))
    assert drawn(split) == ["rand"] * 2


def test_what_a_rule_needs_twice_is_computed_once(spark: SparkSession) -> None:
    assert drawn(spark.sql("SELECT sign(rand() - 0.5) AS s, ln(rand()) AS l FROM range(3)")) == ["rand"] * 2


@since("4.0", "uniform")
def test_uniform_is_computed_once(spark: SparkSession) -> None:
    assert drawn(spark.sql("SELECT uniform(1.5, 2.5) AS d FROM range(3)")) == ["rand"]


@since("4.2", "zipWithIndex")
def test_rows_are_numbered_in_their_order(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(5, "b"), (3, None), (4, "a"), (3, "c")], "n int, t string").repartition(2, "n")
    numbered = rows.orderBy("n", "t").zipWithIndex("number")
    plan = df_to_substrait(numbered)
    assert_well_formed(plan)
    assert engine.execute(plan, spark).collect() == numbered.collect()
    assert [row["number"] for row in numbered.collect()] == [0, 1, 2, 3]
    whole = rows.zipWithIndex().agg(F.count_distinct("index"), F.max("index"))
    assert engine.execute(df_to_substrait(whole), spark).collect() == whole.collect()


@pytest.mark.parametrize(
    ("query", "function"),
    [
        ("SELECT rand(5), rand(5) FROM range(3)", "rand with the seed 5 would be evaluated at 2 places"),
        (
            "SELECT id FROM range(9) WHERE rand(5) < 0.5 UNION ALL SELECT id FROM range(9) WHERE rand(5) >= 0.5",
            "rand with",
        ),
        ("SELECT transform(sequence(1, id), x -> sign(x - rand(2))) FROM range(3)", "rand with the seed 2"),
        later(
            "4.0", "SELECT shuffle(array(id, 1), 5), shuffle(array(id, 2), 5) FROM range(3)", "shuffle with the seed 5"
        ),
        (
            "SELECT * FROM range(9) WHERE monotonically_increasing_id() IN (SELECT monotonically_increasing_id() FROM range(3))",
            "monotonically_increasing_id would be evaluated at 2 places",
        ),
    ],
)
def test_refused_twice(spark: SparkSession, query: str, function: str) -> None:
    report = check(spark.sql(query))
    assert not report
    assert function in str(report)
