"""The built-in functions that no plan can have say why."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from releases import since

from substrait_spark import check


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT input_file_name() FROM range(3)", "what Spark is reading"),
        ("SELECT input_file_block_start(), input_file_block_length() FROM range(3)", "what Spark is reading"),
        ("SELECT spark_partition_id() FROM range(3)", "a plan has no partitions"),
        ("SELECT java_method('java.lang.Math', 'abs', CAST(id AS INT)) FROM range(3)", "a method of a Java class"),
        pytest.param(
            "SELECT * FROM collations()", "the collations of the Spark that runs it", marks=since("4.0", "the function")
        ),
        ("SELECT * FROM sql_keywords()", "the keywords of the Spark that runs it"),
    ],
)
def test_says_why(spark: SparkSession, query: str, why: str) -> None:
    report = check(spark.sql(query))
    assert not report
    assert why in str(report)
    assert all(problem.hint for problem in report.problems)


@since("4.1", "reading parts of a VARIANT")
@pytest.mark.parametrize("query", ["variant_get(v, '$.a', 'int')", "count(*)"])
def test_variants_in_files(spark: SparkSession, tmp_path: Path, query: str) -> None:
    """Spark's optimizer has the scan give structs of what a query uses, which the files don't hold."""
    spark.sql("SELECT parse_json('{\"a\": 1}') AS v").write.parquet(str(tmp_path / "variants"))
    df = spark.read.parquet(str(tmp_path / "variants")).where("v IS NOT NULL").selectExpr(query)
    assert "fields of a VARIANT" in str(check(df))


def test_every_function_of_a_user_is_told_with_its_column(spark: SparkSession) -> None:
    more, twice = (F.udf(function, "bigint") for function in (lambda n: n + 1, lambda n: n * 2))
    df = spark.range(3).select(more("id").alias("a"), twice(more("id")).alias("b"), (more("id") + 1).alias("c"))
    told = [(problem.sql, problem.reason.partition("only")[2]) for problem in check(df)]
    assert told == [
        ("<lambda>(id)", "; it takes (i64?) and returns i64?, and makes the columns a, c, b"),
        ("<lambda>(<lambda>(id))", "; it takes (i64?) and returns i64?, and makes the column b"),
    ]


def test_functions_of_sparks_own_are_told_by_what_made_them(spark: SparkSession) -> None:
    (problem,) = check(spark.range(3).sampleBy("id", {0: 0.5}, seed=1))
    assert "function of sampleBy runs in Spark only" in problem.reason
