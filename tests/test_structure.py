"""The structural rules: a sound plan has no problems, and a plan broken in one place has that problem."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from google.protobuf import text_format
from substrait.algebra_pb2 import Expression
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type

from substrait_spark.testing import assert_well_formed, structural_problems

SOUND = """
version { minor_number: 106 }
execution_behavior { variable_eval_mode: VARIABLE_EVALUATION_MODE_PER_PLAN }
extension_urns { extension_urn_anchor: 1 urn: "extension:io.substrait:functions_arithmetic" }
extension_urns { extension_urn_anchor: 2 urn: "extension:io.substrait:functions_boolean" }
extensions { extension_function { extension_urn_reference: 1 function_anchor: 1 name: "add:i64_i64" } }
extensions { extension_function { extension_urn_reference: 1 function_anchor: 2 name: "sum:i64" } }
extensions { extension_function { extension_urn_reference: 2 function_anchor: 3 name: "and:bool" } }
relations { root { names: "k" names: "s" names: "x" input { aggregate {
  common { emit { output_mapping: 1 output_mapping: 0 } }
  grouping_expressions { selection { direct_reference { struct_field { field: 2 } } root_reference {} } }
  groupings { expression_references: 0 }
  measures {
    measure {
      function_reference: 2 phase: AGGREGATION_PHASE_INITIAL_TO_RESULT invocation: AGGREGATION_INVOCATION_ALL
      output_type { i64 { nullability: NULLABILITY_NULLABLE } }
      arguments { value { selection { direct_reference { struct_field { field: 3 } } root_reference {} } } }
      options { name: "overflow" preference: "ERROR" }
    }
    filter { selection { direct_reference { struct_field { field: 1 } } root_reference {} } }
  }
  input { project {
    expressions { scalar_function {
      function_reference: 1
      output_type { i64 { nullability: NULLABILITY_NULLABLE } }
      arguments { value { selection { direct_reference { struct_field { field: 0 } } root_reference {} } } }
      arguments { value { literal { i64: 1 } } }
    } }
    input { filter {
      condition { scalar_function {
        function_reference: 3
        output_type { bool { nullability: NULLABILITY_NULLABLE } }
        arguments { value { selection { direct_reference { struct_field { field: 1 } } root_reference {} } } }
        arguments { value { literal { boolean: true } } }
        arguments { value { if_then {
          ifs { if { literal { boolean: true } } then { literal { boolean: true } } }
          else { literal { boolean: false } }
        } } }
      } }
      input { read {
        base_schema {
          names: "a" names: "b" names: "c" names: "d"
          struct {
            nullability: NULLABILITY_REQUIRED
            types { i64 { nullability: NULLABILITY_NULLABLE } }
            types { bool { nullability: NULLABILITY_NULLABLE } }
            types { struct {
              nullability: NULLABILITY_NULLABLE types { string { nullability: NULLABILITY_REQUIRED } }
            } }
          }
        }
        named_table { names: "t" }
      } }
    } }
  } }
} } } }
"""
"""SELECT sum(a + 1) FILTER (WHERE b), c FROM t WHERE b AND true AND CASE … END GROUP BY c, where c is a struct."""


def sound() -> Plan:
    return text_format.Parse(
        SOUND.replace('names: "k" names: "s" names: "x"', 'names: "s" names: "k" names: "d"'), Plan()
    )


def aggregate(plan: Plan):  # type: ignore[no-untyped-def]
    return plan.relations[0].root.input.aggregate


def measure(plan: Plan):  # type: ignore[no-untyped-def]
    return aggregate(plan).measures[0].measure


def project(plan: Plan):  # type: ignore[no-untyped-def]
    return aggregate(plan).input.project


def addition(plan: Plan):  # type: ignore[no-untyped-def]
    return project(plan).expressions[0].scalar_function


def filter_(plan: Plan):  # type: ignore[no-untyped-def]
    return project(plan).input.filter


def conjunction(plan: Plan):  # type: ignore[no-untyped-def]
    return filter_(plan).condition.scalar_function


def read(plan: Plan):  # type: ignore[no-untyped-def]
    return filter_(plan).input.read


def put(message, text: str) -> None:  # type: ignore[no-untyped-def]
    """Replace a message's content."""
    message.Clear()
    text_format.Parse(text, message)


def nest(plan: Plan) -> None:
    """Cast the condition fifty times."""
    condition = filter_(plan).condition
    for _ in range(50):
        outer = Expression()
        outer.cast.type.bool.nullability = Type.NULLABILITY_NULLABLE
        outer.cast.failure_behavior = Expression.Cast.FAILURE_BEHAVIOR_THROW_EXCEPTION
        outer.cast.input.CopyFrom(condition)
        condition.CopyFrom(outer)


FIELD = "selection { direct_reference { struct_field { field: %d } } root_reference {} }"

BROKEN: dict[str, tuple[Callable[[Plan], object], str]] = {
    "no version": (lambda p: p.ClearField("version"), "no version"),
    "no execution behaviour": (lambda p: p.ClearField("execution_behavior"), "execution behaviour"),
    "URN anchor declared twice": (
        lambda p: p.extension_urns.add(extension_urn_anchor=2, urn="extension:io.substrait:functions_string"),
        "the URN anchor 2 is declared twice",
    ),
    "URN declared twice": (
        lambda p: p.extension_urns.add(extension_urn_anchor=9, urn=p.extension_urns[0].urn),
        "functions_arithmetic is declared twice",
    ),
    "URN never referenced": (
        lambda p: p.extension_urns.add(extension_urn_anchor=9, urn="extension:io.substrait:functions_string"),
        "functions_string: declared and never referenced",
    ),
    "URN not declared": (
        lambda p: setattr(p.extensions[0].extension_function, "extension_urn_reference", 7),
        "the URN anchor 7 is not declared",
    ),
    "URN of no file": (
        lambda p: setattr(p.extension_urns[0], "urn", "extension:org.example:functions"),
        "no extension file has the URN extension:org.example:functions",
    ),
    "function anchor declared twice": (
        lambda p: setattr(p.extensions[1].extension_function, "function_anchor", 1),
        "the function anchor 1 is declared twice",
    ),
    "function declared twice": (
        lambda p: p.extensions.add().extension_function.MergeFrom(p.extensions[0].extension_function),
        "add:i64_i64: declared twice",
    ),
    "function never called": (
        lambda p: project(p).expressions[0].CopyFrom(literal(1)),
        "add:i64_i64: declared and never",
    ),
    "function not declared": (lambda p: setattr(addition(p), "function_reference", 8), "anchor 8 is not declared"),
    "function without signature": (
        lambda p: setattr(p.extensions[0].extension_function, "name", "add"),
        "not declared under a compound name",
    ),
    "function that doesn't exist": (
        lambda p: setattr(p.extensions[0].extension_function, "name", "plus:i64_i64"),
        "plus:i64_i64: extension:io.substrait:functions_arithmetic has no such scalar function",
    ),
    "variadic signature spelled out": (
        lambda p: setattr(p.extensions[2].extension_function, "name", "and:bool_bool_bool"),
        "and:bool_bool_bool: extension:io.substrait:functions_boolean has no such",
    ),
    "aggregate function called as a scalar one": (
        lambda p: setattr(addition(p), "function_reference", 2),
        "sum:i64: extension:io.substrait:functions_arithmetic has no such scalar function",
    ),
    "too few arguments": (lambda p: addition(p).arguments.pop(), "add:i64_i64: called with 1 arguments"),
    "argument of another type": (
        lambda p: put(addition(p).arguments[1].value, "literal { i32: 1 }"),
        "add:i64_i64: no implementation takes (i64?, i32)",
    ),
    "signature of other types": (
        lambda p: setattr(p.extensions[0].extension_function, "name", "add:i32_i32"),
        "add:i32_i32: a call with (i64?, i64) is add:i64_i64",
    ),
    "result of another type": (
        lambda p: put(addition(p).output_type, "i32 { nullability: NULLABILITY_NULLABLE }"),
        "add:i64_i64: with (i64?, i64) it returns i64?, not i32?",
    ),
    "result of another nullability": (
        lambda p: put(addition(p).output_type, "i64 { nullability: NULLABILITY_REQUIRED }"),
        "it returns i64?, not i64",
    ),
    "variadic result type": (
        lambda p: put(conjunction(p).output_type, "bool { nullability: NULLABILITY_REQUIRED }"),
        "it returns boolean?, not boolean",
    ),
    "unknown option": (
        lambda p: addition(p).options.add(name="carry", preference=["YES"]),
        "add:i64_i64: there is no option carry",
    ),
    "option with an unlisted value": (
        lambda p: addition(p).options.add(name="overflow", preference=["EXPLODE"]),
        "add:i64_i64: the option overflow can't be EXPLODE",
    ),
    "phase unset": (lambda p: measure(p).ClearField("phase"), "a function doesn't state its phase"),
    "invocation unset": (lambda p: measure(p).ClearField("invocation"), "neither ALL nor DISTINCT"),
    "reference out of bounds": (
        lambda p: put(addition(p).arguments[0].value, FIELD % 3),
        "the reference $3 is beyond the 3 columns of its input",
    ),
    "reference without a root": (
        lambda p: addition(p).arguments[0].value.selection.ClearField("root_reference"),
        "a reference has no root",
    ),
    "field of a struct out of bounds": (
        lambda p: put(
            aggregate(p).grouping_expressions[0],
            "selection { root_reference {} direct_reference { struct_field { field: 2 child { struct_field { field: 1 }"
            " } } } }",
        ),
        "the reference .1 is beyond the 1 fields of its struct",
    ),
    "field of what is no struct": (
        lambda p: put(
            aggregate(p).grouping_expressions[0],
            "selection { root_reference {} direct_reference { struct_field { field: 0 child { struct_field { field: 0 }"
            " } } } }",
        ),
        "a struct_field segment into a i64?",
    ),
    "outer reference outside a subquery": (
        lambda p: put(
            addition(p).arguments[0].value,
            "selection { outer_reference { steps_out: 1 } direct_reference { struct_field { field: 0 } } }",
        ),
        "a reference 1 queries out, where there are fewer",
    ),
    "parameter reference outside a lambda": (
        lambda p: put(
            addition(p).arguments[0].value,
            "selection { lambda_parameter_reference {} direct_reference { struct_field { field: 0 } } }",
        ),
        "a reference to the parameters 0 lambdas out, inside 0",
    ),
    "emit out of bounds": (
        lambda p: aggregate(p).common.emit.output_mapping.append(2),
        "emit refers to column 2 of 2",
    ),
    "grouping set out of bounds": (
        lambda p: aggregate(p).groupings[0].expression_references.append(4),
        "a grouping set refers to key 4 of 1",
    ),
    "key in no grouping set": (
        lambda p: aggregate(p).groupings[0].ClearField("expression_references"),
        "the key 0 is in no grouping set",
    ),
    "condition that isn't boolean": (
        lambda p: put(filter_(p).condition, FIELD % 0),
        "condition: the condition is i64?",
    ),
    "branches of different types": (
        lambda p: put(
            getattr(conjunction(p).arguments[2].value.if_then, "else"), "literal { boolean: true nullable: true }"
        ),
        "the branches have different types: boolean, boolean?",
    ),
    "members of a list of another type": (
        lambda p: put(
            filter_(p).condition,
            "singular_or_list { value { %s } options { literal { i64: 1 } } options { literal { string: 'x' } } }"
            % (FIELD % 0),
        ),
        "a i64? is compared with a string",
    ),
    "null literal of a required type": (
        lambda p: put(addition(p).arguments[1].value, "literal { null { i64 { nullability: NULLABILITY_REQUIRED } } }"),
        "a null literal has the required type i64",
    ),
    "cast without failure behaviour": (
        lambda p: put(
            addition(p).arguments[1].value,
            "cast { type { i64 { nullability: NULLABILITY_REQUIRED } } input { literal { i32: 1 } } }",
        ),
        "a cast doesn't state its failure behaviour",
    ),
    "type without nullability": (
        lambda p: read(p).base_schema.struct.types[0].i64.ClearField("nullability"),
        "the type i64 doesn't state its nullability",
    ),
    "schema with a name too few": (
        lambda p: read(p).base_schema.names.pop(),
        "3 names for a schema of 4 fields, counted depth-first",
    ),
    "root with a name too few": (
        lambda p: p.relations[0].root.names.pop(),
        "root: 2 names for an output of 3 fields, counted depth-first",
    ),
    "read of nothing": (lambda p: read(p).ClearField("named_table"), "the read has no source"),
    "relation missing": (lambda p: filter_(p).ClearField("input"), "there is no input"),
    "relation empty": (lambda p: filter_(p).input.Clear(), "a relation is empty"),
    "window without bounds type": (
        lambda p: put(
            project(p).expressions[0],
            "window_function { function_reference: 2 phase: AGGREGATION_PHASE_INITIAL_TO_RESULT"
            " invocation: AGGREGATION_INVOCATION_ALL output_type { i64 { nullability: NULLABILITY_NULLABLE } }"
            " lower_bound { current_row {} } arguments { value { %s } } }" % (FIELD % 0),
        ),
        "a window function doesn't state its bounds type",
    ),
    "subquery of two columns": (
        lambda p: put(
            addition(p).arguments[1].value,
            "subquery { scalar { input { read { named_table { names: 'u' } base_schema { names: 'x' names: 'y'"
            " struct { nullability: NULLABILITY_REQUIRED types { i64 { nullability: NULLABILITY_REQUIRED } }"
            " types { i64 { nullability: NULLABILITY_REQUIRED } } } } } } } }",
        ),
        "a subquery of 2 columns, not 1",
    ),
    "nested too deep": (nest, "messages deep: readers stop at 100"),
    "unknown field": (
        lambda p: filter_(p).MergeFromString(b"\xc0\x3e\x01"),
        "substrait.FilterRel has the unknown field 1000",
    ),
}


def literal(value: int) -> Expression:
    return Expression(literal=Expression.Literal(i64=value))


def test_sound_plan() -> None:
    assert structural_problems(sound()) == []
    assert_well_formed(sound())


@pytest.mark.parametrize("name", BROKEN)
def test_broken_plan(name: str) -> None:
    plan = sound()
    breaking, problem = BROKEN[name]
    breaking(plan)
    problems = structural_problems(plan)
    assert any(problem in found for found in problems), problems


def test_problems_name_their_place() -> None:
    plan = sound()
    put(addition(plan).arguments[0].value, FIELD % 3)
    place = "root/aggregate/input/project/expressions[0]/arguments[0]"
    assert structural_problems(plan) == [f"{place}: the reference $3 is beyond the 3 columns of its input"]


def test_unknown_fields_can_be_allowed() -> None:
    plan = sound()
    filter_(plan).MergeFromString(b"\xc0\x3e\x01")
    assert structural_problems(plan, allow_unknown_fields=True) == []


def test_every_problem_is_raised() -> None:
    plan = sound()
    plan.ClearField("version")
    measure(plan).ClearField("phase")
    with pytest.raises(AssertionError, match=r"no version\n.*phase"):
        assert_well_formed(plan)
