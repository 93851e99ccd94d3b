"""The queries that a block of code ran, as `capture` hands them over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from ..catalyst.commands import Target, merged, target
from ..catalyst.listener import Execution, Listener
from ..errors import Problem, SubstraitSparkError, Unsupported
from ..errors.quotation import identifier, printable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from substrait.plan_pb2 import Plan

    from ..context import Settings

SAVE, COMMAND, CAPTURE = "save", "command", "capture"
"""Actions that write; other commands; and no action, but a failure of ours."""

NAMES = {
    "collectToPython": "collect",
    "collectAsArrowToPython": "collect",
    "tailToPython": "tail",
    None: "toLocalIterator",  # the one that Spark gives no name
}
"""Names that Spark has for how Python gets the rows of an action, and what was called."""


@dataclass(frozen=True)
class CapturedQuery:
    """An action that a block of code ran."""

    action: str
    """Spark's name of it, `collect`, `count`, `head`, …; `save` where a query's rows are written, by whatever statement;
    `delete`, `update` or `merge` where a statement changes rows of a table; and `command` for other statements. `capture` is no
    action, but tells what is missing in the list."""
    plan: Plan | None
    """The plan: where rows are written, of the query that they come from; where they change, of the statement."""
    problems: tuple[Problem, ...] = ()
    """What stood in the plan's way."""
    target: Target | None = None
    """Where rows were written, or changed."""
    error: str | None = None
    """What the action failed with, if it did, in the job too: the name of the condition, or the exception's class."""

    @property
    def head(self) -> str:
        """All but the plan, as text: the action in a line, and a line for each problem."""
        line = self.action if self.target is None else f"{self.action} to {self.target}"
        if self.error is not None:
            line += f", which failed: {self.error}"
        problems = [f"  {problem.catalyst_class} at {problem.path}: {problem.reason}" for problem in self.problems]
        return "\n".join(map(printable, [line, *problems]))


class CapturedQueries(Sequence[CapturedQuery]):
    """The actions that a block of code ran, in the order in which they began. Read within the block: those that have ended."""

    def __init__(self, update: Callable[[], Sequence[CapturedQuery]]) -> None:
        self._update = update

    @overload
    def __getitem__(self, index: int) -> CapturedQuery: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[CapturedQuery]: ...

    def __getitem__(self, index: int | slice) -> CapturedQuery | Sequence[CapturedQuery]:
        return self._update()[index]

    def __len__(self) -> int:
        return len(self._update())

    def __iter__(self) -> Iterator[CapturedQuery]:
        return iter(self._update())

    def __repr__(self) -> str:
        return f"<{len(self)} captured queries: {', '.join(query.action for query in self)}>"


class Capture:
    """Listens to sessions, and makes plans of what ran in them. Whatever fails in it is told as a query's problem.

    `settings_then` gives the settings of each plan when it is made, where they have what the job itself makes: functions.
    """

    def __init__(self, settings: Settings, settings_then: Callable[[], Settings] | None = None) -> None:
        self.queries = CapturedQueries(self._updated)
        self._settings = settings
        self._settings_then = settings_then or (lambda: settings)
        self._listeners: list[Listener] = []
        self._numbered: list[tuple[int, CapturedQuery]] = []
        self._lock = threading.RLock()

    def listen(self, session: SparkSession, *, every_session: bool = False) -> None:
        """Capture what runs in a session from now on, or in all sessions of its application."""
        with self._lock:
            try:
                files = self._settings.reads == "files"
                self._listeners.append(Listener(session, every_session=every_session, tables_as_files=files))
            except Exception as error:  # noqa: BLE001 - the job that is to run next must run
                self._fail(f"Spark could not be listened to: {_said(error)}")

    def stop(self) -> None:
        """Make plans of what has run, and listen no more."""
        with self._lock:
            try:
                self._updated()
            finally:
                while self._listeners:
                    self._let_go(self._listeners.pop())

    def _let_go(self, listener: Listener) -> None:
        try:
            listener.stop()
        except Exception as error:  # noqa: BLE001 - the job may still be going on
            self._fail(f"Spark may not have been told to stop listening: {_said(error)}")

    def _updated(self) -> list[CapturedQuery]:
        with self._lock:
            for listener in self._listeners:
                self._take(listener)
            return [query for _, query in self._numbered]

    def _take(self, listener: Listener) -> None:
        try:
            told = listener.is_told()
            actions: dict[int, list[Execution]] = {}
            for execution in listener.taken():
                actions.setdefault(execution.root, []).append(execution)
            for parts in actions.values():
                self._numbered += [(part.id, query) for part, query in self._queries(parts)]
            self._numbered.sort(key=lambda numbered: numbered[0])
            if not told:
                self._fail("Spark is late in telling what ran: the last queries may be missing")
        except Exception as error:  # noqa: BLE001 - nothing of ours may end the job
            self._fail(f"queries may be missing: {_said(error)}")

    def _queries(self, parts: Sequence[Execution]) -> Iterator[tuple[Execution, CapturedQuery]]:
        """The queries of an action's executions: its writes, if there are any, else the action itself.

        Spark has commands that leave the work to others, which are parts of the same action.
        """
        writes = [(part, saved_to) for part in parts if (saved_to := _target(part)) is not None]
        doing = [(part, saved_to) for part, saved_to in writes if part.query is not None] or writes[-1:]
        if not doing:
            yield parts[0], self._query(parts[0], None, parts[0].failure)
        elif len(doing) == 1:
            failure = next((part.failure for part in parts if part.failure is not None), None)
            yield parts[0], self._query(doing[0][0], merged([saved_to for _, saved_to in writes]), failure)
        else:
            yield from ((part, self._query(part, saved_to, part.failure)) for part, saved_to in doing)

    def _query(self, execution: Execution, target: Target | None, failure: str | None) -> CapturedQuery:
        plan, problems = self._converted(execution, target)
        return CapturedQuery(_action(execution, target), plan, tuple(problems), target, failure)

    def _converted(self, execution: Execution, target: Target | None) -> tuple[Plan | None, Sequence[Problem]]:
        if execution.command is not None and target is None:
            reason = "it is a command, and only what a command writes is a query"
            return None, [_problem(reason, str(execution.command["class"]))]
        unplanned = f"Spark itself can't plan it: {execution.obstacle or execution.failure}"
        # Imported by now, with the settings.
        from ..conversion import convert_as
        from . import row_changes

        try:
            if execution.change is not None and execution.obstacle is None:
                return row_changes.changed(execution.change, self._settings_then())
            if execution.query is None:
                return None, [_problem(unplanned)]
            return convert_as(execution.query, self._settings_then())
        except Unsupported as problem:
            return None, [Problem("the plan", "QueryExecution", "QueryExecution", problem.reason, problem.hint)]
        except Exception as error:  # noqa: BLE001 - the queries after it have plans
            return None, [_problem(_said(error))]

    def _fail(self, reason: str) -> None:
        last = self._numbered[-1][0] if self._numbered else 0
        self._numbered.append((last, CapturedQuery(CAPTURE, None, (_problem(reason),))))


def _target(execution: Execution) -> Target | None:
    """Where an execution writes, or which table's rows it changes."""
    if execution.change is None:
        return target(execution.command)
    return Target(".".join(map(identifier, execution.change.table)) or None)


def _action(execution: Execution, target: Target | None) -> str:
    if execution.change is not None:
        return execution.change.kind.lower()
    if target is not None:
        return SAVE
    if execution.command is not None:
        return COMMAND
    return NAMES.get(execution.name, execution.name or "")


def _problem(reason: str, catalyst_class: str = "QueryExecution") -> Problem:
    return Problem("the plan", catalyst_class, catalyst_class, reason, "")


def _said(error: Exception) -> str:
    return (
        str(error) if isinstance(error, SubstraitSparkError) else f"substrait_spark failed with {type(error).__name__}"
    )
