"""Which parts of an expression are emitted before it, so that its rule finds them at hand."""

from __future__ import annotations

from collections.abc import Callable

from ..catalyst.tree import Expression

Operands = Callable[[Expression], list[Expression]]
"""A family's own answer, for a class whose rule emits some of its children itself, or others' than its children."""

BY_THEIR_CALL = frozenset(("LambdaFunction", "Literal", "ResolvedCollation"))
"""Lambdas are emitted by the function that applies them, and literals when a rule asks for them: it may read their value instead."""

OBJECT = "object"
"""The type of JVM objects: constants of the functions that are called on them."""


def operands(node: Expression) -> list[Expression]:
    """The children that any rule may ask for."""
    return [
        child
        for child in node.children()
        if isinstance(child, Expression) and child.cls.name not in BY_THEIR_CALL and child.type.name != OBJECT
    ]
