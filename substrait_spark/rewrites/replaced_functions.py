"""Undoes RuntimeReplaceable where Spark composes a function of others that mean more than it does."""

from __future__ import annotations

from typing import Any

from ..catalyst.tree import UNTYPED, Expression, Node, make


def regexp_count(node: Node) -> Node | None:
    """The number of all matches is regexp_count."""
    matches = node["child"]
    if matches.name != "RegExpExtractAll" or node["legacySizeOfNull"] or not _is(matches["idx"], 0):
        return None
    return _function("RegExpCount", node, subject=matches["subject"], regexp=matches["regexp"])


def split_part(node: Node) -> Node | None:
    """An element of a text split at plain text, empty where there is none, is split_part."""
    pieces = node["left"]
    if pieces.name != "StringSplitSQL" or node["failOnError"] or not _is(node["defaultValueOutOfBound"], ""):
        return None
    return _function("SplitPart", node, str=pieces["str"], delimiter=pieces["delimiter"], partNum=node["right"])


def try_eval(node: Node) -> Node | None:
    """What try_add and try_subtract are replaced by may be cast to the type that it has."""
    cast = node["child"]
    if cast.name != "Cast" or cast["child"].type != cast.type:
        return None
    return _function("TryEval", node, child=cast["child"])


def _is(node: Node | None, value: int | str) -> bool:
    return node is not None and node.name == "Literal" and bool(node["value"] == value)


def _function(name: str, node: Node, **arguments: Any) -> Expression:
    """A node of this class with the number and type of the one that it replaces."""
    function = make(name, getattr(node, "type", UNTYPED), getattr(node, "nullable", True), **arguments)
    function.number = node.number
    return function


RULES = (("Size", regexp_count), ("ElementAt", split_part), ("TryEval", try_eval))
