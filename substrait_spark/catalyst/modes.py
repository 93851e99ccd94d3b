"""Where Catalyst keeps a node's evaluation mode and time zone; Spark versions differ in the field."""

from __future__ import annotations

from ..errors import Unsupported
from .tree import Expression, Node

ANSI, TRY, LEGACY = "ANSI", "TRY", "LEGACY"


def eval_mode(node: Node) -> str:
    """ANSI, TRY or LEGACY, read off the node and never off the session. Raises `Unsupported` without one."""
    context = node.get("evalContext")
    mode = context["evalMode"] if isinstance(context, Node) else node.get("evalMode")
    if mode in (ANSI, TRY, LEGACY):
        return str(mode)
    for flag in ("failOnError", "ansiEnabled"):
        if isinstance(node.get(flag), bool):
            return ANSI if node[flag] else LEGACY
    raise Unsupported(f"this Spark's {node.name} does not tell its evaluation mode")


def time_zone(node: Expression) -> str:
    """The session time zone that Spark resolved the node with."""
    zone = node.get("timeZoneId")
    if not isinstance(zone, str):
        raise Unsupported(f"this Spark's {node.name} does not tell its time zone")
    return zone
