"""The text of plans: the examples in its documentation, real plans, and plans that no one should have made."""

from __future__ import annotations

import functools
import itertools
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format
from pyspark.sql import SparkSession
from substrait.algebra_pb2 import Rel
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type
from test_document import QUERIES, emitted, recorded
from test_structure import sound

from substrait_spark import SubstraitSparkError, diff, explain, to_dot, to_html, to_mermaid
from substrait_spark.explain.layout import in_full

DOCUMENTATION = Path(__file__).parent.parent / "docs" / "reference" / "plan-text.md"
EXAMPLES = re.findall(r"```textproto\n(.*?)```\n\n```text\n(.*?)```", DOCUMENTATION.read_text("utf-8"), re.DOTALL)

PRODUCERS = Path(__file__).parent / "producers"


def first_line(plan: Plan) -> str:
    """The line of the plan's first relation."""
    lines = explain(plan).split("\n")
    return lines[next(index for index, line in enumerate(lines) if line.startswith("r")) + 1].strip()


def line_of(text: str) -> str:
    """The line of a relation."""
    plan = Plan()
    plan.relations.add().rel.SetInParent()
    text_format.Parse(text, plan.relations[0].rel)
    return first_line(plan)


@pytest.mark.parametrize(("plan", "text"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_documented_example(plan: str, text: str) -> None:
    assert explain(text_format.Parse(plan, Plan())) == text


def test_documented_difference() -> None:
    old = text_format.Parse(EXAMPLES[0][0], Plan())
    new = text_format.Parse(EXAMPLES[0][0].replace("i32: 3", "i32: 5"), Plan())
    documented = re.search(r"```diff\n(.*?)```", DOCUMENTATION.read_text("utf-8"), re.DOTALL)
    assert documented is not None
    assert diff(old, new) == documented[1]


def test_schemas_that_occur_again() -> None:
    """They are written once, whatever is in their names; a schema that differs in the least is another."""
    plan = text_format.Parse(EXAMPLES[-1][0], Plan())
    reads = [each.read for each in plan.relations[0].rel.set.inputs]
    for read in reads:
        read.base_schema.names[3] = "a' schema 1 \" schema 1"
    text = explain(plan)
    assert text.startswith("substrait plan text 2\n")
    assert text.count("customer_id: i64?") == 1
    assert len(re.findall(r"Read customers schema 1 emit", text)) == 2
    assert explain(plan, verbose=True).count("customer_id: i64?") == 1
    whole = in_full(text)
    assert whole.startswith("substrait plan text 1\n")
    assert whole.count("Read customers schema [customer_id: i64?, first_name: string?") == 2
    assert in_full(whole) == whole
    reads[1].base_schema.struct.types[3].string.nullability = Type.NULLABILITY_REQUIRED
    other = explain(plan)
    assert other == in_full(other) != whole
    assert other.startswith("substrait plan text 1\n")


def test_schemas_in_texts_one_after_the_other() -> None:
    plan = text_format.Parse(EXAMPLES[-1][0], Plan())
    other = text_format.Parse(EXAMPLES[-1][0].replace("first_name", "given_name"), Plan())
    text = f"query 1: collect\n\n{explain(plan)}\nquery 2: save\n\n{explain(other)}"
    assert in_full(text) == f"query 1: collect\n\n{in_full(explain(plan))}\nquery 2: save\n\n{in_full(explain(other))}"


EXPRESSIONS = {
    "literal { i8: 5 nullable: true }": "5::i8?",
    "literal { fp32: 0.1 }": "0.1::fp32",
    "literal { fp64: nan }": "nan::fp64",
    "literal { string: 'it\\'s\\n\\001 \\342\\202\\254' }": "'it\\'s\\n\\u{1} €'",
    "literal { string: 'a' nullable: true }": "'a'::string?",
    "literal { boolean: false }": "false",
    "literal { binary: '\\312\\376' }": "0xcafe::binary",
    "literal { fixed_char: 'ab' }": "'ab'::fixedchar<2>",
    "literal { var_char { value: 'ab' length: 9 } }": "'ab'::varchar<9>",
    "literal { date: 8766 }": "'1994-01-01'::date",
    "literal { date: -900000 }": "-900000::date",
    "literal { decimal { precision: 3 scale: 2 value: '\\373\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377\\377"
    "\\377\\377\\377' } }": "-0.05::decimal<3, 2>",
    "literal { precision_time { precision: 3 value: 3723004 } }": "'01:02:03.004'::precision_time<3>",
    "literal { precision_time { precision: 0 value: 86400 } }": "86400::precision_time<0>",
    "literal { precision_timestamp { precision: 6 value: -1 } }": (
        "'1969-12-31 23:59:59.999999'::precision_timestamp<6>"
    ),
    "literal { precision_timestamp_tz { precision: 0 value: 0 } }": "'1970-01-01 00:00:00Z'::precision_timestamp_tz<0>",
    "literal { interval_year_to_month { years: 2 months: -3 } }": "'2y -3m'::interval_year",
    "literal { interval_day_to_second { days: 1 seconds: 2 subseconds: 5 precision: 6 } }": (
        "'1d 2s 5e-6s'::interval_day<6>"
    ),
    "literal { uuid: '0123456789abcdef' }": "'30313233-3435-3637-3839-616263646566'::uuid",
    "literal { null { i64 { nullability: NULLABILITY_NULLABLE } } }": "null::i64?",
    "literal { struct { fields { i32: 1 } fields { string: 'a' } } nullable: true }": "{1::i32, 'a'}::struct?",
    "literal { map { key_values { key { string: 'a' } value { i32: 1 } } } }": "{'a': 1::i32}",
    "selection { direct_reference { struct_field { field: 1 child { struct_field { field: 0 child { list_element {"
    " offset: 2 } } } } } } root_reference {} }": "$1:d.0:e[2]",
    "selection { direct_reference { struct_field { field: 7 } } root_reference {} }": "$7",
    "selection { direct_reference { struct_field { field: 0 } } outer_reference { steps_out: 3 } }": "^3$0",
    "selection { direct_reference { struct_field { field: 0 } } outer_reference { rel_reference: 4 } }": "@4.$0",
    "selection { masked_reference { select { struct_items { field: 1 child { list { selection { slice { start: 1"
    " end: 2 } } } } } } } root_reference {} }": "$.{1[1:2]}",
    "cast { input { literal { i32: 1 } } type { i64 { nullability: NULLABILITY_REQUIRED } }"
    " failure_behavior: FAILURE_BEHAVIOR_RETURN_NULL }": "try_cast(1::i32 as i64)",
    "if_then { ifs { if { literal { boolean: true } } then { literal { i32: 1 } } } }": "case when true then 1::i32 end",
    "switch_expression { match { literal { i32: 1 } } ifs { if { i32: 1 } then { literal { i32: 2 } } }"
    " else { literal { i32: 3 } } }": "switch 1::i32 when 1::i32 then 2::i32 else 3::i32 end",
    "nested { list { values { literal { i32: 1 } } } nullable: true }": "list?[1::i32]",
    "lambda { parameters { types { i32 { nullability: NULLABILITY_REQUIRED } } nullability: NULLABILITY_REQUIRED }"
    " body { selection { lambda_parameter_reference {} direct_reference { struct_field {} } } } }": "((p0: i32) -> p0)",
    "dynamic_parameter { parameter_reference: 3 type { date { nullability: NULLABILITY_NULLABLE } } }": "?3::date?",
    "execution_context_variable { current_date { nullability: NULLABILITY_REQUIRED } }": "current_date::date",
    "scalar_function { function_reference: 5 }": "undeclared_function_5()::untyped",
    "": "empty_expression",
}

TABLE = """read { named_table { names: 't' } base_schema { names: 'c' names: 'd' names: 'e' struct {
  nullability: NULLABILITY_REQUIRED types { i32 { nullability: NULLABILITY_NULLABLE } }
  types { struct { nullability: NULLABILITY_NULLABLE types { list { nullability: NULLABILITY_NULLABLE
    type { string { nullability: NULLABILITY_NULLABLE } } } } } } } } }"""
FIELD = "selection { direct_reference { struct_field {} } root_reference {} }"
DIRECTION = "direction: SORT_DIRECTION_ASC_NULLS_LAST"
COLUMNS = "c: i32?, d: struct?<e: list?<string?>>"


@pytest.mark.parametrize(("message", "text"), EXPRESSIONS.items(), ids=EXPRESSIONS.values())
def test_expression(message: str, text: str) -> None:
    assert line_of(f"project {{ expressions {{ {message} }} input {{ {TABLE} }} }}").startswith(f"Project [{text}] -> ")


RELATIONS = {
    f"read {{ local_files {{ items {{ uri_file: 'file:///a' parquet {{}} length: 9 }} }} {TABLE[33:]}": (
        f"Read files ['file:///a' parquet length 9] -> {COLUMNS}"
    ),
    f"sort {{ sorts {{ expr {{ {FIELD} }} {DIRECTION} }} input {{ {TABLE} }} }}": "Sort by [$0:c ASC_NULLS_LAST]",
    f"fetch {{ offset_expr {{ literal {{ i64: 2 }} }} input {{ {TABLE} }} }}": "Fetch offset 2::i64",
    f"top_n {{ sorts {{ expr {{ {FIELD} }} {DIRECTION} }} count {{ literal {{ i64: 2 }} }} mode: FETCH_MODE_WITH_TIES"
    f" input {{ {TABLE} }} }}": "TopN by [$0:c ASC_NULLS_LAST] count 2::i64 mode WITH_TIES",
    f"join {{ type: JOIN_TYPE_LEFT_MARK left {{ {TABLE} }} right {{ {TABLE} }} expression {{ literal {{ boolean: true"
    " } } }": f"Join LEFT_MARK on true -> {COLUMNS}, $2: boolean?",
    f"hash_join {{ type: JOIN_TYPE_LEFT_ANTI left {{ {TABLE} }} right {{ {TABLE} }} keys {{ left {{ {FIELD[12:-2]} }}"
    f" right {{ {FIELD[12:-2]} }} comparison {{ simple: SIMPLE_COMPARISON_TYPE_EQ }} }} }}": (
        f"HashJoin LEFT_ANTI on [left.$0:c EQ right.$0:c] -> {COLUMNS}"
    ),
    f"cross {{ left {{ {TABLE} }} right {{ {TABLE} }} }}": f"Cross -> {COLUMNS}, {COLUMNS}",
    f"set {{ op: SET_OP_UNION_ALL inputs {{ {TABLE} }} inputs {{ {TABLE} }} }}": f"Set UNION_ALL -> {COLUMNS}",
    f"expand {{ input {{ {TABLE} }} fields {{ consistent_field {{ {FIELD} }} }} fields {{ switching_field {{"
    f" duplicates {{ {FIELD} }} duplicates {{ literal {{ null {{ i32 {{ nullability: NULLABILITY_NULLABLE }} }} }} }}"
    " } } }": "Expand [$0:c, switch($0:c, null::i32?)] -> c: i32?, c: i32?, $2: i32",
    f"aggregate {{ input {{ {TABLE} }} grouping_expressions {{ {FIELD} }} groupings {{ expression_references: 0 }}"
    " groupings {} }": "Aggregate by [$0:c] sets [[0], []] -> c: i32?, $1: i32",
    f"exchange {{ input {{ {TABLE} }} scatter_by_fields {{ fields {{ {FIELD[12:-2]} }} }} partition_count: 4 }}": (
        "Exchange scatter_by_fields $0:c partition_count 4"
    ),
    f"write {{ op: WRITE_OP_CTAS named_table {{ names: 'u' }} output: OUTPUT_MODE_NO_OUTPUT input {{ {TABLE} }} }}": (
        "Write CTAS u output NO_OUTPUT schema none -> no columns"
    ),
    "ddl { op: DDL_OP_DROP object: DDL_OBJECT_VIEW named_object { names: 'v' } }": (
        "Ddl DROP VIEW v schema none -> no columns"
    ),
    "update { named_table { names: 't' } table_schema { names: 'x' struct { nullability: NULLABILITY_REQUIRED"
    " types { i32 { nullability: NULLABILITY_REQUIRED } } } } transformations { transformation { literal { i32: 1 } }"
    " } }": "Update t set [$0:x = 1::i32] schema [x: i32] -> no columns",
    f"extension_single {{ detail {{ type_url: 'a/b' value: 'x' }} input {{ {TABLE} }} }}": (
        "ExtensionSingle any('a/b', 0x78) -> unknown"
    ),
    f"filter {{ common {{ rel_anchor: 7 }} condition {{ {FIELD} }} input {{ {TABLE} }} }}": "Filter $0:c anchor @7",
    "reference { subtree_ordinal: 3 }": "Reference relation 3 -> unknown",
    "": "EmptyRelation -> no columns",
}


@pytest.mark.parametrize(("message", "text"), RELATIONS.items(), ids=RELATIONS.values())
def test_relation(message: str, text: str) -> None:
    assert line_of(message) == text


def test_names_come_from_the_reads_and_from_the_root() -> None:
    text = explain(sound())
    assert "Aggregate by [$2:c] measures [sum($3:" not in text
    assert "Aggregate by [$2:c] measures [sum($3){overflow=ERROR} filter $1:b]" in text
    assert text.count("root [s, k, d]") == 1


def test_functions_of_one_name_are_told_apart() -> None:
    plan = sound()
    plan.extensions.add().extension_function.MergeFrom(plan.extensions[0].extension_function)
    plan.extensions[-1].extension_function.function_anchor = 9
    assert "Project [add($0:a, 1::i64)]" in explain(plan)
    plan.extensions[-1].extension_function.name = "add:fp64_fp64"
    assert "Project [add:i64_i64($0:a, 1::i64)]" in explain(plan)
    plan.extensions[-1].extension_function.name = "add:i64_i64"
    plan.extensions[-1].extension_function.extension_urn_reference = 2
    assert "Project [arithmetic.add:i64_i64($0:a, 1::i64)]" in explain(plan)


def test_output_types_that_are_not_the_declared_ones_show() -> None:
    plan = sound()
    plan.relations[0].root.input.aggregate.input.project.expressions[
        0
    ].scalar_function.output_type.i32.nullability = Type.NULLABILITY_NULLABLE
    assert "add($0:a, 1::i64)::i32?" in explain(plan)


def test_verbose_adds_hints_and_anchors() -> None:
    plan = sound()
    plan.relations[0].root.input.aggregate.common.hint.stats.row_count = 42
    assert "hint" not in explain(plan)
    assert "hint {stats {row_count: 42.0}}" in explain(plan, verbose=True)
    assert "extension 'extension:io.substrait:functions_boolean' @2: and:bool @3" in explain(plan, verbose=True)


def nested_relations(depth: int) -> Plan:
    plan = Plan()
    rel = plan.relations.add().rel
    for _ in range(depth):
        rel.filter.condition.literal.boolean = True
        rel = rel.filter.input
    text_format.Parse(TABLE, rel)
    return plan


def nested_expressions(depth: int) -> Plan:
    plan = Plan()
    expression = plan.relations.add().rel.filter.condition
    for _ in range(depth):
        expression = expression.singular_or_list.options.add()
    expression.literal.boolean = True
    return plan


def nested_types(depth: int) -> Plan:
    plan = Plan()
    type = plan.relations.add().rel.read.base_schema.struct.types.add()
    for _ in range(depth):
        type.list.nullability = Type.NULLABILITY_REQUIRED
        type = type.list.type
    type.i32.nullability = Type.NULLABILITY_NULLABLE
    return plan


def nested_queries(depth: int) -> Plan:
    plan = Plan()
    rel = plan.relations.add().rel
    for _ in range(depth):
        rel = rel.filter.condition.subquery.set_predicate.tuples
    text_format.Parse(TABLE, rel)
    return plan


@pytest.mark.parametrize("nested", [nested_relations, nested_expressions, nested_types, nested_queries])
def test_depth_is_no_limit(nested: Any) -> None:
    plan = nested(1_000)
    text = explain(plan)
    assert len(text) > 1_000
    assert diff(plan, plan) == ""
    assert "added" in diff(nested(20), nested(21)) or "+" in diff(nested(20), nested(21))
    for show in (to_html, to_mermaid, to_dot):
        assert show(nested(300))


def test_work_grows_with_the_plan() -> None:
    few, many = (_calls(functools.partial(explain, nested_expressions(depth))) for depth in (400, 1_600))
    assert many < 5 * few


def _calls(run: Callable[[], object]) -> int:
    """How many functions something calls."""
    calls = itertools.count()
    sys.setprofile(lambda frame, event, argument: next(calls) if event.endswith("call") else None)
    try:
        run()
    finally:
        sys.setprofile(None)
    return next(calls)


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("dialect", [None, "datafusion"])
def test_recorded_plans(name: str, dialect: str | None) -> None:
    plan = emitted(recorded(name), dialect)
    assert plan is not None
    text = explain(plan)
    assert "unknown" not in text
    assert diff(plan, plan) == ""
    assert explain(Plan.FromString(plan.SerializeToString())) == text


def relation_count(plan: Plan) -> int:
    """How many relations a plan has, by its messages."""
    from substrait_spark.algebra.message_walk import messages

    return sum(isinstance(message, Rel) for message in messages(plan))


@pytest.mark.parametrize("number", range(1, 23))
def test_tpch(spark: SparkSession, tpch: Path, number: int) -> None:
    import tpc_data
    from rows import plan_of

    query = tpc_data.queries(tpch)[number]
    canonical, engine = plan_of(spark.sql(query)), plan_of(spark.sql(query), "datafusion")
    for plan in (canonical, engine):
        text = explain(plan)
        assert "unknown" not in text
        assert "undeclared" not in text
        assert sum(line.startswith("  ") for line in text.split("\n")) == relation_count(plan)
        assert diff(plan, plan) == ""
    assert (diff(canonical, engine) == "") == (explain(canonical) == explain(engine))


OLDER = sorted(path for folder in ("ibis", "isthmus") for path in (PRODUCERS / folder).glob("*.plan"))


@pytest.mark.parametrize("path", OLDER, ids=[f"{path.parent.name}/{path.stem}" for path in OLDER])
def test_plans_of_older_releases_read_as_todays(path: Path) -> None:
    text = explain(Plan.FromString(path.read_bytes()))
    assert "!unknown" not in text
    assert "extension 'extension:io.substrait:functions_" in text
    assert "undeclared" not in text


def test_an_empty_plan_has_a_text() -> None:
    assert explain(Plan()) == "substrait plan text 1\nversion unset\n"
    assert diff(Plan(), Plan()) == ""


@pytest.mark.parametrize("given", [None, b"", "SELECT 1", Plan.DESCRIPTOR, Rel()])
def test_what_is_no_plan_is_told(given: Any) -> None:
    for show in (explain, to_html, to_mermaid, to_dot, lambda other: diff(Plan(), other)):
        with pytest.raises(
            SubstraitSparkError, match=r"Give a substrait.proto.Plan, not .*: df_to_substrait\(df\) makes"
        ):
            show(given)
