"""Collecting what is wrong with a message, each with its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors.quotation import printable, shortened

MOST, LONGEST = 1000, 2000
"""How many problems are told of, and in how many characters each."""


class Complaints:
    """The problems found so far. Calling it adds one, at the present place, while there are not too many."""

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
        if len(self.problems) == MOST:
            return
        place = "/".join(self._path)
        self.problems.append(printable(shortened(f"{place}: {problem}" if place else problem, LONGEST)))
