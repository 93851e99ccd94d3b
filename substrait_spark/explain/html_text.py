"""Texts that tell what differs as HTML for notebooks: in the page's own colours, and readable without any style."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..algebra.limits import text_of

_MARKS = {"-": "rgba(220, 70, 60, 0.18)", "+": "rgba(50, 160, 80, 0.18)"}
"""What is behind lines that only the old plan has, and only the new one; their text keeps the page's colour."""


def marked_lines(name: str, lines: Sequence[str], *, indented: bool) -> str:
    """A text's lines, of which those that only one side has are marked; `indented` says whether marks stand behind spaces."""
    shown = text_of(_line(line, indented) for line in lines)
    return f"<pre class='{name}' style='white-space:pre-wrap;overflow-wrap:anywhere'>{shown}</pre>"


def _line(line: str, indented: bool) -> str:
    mark = _MARKS.get(line.lstrip()[:1]) if line.startswith(" ") == indented else None
    shown = escape(line)
    return f"<span style='background:{mark}'>{shown}</span>\n" if mark else f"{shown}\n"
