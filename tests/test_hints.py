"""What plans say beside what they mean, by option: hints, and what they were made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from rows import differences, other_session, spark_table
from substrait.algebra_pb2 import Rel, RelCommon
from substrait.plan_pb2 import Plan

from substrait_spark import df_to_substrait, explain, lower
from substrait_spark.algebra.extension_messages import JoinHint, PartitionHint, Provenance
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.plan.required_extensions import beyond_specification


def hints(plan: Plan) -> Iterator[tuple[str, RelCommon.Hint]]:
    """The hints of a plan, each with the kind of its relation."""
    for message in messages(plan):
        if isinstance(message, Rel):
            kind = message.WhichOneof("rel_type") or ""
            body = getattr(message, kind)
            if body.common.HasField("hint"):
                yield kind, body.common.hint


def advice(plan: Plan, kind: Any) -> list[Any]:
    """The messages of one kind in the hints of a plan."""
    extensions = [each for _, hint in hints(plan) for each in hint.advanced_extension.optimization]
    return [kind.FromString(each.value) for each in extensions if each.Is(kind.DESCRIPTOR)]


def without_hints(plan: Plan) -> Plan:
    found = Plan()
    found.CopyFrom(plan)
    for message in messages(found):
        if isinstance(message, RelCommon):
            message.ClearField("hint")
    return found


def hinted(df: DataFrame, stage: str = "optimized") -> Plan:
    """The plan of a DataFrame with hints, which is the plan without them otherwise, and has the same rows."""
    plan = df_to_substrait(df, stage=stage, hints=True)
    assert without_hints(plan) == without_hints(df_to_substrait(df, stage=stage))
    expected = spark_table(df)
    assert not differences(expected, spark_table(spark_engine.execute(plan, other_session(df.sparkSession))))
    assert not differences(expected, datafusion.execute(lower(plan, "datafusion")))
    assert not differences(
        expected, datafusion.execute(df_to_substrait(df, dialect="datafusion", stage=stage, hints=True))
    )
    return plan


@pytest.mark.parametrize("stage", ["optimized", "analyzed"])
def test_numbers_of_rows(spark: SparkSession, stage: str) -> None:
    plan = hinted(spark.sql("SELECT a + 1 AS b FROM VALUES (1), (2), (NULL) AS t(a) LIMIT 2"), stage)
    known = {kind: hint.stats for kind, hint in hints(plan) if hint.HasField("stats")}
    assert known["read"].row_count == (3 if stage == "analyzed" else 2)
    assert known["read"].record_size > 0


def test_names(spark: SparkSession) -> None:
    query = "SELECT u.a FROM VALUES (1), (2) AS t(a) JOIN (SELECT a FROM VALUES (2), (3) AS v(a) WHERE a > 1) AS u ON t.a = u.a"
    plan = hinted(spark.sql(query), "analyzed")
    assert [hint.alias for _, hint in hints(plan) if hint.alias] == ["t", "u", "v"]
    assert not [hint for _, hint in hints(hinted(spark.sql(query))) if hint.alias]


@pytest.mark.parametrize("stage", ["optimized", "analyzed"])
def test_advice_on_joins(spark: SparkSession, stage: str) -> None:
    a, b = spark.range(3), spark.range(2, 5)
    plan = hinted(a.join(b.hint("broadcast"), "id"), stage)
    assert advice(plan, JoinHint) == [JoinHint(right="BROADCAST")]
    plan = hinted(a.hint("shuffle_hash").join(b.hint("merge"), "id"), stage)
    assert advice(plan, JoinHint) == [JoinHint(left="SHUFFLE_HASH", right="SHUFFLE_MERGE")]
    assert not advice(hinted(a.join(b, "id"), stage), JoinHint)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda df: df.repartition(7), PartitionHint(operation="Repartition", partitions=7)),
        (lambda df: df.coalesce(1), PartitionHint(operation="Coalesce", partitions=1)),
        (lambda df: df.repartition(3, "id"), PartitionHint(operation="RepartitionByExpression", partitions=3)),
    ],
)
def test_advice_on_partitions(spark: SparkSession, change: Any, expected: Any) -> None:
    assert advice(hinted(change(spark.range(3))), PartitionHint) == [expected]


def test_hints_are_no_part_of_what_a_plan_needs(spark: SparkSession) -> None:
    plan = hinted(spark.range(3).repartition(7))
    assert not beyond_specification(plan)
    assert explain(plan) == explain(without_hints(plan))
    assert "PartitionHint" in explain(plan, verbose=True)


def test_lowering_passes_them_on_where_relations_stay(spark: SparkSession) -> None:
    df = spark.range(3).where("id > 0").repartition(7)
    lowered = lower(df_to_substrait(df, hints=True), "datafusion")
    assert lowered == df_to_substrait(df, dialect="datafusion", hints=True)
    assert advice(lowered, PartitionHint)


# ---- what plans were made of


def provenance(plan: Plan) -> Any:
    (message,) = plan.advanced_extensions.optimization
    return Provenance.FromString(message.value)


def test_provenance(spark: SparkSession) -> None:
    df = spark.range(3)
    plan = df_to_substrait(df, provenance=True)
    found = provenance(plan)
    assert (found.spark_version, found.stage) == (spark.version, "optimized")
    settings = {entry.name: entry.value for entry in found.settings}
    assert settings["spark.sql.ansi.enabled"] == spark.conf.get("spark.sql.ansi.enabled")
    assert settings["spark.sql.session.timeZone"] == spark.conf.get("spark.sql.session.timeZone")
    assert provenance(df_to_substrait(df, stage="analyzed", provenance=True)).stage == "analyzed"
    assert lower(plan, "datafusion") == df_to_substrait(df, dialect="datafusion")
    plan.ClearField("advanced_extensions")
    assert plan == df_to_substrait(df)


def test_provenance_holds_no_secret(spark: SparkSession) -> None:
    spark.conf.set("spark.hadoop.fs.s3a.secret.key", "hush")
    try:
        plan = df_to_substrait(spark.range(3), provenance=True)
    finally:
        spark.conf.unset("spark.hadoop.fs.s3a.secret.key")
    assert b"hush" not in plan.SerializeToString()
    assert b"secret" not in plan.SerializeToString()
