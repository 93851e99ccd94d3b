"""What expressions may refer to: the input's columns by exprId, and what was computed below."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.expression import Expression, FieldReference
from ..algebra.types import Type
from ..catalyst.tree import Node


class Scope:
    """The columns of a relation's input, by the exprId that Catalyst knows them by.

    `computed` maps nodes that a relation below has already evaluated (grouping keys, aggregates) to their columns.
    """

    __slots__ = ("_ordinals", "computed", "types")

    def __init__(self, ids: Sequence[int], types: Sequence[Type]) -> None:
        self._ordinals = {id: ordinal for ordinal, id in reversed(list(enumerate(ids)))}
        self.types = types
        self.computed: dict[int, Expression] = {}

    def __contains__(self, id: int) -> bool:
        return id in self._ordinals

    def column(self, id: int) -> FieldReference | None:
        """A reference to the attribute's column, None where the input has no such attribute."""
        ordinal = self._ordinals.get(id)
        return None if ordinal is None else FieldReference(ordinal, self.types[ordinal])

    def compute(self, node: Node, expression: Expression) -> None:
        """Let every occurrence of a node stand for an expression over the input."""
        self.computed[id(node)] = expression
