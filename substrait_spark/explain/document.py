"""A plan laid out for reading: a tree of relations with their parts and columns, which text, HTML and graphs share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .text import Text


class Column(NamedTuple):
    """An output column: its name where it is known, and the text of its type."""

    name: str | None
    type: Text


class Part(NamedTuple):
    """What a relation does, in one respect: `by [$0:a, $1:b]`.

    `over_output` says that its references are to the relation's own columns before emit, not to its inputs'.
    """

    label: str
    items: tuple[Text, ...]
    is_list: bool = False
    over_output: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Relation:
    """A relation; `queries` are those in its expressions, which call them by number, `#1` for the first."""

    kind: str
    parts: tuple[Part, ...]
    columns: tuple[Column, ...] | None
    inputs: tuple[Relation, ...]
    queries: tuple[Relation, ...]
    emitted: tuple[int, ...] | None
    passes_columns: bool
    """Whether its columns are just those of its input."""

    def below(self) -> tuple[tuple[str, Relation], ...]:
        """The queries, each with its number, and the inputs."""
        queries = [(f"#{number} ", query) for number, query in enumerate(self.queries, 1)]
        return (*queries, *(("", input) for input in self.inputs))


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """One of the plan's relations with what is below it; `title` says whether it is a root, and its names."""

    title: str
    names: tuple[str, ...] | None
    relation: Relation | None
    rest: Text


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """A plan."""

    header: tuple[Text, ...]
    trees: tuple[Tree, ...]


def relations(root: Relation) -> Iterator[tuple[int, str, Relation]]:
    """Every relation of a tree, top down: how deep it is, its number where it is a query's, and it itself."""
    stack = [(0, "", root)]
    while stack:
        level, number, relation = stack.pop()
        yield level, number, relation
        stack.extend((level + 1, *below) for below in reversed(relation.below()))
