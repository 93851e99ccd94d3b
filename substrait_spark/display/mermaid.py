"""Plans as Mermaid flowcharts (https://mermaid.js.org/syntax/flowchart.html)."""

from __future__ import annotations

from ..explain.document import Document
from .graph import Arrow, Box, graph


def mermaid(document: Document) -> str:
    """A flowchart of a plan."""
    picture = graph(document)
    lines = ["flowchart BT", *map(_box, picture.boxes), *map(_arrow, picture.arrows)]
    return "\n    ".join(lines) + "\n"


def _box(box: Box) -> str:
    text = "<br/>".join([f"<b>{_escaped(box.kind)}</b>", *map(_escaped, box.lines)])
    return f'r{box.number}["{text}"]'


def _arrow(arrow: Arrow) -> str:
    line = "-.->" if arrow.dotted else "-->"
    label = f'|"{_escaped(arrow.label)}"|' if arrow.label else ""
    return f"r{arrow.start} {line}{label} r{arrow.end}"


def _escaped(text: str) -> str:
    """Text that means nothing to Mermaid, Markdown or HTML: letters, digits and harmless marks stay, others go by number."""
    return "".join(
        character if character.isalnum() or character in " .,:_-→…" else f"#{ord(character)};" for character in text
    )
