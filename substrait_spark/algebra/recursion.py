"""A query that refers to its own result, as WITH RECURSIVE has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import extension_messages, types
from .expression import Anchors, Expression
from .feature import NOT_DETERMINISTIC, PREVIOUS_ROWS
from .relation import ExtensionMulti, ExtensionTable, Relation
from .traversal import relations_below
from .types import Type

NONE = -1
"""A limit that there isn't."""


class Recursion(ExtensionMulti):
    """The rows of the anchor, then those of the step over these, then those of the step over the latter, until it has none.

    In the step, `PreviousRows` of the same number are the rows that it was last computed to. The number tells recursions apart
    that are in each other's steps.
    """

    DOES = "repeats a query over its own rows"
    __slots__ = ("level_limit", "limit", "number", "row_limit")

    def __init__(
        self, inputs: tuple[Relation, Relation], number: int, level_limit: int, row_limit: int, limit: int
    ) -> None:
        self.number = number
        self.level_limit = max(level_limit, NONE)
        """How often the step may have rows; once more is an error."""
        self.row_limit = max(row_limit, NONE)
        """How many rows are an error, where `limit` doesn't end it."""
        self.limit = max(limit, NONE)
        """How many rows end it: those above don't ask for more."""
        anchor, step = inputs
        self._finish(inputs, list(map(_merged, anchor.types, step.types)))

    def _over(self, inputs: tuple[Relation, ...], expressions: Sequence[Expression]) -> Relation:
        anchor, step = inputs
        return Recursion((anchor, step), self.number, self.level_limit, self.row_limit, self.limit)

    def detail(self, anchors: Anchors) -> Any:
        return extension_messages.Recursion(
            number=self.number, level_limit=self.level_limit, row_limit=self.row_limit, limit=self.limit
        )


class PreviousRows(ExtensionTable):
    """In the step of a recursion, the rows that it had before."""

    FEATURES = PREVIOUS_ROWS
    __slots__ = ("number",)

    def __init__(self, number: int, names: Sequence[str], schema: Sequence[Type]) -> None:
        self.number = number
        self._set_columns(names, schema)

    def detail(self) -> Any:
        return extension_messages.PreviousRows(number=self.number)


def previous_rows_of(root: Relation) -> set[int]:
    """The numbers of recursions around a relation whose previous rows it reads."""
    if not root.features & PREVIOUS_ROWS:
        return set()
    below = relations_below(root)
    read = {each.number for each in below if isinstance(each, PreviousRows)}
    return read - {each.number for each in below if isinstance(each, Recursion)}


def misfit(recursion: Recursion) -> str | None:
    """Why the step of a recursion can't be repeated over what it and the anchor have; None where it can."""
    anchor, step = recursion.inputs
    if len(anchor.types) != len(step.types) or not all(map(types.equal_but_nullability, anchor.types, step.types)):
        return "its anchor and its step have different types"
    if step.features & NOT_DETERMINISTIC:
        return "its step draws values, which are others each time"
    return None if fits(recursion) else "its step is over rows of other types than it has"


def fits(recursion: Recursion) -> bool:
    """Whether the rows that the step is over have room for all that it and the anchor have."""
    below = relations_below(recursion.inputs[1])
    read = [each.schema for each in below if isinstance(each, PreviousRows) and each.number == recursion.number]
    return all(len(each) == len(recursion.types) and all(map(_holds, each, recursion.types)) for each in read)


def _merged(anchor: Type, step: Type) -> Type:
    """The type of a column; the anchor's where a stand-in for what has no form has another one."""
    return types.least_nullable_common(anchor, step) if types.equal_but_nullability(anchor, step) else anchor


def _holds(read: Type, made: Type) -> bool:
    """Whether a column has room for values of a type."""
    return types.equal_but_nullability(read, made) and types.least_nullable_common(read, made) == read
