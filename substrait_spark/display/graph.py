"""A plan as boxes and arrows, for whatever draws them."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

from ..errors.quotation import identifier, shortened
from ..explain.document import Document, Relation, Tree
from ..explain.layout import columns
from ..explain.text import plain
from .node_summary import edge_label, summary

_WIDTH = 44
"""How many characters a box is wide."""
_LONGEST = 130
"""How many characters of a relation's parts, and of its columns, a box shows."""

_NAMES = 2000
"""How many characters of a root's names its box shows."""


@dataclass
class Box:
    """A relation: its kind, and lines of text."""

    number: int
    kind: str
    lines: list[str]


@dataclass
class Arrow:
    """Rows that go from one box to another; `dotted` where it is a query inside an expression."""

    start: int
    end: int
    label: str
    dotted: bool = False


@dataclass
class Graph:
    """Boxes in the order of the plan's text, and arrows between them."""

    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)


def graph(document: Document) -> Graph:
    """A plan's relations, with a box for each of its roots."""
    drawn = Graph()
    for tree in document.trees:
        top = Box(len(drawn.boxes), tree.title, _wrapped(_root_names(tree)))
        drawn.boxes.append(top)
        stack: list[tuple[Relation, Arrow]] = []
        for number, query in enumerate(tree.queries, 1):
            stack.append((query, Arrow(0, top.number, f"#{number}", dotted=True)))
        if tree.relation is not None:
            stack.append((tree.relation, Arrow(0, top.number, "")))
        while stack:
            relation, arrow = stack.pop()
            box = Box(len(drawn.boxes), relation.kind, _lines(relation))
            arrow.start = box.number
            drawn.boxes.append(box)
            drawn.arrows.append(arrow)
            below = [(query, Arrow(0, box.number, f"#{n}", dotted=True)) for n, query in enumerate(relation.queries, 1)]
            for index, input in enumerate(relation.inputs):
                below.append((input, Arrow(0, box.number, edge_label(relation, index))))
            stack.extend(reversed(below))
    return drawn


def _root_names(tree: Tree) -> str:
    return shortened(", ".join(map(identifier, tree.names or ())), _NAMES)


def _lines(relation: Relation) -> list[str]:
    lines = _wrapped(summary(relation, _LONGEST))
    if not relation.passes_columns:
        lines += _wrapped(shortened(plain(columns(relation)).replace("->", "→", 1), _LONGEST))
    return lines


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, break_long_words=True)
