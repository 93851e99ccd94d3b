"""Gives NULLs a type where a cast does: a column of NULLs without one has no other value."""

from __future__ import annotations

from ..catalyst.tree import Expression, Node, make


def typed(node: Node) -> Node | None:
    """The cast of a column without a type is a NULL of the type of the cast."""
    column = node["child"]
    if column.name != "AttributeReference" or column.type.name != "void" or not isinstance(node, Expression):
        return None
    return make("Literal", node.type, True, value=None)


RULES = (("Cast", typed),)
