"""Limits on what is derived or written of one plan, since a small message can stand for any number of columns."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import InvalidPlanError

COLUMNS = 500_000
"""How many columns all relations of a plan may have together, of structs each field counted."""

PARTS = 100_000
"""How many types a type may have in it."""

CHARACTERS = 20_000_000
"""How long the text or the picture of a plan may be."""


class Columns:
    """What is left of the columns that the relations of a plan may have."""

    def __init__(self) -> None:
        self._left = COLUMNS

    def take(self, columns: int) -> None:
        """Count the columns of a relation. Raises InvalidPlanError once there are too many."""
        self._left -= columns
        if self._left < 0:
            raise InvalidPlanError(
                f"The plan's relations have more than {COLUMNS:,} columns together, and no further ones are derived."
            )


def require_parts(parts: int) -> None:
    """Raises InvalidPlanError where a type has too many in it."""
    if parts > PARTS:
        raise InvalidPlanError(f"The plan has a type with more than {PARTS:,} types in it.")


def text_of(pieces: Iterable[str]) -> str:
    """The pieces as one text. Raises InvalidPlanError once it is too long."""
    counted: list[str] = []
    length = 0
    for piece in pieces:
        length += len(piece)
        if length > CHARACTERS:
            raise InvalidPlanError(f"The plan has more than {CHARACTERS:,} characters of text, and is not shown.")
        counted.append(piece)
    return "".join(counted)
