"""Nothing in a plan is missing from its text: whatever field is populated, of whatever message."""

from __future__ import annotations

from typing import Any

import pytest
from schema_plans import Leaf, fill, filled_plans

from substrait_spark import explain

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
FILLED = list(filled_plans())
HINTS = ("RelCommon.hint", "RelCommon.Hint")


@pytest.mark.parametrize(("name", "choice"), FILLED)
def test_every_field_shows(name: str, choice: int) -> None:
    filled = fill(name, choice)
    text, brief = explain(filled.plan, verbose=True), explain(filled.plan)
    for leaf in filled.leaves:
        if stands(leaf, text):
            assert verbose_only(name, leaf) or stands(leaf, brief), (
                f"{leaf.name} = {leaf.value} is only in verbose text"
            )
        else:
            change(leaf)
            assert explain(filled.plan, verbose=True) != text, f"{leaf.name} = {leaf.value} isn't in\n{text}"
            assert verbose_only(name, leaf) or explain(filled.plan) != brief, f"{leaf.name} is only in verbose text"
            restore(leaf)


@pytest.mark.parametrize(("name", "choice"), FILLED)
def test_fields_of_a_later_release_show(name: str, choice: int) -> None:
    filled = fill(name, choice)
    filled.message.MergeFromString(b"\xc0\x3e\x2a")
    assert "!unknown{1000: 42}" in explain(filled.plan, verbose=True)


def stands(leaf: Leaf, text: str) -> bool:
    """Whether a value, which no other field has, stands in the text."""
    if isinstance(leaf.value, bool) or leaf.field.enum_type is not None or leaf.name in SHOWN_OTHERWISE:
        return False
    if isinstance(leaf.value, bytes):
        return leaf.value.hex() in text or leaf.value.hex() in text.replace("-", "")
    return str(leaf.value) in text


def verbose_only(name: str, leaf: Leaf) -> bool:
    return leaf.name in NUMBERS_OF_ANCHORS or any(hint in f"{name} {leaf.name}" for hint in HINTS)


def change(leaf: Leaf) -> None:
    """Give a field another value."""
    other: Any = 1
    if isinstance(leaf.value, bool):
        other = False
    elif leaf.field.enum_type is not None:
        other = next(value.number for value in leaf.field.enum_type.values if value.number not in (0, leaf.value))
    setattr(leaf.message, leaf.field.name, b"1" if isinstance(leaf.value, bytes) else other)


def restore(leaf: Leaf) -> None:
    setattr(leaf.message, leaf.field.name, leaf.value)
