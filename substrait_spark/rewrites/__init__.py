"""Catalyst tree to Catalyst tree: the rules, in the order in which they run."""

from __future__ import annotations

from ..catalyst.tree import Document
from ..context import Context


def rewrite(document: Document, context: Context) -> Document:
    return document
