"""TPC-H: every query's rows from DataFusion on our plan, and from Spark on the canonical one, are Spark's."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
import tpc_data
from pyspark.sql import SparkSession
from rows import assert_same_rows, differences, plan_of

from substrait_spark import lower
from substrait_spark.engines import datafusion
from substrait_spark.engines.measuring.tpch import plans

KEPT = dict(plans())

UNORDERED = {6, 14, 17, 19}
"""The queries that return one row, without an ORDER BY."""


@pytest.mark.smoke
@pytest.mark.parametrize("number", range(1, 23))
def test_rows(spark: SparkSession, tpch: Path, number: int) -> None:
    query = tpc_data.queries(tpch)[number]
    same = assert_same_rows(spark.sql(query), ordered=number not in UNORDERED)
    plan = plan_of(spark.sql(query))
    assert plan.SerializeToString() == plan_of(spark.sql(query)).SerializeToString()
    # The message says all that lowering needs to know: plans that were kept can be lowered later.
    assert not differences(same.rows, datafusion.execute(lower(plan, "datafusion")))
    # So does the plan that is kept to tell what engines lack of TPC-H.
    tables = {file.stem: pq.read_table(file) for file in tpch.glob("*.parquet")}
    assert not differences(same.rows, datafusion.execute(lower(KEPT[number], "datafusion"), tables=tables))
