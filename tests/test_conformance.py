"""Whether plans keep to a dialect: what is told of those that don't, and that ours do."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import text_format
from pyspark.sql import SparkSession
from substrait.plan_pb2 import Plan

from substrait_spark import df_to_substrait
from substrait_spark.dialects.dialect import Dialect
from substrait_spark.dialects.file import load
from substrait_spark.testing import departures

PLAN = """
extension_urns { extension_urn_anchor: 1 urn: "extension:io.substrait:functions_arithmetic" }
extensions { extension_function { extension_urn_reference: 1 function_anchor: 1 name: "add:i32_i32" } }
extensions { extension_function { extension_urn_reference: 1 function_anchor: 2 name: "sum:i32" } }
relations { root { names: "a" input { aggregate {
  input { project {
    input { join {
      type: JOIN_TYPE_LEFT_SINGLE
      left { read { base_schema { names: "a" struct { types { i32 { nullability: NULLABILITY_NULLABLE } } } }
                    named_table { names: "t" } } }
      right { read { base_schema { names: "u" struct { types { uuid { nullability: NULLABILITY_NULLABLE } } } }
                     virtual_table {} } }
    } }
    expressions { scalar_function {
      function_reference: 1
      options { name: "overflow" preference: "ERROR" }
      output_type { i32 { nullability: NULLABILITY_NULLABLE } }
      arguments { value { literal { i32: 1 } } }
      arguments { value { cast {
        type { i32 { nullability: NULLABILITY_NULLABLE } }
        input { literal { string: "1" } }
        failure_behavior: FAILURE_BEHAVIOR_RETURN_NULL
      } } }
    } }
  } }
  measures { measure {
    function_reference: 2
    invocation: AGGREGATION_INVOCATION_DISTINCT
    output_type { i64 { nullability: NULLABILITY_NULLABLE } }
    arguments { value { selection { direct_reference { struct_field { } } root_reference { } } } }
  } }
} } } }
"""

ARITHMETIC = "extension:io.substrait:functions_arithmetic"
LACKING = {
    "relation": ("supported_relations: [READ, JOIN, PROJECT]", ["aggregate: relation AGGREGATE"]),
    "kind of join": (
        "supported_relations: [READ, {relation: JOIN, join_types: [INNER]}, PROJECT, AGGREGATE]",
        ["aggregate / project / join: relation JOIN of the kind LEFT_SINGLE"],
    ),
    "kind of read": (
        "supported_relations: [{relation: READ, read_types: [NAMED_TABLE]}, JOIN, PROJECT, AGGREGATE]",
        ["aggregate / project / join / read: relation READ of the kind VIRTUAL_TABLE"],
    ),
    "type": (
        "supported_types: [I32, STRING]",
        ["aggregate: type i64?", "aggregate / project / join / read: type uuid?"],
    ),
    "expression": (
        "supported_expressions: [SELECTION, LITERAL, SCALAR_FUNCTION]",
        ["aggregate / project: expression CAST"],
    ),
    "kind of cast": (
        "supported_expressions: [SELECTION, LITERAL, SCALAR_FUNCTION, {expression: CAST, failure_options: [THROW_EXCEPTION]}]",
        ["aggregate / project: expression CAST of the kind RETURN_NULL"],
    ),
    "option": (
        """
dependencies: {arithmetic: 'extension:io.substrait:functions_arithmetic'}
supported_scalar_functions: [{source: arithmetic, name: add, supported_impls: [i32_i32]}]
""",
        [f"aggregate / project: scalar function add:i32_i32 of {ARITHMETIC} with overflow=ERROR"],
    ),
    "types of arguments": (
        """
dependencies: {arithmetic: 'extension:io.substrait:functions_arithmetic'}
supported_aggregate_functions: [{source: arithmetic, name: sum, supported_impls: [i64]}]
""",
        [f"aggregate: aggregate function sum:i32 of {ARITHMETIC}"],
    ),
    "distinct values": (
        """
dependencies: {arithmetic: 'extension:io.substrait:functions_arithmetic'}
supported_aggregate_functions:
  - {source: arithmetic, name: sum, supported_impls: [i32], metadata: {distinct: false}}
""",
        [f"aggregate: aggregate function sum:i32 of {ARITHMETIC} of distinct values"],
    ),
}


@pytest.mark.parametrize(("lists", "told"), LACKING.values(), ids=LACKING.keys())
def test_what_a_dialect_lacks(lists: str, told: list[str], tmp_path: Path) -> None:
    (tmp_path / "dialect.yaml").write_text(lists, "utf-8")
    found = departures(text_format.Parse(PLAN, Plan()), load(tmp_path / "dialect.yaml"))
    assert sorted(map(str, found)) == sorted(told)


def test_canonical_plans_may_say_all() -> None:
    assert departures(text_format.Parse(PLAN, Plan()), Dialect.canonical()) == []


def test_an_undeclared_function_is_told() -> None:
    plan = text_format.Parse(PLAN, Plan())
    plan.ClearField("extensions")
    assert [str(found) for found in departures(plan, Dialect.canonical())] == [
        "aggregate / project: a function that the plan doesn't declare (anchor 1)",
        "aggregate: a function that the plan doesn't declare (anchor 2)",
    ]


QUERIES = (
    "SELECT upper(s), i + 1, i / 2, cast(i AS STRING), s LIKE 'a%', s IN ('a', 'b') FROM edges WHERE i > 1 OR s IS NULL",
    "SELECT s, sum(i), count(DISTINCT i), avg(d), max(s) FROM edges GROUP BY s HAVING sum(i) > 1 ORDER BY s LIMIT 3",
    "SELECT i, rank() OVER (PARTITION BY s ORDER BY i), sum(i) OVER (ORDER BY i ROWS 2 PRECEDING) FROM edges",
    "SELECT * FROM edges a LEFT JOIN edges b ON a.i = b.i WHERE a.s NOT IN (SELECT s FROM edges)",
    "SELECT s, i FROM edges UNION SELECT s, i FROM edges WHERE d > (SELECT avg(d) FROM edges)",
)


@pytest.mark.parametrize("query", QUERIES)
def test_exported_plans_keep_to_their_dialect(spark: SparkSession, query: str) -> None:
    spark.range(3).selectExpr(
        "cast(id AS INT) AS i", "cast(id AS STRING) AS s", "cast(id AS DECIMAL(7, 2)) AS d"
    ).createOrReplaceTempView("edges")
    plan = df_to_substrait(spark.sql(query), dialect="datafusion")
    assert [str(found) for found in departures(plan, load("datafusion"))] == []
