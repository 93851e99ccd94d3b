"""What a picture says of a relation in a few words."""

from __future__ import annotations

from collections import Counter

from ..errors.quotation import identifier, last_part, shortened
from ..explain.document import Part, Relation
from ..explain.parts import part_text
from ..explain.text import Reference, Text, joined, pieces, plain

LENGTH = 110
"""How many characters of a relation's parts a picture shows."""

_QUIET = ("emit", "schema", "direct")
"""Parts that say which columns there are, which pictures show otherwise."""


def summary(relation: Relation, length: int = LENGTH) -> str:
    """A relation's parts in a line of at most so many characters, with columns by name."""
    return shortened(named(full(relation), ambiguous(relation)), length)


def full(relation: Relation) -> Text:
    """A relation's parts in a line."""
    return joined(" ", [_brief(part) for part in relation.parts if part.label not in _QUIET])


def _brief(part: Part) -> Text:
    """A part; of files only the last parts of their paths."""
    if part.label == "files":
        return joined(", ", [last_part(plain(item)) for item in part.items])
    return part_text(part)


def ambiguous(relation: Relation) -> frozenset[str | None]:
    """The names that different references of a relation have in common, and no name at all."""
    references = {piece for part in relation.parts for piece in pieces(part.items) if isinstance(piece, Reference)}
    counts = Counter(reference.name for reference in references)
    return frozenset({None, *(name for name, count in counts.items() if count > 1)})


def named(text: Text, ambiguous: frozenset[str | None]) -> str:
    """A text whose references are names where those say enough."""
    return "".join(piece if isinstance(piece, str) else reference_text(piece, ambiguous) for piece in pieces(text))


def reference_text(reference: Reference, ambiguous: frozenset[str | None]) -> str:
    """A reference's name where that says enough, else all of it."""
    name = reference.name
    return str(reference) if name is None or name in ambiguous else identifier(name)


def edge_label(relation: Relation, index: int) -> str:
    """What leads from an input to a relation: which of its sides it is."""
    if len(relation.inputs) < 2:
        return ""
    return ("left", "right")[index] if len(relation.inputs) == 2 else str(index)
