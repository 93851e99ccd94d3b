"""The types that the structural rules derive for relations and expressions."""

from __future__ import annotations

import pytest
from google.protobuf import text_format
from substrait.algebra_pb2 import Expression, Rel
from substrait.plan_pb2 import Plan

from substrait_spark.algebra.trampoline import run
from substrait_spark.inference.complaints import Complaints
from substrait_spark.inference.expressions import Expressions, Scope
from substrait_spark.inference.functions import Functions
from substrait_spark.inference.relations import Relations

TYPES = {
    "i32": "i32 { nullability: NULLABILITY_REQUIRED }",
    "i64?": "i64 { nullability: NULLABILITY_NULLABLE }",
    "str": "string { nullability: NULLABILITY_REQUIRED }",
    "bool": "bool { nullability: NULLABILITY_REQUIRED }",
}


def read(*columns: str) -> str:
    """A table of these columns."""
    names = " ".join(f"names: 'c{index}'" for index in range(len(columns)))
    types = " ".join(f"types {{ {TYPES[column]} }}" for column in columns)
    struct = f"struct {{ nullability: NULLABILITY_REQUIRED {types} }}"
    return f"read {{ named_table {{ names: 't' }} base_schema {{ {names} {struct} }} }}"


def field(ordinal: int, root: str = "root_reference {}") -> str:
    return f"selection {{ direct_reference {{ struct_field {{ field: {ordinal} }} }} {root} }}"


LEFT, RIGHT = read("i32", "str"), read("i64?", "bool")
TRUE = "literal { boolean: true }"
DECLARED = """
extension_urns { extension_urn_anchor: 1 urn: "extension:io.substrait:functions_arithmetic" }
extension_urns { extension_urn_anchor: 2 urn: "extension:io.substrait:functions_list" }
extensions { extension_function { extension_urn_reference: 1 function_anchor: 1 name: "row_number:" } }
extensions { extension_function { extension_urn_reference: 1 function_anchor: 2 name: "sum:i32" } }
extensions { extension_function { extension_urn_reference: 2 function_anchor: 3 name: "transform:list_func" } }
"""
CALL = "phase: AGGREGATION_PHASE_INITIAL_TO_RESULT invocation: AGGREGATION_INVOCATION_ALL"


def relations() -> tuple[Relations, Complaints, Functions]:
    complain = Complaints()
    functions = Functions(text_format.Parse(DECLARED, Plan()), complain)
    return Relations(functions, complain), complain, functions


def relation_types(text: str) -> tuple[str, list[str]]:
    found, complain, _ = relations()
    types = run(found.types(text_format.Parse(text, Rel()), None))
    return "none" if types is None else ", ".join(map(str, types)), complain.problems


def expression_type(text: str, *columns: str) -> tuple[str, list[str]]:
    """The type of an expression over a table of these columns."""
    found, complain, functions = relations()
    input = run(found.types(text_format.Parse(read(*columns), Rel()), None))
    type = run(Expressions(functions, complain, found).type(text_format.Parse(text, Expression()), Scope(input)))
    return str(type), complain.problems


def join(join_type: str) -> str:
    return f"join {{ type: JOIN_TYPE_{join_type} expression {{ {TRUE} }} left {{ {LEFT} }} right {{ {RIGHT} }} }}"


REQUIRED = "nullability: NULLABILITY_REQUIRED"


def measured(phase: str, column: str, result: str) -> str:
    """A sum in a phase, of a table's column."""
    measure = f"function_reference: 2 phase: AGGREGATION_PHASE_{phase} invocation: AGGREGATION_INVOCATION_ALL"
    argument = f"arguments {{ value {{ {field(0)} }} }} output_type {{ {result} }}"
    return f"aggregate {{ input {{ {read(column)} }} measures {{ measure {{ {measure} {argument} }} }} }}"


def written(output: str) -> str:
    """A write of a table."""
    table = f"names: 't' }} table_schema {{ names: 'a' names: 'b' struct {{ {REQUIRED} types {{ {TYPES['i32']} }}"
    return (
        f"write {{ named_table {{ {table} types {{ {TYPES['str']} }} }} }} op: WRITE_OP_INSERT"
        f" input {{ {LEFT} }} output: OUTPUT_MODE_{output} }}"
    )


RELATIONS = {
    join("INNER"): "i32, string, i64?, boolean",
    join("OUTER"): "i32?, string?, i64?, boolean?",
    join("LEFT"): "i32, string, i64?, boolean?",
    join("RIGHT"): "i32?, string?, i64?, boolean",
    join("LEFT_SEMI"): "i32, string",
    join("LEFT_ANTI"): "i32, string",
    join("LEFT_SINGLE"): "i32, string, i64?, boolean?",
    join("LEFT_MARK"): "i32, string, boolean?",
    join("RIGHT_SEMI"): "i64?, boolean",
    join("RIGHT_ANTI"): "i64?, boolean",
    join("RIGHT_SINGLE"): "i32?, string?, i64?, boolean",
    join("RIGHT_MARK"): "i64?, boolean, boolean?",
    f"cross {{ left {{ {LEFT} }} right {{ {RIGHT} }} }}": "i32, string, i64?, boolean",
    f"project {{ input {{ {LEFT} }} expressions {{ {TRUE} }} common {{ emit {{ output_mapping: [2, 0] }} }} }}": (
        "boolean, i32"
    ),
    f"read {{ projection {{ select {{ struct_items {{ field: 1 }} }} }} {LEFT[7:]}": "string",
    f"fetch {{ input {{ {LEFT} }} offset_expr {{ literal {{ i64: 1 }} }} count_expr {{ literal {{ i64: 2 }} }} }}": (
        "i32, string"
    ),
    f"top_n {{ input {{ {LEFT} }} sorts {{ expr {{ {field(0)} }} direction: SORT_DIRECTION_ASC_NULLS_LAST }} }}": (
        "i32, string"
    ),
    f"set {{ op: SET_OP_UNION_ALL inputs {{ {read('i64?')} }} inputs {{ {read('i64?')} }} }}": "i64?",
    f"aggregate {{ input {{ {LEFT} }} grouping_expressions {{ {field(0)} }} grouping_expressions {{ {field(1)} }}"
    " groupings { expression_references: [0, 1] } groupings { expression_references: 1 } }": "i32?, string, i32",
    f"aggregate {{ input {{ {LEFT} }} measures {{ measure {{ function_reference: 2 {CALL}"
    f" output_type {{ i64 {{ nullability: NULLABILITY_NULLABLE }} }} arguments {{ value {{ {field(0)} }} }} }} }} }}": (
        "i64?"
    ),
    f"expand {{ input {{ {LEFT} }} fields {{ consistent_field {{ {field(1)} }} }} fields {{ switching_field {{"
    f" duplicates {{ {field(0)} }}"
    " duplicates { literal { null { i32 { nullability: NULLABILITY_NULLABLE } } } } } } }": "string, i32?, i32",
    f"expand {{ input {{ {LEFT} }} fields {{ consistent_field {{ {field(1)} }} }} }}": "string, string, i32",
    measured("INITIAL_TO_INTERMEDIATE", "i32", f"struct {{ {REQUIRED} types {{ {TYPES['i64?']} }} }}"): "struct<i64?>",
    measured("INTERMEDIATE_TO_INTERMEDIATE", "str", TYPES["str"]): "string",
    measured("INTERMEDIATE_TO_RESULT", "str", TYPES["i64?"]): "i64?",
    f"window {{ input {{ {LEFT} }} window_functions {{ function_reference: 1 {CALL} lower_bound {{ unbounded {{}} }}"
    " upper_bound { unbounded {} } output_type { i64 { nullability: NULLABILITY_NULLABLE } } } }": "i32, string, i64?",
    written("NO_OUTPUT"): "",
    written("MODIFIED_RECORDS"): "i32, string",
    f"window {{ input {{ {LEFT} }} partition_expressions {{ {field(1)} }} window_functions {{"
    f" function_reference: 1 {CALL}"
    " bounds_type: BOUNDS_TYPE_ROWS output_type { i64 { nullability: NULLABILITY_NULLABLE } } } }": "i32, string, i64?",
    f"extension_single {{ input {{ {LEFT} }} detail {{ type_url: 'x/y' }} }}": "none",
    f"project {{ input {{ extension_single {{ input {{ {LEFT} }} detail {{ type_url: 'x/y' }} }} }}"
    f" expressions {{ {field(9)} }} common {{ emit {{ output_mapping: 3 }} }} }}": "None",
}

BROKEN_RELATIONS = {
    f"join {{ type: JOIN_TYPE_INNER left {{ {LEFT} }} right {{ {RIGHT} }} }}": "a join has no condition",
    f"join {{ expression {{ {TRUE} }} left {{ {LEFT} }} right {{ {RIGHT} }} }}": "a join doesn't state its type",
    f"set {{ op: SET_OP_UNION_ALL inputs {{ {LEFT} }} inputs {{ {RIGHT} }} }}": (
        "the inputs of a set operation have the types i32 and i64?"
    ),
    f"set {{ op: SET_OP_UNION_ALL inputs {{ {LEFT} }} inputs {{ {read('i32')} }} }}": "inputs of 2, 1 columns",
    f"set {{ op: SET_OP_UNION_ALL inputs {{ {LEFT} }} }}": "a set operation over 1 inputs",
    f"set {{ inputs {{ {LEFT} }} inputs {{ {LEFT} }} }}": "a set operation doesn't state which",
    f"sort {{ input {{ {LEFT} }} }}": "a sort by nothing",
    f"sort {{ input {{ {LEFT} }} sorts {{ expr {{ {field(0)} }} }} }}": "a sort doesn't state its direction",
    f"fetch {{ input {{ {LEFT} }} count_expr {{ literal {{ string: 'x' }} }} }}": "the count_expr is string",
    f"fetch {{ input {{ {LEFT} }} count_expr {{ {field(0)} }} }}": "the reference $0 is beyond the 0 columns",
    f"expand {{ input {{ {LEFT} }} fields {{ switching_field {{ duplicates {{ {field(0)} }} }} }} fields {{"
    f" switching_field {{ duplicates {{ {field(0)} }} duplicates {{ {field(0)} }} }} }} }}": "of 1, 2 duplicates",
    f"aggregate {{ input {{ {LEFT} }} }}": "an aggregate of nothing",
    measured("INITIAL_TO_INTERMEDIATE", "str", TYPES["str"]): "no implementation takes (string)",
    measured("INITIAL_TO_RESULT", "i32", TYPES["str"]): "it returns i64?, not string",
    measured("UNSPECIFIED", "i32", TYPES["i64?"]): "a function doesn't state its phase",
    "reference { subtree_ordinal: 0 }": "the plan's relation 0, which isn't before it",
    f"extension_single {{ input {{ {LEFT} }} }}": "an extension relation has no detail",
    read("i32").replace(
        "named_table { names: 't' }", "virtual_table { expressions { fields { literal { string: 'x' } } } }"
    ): ("row 0 has a string in a column of i32"),
    read("i32").replace("named_table { names: 't' }", "virtual_table { expressions { } }"): "row 0 has 0 values for 1",
}

QUERY = read("i64?")
EXPRESSIONS = {
    f"subquery {{ scalar {{ input {{ {read('i32')} }} }} }}": "i32?",
    f"subquery {{ in_predicate {{ needles {{ {field(0)} }} haystack {{ {read('i32')} }} }} }}": "boolean?",
    f"subquery {{ set_predicate {{ predicate_op: PREDICATE_OP_EXISTS tuples {{ {QUERY} }} }} }}": "boolean",
    f"subquery {{ scalar {{ input {{ project {{ input {{ {QUERY} }} common {{ emit {{ output_mapping: 1 }} }}"
    f" expressions {{ {field(1, 'outer_reference { steps_out: 1 }')} }} }} }} }} }}": "string?",
    f"nested {{ struct {{ fields {{ {field(0)} }} fields {{ {field(1)} }} }} }}": "struct<i32, string>",
    f"nested {{ nullable: true list {{ values {{ {field(0)} }} }} }}": "list?<i32>",
    f"nested {{ map {{ key_values {{ key {{ {field(1)} }} value {{ {field(0)} }} }} }} }}": "map<string, i32>",
    f"if_then {{ ifs {{ if {{ {TRUE} }} then {{ {field(0)} }} }} }}": "i32?",
    f"singular_or_list {{ value {{ {field(0)} }} options {{ literal {{ i32: 1 }} }} }}": "boolean",
    "literal { list { values { i32: 1 } values { i32: 2 } } nullable: true }": "list?<i32>",
    "literal { decimal { precision: 5 scale: 2 value: '0123456789abcdef' } }": "decimal<5, 2>",
    "literal { empty_map { nullability: NULLABILITY_REQUIRED key { string { nullability: NULLABILITY_REQUIRED } }"
    " value { i32 { nullability: NULLABILITY_NULLABLE } } } }": "map<string, i32?>",
    "selection { expression { literal { list { values { i32: 7 } } } } direct_reference { list_element { } } }": "i32?",
    "selection { expression { literal { map { key_values { key { string: 'a' } value { i32: 7 } } } } }"
    " direct_reference { map_key { map_key { string: 'a' } } } }": "i32?",
    "scalar_function { function_reference: 3 output_type { list { nullability: NULLABILITY_REQUIRED"
    " type { i32 { nullability: NULLABILITY_REQUIRED } } } } arguments {"
    " value { literal { list { values { i32: 1 } } } } }"
    " arguments { value { lambda { parameters { nullability: NULLABILITY_REQUIRED types {"
    " i32 { nullability: NULLABILITY_REQUIRED } } } body { "
    + field(0, "lambda_parameter_reference {}")
    + " } } } } }": "list<i32>",
}

BROKEN_EXPRESSIONS = {
    f"nested {{ list {{ values {{ {field(0)} }} values {{ {field(1)} }} }} }}": "list's elements have different types",
    "literal { list { values { i32: 1 } values { i64: 2 } } }": "a list literal's elements have different types",
    "literal { decimal { precision: 5 scale: 2 value: 'x' } }": "a decimal literal has 1 bytes, not 16",
    "selection { expression { literal { map { key_values { key { string: 'a' } value { i32: 7 } } } } }"
    " direct_reference { map_key { map_key { i32: 1 } } } }": "a key of type i32 for a map<string, i32>",
    f"subquery {{ in_predicate {{ needles {{ {field(0)} }} haystack {{ {QUERY} }} }} }}": "i32 is compared with a i64?",
    f"if_then {{ ifs {{ if {{ {field(0)} }} then {{ {TRUE} }} }} else {{ {TRUE} }} }}": "the condition is i32",
}


@pytest.mark.parametrize(("text", "types"), RELATIONS.items(), ids=lambda value: value[:12])
def test_relation(text: str, types: str) -> None:
    assert relation_types(text) == (types, [])


@pytest.mark.parametrize(("text", "problem"), BROKEN_RELATIONS.items(), ids=lambda value: value[:30])
def test_broken_relation(text: str, problem: str) -> None:
    _, problems = relation_types(text)
    assert any(problem in found for found in problems), problems


def test_relation_of_a_later_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Relations, "_update")
    assert relation_types("update { }") == ("none", ["update: there is no rule for this relation"])


@pytest.mark.parametrize(("text", "type"), EXPRESSIONS.items(), ids=lambda value: value[:12])
def test_expression(text: str, type: str) -> None:
    assert expression_type(text, "i32", "str") == (type, [])


@pytest.mark.parametrize(("text", "problem"), BROKEN_EXPRESSIONS.items(), ids=lambda value: value[:30])
def test_broken_expression(text: str, problem: str) -> None:
    _, problems = expression_type(text, "i32", "str")
    assert any(problem in found for found in problems), problems
