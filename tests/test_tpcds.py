"""All 99 TPC-DS queries: Spark's rows from the plan in DataFusion, a well-formed canonical plan, and what other engines make of them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import slow
import tpc_data
from isthmus_rows import is_same
from pyspark.sql import SparkSession
from query_outcomes import TRIED, lacking, recorded
from rows import assert_same_rows, plan_of

from substrait_spark import SubstraitSparkError
from substrait_spark.engines import isthmus


@pytest.fixture(scope="module")
def with_isthmus() -> bool:
    """Whether Isthmus takes part: slow tests ask for it, and test_isthmus.py is skipped where it can't be had."""
    if not slow.asked():
        return False
    try:
        isthmus.fetch()
    except SubstraitSparkError:
        return False
    return True


@pytest.mark.parametrize("number", range(1, 100))
def test_rows(spark: SparkSession, tpcds: Path, with_isthmus: bool, number: int) -> None:
    df = spark.sql(tpc_data.queries(tpcds)[number])
    same = assert_same_rows(
        df,
        tolerance=1e-9,
        canonical=slow.asked() or number % 5 == 0,  # Spark takes as long for it as for the query
        stages=["optimized", "analyzed"] if slow.asked() else ["optimized"],
    )
    assert _says_something(same.rows), "vacuous: nothing is selected"
    plan_of(df)
    for engine in TRIED if slow.asked() else ():
        refused = recorded()[engine]["tpcds"].get(str(number), [])
        assert lacking(df, engine, same.rows) == refused, f"{engine}: run make queries"
    assert not with_isthmus or is_same(df, same.rows), "isthmus"


def _says_something(rows: pa.Table) -> bool:
    """Whether any value is more than the sum or the count of no row."""
    return any(value not in {None, 0} for column in rows.columns for value in column.to_pylist())
