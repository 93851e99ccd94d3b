"""What expressions may refer to: the input's columns, by exprId."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.expression import FieldReference
from ..algebra.types import Type


def first_ordinals(ids: Sequence[int]) -> dict[int, int]:
    """The position of each exprId; the first where it is there several times."""
    return dict(zip(reversed(ids), range(len(ids) - 1, -1, -1), strict=True))


class Scope:
    """The columns of a relation's input, by the exprId that Catalyst knows them by."""

    __slots__ = ("_ordinals", "types")

    def __init__(self, ids: Sequence[int], types: Sequence[Type]) -> None:
        self._ordinals = first_ordinals(ids)
        self.types = types

    def __contains__(self, id: int) -> bool:
        return id in self._ordinals

    def column(self, id: int) -> FieldReference | None:
        """A reference to the attribute's column, None where the input has no such attribute."""
        ordinal = self._ordinals.get(id)
        return None if ordinal is None else FieldReference(ordinal, self.types[ordinal])
