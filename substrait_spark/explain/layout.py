"""The lines of a plan's text: a header, then one line for each relation, indented below the one that reads it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from ..algebra.limits import text_of
from ..errors.quotation import identifier
from .document import Document, Part, Relation, Tree
from .parts import column_text, part_text
from .text import Text, joined, plain

VERSION, VERSION_WITH_SCHEMAS = 1, 2
"""The version of the text's format, which its first line carries: the lowest that has what is in the text."""

LONG = 60
"""How many characters a schema has at least that is written once, where it occurs several times."""

_TITLE = "substrait plan text "
_SCHEMA = re.compile(r"schema (\d+): (.*)")
_REFERRED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|(?<= schema )(?P<number>\d+)(?= |$)""")
"""Strings and names in quotes, and the number of a schema."""


def layout(document: Document, *, verbose: bool) -> str:
    """The text of a plan."""
    return text_of(f"{line}\n" for line in _lines(document, verbose))


def in_full(text: str) -> str:
    """The text of plans with each schema where it is used, as the format's first version has it."""
    return "".join(_in_full(text.splitlines(keepends=True)))


def _in_full(lines: list[str]) -> Iterator[str]:
    schemas: dict[str, str] = {}
    for line in lines:
        if line.startswith(_TITLE):
            schemas.clear()
            yield f"{_TITLE}{VERSION}\n"
        elif schema := _SCHEMA.fullmatch(line.rstrip("\n")):
            schemas[schema[1]] = schema[2]
        else:
            yield _REFERRED.sub(lambda match: schemas.get(match["number"] or "", match[0]), line)


def _lines(document: Document, verbose: bool) -> Iterator[str]:
    schemas = _schemas(document)
    yield f"substrait {document.kind} text {VERSION_WITH_SCHEMAS if schemas else VERSION}"
    yield from map(plain, (*document.header, *document.extensions))
    for schema, number in schemas.items():
        yield f"schema {number}: {schema}"
    for tree in document.trees:
        yield ""
        yield f"{tree.title}{_names(tree)}{plain(tree.rest)}"
        for number, expression in enumerate(tree.detached):
            yield f"  detached {number} = {plain(expression)}"
        for level, mark, relation in tree.relations():
            yield "  " * (level + 1) + mark + plain(line_text(relation, verbose=verbose, schemas=schemas))


def _schemas(document: Document) -> dict[str, int]:
    """The schemas that are worth a line of their own, numbered in the order in which they occur."""
    relations = (relation for tree in document.trees for _, _, relation in tree.relations())
    counts = Counter(plain(part.items) for relation in relations for part in relation.parts if part.label == "schema")
    again = (schema for schema, count in counts.items() if count > 1 and len(schema) >= LONG)
    return {schema: number for number, schema in enumerate(again, 1)}


def _names(tree: Tree) -> str:
    return "" if tree.names is None else f" [{', '.join(map(identifier, tree.names))}]"


def line(relation: Relation, *, verbose: bool = False) -> str:
    """A relation's line."""
    return plain(line_text(relation, verbose=verbose))


def line_text(relation: Relation, *, verbose: bool = False, schemas: Mapping[str, int] | None = None) -> Text:
    """A relation's kind, its parts, and its columns unless they are just its input's; `schemas` are referred to by number."""
    shown: list[Text] = [relation.kind, *(_part(part, schemas or {}) for part in relation.parts)]
    if verbose or not relation.passes_columns:
        shown.append(columns(relation))
    return joined(" ", shown)


def _part(part: Part, schemas: Mapping[str, int]) -> Text:
    number = schemas.get(plain(part.items)) if schemas and part.label == "schema" else None
    return part_text(part) if number is None else f"schema {number}"


def columns(relation: Relation) -> Text:
    """`-> a: i64, b: string?`."""
    if relation.columns is None:
        return "-> unknown"
    texts = [column_text(column, ordinal) for ordinal, column in enumerate(relation.columns)]
    return ("-> ", joined(", ", texts) if texts else "no columns")
