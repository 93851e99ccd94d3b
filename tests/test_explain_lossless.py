"""Nothing in a plan is missing from its text: whatever field is populated, of whatever message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from typing import Any

import pytest
from schema_plans import Leaf, filled_plans, message_names
from substrait.plan_pb2 import Plan

from substrait_spark import diff, explain, to_dot, to_html, to_mermaid

SHOWN_OTHERWISE = {
    "Expression.Literal.date": "as a date of the calendar",
    "Expression.Literal.PrecisionTime.value": "as a time of day",
    "Expression.Literal.PrecisionTimestamp.value": "as a date and a time",
}
"""Numbers that don't stand in the text as they are."""

NUMBERS_OF_ANCHORS = {
    "extensions.SimpleExtensionURN.extension_urn_anchor",
    "extensions.SimpleExtensionDeclaration.ExtensionFunction.function_anchor",
    "extensions.SimpleExtensionDeclaration.ExtensionType.type_anchor",
    "extensions.SimpleExtensionDeclaration.ExtensionTypeVariation.type_variation_anchor",
}
ANCHORS = {"RelCommon.rel_anchor", "Expression.FieldReference.OuterReference.rel_reference"}
"""Numbers that make no difference."""

HINTS = ("RelCommon.hint", "RelCommon.Hint")


@pytest.mark.parametrize("name", message_names())
def test_every_field_shows(name: str) -> None:
    for filled in filled_plans(name):
        text, brief = explain(filled.plan, verbose=True), explain(filled.plan)
        for leaf in filled.leaves:
            if stands(leaf, text):
                assert verbose_only(name, leaf) or stands(leaf, brief), f"{leaf.name} is in verbose text only"
                continue
            with changed(leaf):
                assert explain(filled.plan, verbose=True) != text, f"{leaf.name} = {leaf.value} isn't in\n{text}"
                assert verbose_only(name, leaf) or explain(filled.plan) != brief, f"{leaf.name} is in verbose text only"


@pytest.mark.parametrize("name", message_names())
def test_fields_of_a_later_release_show(name: str) -> None:
    for filled in filled_plans(name):
        filled.message.MergeFromString(b"\xc0\x3e\x2a")
        assert "1000: 42" in explain(filled.plan, verbose=True)


@pytest.mark.parametrize("name", message_names())
def test_pictures_of_every_field(name: str) -> None:
    for filled in filled_plans(name):
        HTMLParser().feed(to_html(filled.plan))
        assert to_mermaid(filled.plan).startswith("flowchart BT\n")
        assert to_dot(filled.plan).startswith("digraph plan {\n")


@pytest.mark.parametrize("name", message_names())
def test_differences_of_every_field(name: str) -> None:
    for filled in filled_plans(name):
        other = Plan.FromString(filled.plan.SerializeToString())
        assert diff(filled.plan, other) == ""
        before = explain(other)
        for leaf in filled.leaves[::2][:3]:
            with changed(leaf):
                same = explain(filled.plan) == before
                assert (diff(other, filled.plan) == "") == same or leaf.name in ANCHORS, f"{leaf.name}: {leaf.value}"


def stands(leaf: Leaf, text: str) -> bool:
    """Whether a value, which no other field has, stands in the text."""
    if isinstance(leaf.value, bool) or leaf.field.enum_type is not None or leaf.name in SHOWN_OTHERWISE:
        return False
    if isinstance(leaf.value, bytes):
        return leaf.value.hex() in text or leaf.value.hex() in text.replace("-", "")
    return str(leaf.value) in text


def verbose_only(name: str, leaf: Leaf) -> bool:
    return leaf.name in NUMBERS_OF_ANCHORS or any(hint in f"{name} {leaf.name}" for hint in HINTS)


@contextmanager
def changed(leaf: Leaf) -> Iterator[None]:
    """A field has another value for a while."""
    other: Any = 1
    if isinstance(leaf.value, bool):
        other = False
    elif leaf.field.enum_type is not None:
        other = next(value.number for value in leaf.field.enum_type.values if value.number not in (0, leaf.value))
    elif isinstance(leaf.value, (str, bytes)):
        other = "other" if isinstance(leaf.value, str) else b"other"
    put(leaf, leaf.value, other)
    yield
    put(leaf, other, leaf.value)


def put(leaf: Leaf, old: Any, new: Any) -> None:
    """Set a field; of a repeated one, the value that is to be replaced."""
    if not leaf.field.is_repeated:
        setattr(leaf.message, leaf.field.name, new)
        return
    values = getattr(leaf.message, leaf.field.name)
    values[list(values).index(old)] = new
