"""Collated strings, which Spark has from 4.0 on, as a user-defined type of ours. No engine but Spark has it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession
from releases import later, since
from rows import assert_canonical_rows, plan_of
from substrait.algebra_pb2 import ReadRel

from substrait_spark import check, explain

pytestmark = since("4.0", "collations")

COLUMNS = (
    "c STRING COLLATE UTF8_LCASE, u STRING COLLATE UNICODE_CI, s STRING, i INT, a ARRAY<STRING COLLATE UTF8_LCASE>"
)
ROWS = """
('a', 'é', 'a', 1, array('x', 'X')), ('A', 'É', 'A', 2, array('b')), ('b', 'e', 'b', 3, NULL), (NULL, NULL, NULL, 4, array()),
('aB ', 'f', 'Ab', 5, array(NULL)), ('a,B,b%', 'É e', 'Ab', 6, array('b', 'a', 'B', NULL)), ('x', 'Q', 'X', 7, array()),
('X', '', '', 8, array(''))
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
        later(
            "4.2", "coalesce(c, 'z'), if(i = 1, c, 'q'), nullif(c, 'A'), CASE WHEN c = 'A' THEN 'x' COLLATE UNICODE END"
        ),
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
        # new texts: interpreted, Spark's min keeps none of its own of a file's
        "SELECT max(c || ''), min(c || ''), max_by(i, c || '') FROM v WHERE c > 'A' AND c < 'x'",
        "SELECT length(mode(c)) FROM v WHERE i < 3",
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
        "SELECT c = 'A', a FROM VALUES ('a' COLLATE UTF8_LCASE, array('b' COLLATE UNICODE)), (NULL, NULL) AS t(c, a)",
        "SELECT i FROM v WHERE c IN ('a', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm')",
    ],
)
def test_strings_compare_by_their_collation(collated: SparkSession, query: str) -> None:
    assert_canonical_rows(collated.sql(query))
    assert_canonical_rows(collated.sql(query), "analyzed")


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(
    "expressions",
    [
        "upper(c), lower(u), initcap(u), upper(s COLLATE tr), lower('İ' COLLATE tr), upper('ß' COLLATE UTF8_LCASE)",
        "contains(c, 'A'), startswith(c, 'A'), endswith(u, 'E'), contains(u, 'É'), c LIKE 'A%', c LIKE '%\\\\%b', c ILIKE s",
        "c RLIKE 'A', s RLIKE c, c RLIKE u, s LIKE c, c LIKE s",
        "instr(c, 'B'), instr(u, 'e'), locate('B', c, 2), locate('B', c, CAST(NULL AS INT)), find_in_set('B', c), find_in_set(u, 'E,é')",
        "replace(c, 'A', 'x'), replace(c, '', 'x'), translate(u, 'é', 'x'), overlay(c PLACING 'x' FROM 1)",
        "trim(c), ltrim(c), rtrim(c), btrim(c, 'A'), trim(LEADING 'A' FROM c), rtrim('e', u), trim(BOTH c FROM c)",
        later(
            "4.1",
            "substring_index(c, 'B', 1), substring_index(u, 'É', -1), split(c, 'B'), split(s, c), split(c, s), split(c, ',', 2)",
        ),
        "split_part(c, ',', 2), split_part(c, 'B', -1), split_part(u, 'É', 2)",
        "regexp_replace(c, 'a', 'Q', 2), regexp_extract(c, '(A)', 1), regexp_extract_all(c, 'A', 0), regexp_count(c, 'A')",
        "regexp_instr(c, 'A'), regexp_substr(c, 'A'), regexp_extract(c, s, 0)",
        "concat_ws(',', c), concat_ws(',', a), array_join(a, 'é', 'N'), format_string('%s', c), levenshtein(c, 'a'), soundex(c), mask(c)",
        later(
            "4.1",
            "hex(c), base64(c), unhex(c), encode(c, 'UTF-8'), quote(c), get_json_object(c, '$.a'), from_json(c, 'a int'), url_encode(c)",
        ),
        "array_sort(a), sort_array(a, false), array_union(a, a), array_except(a, array('B')), array_intersect(a, array('B'))",
        "arrays_overlap(a, array('X')), array_remove(a, 'B'), array_max(a), array_min(a), array_compact(a), array_append(a, c)",
        "flatten(array(a)), slice(a, 1, 1), concat(a, a), reverse(a), array_repeat(c, 2), elt(1, c, c)",
        "transform(a, x -> upper(x)), filter(a, x -> x = 'B'), exists(a, x -> x = 'B'), zip_with(a, a, (x, y) -> x = y)",
        "aggregate(a, CAST('' AS STRING COLLATE UTF8_LCASE), (x, y) -> coalesce(y, x))",
        "map_values(map('a', c)), map_filter(map('a', c), (k, v) -> v = 'A'), map_entries(map('a', c)), map_concat(map('a', c), map('b', c))",
    ],
)
def test_functions_of_collated_strings(collated: SparkSession, expressions: str, ansi: str) -> None:
    collated.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        assert_canonical_rows(collated.sql(f"SELECT {expressions} FROM v"))
    finally:
        collated.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.parametrize(
    "expression",
    [
        "hash(c)", "xxhash64(c)", "map(c, 1)", "listagg(c)", "approx_count_distinct(c)", "str_to_map(c)", "to_json(struct(c))",
        "sentences(c)",
    ],
)  # fmt: skip
def test_functions_that_look_at_the_collation_otherwise_are_refused(collated: SparkSession, expression: str) -> None:
    report = check(collated.sql(f"SELECT {expression} FROM v"))
    assert not report
    assert all("collat" in problem.reason.lower() for problem in report)
    assert all("UTF8_BINARY" in problem.hint for problem in report)


@pytest.mark.parametrize("expression", ["levenshtein(c, u)", "concat_ws(',', c, u)", "elt(1, c, u)"])
def test_strings_of_several_collations_are_refused(collated: SparkSession, expression: str) -> None:
    report = check(collated.sql(f"SELECT {expression} FROM v"))
    assert "several collations meet" in str(report)


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
