"""TPC-H: every query's rows from DataFusion on our plan are Spark's."""

from __future__ import annotations

from pathlib import Path

import pytest
import tpc_data
from pyspark.sql import SparkSession
from rows import assert_same_rows, differences, plan_of, spark_table

from substrait_spark import lower
from substrait_spark.engines import datafusion

UNORDERED = {6, 14, 17, 19}
"""The queries that return one row, without an ORDER BY."""


@pytest.mark.smoke
@pytest.mark.parametrize("number", range(1, 23))
def test_rows(spark: SparkSession, tpch: Path, number: int) -> None:
    assert_same_rows(spark.sql(tpc_data.queries(tpch)[number]), ordered=number not in UNORDERED)


@pytest.mark.parametrize("number", range(1, 23))
def test_canonical_plan(spark: SparkSession, tpch: Path, number: int) -> None:
    query = tpc_data.queries(tpch)[number]
    first, second = plan_of(spark.sql(query)), plan_of(spark.sql(query))
    assert first.SerializeToString() == second.SerializeToString()


@pytest.mark.parametrize("number", range(1, 23))
def test_rows_of_the_lowered_message(spark: SparkSession, tpch: Path, number: int) -> None:
    """The message says all that lowering needs to know: plans that were kept can be lowered later."""
    df = spark.sql(tpc_data.queries(tpch)[number])
    lowered = datafusion.execute(lower(plan_of(df), "datafusion"))
    assert not differences(spark_table(df), lowered)
