"""The corpus: small plans of everything that a dialect file speaks of."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from . import casts, defects, expressions, functions, messages, relations, values_of_types


def cases() -> Iterator[Case]:
    """All cases, simple ones first."""
    for each in (values_of_types, messages, relations, expressions, casts, functions, defects):
        yield from each.cases()
