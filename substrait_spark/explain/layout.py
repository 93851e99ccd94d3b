"""The lines of a plan's text: a header, then one line for each relation, indented below the one that reads it."""

from __future__ import annotations

from collections.abc import Iterator

from ..bounds import text_of
from ..quotation import identifier
from .document import Document, Relation, Tree
from .parts import column_text, part_text
from .text import Text, joined, plain

VERSION = 1
"""The version of the text's format, which its first line carries."""


def layout(document: Document, *, verbose: bool) -> str:
    """The text of a plan."""
    return text_of(f"{line}\n" for line in _lines(document, verbose))


def _lines(document: Document, verbose: bool) -> Iterator[str]:
    yield f"substrait plan text {VERSION}"
    yield from map(plain, (*document.header, *document.extensions))
    for tree in document.trees:
        yield ""
        yield f"{tree.title}{_names(tree)}{plain(tree.rest)}"
        for number, expression in enumerate(tree.detached):
            yield f"  detached {number} = {plain(expression)}"
        for level, mark, relation in tree.relations():
            yield "  " * (level + 1) + mark + line(relation, verbose=verbose)


def _names(tree: Tree) -> str:
    return "" if tree.names is None else f" [{', '.join(map(identifier, tree.names))}]"


def line(relation: Relation, *, verbose: bool = False) -> str:
    """A relation's line."""
    return plain(line_text(relation, verbose=verbose))


def line_text(relation: Relation, *, verbose: bool = False) -> Text:
    """A relation's kind, its parts, and its columns unless they are just its input's."""
    shown: list[Text] = [relation.kind, *map(part_text, relation.parts)]
    if verbose or not relation.passes_columns:
        shown.append(columns(relation))
    return joined(" ", shown)


def columns(relation: Relation) -> Text:
    """`-> a: i64, b: string?`."""
    if relation.columns is None:
        return "-> unknown"
    found = [column_text(column, ordinal) for ordinal, column in enumerate(relation.columns)]
    return ("-> ", joined(", ", found) if found else "no columns")
