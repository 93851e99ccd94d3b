"""Whatever a plan calls a thing, its text is of the same lines and forms: no name forges one, or reaches a terminal as a command."""

from __future__ import annotations

import re

import pytest
from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from schema_plans import Filled, filled_plans, message_names
from substrait.plan_pb2 import Plan
from substrait.type_pb2 import Type
from test_plan_text import EXAMPLES

from substrait_spark import (
    InvalidPlanError,
    Problem,
    SubstraitSparkError,
    diff,
    explain,
    lower,
    to_dot,
    to_html,
    to_mermaid,
)
from substrait_spark.algebra.type_messages import URN
from substrait_spark.display.html import script
from substrait_spark.engines import datafusion
from substrait_spark.plan.parameters import declare
from substrait_spark.testing import structural_problems

HOSTILE = "".join(  # noqa: FLY002 - one to a line
    (
        "x\n\nroot [quantity]\n  Filter gt($1:quantity, 3::i32)\r\n",
        "x') emit [0] -> a: i64",
        'x"] -> "a: i64, \\',
        "x\x1b[2J\x1b]0;title\x07\0",
        "x\u202e\u2066\u200f\u2028\x85",
        "x], [$0], {overflow=ERROR}::i64?<38, 2> of y",
        "<script>alert('x')</script><!--]]>",
    )
)
"""What stands in the place of every string, before a number of its own."""

REFERENCES = {
    "function_reference": "extension_function",
    "custom_function_reference": "extension_function",
    "comparison_function_reference": "extension_function",
    "type_reference": "extension_type",
    "type_variation_reference": "extension_type_variation",
}
"""The fields that hold an anchor, and what is declared under it."""

QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")


def named(filled: Filled, text: str) -> Plan:
    """A plan with every string that text, and with what it refers to declared under that name."""
    for leaf in filled.leaves:
        kind = REFERENCES.get(leaf.field.name)
        if kind is not None:
            entry = getattr(filled.plan.extensions.add(), kind)
            entry.name = f"{text}{leaf.value}"
            (anchor,) = (field.name for field in entry.DESCRIPTOR.fields if field.name.endswith("_anchor"))
            setattr(entry, anchor, leaf.value)
        if leaf.field.type == FieldDescriptor.TYPE_STRING:
            number = leaf.value.removeprefix("text")
            if leaf.field.is_repeated:
                values = getattr(leaf.message, leaf.field.name)
                values[list(values).index(leaf.value)] = f"{text}{number}"
            else:
                setattr(leaf.message, leaf.field.name, f"{text}{number}")
    return filled.plan


def pairs(name: str) -> list[tuple[Plan, Plan]]:
    """Plans with a message of a kind, whose strings are hostile in one, and in the other just as long, with a space in them."""
    harmless = "x ".ljust(len(HOSTILE), "y")
    return [
        (named(one, HOSTILE), named(other, harmless))
        for one, other in zip(filled_plans(name), filled_plans(name), strict=True)
    ]


def form(text: str) -> str:
    """Text without what is in quotes."""
    return QUOTED.sub("''", text)


def tags(picture: str) -> list[str]:
    """The elements of a picture, but line ends and colours, which hang on where long text is cut."""
    return [tag for tag in re.findall(r"<(/?[a-z]+)", picture) if tag not in ("br", "span", "/span")]


@pytest.mark.parametrize("name", message_names())
def test_every_string_stays_in_quotes(name: str) -> None:
    for plan, harmless in pairs(name):
        for verbose in (False, True):
            text = explain(plan, verbose=verbose)
            assert text.replace("\n", "").isprintable()
            assert form(text) == form(explain(harmless, verbose=verbose))
        assert diff(plan, harmless).replace("\n", "").isprintable()
        for draw in (to_html, to_mermaid, to_dot):
            drawn, other = (draw(each).replace(script(), "") for each in (plan, harmless))
            assert drawn.replace("\n", "").isprintable()
            assert "<script" not in drawn
            assert "<!--" not in drawn
            assert tags(drawn) == tags(other)


@pytest.mark.parametrize("name", message_names())
def test_what_is_wrong_with_a_plan_is_told_in_lines_of_ours(name: str) -> None:
    for plan, _ in pairs(name):
        assert all(problem.isprintable() for problem in structural_problems(plan))
        with pytest.raises(SubstraitSparkError) as error:
            lower(plan, "datafusion")
        assert str(error.value).replace("\n", "").isprintable()


def test_the_name_of_a_function_adds_no_lines() -> None:
    plan = text_format.Parse(EXAMPLES[0][0], Plan())
    lines = len(explain(plan).splitlines())
    plan.extensions[0].extension_function.name = "lt:any_any\n\nroot [quantity]\n  Filter gt($1:quantity, 5::i32)"
    text = explain(plan)
    assert len(text.splitlines()) == lines
    assert r'"lt:any_any\n\nroot [quantity]\n  Filter gt($1:quantity, 5::i32)"' in text
    assert "Filter lt($1:quantity, 3::i32)" in text


@pytest.mark.parametrize("name", ["undeclared_function_1", "a b", "f(", "'", "", "and, or"])
def test_names_that_could_be_other_text_are_in_quotes(name: str) -> None:
    plan = text_format.Parse(EXAMPLES[0][0], Plan())
    plan.extensions[0].extension_function.name = name
    assert f'Filter "{name}"($1' in explain(plan)


def test_a_file_has_no_place_in_the_plan_by_its_name() -> None:
    plan = text_format.Parse(EXAMPLES[0][0], Plan())
    read = plan.relations[0].root.input.filter.input.read
    read.local_files.items.add(uri_file="file:///data/x at root > Sort").parquet.SetInParent()
    other = Plan.FromString(plan.SerializeToString())
    other.relations[0].root.input.filter.condition.scalar_function.arguments[1].value.literal.i32 = 5
    assert diff(plan, other).startswith("Filter over 'x at root > Sort' at root > Filter\n")


def test_errors_of_ours_have_no_control_characters() -> None:
    problem = Problem("the plan", "Read", "a\x1b[2J\nb", "the table \u202e is not there", "")
    assert str(problem) == "Read at the plan: the table \\u{202e} is not there\n    in: a\\u{1b}[2J\\nb"
    assert str(SubstraitSparkError("a\x07\nb")) == "a\\u{7}\nb"


def test_the_names_of_parameters_and_their_types_add_no_lines() -> None:
    plan = text_format.Parse(EXAMPLES[0][0], Plan())
    parameter = plan.relations[0].root.input.filter.condition.scalar_function.arguments[1].value.dynamic_parameter
    parameter.parameter_reference = 1
    parameter.type.user_defined.type_reference = 7
    parameter.type.user_defined.nullability = Type.NULLABILITY_REQUIRED
    parameter.type.user_defined.type_parameters.add().string = HOSTILE
    plan.extension_urns.add(extension_urn_anchor=7, urn=URN)
    declared = plan.extensions.add().extension_type
    declared.extension_urn_reference = declared.type_anchor = 7
    declared.name = HOSTILE
    declare(plan, [HOSTILE], {})
    for values, problems in (({}, 1), ({HOSTILE: "x"}, 1), ({"other": 1}, 2)):
        with pytest.raises(InvalidPlanError) as error:
            datafusion.execute(plan, parameters=values)
        lines = str(error.value).splitlines()
        assert len(lines) == problems
        assert all(line.startswith(("The parameter ", "The plan has no parameter 'other'")) for line in lines)
