"""Dialects that lack single things, and what a plan uses that they could lack."""

from __future__ import annotations

import importlib.resources
import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from substrait_spark.algebra.expression import Expression, Lambda, ScalarFunction, WindowFunction
from substrait_spark.algebra.relation import Aggregate, Read, Relation, Window
from substrait_spark.algebra.traversal import inputs_first, subexpressions
from substrait_spark.algebra.types import Type
from substrait_spark.dialects.dialect import TYPE_NAMES
from substrait_spark.extensions import registry
from substrait_spark.extensions.yaml_text import parsed

Document = Mapping[str, Any]

LIMITS = {"DECIMAL": {"max_precision": 38, "max_scale": 38}, "INTERVAL_DAY": {"max_precision": 6}}


class Thing(NamedTuple):
    """What a dialect may list: `what` is relation, expression, type, scalar, aggregate, window, arguments or ability.

    `name` is the dialect schema's, or `urn:name` of a function; `key` and `value` tell a variant, as of a join.
    """

    what: str
    name: str
    key: str = ""
    value: str = ""

    def __str__(self) -> str:
        return " ".join([self.what, self.name.rpartition("functions_")[2], self.value]).strip()

    @property
    def told(self) -> str:
        """What a problem says of it."""
        if self.what == "type":
            return next(kind for kind, name in TYPE_NAMES.items() if name == self.name)
        if self.name == "SUBQUERY":
            return "subqueries"
        return self.value or self.name.rpartition(":")[2]


# ---- a dialect that lists everything


def everything() -> Document:
    """All that the dialect schema and the extension files have, each function with each choice of its options."""
    schema = importlib.resources.files("substrait_extensions.dialects").joinpath("dialect_schema.yaml")
    known = parsed(schema.read_text("utf-8"))
    document: dict[str, Any] = {"dependencies": {alias: registry.urn(alias) for alias in registry.CANONICAL}}
    for noun in ("type", "relation", "expression"):
        listed = known["properties"][f"supported_{noun}s"]["items"]["oneOf"]
        references = [entry["$ref"].rpartition("/")[2] for entry in listed[1:]]
        document[f"supported_{noun}s"] = list(
            _entries(noun, [known["definitions"][name] for name in references], known)
        )
    for kind, section in registry.KINDS.items():
        document[f"supported_{section}"] = [
            entry for alias in registry.CANONICAL for entry in _functions(kind, section, alias)
        ]
    return document


def _entries(noun: str, definitions: list[Any], schema: Any) -> Iterator[dict[str, Any]]:
    for definition in definitions:
        name = definition["properties"][noun].get("const")
        if name is None or name.startswith("EXTENSION_"):
            continue
        entry = {noun: name, **LIMITS.get(name, {})}
        for key, part in definition["properties"].items():
            listed = schema["definitions"][part["$ref"].rpartition("/")[2]] if "$ref" in part else part
            if listed.get("type") == "array" and "enum" in listed["items"]:
                entry[key] = listed["items"]["enum"]
        yield entry


def _functions(kind: str, section: str, alias: str) -> Iterator[dict[str, Any]]:
    names = dict.fromkeys(function["name"] for function in registry.load(alias).get(section) or ())
    for implementation in (found for name in names for found in registry.implementations(kind, alias, name)):
        choices = [[(option, value) for value in (None, *values)] for option, values in implementation.options.items()]
        for chosen in itertools.product(*choices):
            options = {option: value for option, value in chosen if value is not None}
            yield {
                "source": alias,
                "name": implementation.name,
                "supported_impls": [implementation.signature],
                "required_options": options,
            }


# ---- what a plan uses


def uses(root: Relation) -> set[Thing]:
    """Everything in a plan that a dialect could lack."""
    return {thing for relation in inputs_first(root, subqueries=True) for thing in _uses(relation)}


def _uses(relation: Relation) -> Iterator[Thing]:
    yield Thing("relation", relation.NAME, *relation.variant())
    if relation.emit is not None:
        yield Thing("ability", "emit")
    if isinstance(relation, Read):
        yield from (thing for kind in relation.schema for thing in _types(kind))
    if isinstance(relation, Aggregate):
        yield from _measures(relation)
    if isinstance(relation, Window):
        yield from (_function(call) for call in relation.calls)
    for part in (part for expression in relation.expressions() for part in subexpressions(expression)):
        yield from _expression(part)


def _measures(relation: Aggregate) -> Iterator[Thing]:
    if len(relation.sets) > 1:
        yield Thing("ability", "grouping_sets")
    if any(measure.filter is not None for measure in relation.measures):
        yield Thing("ability", "measure_filters")
    yield from (_function(measure) for measure in relation.measures)


def _expression(part: Expression) -> Iterator[Thing]:
    if part.NAME:
        yield Thing("expression", part.NAME, *part.variant())
    if not isinstance(part, Lambda):
        yield from _types(part.type)
    if isinstance(part, ScalarFunction):
        yield _function(part)
        if len(part.arguments) > 2:
            yield _function(part)._replace(what="arguments")
    if isinstance(part, WindowFunction):
        yield _function(part.call)


def _function(call: Any) -> Thing:
    declaration = call.declaration
    return Thing(declaration.kind, f"{declaration.urn}:{declaration.name}")


def _types(kind: Type) -> Iterator[Thing]:
    if kind.kind in TYPE_NAMES:
        yield Thing("type", TYPE_NAMES[kind.kind])
    for part in kind.parameters:
        if isinstance(part, Type):
            yield from _types(part)


# ---- dialects that lack it


def without(document: Document, thing: Thing) -> Document:
    """A dialect document that lacks a thing; of a function's `arguments`, it has no more than two."""
    if thing.what == "ability":
        metadata = document.get("metadata") or {}
        abilities = {**(metadata.get("abilities") or {}), thing.name: False}
        return {**document, "metadata": {**metadata, "abilities": abilities}}
    if thing.what in ("relation", "expression", "type"):
        section, kept = f"supported_{thing.what}s", _without_entry
    else:
        kind = "scalar" if thing.what == "arguments" else thing.what
        section, kept = f"supported_{registry.KINDS[kind]}", _without_function
    return {**document, section: [left for entry in document[section] for left in kept(document, entry, thing)]}


def _without_entry(document: Document, entry: Any, thing: Thing) -> Iterator[Any]:
    entry = {thing.what: entry} if isinstance(entry, str) else entry
    if entry[thing.what] != thing.name:
        yield entry
        return
    left = [value for value in entry.get(thing.key, ()) if value != thing.value]
    if left:
        yield {**entry, thing.key: left}


def _without_function(document: Document, entry: Any, thing: Thing) -> Iterator[Any]:
    if f"{document['dependencies'][entry['source']]}:{entry['name']}" != thing.name:
        yield entry
    elif thing.what == "arguments":
        yield {**entry, "variadic": {"max": 2}}
