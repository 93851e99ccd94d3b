"""What a pattern of LIKE consists of."""

from __future__ import annotations

ANY, ONE = object(), object()
"""The wildcards % and _."""


def parts_of(pattern: str, escape: str) -> list[str | object] | None:
    """The characters and wildcards of a pattern; None where anything else is escaped, which is an error."""
    parts: list[str | object] = []
    characters = iter(pattern)
    for c in characters:
        if c == escape:
            escaped = next(characters, "")
            if escaped not in ("%", "_", escape):
                return None
            parts.append(escaped)
        else:
            parts.append(ANY if c == "%" else ONE if c == "_" else c)
    return parts
