"""Concessions: what they let differ differs in the last digits alone, and each place where one was used is told."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import tpc_data
from pyspark.sql import DataFrame, SparkSession
from rows import other_session, plan_of, spark_table
from substrait.plan_pb2 import Plan

from substrait_spark import (
    DialectError,
    EngineError,
    UnsupportedPlanError,
    check,
    df_to_substrait,
    explain,
    expressions_to_substrait,
    lower,
)
from substrait_spark.dialects import CONCESSIONS, load
from substrait_spark.engines import compare, datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.plan.concessions import uses_in
from substrait_spark.plan.required_extensions import beyond_specification
from substrait_spark.testing.snapshot import Form

ROUNDING = {"decimal_rounding"}

BOTH = {"decimal_rounding", "overflow"}

LAST_DIGITS = Decimal("0.000002")
"""How far numbers may be apart: the standard types keep at least six digits behind the point."""

VALUES = ("0", "0.01", "-0.03", "3", "7.77", "-9.99", "1234567.89", "999999999.99", "-999999999.99", None)


@pytest.fixture(scope="module")
def numbers(spark: SparkSession) -> DataFrame:
    """Each two of some decimals, the second also without zero and as an integer."""
    rows = [(None if x is None else Decimal(x), None if y is None else Decimal(y)) for x in VALUES for y in VALUES]
    frame = spark.createDataFrame(rows, "x decimal(11,2), y decimal(11,2)")
    return frame.selectExpr(
        "x", "y", "if(y = 0, 1, y) AS nonzero", "CAST(x AS int) AS n", "CAST(x AS decimal(38,18)) AS wide"
    )


def assert_same_but_last_digits(df: DataFrame, accept: set[str]) -> Plan:
    """Spark's rows are those of the plan with a concession, in DataFusion and in Spark, but for the last digits of decimals."""
    plan = plan_of(df, accept=accept)
    assert uses_in(plan), "vacuous: nothing was conceded"
    expected = spark_table(df)
    assert expected.num_rows, "vacuous: there is no row"
    for actual in (
        datafusion.execute(lower(plan, "datafusion")),
        spark_table(spark_engine.execute(plan, other_session(df.sparkSession))),
    ):
        assert actual.schema.types == expected.schema.types
        assert _close(_ordered(expected), _ordered(actual))
    return plan


def _ordered(table: pa.Table) -> list[tuple[Any, ...]]:
    rows = [tuple(row.values()) for row in table.to_pylist()]
    return sorted(rows, key=lambda row: [(v is None, f"{v:.2f}" if isinstance(v, Decimal) else str(v)) for v in row])


def _close(expected: list[tuple[Any, ...]], actual: list[tuple[Any, ...]]) -> bool:
    return len(expected) == len(actual) and all(
        abs(a - b) <= LAST_DIGITS * max(Decimal(1), abs(a))
        if isinstance(a, Decimal) and isinstance(b, Decimal)
        else a == b
        for before, after in zip(expected, actual, strict=True)
        for a, b in zip(before, after, strict=True)
    )


@pytest.fixture
def legacy(spark: SparkSession) -> Iterator[None]:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield
    spark.conf.unset("spark.sql.ansi.enabled")


ROUNDED = [
    "x / nonzero AS v",
    "x / 7.00 AS v",
    "x * CAST(1.23 AS decimal(38,18)) AS v",
    "wide * CAST(nonzero / 1000000000 AS decimal(20,18)) AS v",
    "wide + CAST(x AS decimal(38,10)) AS v",
    "wide - CAST(x AS decimal(38,10)) AS v",
    "round(x / nonzero * CAST(1 AS decimal(38,30)), 2) AS v",
    "avg(x) AS v",
    "avg(DISTINCT x) AS v",
    "avg(x) FILTER (WHERE y > 0) AS v",
    "avg(x) OVER (PARTITION BY y) AS v",
]


@pytest.mark.parametrize("expression", ROUNDED)
@pytest.mark.usefixtures("in_mode")
def test_last_digits(numbers: DataFrame, expression: str) -> None:
    df = numbers.selectExpr(expression)
    plan = assert_same_but_last_digits(df, ROUNDING)
    assert not beyond_specification(plan)
    assert beyond_specification(plan_of(df))


@pytest.mark.parametrize(
    "expression", ["try_divide(x, y) AS v", "try_divide(x, n) AS v", "n / y AS v", "x / (y + x) AS v"]
)
@pytest.mark.usefixtures("legacy")
def test_zero_divisors_give_null(numbers: DataFrame, expression: str) -> None:
    plan = assert_same_but_last_digits(numbers.selectExpr("x", "y", expression), ROUNDING)
    assert not beyond_specification(plan)


def test_zero_divisors_raise_but_for_null(numbers: DataFrame) -> None:
    assert_same_but_last_digits(numbers.where("y <> 0 OR x IS NULL").selectExpr("x / y AS v"), ROUNDING)
    for dividend in ("x", "coalesce(x, 1)", "0.00"):
        df = numbers.where("y = 0 AND x > 1").selectExpr(f"{dividend} / y AS v")
        plan = plan_of(df, accept=ROUNDING)
        assert not beyond_specification(plan)
        with pytest.raises(EngineError, match="DIVIDE_BY_ZERO"):
            datafusion.execute(lower(plan, "datafusion"))
        with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
            spark_engine.execute(plan, other_session(numbers.sparkSession)).collect()


def test_overflow_is_an_error_with_rounding_alone(numbers: DataFrame) -> None:
    df = numbers.where("x > 1000").selectExpr("wide * wide * 1000000000000000 AS v")
    plan = plan_of(df, accept=ROUNDING)
    assert not beyond_specification(plan)
    with pytest.raises(EngineError):
        datafusion.execute(lower(plan, "datafusion"))


@pytest.mark.usefixtures("legacy")
def test_null_for_an_overflow_takes_both(numbers: DataFrame) -> None:
    df = numbers.where("abs(x) < 100").selectExpr("wide * wide AS v")
    assert plan_of(df, accept=ROUNDING) == plan_of(df)
    plan = assert_same_but_last_digits(df, BOTH)
    assert {use.concession for use in uses_in(plan)} == BOTH


OVERFLOWING = [
    "n + 1 AS v",
    "n - 1 AS v",
    "n * 2 AS v",
    "-n AS v",
    "abs(n) AS v",
    "sum(n) AS v",
    "sum(x) AS v",
    "try_add(n, 1) AS v",
    "sum(x) OVER (PARTITION BY y) AS v",
]


@pytest.mark.parametrize("expression", OVERFLOWING)
@pytest.mark.usefixtures("in_mode")
def test_what_fits_is_the_same(numbers: DataFrame, expression: str) -> None:
    plan = assert_same_but_last_digits(numbers.selectExpr(expression), {"overflow"})
    assert not beyond_specification(plan)
    assert "overflow" not in explain(plan).partition("root ")[2]


def test_overflow_is_the_engines(spark: SparkSession) -> None:
    df = spark.range(2**63 - 2, 2**63 - 1).selectExpr("id + 5 AS v")
    with pytest.raises(EngineError):
        datafusion.execute(plan_of(df, "datafusion"))
    plan = df_to_substrait(df, dialect="datafusion", accept={"overflow"})
    assert datafusion.execute(plan).to_pylist() == [{"v": -(2**63) + 3}]


# ---- what is told


def test_each_place_is_told(numbers: DataFrame) -> None:
    df = numbers.where("x / nonzero > 1").selectExpr("y / 3.00 AS v")
    report = check(df, accept=ROUNDING)
    assert [place for _, place in report.conceded] == [
        "Project / Filter: Divide of decimal?<11, 2>, decimal?<12, 2>",
        "Project: Divide of decimal?<11, 2>, decimal<3, 2>",
    ]
    for place in ("Project / Filter: Divide", "Project: Divide"):
        assert place in str(report)
        assert place in report._repr_html_()
    assert not check(df).conceded


def test_lowering_concedes_and_passes_on_what_was_conceded(numbers: DataFrame) -> None:
    df = numbers.selectExpr("x / nonzero AS v")
    exact, conceded = df_to_substrait(df), df_to_substrait(df, accept=ROUNDING)
    direct = df_to_substrait(df, dialect="datafusion", accept=ROUNDING)
    assert lower(conceded, "datafusion") == direct
    assert uses_in(direct) == uses_in(conceded)
    late = lower(exact, "datafusion", accept=ROUNDING)
    assert [use.concession for use in uses_in(late)] == ["decimal_rounding"]
    late.ClearField("advanced_extensions")
    direct.ClearField("advanced_extensions")
    assert late == direct


def test_comparing_and_snapshots_take_them(numbers: DataFrame) -> None:
    df = numbers.selectExpr("wide / nonzero AS v")
    compared = compare(df, accept=ROUNDING)
    assert compared.only_in_engine is not None, "vacuous: the last digits are the same"
    assert compared.spark_rows == compared.engine_rows
    assert compare(df)
    conceded = Form(accept=frozenset(ROUNDING)).text(df)
    assert conceded == Form().text(df_to_substrait(df, accept=ROUNDING)) != Form().text(df)


def test_expressions(numbers: DataFrame) -> None:
    exact = expressions_to_substrait(numbers, {"v": "x / nonzero", "n": "n"})
    conceded = expressions_to_substrait(numbers, {"v": "x / nonzero", "n": "n"}, accept=ROUNDING)
    assert not uses_in(exact)
    (use,) = uses_in(conceded)
    assert use.place.startswith("expression 'v'")
    assert "spark_divide" in str(exact)
    assert "spark_divide" not in str(conceded)
    assert [use.concession for use in uses_in(lower(exact, "datafusion", accept=ROUNDING))] == ["decimal_rounding"]


def test_a_shared_part_and_subqueries(numbers: DataFrame) -> None:
    numbers.createOrReplaceTempView("numbers")
    sql = """WITH r AS (SELECT y, avg(x) AS mean FROM numbers GROUP BY y)
             SELECT a.y, a.mean FROM r a JOIN r b ON a.y = b.y WHERE a.mean > (SELECT max(mean) / 3 FROM r)"""
    for stage in ("optimized", "analyzed"):
        plan = df_to_substrait(numbers.sparkSession.sql(sql), stage=stage, accept=ROUNDING)
        assert not beyond_specification(plan)


# ---- how it is asked for


def test_dialect_files(numbers: DataFrame, tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text("metadata: {extends: datafusion, accept: [decimal_rounding]}", "utf-8")
    df = numbers.selectExpr("x / nonzero AS v")
    assert df_to_substrait(df, dialect=file) == df_to_substrait(df, dialect="datafusion", accept=ROUNDING)
    assert load(file).accepted == frozenset(ROUNDING)
    file.write_text("metadata: {accept: [decimal_roundings]}", "utf-8")
    with pytest.raises(DialectError, match="'decimal_roundings', which is no concession; is decimal_rounding meant"):
        load(file)


def test_what_a_dialect_lists_needs_no_concession(numbers: DataFrame, tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text(
        "dependencies: {spark: 'extension:io.github.substrait-spark:functions_spark'}\n"
        "supported_scalar_functions: [{source: spark, name: spark_divide, supported_impls: [dec_dec_dec]}]",
        "utf-8",
    )
    plan = df_to_substrait(numbers.selectExpr("x / y AS v"), dialect=file, accept=ROUNDING)
    assert not uses_in(plan)


@pytest.mark.parametrize("wrong", ["decimal_rounding", {"rounding"}, [3], None])
def test_what_is_no_concession(numbers: DataFrame, wrong: Any) -> None:
    with pytest.raises(ValueError, match="accept"):
        df_to_substrait(numbers, accept=wrong)


def test_it_helps_where_the_dialect_has_no_exact_form(numbers: DataFrame, tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text(
        "dependencies: {decimal: 'extension:io.substrait:functions_arithmetic_decimal'}\n"
        "supported_scalar_functions: [{source: decimal, name: divide, supported_impls: [dec_dec]}]",
        "utf-8",
    )
    df = numbers.selectExpr("x / 3BD AS v")
    with pytest.raises(UnsupportedPlanError, match="spark_divide"):
        df_to_substrait(df, dialect=file)
    assert df_to_substrait(df, dialect=file, accept=ROUNDING)


def test_two_sentences_for_each() -> None:
    assert set(CONCESSIONS) == BOTH
    assert all(each.endswith(".") for concession in CONCESSIONS.values() for each in concession)


# ---- how far it goes


def own_functions(queries: Any, spark: SparkSession, accept: set[str]) -> dict[int, tuple[str, ...]]:
    plans = {number: df_to_substrait(spark.sql(text), accept=accept) for number, text in queries.items()}
    return {number: needs for number, plan in plans.items() if (needs := beyond_specification(plan))}


@pytest.mark.slow
def test_all_of_tpch_in_standard_functions(spark: SparkSession, tpch: Path) -> None:
    assert not own_functions(tpc_data.queries(tpch), spark, ROUNDING)


@pytest.mark.slow
def test_all_but_one_of_tpcds_in_standard_functions(spark: SparkSession, tpcds: Path) -> None:
    needs = own_functions(tpc_data.queries(tpcds), spark, ROUNDING)
    assert needs == {72: ("date_add of extension:io.github.substrait-spark:functions_spark",)}
