"""Fetching a plan out of the JVM: one compile per JVM, one walk per plan."""

from __future__ import annotations

import base64
import json
import sys
import threading
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import SubstraitSparkError, Unsupported, UnsupportedSessionError
from .compiler import JavaClass
from .failures import failure_text
from .session import STOPPED, require_running
from .source_options import HARMLESS_OPTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GONE = "The JVM of this DataFrame's session can't be reached any more: start a session and build the DataFrame again."

OVER_SCHEMA = "over schema"
"""The stage of an expression by itself: analyzed, over the columns alone of the `WHERE false` that it selects from."""

INTERRUPTED = "The JVM's answer was lost, as when Ctrl-C interrupts Spark: convert the DataFrame again."


class Planned(Protocol):
    """What has a plan in the JVM: a DataFrame, a planned frame of Spark Connect, or what is ready to be read."""

    @property
    def _jdf(self) -> Any: ...

    @property
    def sparkSession(self) -> Any: ...  # noqa: N802 - PySpark's name


@dataclass(frozen=True)
class InSession:
    """A session of which nothing is planned yet, asked as a DataFrame of it is."""

    sparkSession: SparkSession  # noqa: N815 - PySpark's name

    @property
    def _jdf(self) -> Any:
        return self.sparkSession.range(0)._jdf


@dataclass(frozen=True)
class Kept:
    """A plan that is ready to be read, as it is, whatever the stage."""

    _jdf: Any
    sparkSession: SparkSession  # noqa: N815 - PySpark's name


class Asked(Protocol):
    """What the caller asked for, as far as it says what the document holds."""

    @property
    def inline_limit(self) -> int: ...

    @property
    def list_files(self) -> int | None: ...

    @property
    def reads(self) -> str: ...

    @property
    def stage(self) -> str: ...

    @property
    def local_data(self) -> Path | None: ...

    @property
    def hints(self) -> bool: ...


READERS = JavaClass(__package__, "PlanReader", lambda: (" ".join(sorted(HARMLESS_OPTIONS)),))

_analyzed_plans = JavaClass(__package__, "AnalyzedPlan", after=READERS)

_row_changes = JavaClass(__package__, "RowChanges", after=_analyzed_plans)

COMMAND_FIELDS = JavaClass(__package__, "CommandFields", after=_row_changes)


def prepare(df: Planned, stage: str) -> None:
    """Bring the reader into the JVM, if it isn't there yet, and plan the query beside that, while Python goes on with other work."""
    if READERS.is_there(df.sparkSession._sc._gateway):
        return
    works = (_reader, _optimized_plan) if stage == "optimized" else (_reader,)
    for work in works:
        threading.Thread(target=_tried, args=(work, df), name="substrait-spark-prepare", daemon=True).start()


def _tried(work: Callable[[Planned], Any], df: Planned) -> None:
    # What fails here fails again, and is told, where the reader is needed.
    with suppress(Exception):
        work(df)


def read(df: Planned, asked: Asked) -> str:
    """The document of the DataFrame's plan at a stage.

    In place of more local rows than `inline_limit` it has a number above that, unless there is a folder for them.
    """

    def ask() -> str:
        packed = _reader(df).read(_source(df, asked), *_arguments(asked), asked.hints)
        return packed if isinstance(packed, str) else "".join([packed.part(index) for index in range(packed.size())])

    document: str = answer(df, ask)
    # What is short comes as it is, which Base64 never begins like.
    return document if document.startswith("{") else zlib.decompress(base64.b64decode(document)).decode("ascii")


def describe(df: Planned, asked: Asked, numbers: Sequence[int]) -> list[str | None]:
    """Spark's SQL text of nodes of the DataFrame's document, by number; None where a node has no SQL."""
    if not numbers:
        return []
    shown = " ".join(map(str, numbers))
    return list(json.loads(answer(df, lambda: _reader(df).describe(_source(df, asked), *_arguments(asked), shown))))


def _source(df: Planned, asked: Asked) -> Any:
    """The Java object to read: what has the plan, which then is the optimized one, or the analyzed plan itself."""
    if asked.stage == "optimized" or isinstance(df, Kept):
        return df._jdf
    plans = _analyzed_plans.of(df.sparkSession._sc._gateway)
    return plans.overSchema(df._jdf) if asked.stage == OVER_SCHEMA else plans.of(df._jdf, asked.hints)


def _arguments(asked: Asked) -> tuple[int, int, bool]:
    most_rows = asked.inline_limit if asked.local_data is None else MOST_ROWS
    return most_rows, -1 if asked.list_files is None else asked.list_files, asked.reads == "files"


def answer(df: Planned, ask: Callable[[], Any]) -> Any:
    """What the JVM answers. What fails in Spark or on the way to it is told as an error of ours.

    A connection that an interrupt has closed is found out when it is used next: then it is asked again, over another one.
    Raises Unsupported where Spark can't do it.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    handled = sys.exc_info()[1]
    for last in (False, True):
        try:
            return ask()
        except (PySparkException, Py4JError, OSError) as error:
            cause = error.__context__ if error.__context__ is not handled else None
            # An interrupted py4j closes its connection, and fails where that is closed already.
            if isinstance(cause, KeyboardInterrupt):
                failure: BaseException = cause
            elif not _is_unanswered(error, cause):
                failure = _stopped(df) or _failed(df, error)
            elif stopped := _stopped(df):
                failure = stopped
            elif not _is_reached(df):
                failure = UnsupportedSessionError(GONE)
            elif last:
                failure = SubstraitSparkError(INTERRUPTED)
            else:
                continue
        # Here, where nothing is handled: Spark's exception may hold credentials, and stays behind.
        raise failure
    raise AssertionError


def _is_unanswered(error: BaseException, cause: BaseException | None) -> bool:
    """Whether py4j got no answer, of which PySpark may have made an exception of its own.

    The older Spark is, the more interrupts end so: its handler uses the same connection.
    """
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    if isinstance(error, PySparkException):
        return isinstance(cause, Py4JError | OSError) and _is_unanswered(cause, None)
    if isinstance(error, Py4JNetworkError | OSError):
        return True
    return getattr(error, "java_exception", None) is None and "Trace:" not in str(error)


def _stopped(df: Planned) -> UnsupportedSessionError | None:
    """What to say where the session was stopped, though Python may not know it yet."""
    from py4j.protocol import Py4JError

    try:
        require_running(df)
        context: Any = df.sparkSession._sc._jsc
        stopped = context is None or bool(context.sc().isStopped())
    except UnsupportedSessionError as error:
        return error
    except (Py4JError, OSError, AttributeError):
        stopped = df.sparkSession._sc._jsc is None
    return UnsupportedSessionError(STOPPED) if stopped else None


MOST_ROWS = 2**31 - 1
"""How many local rows a document may have: Java's greatest number."""

TRIES = 3
"""How many failed calls it takes to conclude that the JVM is gone: each may meet a connection that an interrupt has closed."""


def _is_reached(df: Planned) -> bool:
    from py4j.protocol import Py4JError

    for _ in range(TRIES):
        with suppress(Py4JError, OSError):
            df.sparkSession._sc._jsc.sc()
            return True
    return False


def _failed(df: Planned, error: Exception) -> Exception:
    from pyspark.errors import PySparkException

    if isinstance(error, PySparkException) or isinstance(df, InSession) or not _is_planned(df):
        return Unsupported(f"Spark itself can't plan it: {failure_text(error)}")
    return SubstraitSparkError(f"Reading the plan failed inside the JVM: {failure_text(error)}")


def _is_planned(df: Planned) -> bool:
    """Whether Spark's optimizer gets through the query, which a defect of its own may keep it from."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        _optimized_plan(df)
    except (PySparkException, Py4JError):
        return False
    return True


def _optimized_plan(df: Planned) -> Any:
    return df._jdf.queryExecution().optimizedPlan()


def _reader(df: Planned) -> Any:
    return READERS.of(df.sparkSession._sc._gateway)
