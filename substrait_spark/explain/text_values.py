"""Texts that show themselves where they are the value of a cell, or of what is typed at a prompt: as they stand, without quotes."""

from __future__ import annotations

from html import escape

from .html_text import marked_lines


class PlanText(str):
    """The text of a plan."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Difference(str):
    """What changes from one plan to another; empty, and so false, where they mean the same."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self) or "The plans mean the same."

    def _repr_html_(self) -> str:
        if not self:
            return f"<p>{escape(repr(self))}</p>"
        return marked_lines("substrait-difference", self.splitlines(), indented=True)
