"""Collated strings, which Spark has from 4.0 on, as a user-defined type of ours. No engine but Spark has it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from releases import since
from rows import assert_canonical_rows, plan_of
from substrait.algebra_pb2 import ReadRel

from substrait_spark import check, explain

pytestmark = since("4.0", "collations")

COLUMNS = (
    "c STRING COLLATE UTF8_LCASE, u STRING COLLATE UNICODE_CI, s STRING, i INT, a ARRAY<STRING COLLATE UTF8_LCASE>"
)
ROWS = """
('a', 'é', 'a', 1, array('x', 'X')), ('A', 'É', 'A', 2, array('b')), ('b', 'e', 'b', 3, NULL), (NULL, NULL, NULL, 4, array()),
('aB ', 'f', 'Ab', 5, array(NULL))
"""


@pytest.fixture(scope="module")
def collated(spark: SparkSession) -> Iterator[SparkSession]:
    """A session with the table `v`."""
    spark.sql(f"CREATE TABLE v ({COLUMNS}) USING parquet")
    spark.sql(f"INSERT INTO v VALUES {ROWS}")
    yield spark
    spark.sql("DROP TABLE v")


@pytest.mark.parametrize(
    "expressions",
    [
        "*",
        "c = 'A', c = collate(s, 'UTF8_LCASE'), c < 'B', c <=> c, c IN ('a', 'B'), u = 'E', greatest(c, 'B'), c IS NULL",
        "collate(s, 'UTF8_LCASE'), collate(c, 'UTF8_BINARY'), collate(c, 'UNICODE'), 'abc' COLLATE UTF8_LCASE, collation(c)",
        "collate(c, 'UTF8_BINARY') = 'A', upper(collate(c, 'UTF8_BINARY')), typeof(c)",
        "length(c), octet_length(c), c || 'x', substring(c, 1, 1), reverse(c), repeat(c, 2), lpad(c, 4, 'x'), concat(c, c) = 'AA'",
        "CAST(i AS STRING COLLATE UNICODE), CAST(c AS BINARY), TRY_CAST(c AS INT), CAST(u AS STRING)",
        "CAST(a AS ARRAY<STRING>), CAST(array(s) AS ARRAY<STRING COLLATE UNICODE>)",
        "struct(c), map(1, c), array(c), get(a, 0), try_element_at(a, 1), array_contains(a, 'B'), array_distinct(a), array_position(a, 'X')",
        "coalesce(c, 'z'), if(i = 1, c, 'q'), nullif(c, 'A'), CASE WHEN c = 'A' THEN 'x' COLLATE UNICODE END",
        "row_number() OVER (PARTITION BY c ORDER BY i), rank() OVER (ORDER BY c), lag(c) OVER (ORDER BY i)",
        "explode(a)",
        "explode(array(c, collate(s, 'UTF8_LCASE')))",
    ],
)
def test_expressions(collated: SparkSession, expressions: str) -> None:
    assert_canonical_rows(collated.sql(f"SELECT {expressions} FROM v"))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT upper(c COLLATE UTF8_BINARY) IN ('A'), count(*) FROM v GROUP BY c, 1",
        "SELECT lower(CAST(c AS STRING)), n FROM (SELECT c, count(*) AS n FROM v GROUP BY c)",
        "SELECT count(DISTINCT c), count(c), max(i) FROM v",
        "SELECT max(c), min(c), max_by(i, c) FROM v WHERE c > 'A'",
        "SELECT collect_list(c) FROM v WHERE i = 1",
        "SELECT sum(i) FROM v GROUP BY ROLLUP(c)",
        "SELECT a.i, b.i AS j FROM v a JOIN v b ON a.c = b.c",
        "SELECT a.i, b.i AS j FROM v a LEFT JOIN v b ON a.c = b.s COLLATE UTF8_LCASE AND a.i <> b.i",
        "SELECT i FROM v ORDER BY c, i",
        "SELECT length(c) FROM (SELECT c FROM v UNION SELECT s COLLATE UTF8_LCASE FROM v)",
        "SELECT length(c) FROM (SELECT c FROM v INTERSECT SELECT 'B' COLLATE UTF8_LCASE)",
        "SELECT length(c) FROM (SELECT c FROM v EXCEPT SELECT 'B' COLLATE UTF8_LCASE)",
        "SELECT i FROM v WHERE c IN (SELECT s COLLATE UTF8_LCASE FROM v WHERE i = 2)",
        "SELECT i FROM v WHERE EXISTS (SELECT 1 FROM v w WHERE w.c = v.c AND w.i <> v.i)",
        "SELECT i FROM v WHERE c = 'A'",
    ],
)
def test_strings_compare_by_their_collation(collated: SparkSession, query: str) -> None:
    assert_canonical_rows(collated.sql(query))
    assert_canonical_rows(collated.sql(query), "analyzed")


@pytest.mark.parametrize(
    "expression",
    [
        "upper(c)", "contains(c, 'A')", "c LIKE 'A%'", "hash(c)", "replace(c, 'A', 'x')", "trim(c)", "instr(c, 'B')",
        "split(c, 'B')", "concat_ws(',', c)", "map(c, 1)", "listagg(c)", "mode(c)", "approx_count_distinct(c)",
        "array_sort(a)", "initcap(c)", "c RLIKE 'A'", "translate(c, 'A', 'x')", "array_join(a, ',')", "levenshtein(c, 'a')",
    ],
)  # fmt: skip
def test_functions_that_look_at_the_collation_are_refused(collated: SparkSession, expression: str) -> None:
    report = check(collated.sql(f"SELECT {expression} FROM v"))
    assert not report
    assert all("collat" in problem.reason.lower() for problem in report)
    assert all("UTF8_BINARY" in problem.hint for problem in report)


def test_the_collation_is_a_parameter_of_the_type(collated: SparkSession) -> None:
    plan = plan_of(collated.sql("SELECT c, u FROM v"))
    (declared,) = [entry.extension_type for entry in plan.extensions if entry.HasField("extension_type")]
    assert declared.name == "collated_string"
    read = plan.relations[0].root.input
    assert isinstance(read.read, ReadRel)
    found = [
        type.user_defined.type_parameters[0].string
        for type in read.read.base_schema.struct.types
        if type.HasField("user_defined")
    ]
    assert found == ["UTF8_LCASE", "UNICODE_CI"]
    assert "u!collated_string?<'UNICODE_CI'>" in explain(plan)


def test_several_types_of_ours(collated: SparkSession) -> None:
    query = "SELECT try_parse_json(s) AS p, s COLLATE UNICODE AS c FROM v"
    first = plan_of(collated.sql(query))
    assert first == plan_of(collated.sql(query))
    declared = [entry.extension_type for entry in first.extensions if entry.HasField("extension_type")]
    assert [(entry.type_anchor, entry.name) for entry in declared] == [(1, "variant"), (2, "collated_string")]
    assert_canonical_rows(collated.sql(query))


def test_other_engines_refuse_it_by_name(collated: SparkSession) -> None:
    assert "no type u!collated_string" in str(check(collated.table("v").select("c"), dialect="datafusion"))
    assert "collate" in str(check(collated.sql("SELECT i FROM v WHERE s COLLATE UNICODE = 'a'"), dialect="datafusion"))
