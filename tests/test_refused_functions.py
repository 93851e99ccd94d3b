"""The built-in functions that no plan can have say why."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from substrait_spark import check


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT input_file_name() FROM range(3)", "what Spark is reading"),
        ("SELECT input_file_block_start(), input_file_block_length() FROM range(3)", "what Spark is reading"),
        ("SELECT spark_partition_id() FROM range(3)", "a plan has no partitions"),
        ("SELECT java_method('java.lang.Math', 'abs', CAST(id AS INT)) FROM range(3)", "a method of a Java class"),
        ("SELECT * FROM collations()", "the collations of the Spark that runs it"),
        ("SELECT * FROM sql_keywords()", "the keywords of the Spark that runs it"),
        ("SELECT variant_get(parse_json(string(id)), '$.a', 'int') FROM range(3)", "no type for VARIANT"),
        ("SELECT * FROM range(3), LATERAL variant_explode(parse_json(string(id)))", "no type for VARIANT"),
        ("SELECT schema_of_variant_agg(parse_json(string(id))) FROM range(3)", "no type for VARIANT"),
        ("SELECT st_srid(st_geomfromwkb(CAST(string(id) AS BINARY))) FROM range(3)", "no type for GEOMETRY"),
        ("SELECT st_asbinary(st_geogfromwkb(CAST(string(id) AS BINARY))) FROM range(3)", "no type for GEOGRAPHY"),
        ("SELECT current_time() FROM range(3)", "TIME, a type that Spark keeps switched off"),
        ("SELECT make_interval(CAST(id AS INT)) FROM range(3)", "can only be added to a date or a timestamp"),
        ("SELECT raise_error('none') FROM range(3)", "a NULL that nothing gives a type"),
    ],
)
def test_says_why(spark: SparkSession, query: str, why: str) -> None:
    try:
        df = spark.sql(query)
    except PySparkException as error:  # a release of Spark that has no such function, or has it switched off
        pytest.skip(str(error).partition("\n")[0])
    report = check(df)
    assert not report
    assert why in str(report)
    assert all(problem.hint for problem in report.problems)
