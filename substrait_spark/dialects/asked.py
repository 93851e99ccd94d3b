"""The dialect that is asked for, with what its engine is given and what may be conceded to it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from .concessions import accepted
from .dialect import Dialect
from .file import load


def asked_dialect(
    dialect: str | Path | Dialect | None, functions: frozenset[tuple[str, str]], accept: Collection[str]
) -> Dialect:
    """A dialect, of an engine that is also given these functions, by URN and name; `accept` are names of concessions.

    Raises DialectError as `load` does, and ValueError for what is no concession.
    """
    known = load(dialect).accepting(accepted(accept))
    return known.with_functions(functions) if functions else known
