"""Approximate counts: the numbers that Spark's sketches tell, from few values to many."""

from __future__ import annotations

import pytest
import slow
from pyspark.sql import SparkSession
from rows import assert_same_rows


@pytest.mark.parametrize(
    "deviation", slow.some(["", ", 0.2", ", 0.03", ", 0.01"], lambda deviation: deviation > ", 0.01")
)
@pytest.mark.parametrize("number", slow.some([1, 50, 450, 1500, 5000, 30000], lambda number: number in (50, 450, 5000)))
def test_approx_count_distinct(spark: SparkSession, number: int, deviation: str) -> None:
    """By empty registers, by raw estimates that are too great, and by great ones."""
    columns = [f"approx_count_distinct({value}{deviation}) AS {name}" for name, value in VALUES.items()]
    assert_same_rows(spark.range(number).selectExpr(*columns))


VALUES = {"numbers": "id", "texts": "cast(id AS string)", "fractions": "id / 7"}


def test_of_groups(spark: SparkSession) -> None:
    rows = spark.range(20000).selectExpr("id % 3 AS k", "nullif(id % 5000, 3) AS v")
    count = "approx_count_distinct(v) AS c", "approx_count_distinct(v) FILTER (WHERE v % 2 = 0) AS f", "count(v) AS n"
    assert_same_rows(rows.selectExpr(*count))
    rows.createOrReplaceTempView("counted")
    assert_same_rows(spark.sql(f"SELECT k, {', '.join(count)} FROM counted GROUP BY ROLLUP(k)"))
    assert_same_rows(spark.sql(f"SELECT k, {', '.join(count)} FROM counted WHERE v IS NULL GROUP BY k"))
