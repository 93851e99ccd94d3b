"""What a user writes, with types: mypy and pyright are to take it as it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from substrait.plan_pb2 import Plan

from substrait_spark import Report, UnsupportedPlanError, capture, check, df_to_substrait, diff, explain, lower
from substrait_spark.dialects import Dialect, load
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine


def export(df: DataFrame, target: Path) -> Plan | None:
    report: Report = check(df, dialect="datafusion")
    if not report:
        for problem in report:
            sys.stderr.write(f"{problem.path}: {problem.reason}; {problem.hint}")
        return None
    plan: Plan = df_to_substrait(df, dialect="datafusion", reads="files", list_files=None)
    target.write_bytes(plan.SerializeToString())
    return plan


def rows(spark: SparkSession, plan: Plan) -> pa.Table:
    dialect: Dialect = load("datafusion")
    lowered = lower(plan, dialect)
    sys.stderr.write(explain(lowered) + diff(plan, lowered))
    again: DataFrame = spark_engine.execute(plan, spark, files_under=[Path("/data")])
    assert again.columns
    return datafusion.execute(lowered, tables={"t": pa.table({"a": [1]})})


def job(spark: SparkSession) -> list[str]:
    with capture(spark) as queries:
        spark.range(3).collect()
    try:
        df_to_substrait(spark.range(3))
    except UnsupportedPlanError as error:
        return [problem.sql for problem in error.problems]
    return [query.action for query in queries]
