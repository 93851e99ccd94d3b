"""Plans as pictures: an HTML view for notebooks, and graphs for Mermaid and Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from substrait.extended_expression_pb2 import ExtendedExpression
    from substrait.plan_pb2 import Plan

__all__ = ["to_dot", "to_html", "to_mermaid", "to_svg"]


def to_html(plan: Plan | ExtendedExpression) -> str:
    """The plan as a tree to fold and unfold, for any page or notebook: one `div` with its own style.

    Its script adds buttons that fold and a search; where scripts don't run, all else is the same.
    """
    from ..explain.plan_text import document
    from .html import html

    return html(document(plan), plan.ByteSize())


def to_mermaid(plan: Plan | ExtendedExpression) -> str:
    """The plan as a Mermaid flowchart, which GitHub and many others draw; data flows upwards."""
    from ..explain.plan_text import document
    from .mermaid import mermaid

    return mermaid(document(plan))


def to_dot(plan: Plan | ExtendedExpression) -> str:
    """The plan as a graph in Graphviz's language; data flows upwards."""
    from ..explain.plan_text import document
    from .dot import dot

    return dot(document(plan))


def to_svg(plan: Plan | ExtendedExpression) -> str:
    """The plan as an SVG picture, laid out by Graphviz.

    Raises `SubstraitSparkError` where its program `dot` isn't installed.
    """
    from .svg import svg

    return svg(to_dot(plan))
