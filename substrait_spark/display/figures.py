"""A plan in figures: how many relations of each kind it has, how deep it is, what it calls and how large it is."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ..errors.quotation import last_part
from ..explain.document import Document, Relation
from ..explain.text import plain

FAMILIES = {
    "read": ("Read", "Reference", "ExtensionLeaf"),
    "join": ("Join", "LateralJoin", "Cross", "HashJoin", "MergeJoin", "NestedLoopJoin"),
    "group": ("Aggregate", "ConsistentPartitionWindow", "Expand", "Set"),
}
"""Kinds of relations that pictures give the same colour; others are `other`."""


class Figures(NamedTuple):
    """How many parts of each kind a plan has, how deep it is, and how large."""

    kinds: dict[str, int]
    """How many relations there are of each kind, the most frequent first."""
    tables: dict[str, int]
    """How often each table is read, or each set of files, the most frequent first."""
    levels: int
    functions: int
    extensions: int


def figures(document: Document) -> Figures:
    """A plan's figures."""
    relations = [(level, relation) for tree in document.trees for level, _, relation in tree.relations()]
    functions = [(name, urn) for name, urn in document.declared if not name.startswith(("type ", "variation "))]
    return Figures(
        dict(Counter(relation.kind for _, relation in relations).most_common()),
        dict(Counter(name for _, relation in relations if (name := table(relation))).most_common()),
        max((level + 1 for level, _ in relations), default=0),
        len(functions),
        len({urn for _, urn in functions}),
    )


def family(kind: str) -> str:
    """The family of a kind of relation."""
    return next((name for name, kinds in FAMILIES.items() if kind in kinds), "other")


def table(relation: Relation) -> str:
    """What a relation reads, where that has a name: a table, or the last part of its first file's path."""
    part = next(iter(relation.parts), None)
    if relation.kind != "Read" or part is None or part.label not in ("", "files") or not part.items:
        return ""
    more = f" and {len(part.items) - 1} more" if len(part.items) > 1 else ""
    return last_part(plain(part.items[0])) + more


def counted(number: int, what: str) -> str:
    """`1 relation`, `1,427 relations`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
