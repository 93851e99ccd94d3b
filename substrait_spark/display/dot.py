"""Plans as graphs in Graphviz's language (https://graphviz.org/doc/info/lang.html)."""

from __future__ import annotations

import html

from ..explain.document import Document
from .graph import Arrow, Box, graph

_HEAD = (
    "digraph plan {",
    "rankdir=BT",
    'bgcolor="white"',
    'node [shape=box style="rounded,filled" color="#8a94a6" fillcolor="#f4f6fa" fontname="Helvetica" fontsize=11]',
    'edge [color="#8a94a6" fontname="Helvetica" fontsize=10 fontcolor="#5a6270"]',
)


def dot(document: Document) -> str:
    """A graph of a plan."""
    picture = graph(document)
    return "\n  ".join([*_HEAD, *map(_box, picture.boxes), *map(_arrow, picture.arrows)]) + "\n}\n"


def _box(box: Box) -> str:
    lines = "".join(f'<br align="left"/>{html.escape(line)}' for line in box.lines)
    end = '<br align="left"/>' if box.lines else ""
    return f"r{box.number} [label=<<b>{html.escape(box.kind)}</b>{lines}{end}>]"


def _arrow(arrow: Arrow) -> str:
    style = " style=dashed" if arrow.dotted else ""
    label = f'label="{arrow.label}"' if arrow.label else ""
    attributes = f"{label}{style}".strip()
    return f"r{arrow.start} -> r{arrow.end}" + (f" [{attributes}]" if attributes else "")
