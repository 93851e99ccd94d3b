"""A plan laid out for reading: a tree of relations with their parts and columns, which text, HTML and graphs share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .columns import Source
from .text import Text


class Column(NamedTuple):
    """An output column: its name where it is known, and the text of its type."""

    name: str | None
    type: Text


class Part(NamedTuple):
    """What a relation does, in one respect: `by [$0:a, $1:b]`.

    The items stand between `opening` and `closing`, which are brackets or a call of `and`. `over_output` says that
    references are to the relation's own columns before emit, not to its inputs'.
    """

    label: str
    items: tuple[Text, ...]
    opening: str = ""
    closing: str = ""
    over_output: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Relation:
    """A relation; `queries` are those in its expressions, which call them by number, `#1` for the first."""

    kind: str
    parts: tuple[Part, ...]
    columns: tuple[Column, ...] | None
    sources: tuple[Source, ...]
    """Where each column comes from."""
    inputs: tuple[Relation, ...]
    queries: tuple[Relation, ...]
    anchor: int | None
    passes_columns: bool
    """Whether its columns are just those of its input."""

    def below(self) -> tuple[tuple[str, Relation], ...]:
        """The queries, each with its number, and the inputs."""
        return (*numbered(self.queries), *(("", input) for input in self.inputs))


def numbered(queries: tuple[Relation, ...]) -> list[tuple[str, Relation]]:
    """Queries under the numbers by which expressions call them."""
    return [(f"#{number} ", query) for number, query in enumerate(queries, 1)]


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """One of the plan's relations with what is below it; `title` says whether it is a root, and its names.

    `queries` are those in the detached expressions.
    """

    title: str
    names: tuple[str, ...] | None
    detached: tuple[Text, ...]
    queries: tuple[Relation, ...]
    relation: Relation | None
    rest: Text

    def relations(self) -> Iterator[tuple[int, str, Relation]]:
        """Every relation from the top down: how deep it is, its number where it is a query's, and it itself."""
        roots = numbered(self.queries)
        if self.relation is not None:
            roots.append(("", self.relation))
        stack = [(0, *root) for root in reversed(roots)]
        while stack:
            level, number, relation = stack.pop()
            yield level, number, relation
            stack.extend((level + 1, *below) for below in reversed(relation.below()))


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """A plan: what it says of itself, a line for each URN, the functions and types by name and URN, its trees."""

    header: tuple[Text, ...]
    extensions: tuple[Text, ...]
    declared: frozenset[tuple[str, str]]
    trees: tuple[Tree, ...]
    kind: str = "plan"
    """What it is."""
