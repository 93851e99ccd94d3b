"""Rows that tie: Spark keeps to the order below where it can, and so do plans."""

from __future__ import annotations

import random

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rows import assert_same_rows

from substrait_spark import check

SO_FAR = "(ORDER BY g ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"

RESULTS = {
    "row_number": "row_number() OVER (ORDER BY 1)",
    "row_number in partitions": "row_number() OVER (PARTITION BY g ORDER BY g)",
    "row_number among ties": "row_number() OVER (ORDER BY g)",
    "lag": "lag(v) OVER (ORDER BY 1)",
    "lead": "lead(id, 2) OVER (ORDER BY g)",
    "ntile": "ntile(3) OVER (ORDER BY 1)",
    "nth_value": "nth_value(id, 2) OVER (PARTITION BY g ORDER BY g ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
    "first": "first(v) OVER (PARTITION BY g)",
    "last": "last(v) OVER (PARTITION BY g)",
    "last that is known": "last(v) IGNORE NULLS OVER (PARTITION BY g)",
    "last known so far": f"last(v) IGNORE NULLS OVER {SO_FAR}",
    "list": "collect_list(id) OVER (PARTITION BY g)",
    "sum so far": f"sum(id) OVER {SO_FAR}",
    "neighbours": "sum(id) OVER (ORDER BY g ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "rank beside row_number": "rank() OVER (ORDER BY g) * 1000 + row_number() OVER (ORDER BY g)",
    "by range": "sum(id) OVER (ORDER BY g)",
}


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    values = random.Random(5)
    data = [(n, values.choice("abcd"), values.choice([None, 1, 2, 3])) for n in range(300)]
    return spark.createDataFrame(data, "id int, g string, v int")


@pytest.mark.parametrize("name", RESULTS)
def test_windows_above_a_sort(rows: DataFrame, name: str) -> None:
    ordered = rows.orderBy(F.desc("v"), "id")
    assert_same_rows(ordered.withColumn("x", F.expr(RESULTS[name])))
    assert_same_rows(ordered.where("id > 7").coalesce(1).withColumn("x", F.expr(RESULTS[name])))


def test_windows_above_windows_and_limits(rows: DataFrame) -> None:
    ordered = rows.orderBy(F.desc("v"), "id")
    assert_same_rows(ordered.select("*", *[F.expr(result).alias(name) for name, result in RESULTS.items()]))
    assert_same_rows(ordered.limit(20).withColumn("x", F.expr(RESULTS["row_number"])))


def test_windows_in_an_order_of_null(spark: SparkSession, rows: DataFrame) -> None:
    rows.createOrReplaceTempView("tied_rows")
    windows = "row_number() OVER (ORDER BY (SELECT NULL)) AS n, rank() OVER (PARTITION BY g ORDER BY NULL) AS r"
    assert_same_rows(spark.sql(f"SELECT *, {windows} FROM (SELECT * FROM tied_rows ORDER BY v, id)"))


def test_row_numbers_by_columns_that_are_gone(rows: DataFrame) -> None:
    (problem,) = check(rows.orderBy("id").select("g").withColumn("n", F.expr(RESULTS["row_number"])))
    assert problem.reason == "it numbers rows in the order of a sort below, whose keys are not at hand"


def test_lists_above_a_window_are_in_its_order(rows: DataFrame) -> None:
    numbered = rows.withColumn("n", F.expr("row_number() OVER (PARTITION BY g ORDER BY v DESC, id)"))
    lists = [F.collect_list("id"), F.first("id"), F.last("id")]
    assert_same_rows(numbered.groupBy("g").agg(*lists))
    assert_same_rows(numbered.where("n < 9").groupBy("g").agg(*lists))


def test_distinct_lists_beside_other_orders(spark: SparkSession, rows: DataFrame) -> None:
    rows.createOrReplaceTempView("tied_rows")
    listed = "listagg(DISTINCT g, ',') WITHIN GROUP (ORDER BY g {order})"
    both = f"SELECT listagg(g, ',') WITHIN GROUP (ORDER BY g), {listed} FROM tied_rows"
    assert_same_rows(spark.sql(both.format(order="")))
    beside_last = f"SELECT {listed}, last(id) FROM (SELECT * FROM tied_rows ORDER BY v, id)"
    for query in (both.format(order="DESC"), beside_last.format(order="")):
        assert "in one order only" in str(check(spark.sql(query), dialect="datafusion"))
