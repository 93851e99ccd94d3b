"""What runs in a session, as Spark's listeners are told of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .compiler import JavaClass
from .failures import failure_text
from .reader import COMMAND_FIELDS, Kept
from .row_changes import RowChange, row_change

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 60_000
"""Milliseconds to wait for what Spark tells of an action after it has ended."""

_listeners = JavaClass(__package__, "QueryListener", after=COMMAND_FIELDS)


class Execution(NamedTuple):
    """What Spark calls an execution: an action, or a part of one."""

    id: int
    """Executions are numbered as they start."""
    root: int
    """The action that it is a part of; an action's is itself."""
    name: str | None
    """Spark's name of the action, if it has one."""
    command: Mapping[str, Any] | None
    """Of a command its class, and its fields as far as they tell where it writes."""
    query: Kept | None
    """The plan: of a command that writes, what it writes. None for other commands, and where others did its work."""
    change: RowChange | None
    """What a command does to rows of a table where they are."""
    failure: str | None
    """What it ended with, if it failed."""
    obstacle: str | None
    """Why there is no plan, where Spark has none."""


class Listener:
    """Keeps what runs in a session from now on: its logical plans, and nothing that was computed.

    Raises py4j's errors where the JVM can't be reached.
    """

    def __init__(self, session: SparkSession, *, every_session: bool, tables_as_files: bool) -> None:
        self._session = session
        spark: Any = session
        listeners = _listeners.of(spark._sc._gateway)
        wanted = None if every_session else spark._jsparkSession
        self._listening = listeners.listen(spark._sc._jsc.sc(), wanted, tables_as_files)

    def is_told(self) -> bool:
        """Whether Spark has told of everything that has ended. Waits for that, but not for ever."""
        return bool(self._listening.isTold(PATIENCE))

    def taken(self) -> list[Execution]:
        """What has ended since the last call, by number."""
        return sorted((self._execution(ended) for ended in self._listening.taken()), key=lambda ended: ended.id)

    def stop(self) -> None:
        """Keep nothing any more."""
        self._listening.stop()

    def _execution(self, ended: Any) -> Execution:
        query, change = ended.query(), ended.change()
        return Execution(
            ended.id(),
            ended.root(),
            ended.name(),
            json.loads(ended.command()),
            None if query is None else Kept(query, self._session),
            None if change is None else row_change(change, query, self._session),
            _told(ended.failure()),
            _told(ended.obstacle()),
        )


def _told(throwable: Any) -> str | None:
    from pyspark.errors.exceptions.captured import convert_exception

    if throwable is None:
        return None
    error: Any = convert_exception(throwable)
    error._origin = throwable  # which older ones forget of exceptions that have no name in Python
    return failure_text(error)
