"""Undoes NormalizeFloatingNumbers in join keys: Spark's own equality means the same without the wrappers."""

from __future__ import annotations

from ..catalyst.tree import Node


def normalized(node: Node) -> Node | None:
    """KnownFloatingPointNormalized(x) marks a value; NormalizeNaNAndZero(x) below it makes equal bits of equal values."""
    child = node["child"]
    return child["child"] if child.name == "NormalizeNaNAndZero" else child  # type: ignore[no-any-return]


RULES = (("KnownFloatingPointNormalized", normalized),)
