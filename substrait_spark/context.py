"""The state of one conversion: what was asked for, and the problems found so far."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .algebra.builder import Traits
from .algebra.relation import Relation
from .catalyst.tree import Document, Plan
from .dialects.dialect import Dialect
from .errors import Origin, Unsupported
from .plan.concessions import Use
from .user_functions.declared import NO_FUNCTIONS, UserFunctions

READS = ("auto", "files", "tables")

STAGES = ("optimized", "analyzed")

SWITCHES = ("type_aliases", "detach", "provenance", "share_subplans", "hints")
"""The options that are true or false."""


@dataclass(frozen=True)
class Settings:
    """What the caller asked for, as `df_to_substrait` says it. `conversion.settings_of` makes it of the arguments."""

    dialect: Dialect
    reads: str = "auto"
    inline_limit: int = 10_000
    list_files: int | None = 1000
    stage: str = "optimized"
    local_data: Path | None = None
    """The folder for local rows that are too many for the plan; None where these are refused."""
    writes: bool = True
    """Whether files are written into it, or only the plan is made."""
    type_aliases: bool = False
    """Whether types that are in the plan several times are declared once."""
    detach: bool = False
    """Whether expressions that nest too deep are stored apart from their relations."""
    provenance: bool = False
    """Whether the plan says what it was made of."""
    share_subplans: bool = False
    """Whether parts of the plan that are the same are in it once."""
    functions: UserFunctions = NO_FUNCTIONS
    """The caller's own functions, which the plan may call by their names."""
    hints: bool = False
    """Whether the plan has what Spark knows of its rows, and what the query calls its parts and advises."""


WriteRoot = Callable[[Relation, Sequence[str], Document], Relation]
"""Turns a query's relation, the depth-first names of its columns and its document into the relation that writes its rows."""


@dataclass
class PendingProblem:
    """A problem as it is met, before Spark was asked for the node's SQL."""

    path: str
    node: Origin | None
    reason: str
    hint: str
    cause: BaseException | None = None


@dataclass
class Context:
    """One conversion."""

    settings: Settings
    problems: list[PendingProblem] = field(default_factory=list)
    traits: Traits = field(default_factory=Traits)
    release: tuple[int, ...] = ()
    """The release of the Spark that has planned the query, (4, 1, 4); empty where nobody said."""
    configuration: Mapping[str, str] = field(default_factory=dict)
    """Settings of the Spark session that functions read when they run, and so are in no node of the plan."""
    root: Plan | None = None
    """The plan that is emitted; None where nobody said."""
    used: Collection[int] | None = None
    """The exprIds of the columns that the plan uses; None where nobody asked which."""
    ambiguous_in: Mapping[Any, tuple[str, str]] = field(default_factory=dict)
    """The IN subqueries that are refused, each with the reason and a hint: where one is null, its value hangs on the order of the rules of Spark's optimizer."""
    statistics: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """By number, how many rows and bytes Spark knows plan nodes to have."""
    aliases: dict[Plan, str] = field(default_factory=dict)
    """What the query calls parts of it."""
    ctes: Mapping[int, int] = field(default_factory=dict)
    """How often the plan refers to each common table expression."""
    shares_ctes: bool = False
    """Whether one that is used several times is one relation, which the plan refers to, as canonical plans have it."""
    uses: list[Use] = field(default_factory=list)
    """Where concessions were used."""
    spilled_rows: dict[Path, bytes] = field(default_factory=dict)
    """Files that the plan reads and that are still to be written, by their paths."""
    gateway: Any = None
    """The way to the JVM that has planned the query; None where there is none."""
    write_root: WriteRoot | None = None
    """What makes of the root relation of a query the one that writes its rows, where a plan is to do so."""
    _path: list[str] = field(default_factory=list)
    _known: set[tuple[str, int, str]] = field(default_factory=set)

    @contextmanager
    def at(self, step: str) -> Iterator[None]:
        """Everything met inside is at this step of the path."""
        self.enter(step)
        try:
            yield
        finally:
            self.leave()

    def enter(self, step: str) -> None:
        """Everything met until `leave` is at this step of the path."""
        self._path.append(step)

    def leave(self) -> None:
        """Go on at the step before."""
        self._path.pop()

    def is_before(self, *release: int) -> bool:
        """Whether a Spark of an earlier release than this has planned the query."""
        return () < self.release < release

    def setting(self, name: str, default: str) -> str:
        """A setting of the Spark session in lower case, empty where its Spark has no such setting.

        The default is for recorded plans that don't tell it.
        """
        return self.configuration.get(name, default).strip().lower()

    @property
    def path(self) -> str:
        """The way from the root to what is being emitted."""
        return " / ".join(self._path)

    def report(self, node: Origin | None, problem: Unsupported) -> None:
        """Note a problem with what is being emitted, once."""
        self.report_at(self.path, node, problem)

    def report_at(self, path: str, node: Origin | None, problem: Unsupported) -> None:
        """Note a problem at some place of the plan, once."""
        for each in problem.each():
            about = each.about or node
            key = (path, id(about), each.reason)
            if key not in self._known:
                self._known.add(key)
                self.problems.append(PendingProblem(path, about, each.reason, each.hint, each.cause))
