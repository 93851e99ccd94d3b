"""The plans of the jobs: each is compared with the one that was reviewed, and so is all that runs at night."""

from __future__ import annotations

from typing import Any

from jobs import nightly
from jobs.customers import best_customers, lost_customers
from jobs.revenue import daily_revenue
from pyspark.sql import SparkSession

from substrait_spark import capture


def test_daily_revenue(spark: SparkSession, plan_snapshot: Any) -> None:
    assert daily_revenue(spark) == plan_snapshot


def test_best_customers(spark: SparkSession, plan_snapshot: Any) -> None:
    assert best_customers(spark, 10) == plan_snapshot


def test_lost_customers(spark: SparkSession, plan_snapshot: Any) -> None:
    assert lost_customers(spark) == plan_snapshot


def test_nightly(spark: SparkSession, plan_snapshot: Any) -> None:
    with capture(spark) as queries:
        nightly.run(spark)
    assert queries == plan_snapshot
