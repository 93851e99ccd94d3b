"""VARIANT, which Spark has from 4.0 on, as a user-defined type of ours. No engine but Spark has it."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from releases import later, since
from rows import assert_canonical_outcome, plan_of

from substrait_spark import check, explain
from substrait_spark.algebra.types import USER_DEFINED
from substrait_spark.extensions import registry

pytestmark = since("4.0", "VARIANT")

ROWS = """
SELECT * FROM VALUES
  ('{"a": 1, "b": [1, 2, {"c": null}], "d": "x", "t": "2020-01-01 10:00:00"}', 1), ('null', 2), (NULL, 3), ('5.50', 4),
  ('[1, 2]', 5), ('true', 6), ('{"a": "q", "A": 3}', 7)
AS (s, i)
"""


@pytest.fixture(scope="module")
def variants(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A session with the view `v` of variants that are made of a file's texts, and `f` of a file of variants."""
    folder = tmp_path_factory.mktemp("variants")
    spark.sql(ROWS).write.parquet(str(folder / "texts"))
    spark.read.parquet(str(folder / "texts")).createOrReplaceTempView("texts")
    spark.sql("SELECT s, i, parse_json(s) AS v FROM texts").createOrReplaceTempView("v")
    spark.table("v").write.parquet(str(folder / "variants"))
    spark.read.parquet(str(folder / "variants")).createOrReplaceTempView("f")
    return spark


@pytest.mark.parametrize(
    "expressions",
    [
        later(
            "4.2",
            "parse_json(s), try_parse_json(concat(s, 'x')), is_valid_variant(v), is_variant_null(v), schema_of_variant(v), v IS NULL",
        ),
        "parse_json(concat(s, 'x'))",
        "variant_get(v, '$.b'), try_variant_get(v, '$.a', 'int'), try_variant_get(v, '$.t', 'timestamp'), try_variant_get(v, s, 'int')",
        "variant_get(v, '$.a', 'int')",
        later("4.1", "variant_get(v, '$.d', 'string'), v:b[0], try_variant_get(v, '$', 'struct<a int, d string>')"),
        "to_variant_object(named_struct('a', i, 'b', array(i))), to_variant_object(map('k', named_struct('a', i)))",
        "CAST(i AS VARIANT), CAST(s AS VARIANT), CAST(CAST(i AS DECIMAL(5, 2)) AS VARIANT), CAST(array(i, NULL) AS VARIANT)",
        "TRY_CAST(v AS STRING), TRY_CAST(v AS INT), TRY_CAST(v AS BOOLEAN), TRY_CAST(v AS ARRAY<INT>), to_json(v)",
        "CAST(v AS INT)",
        "CAST(CAST(timestamp'2020-01-01 10:00:00' AS VARIANT) AS STRING), CAST(CAST(i AS VARIANT) AS BIGINT)",
        "parse_json('{\"a\": [1, null]}'), coalesce(v, parse_json('1')), if(i = 1, v, NULL), from_json(s, 'variant')",
        "struct(v, i), map(i, v), array(v)[0], lag(v) OVER (ORDER BY i)",
        "explode(array(v))",
    ],
)
@pytest.mark.usefixtures("in_mode")
def test_expressions(variants: SparkSession, expressions: str) -> None:
    assert_canonical_outcome(variants.sql(f"SELECT {expressions} FROM v"))


@pytest.mark.parametrize(
    "expressions",
    [
        "variant_insert(v, '$.z', i), variant_insert(v, '$.z.y', s)",
        "try_variant_insert(v, '$.a', i), try_variant_insert(v, '$.b[1]', array(i, NULL)), try_variant_insert(v, '$[7]', v)",
        "try_variant_insert(v, '$.y', NULL), try_variant_insert(v, '$.y', timestamp'2020-01-01 10:00:00'), try_variant_insert(v, NULL, 1)",
        "try_variant_insert(v, concat('$.', s), i)",
        "variant_set(v, '$.a', 1.50BD)",
        "try_variant_set(v, '$.a', i), try_variant_set(v, '$.a.x', i), try_variant_set(v, '$.z', 'q', false), try_variant_set(v, '$[0]', d, true)",
        "try_variant_set(v, '$', 1)",
        "variant_array_append(v, '$.b', i), variant_array_append(v, '$.b[2]', i)",
        "try_variant_array_append(v, '$', v), try_variant_array_append(v, '$.b', X'01'), try_variant_array_append(v, '$.b[0]', f)",
        "variant_delete(v, '$.a'), variant_delete(v, '$.b[0]', NULL, '$.b[0]'), variant_delete(v, IF(i < 3, '$.a', NULL))",
        "variant_delete(v, s)",
        "variant_strip_nulls(v), variant_strip_nulls(v, false), variant_strip_nulls(parse_json('[1, null, {\"a\": null}]'), false)",
    ],
)
def test_changed_variants(in_mode: SparkSession, expressions: str) -> None:
    if in_mode.version < "4.3":
        pytest.skip("Spark changes variants from 4.3 on")
    columns = "s, i, v, DATE'2020-01-01' + i AS d, CAST(i / 3 AS FLOAT) AS f"
    assert_canonical_outcome(in_mode.sql(f"SELECT {expressions} FROM (SELECT {columns} FROM v)"))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT i, t.* FROM v, LATERAL variant_explode(v) AS t",
        later("4.1", "SELECT i, t.pos, t.key, t.value:c FROM v, LATERAL variant_explode(v:b) AS t"),
        later("4.1", "SELECT i, t.* FROM v, LATERAL variant_explode_outer(v:d) AS t"),
        "SELECT t.value, u.key FROM v, LATERAL variant_explode(v) AS t, LATERAL variant_explode_outer(t.value) AS u",
        'SELECT * FROM variant_explode(parse_json(\'{"b": [1, null], "a": null, "B": {}}\'))',
        "SELECT first(v), count(v), max_by(v, i), schema_of_variant_agg(v) FROM v WHERE i = 1",
        "SELECT i, schema_of_variant_agg(v) FROM v GROUP BY i",
        "SELECT a.v FROM v a LEFT JOIN v b ON a.i = b.i + 1",
        "SELECT v FROM v UNION ALL SELECT parse_json('2')",
        "SELECT v FROM v ORDER BY i LIMIT 3",
        "SELECT v, struct(v, 1), map('k', v) FROM VALUES (parse_json('[1]')), (NULL) AS t(v)",
        later("4.1", "SELECT x.v:a::string FROM (SELECT struct(v) AS x FROM v WHERE i IN (1, 7))"),
    ],
)
def test_queries(variants: SparkSession, query: str) -> None:
    assert_canonical_outcome(variants.sql(query))
    assert_canonical_outcome(variants.sql(query), "analyzed")


def test_files_hold_whole_variants(variants: SparkSession) -> None:
    """Spark's optimizer has a scan give structs of the fields that a query uses, which no file holds."""
    df = variants.sql("SELECT v, i FROM f")
    assert_canonical_outcome(df, "analyzed")
    variants.conf.set("spark.sql.variant.pushVariantIntoScan", "true")
    pushed = check(variants.sql("SELECT variant_get(v, '$.a', 'int') FROM f WHERE i = 1"))
    variants.conf.set("spark.sql.variant.pushVariantIntoScan", "false")
    whole = check(variants.sql("SELECT variant_get(v, '$.a', 'int') FROM f WHERE i = 1"))
    variants.conf.unset("spark.sql.variant.pushVariantIntoScan")
    assert whole
    assert pushed or "pushVariantIntoScan" in pushed.problems[0].hint


def test_the_type_is_declared(variants: SparkSession) -> None:
    plan = plan_of(variants.sql("SELECT v, array(v) AS a FROM v"))
    (declared,) = [entry.extension_type for entry in plan.extensions if entry.HasField("extension_type")]
    assert declared.name == "variant"
    assert "v: u!variant?, a: list<u!variant?>" in explain(plan)


def test_every_type_of_ours_is_in_the_extension_file() -> None:
    assert tuple(entry["name"] for entry in registry.load("spark")["types"]) == USER_DEFINED


def test_other_engines_refuse_it_by_name(variants: SparkSession) -> None:
    variants.conf.set("spark.sql.variant.pushVariantIntoScan", "false")
    report = str(check(variants.table("f"), dialect="datafusion"))
    variants.conf.unset("spark.sql.variant.pushVariantIntoScan")
    assert "no type u!variant" in report
