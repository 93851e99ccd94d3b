"""Collecting what is wrong with a message, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..quotation import printable


class Complaints:
    """The problems found so far. Calling it adds one, at the present place."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._path: list[str] = []

    @contextmanager
    def at(self, step: str) -> Iterator[None]:
        """Complaints inside are about this step of the path."""
        self._path.append(step)
        try:
            yield
        finally:
            self._path.pop()

    def __call__(self, problem: str) -> None:
        place = "/".join(self._path)
        self.problems.append(printable(f"{place}: {problem}" if place else problem))
