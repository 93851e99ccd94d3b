"""All 99 TPC-DS queries: Spark's rows from the plan in DataFusion, a well-formed canonical plan, and what other engines make of them."""

from __future__ import annotations

from pathlib import Path

import pytest
import slow
import tpc_data
from pyspark.sql import SparkSession
from query_outcomes import TRIED, lacking, recorded
from rows import assert_same_rows, canonical_rows, differences, plan_of, spark_table

from substrait_spark import PlanningError

EMPTY = {
    0.01: {3, 4, 8, 10, 11, 19, 23, 24, 25, 30, 31, 37, 39, 41, 44, 49, 54, 58, 64, 65, 73, 74, 82, 83, 85, 91, 93}
}
"""By scale factor, the queries that select nothing: on so little data, all that can be seen is that their plans run."""


UNPLANNED = {14}
"""As they are written, queries whose plans DataFusion's own optimizer fails at: it loses the name of a literal in a union."""


@pytest.mark.parametrize("number", range(1, 100))
def test_rows(spark: SparkSession, tpcds: Path, pytestconfig: pytest.Config, number: int) -> None:
    df = spark.sql(tpc_data.queries(tpcds)[number])
    empty = EMPTY.get(pytestconfig.getoption("--scale-factor"))
    stages = ["optimized", "analyzed"] if slow.asked() and number not in UNPLANNED else ["optimized"]
    same = assert_same_rows(
        df,
        tolerance=1e-9,
        empty=None if empty is None else number in empty,
        canonical=slow.asked() or number % 5 == 0,  # Spark takes as long for it as for the query
        stages=stages,
    )
    plan_of(df)
    for engine in TRIED if slow.asked() else ():
        refused = recorded()[engine]["tpcds"].get(str(number), [])
        assert lacking(df, engine, same.rows) == refused, f"{engine}: run make queries"


@pytest.mark.slow
@pytest.mark.parametrize("number", UNPLANNED)
def test_what_the_engine_does_not_plan(spark: SparkSession, tpcds: Path, number: int) -> None:
    df = spark.sql(tpc_data.queries(tpcds)[number])
    with pytest.raises(PlanningError, match="optimize_unions"):
        assert_same_rows(df, stages=["analyzed"])
    assert not differences(spark_table(df), canonical_rows(df, "analyzed"), tolerance=1e-9)
