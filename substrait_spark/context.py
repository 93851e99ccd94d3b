"""The state of one conversion: what was asked for, and the problems found so far."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from .catalyst.tree import Node
from .dialects.dialect import Dialect
from .errors import Unsupported

READS = ("auto", "files", "tables")


@dataclass(frozen=True)
class Settings:
    """What the caller asked for."""

    dialect: Dialect
    reads: str
    inline_limit: int
    list_files: int | None = 1000


@dataclass
class Found:
    """A problem as it is met, before Spark was asked for the node's SQL."""

    path: str
    node: Node | None
    reason: str
    hint: str


@dataclass
class Context:
    """One conversion."""

    settings: Settings
    found: list[Found] = field(default_factory=list)
    shares: bool = False
    """Whether any expression has parts to compute once."""
    draws: bool = False
    """Whether any function is called that is not deterministic."""
    configuration: Mapping[str, str] = field(default_factory=dict)
    """Settings of the Spark session that functions read when they run, and so are in no node of the plan."""
    spark: str = ""
    """Spark's version."""
    used: Collection[int] | None = None
    """The exprIds of the columns that the plan uses; None where nobody asked which."""
    _path: list[str] = field(default_factory=list)
    _known: set[tuple[str, int, str]] = field(default_factory=set)

    @property
    def dialect(self) -> Dialect:
        return self.settings.dialect

    @contextmanager
    def at(self, step: str) -> Iterator[None]:
        """Everything met inside is at this step of the path."""
        self._path.append(step)
        try:
            yield
        finally:
            self._path.pop()

    def report(self, node: Node | None, problem: Unsupported) -> None:
        """Note a problem, once."""
        path = " / ".join(self._path)
        key = (path, id(node), problem.reason)
        if key not in self._known:
            self._known.add(key)
            self.found.append(Found(path, node, problem.reason, problem.hint))
