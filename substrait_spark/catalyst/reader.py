"""Fetching a DataFrame's plan out of the JVM: one compile per JVM, one walk per plan."""

from __future__ import annotations

import base64
import json
import sys
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import SubstraitSparkError, Unsupported, UnsupportedSessionError
from .compiler import JavaClass
from .locations import redacted
from .session import require_running
from .source_options import HARMLESS_OPTIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GONE = "The JVM of this DataFrame's session can't be reached any more: start a session and build the DataFrame again."

INTERRUPTED = "The JVM's answer was lost, as when Ctrl-C interrupts Spark: convert the DataFrame again."


class Asked(Protocol):
    """What the caller asked for, as far as it says what the document holds."""

    @property
    def inline_limit(self) -> int: ...

    @property
    def list_files(self) -> int | None: ...

    @property
    def reads(self) -> str: ...


_readers = JavaClass(__package__, "PlanReader", lambda: (" ".join(sorted(HARMLESS_OPTIONS)),))


def prepare(df: DataFrame) -> None:
    """Let the JVM of a DataFrame compile the reader, if it hasn't yet, while Python goes on with other work."""
    if not _readers.is_compiled(df.sparkSession._sc._gateway):
        threading.Thread(target=_prepared, args=(df,), name="substrait-spark-compile", daemon=True).start()


def _prepared(df: DataFrame) -> None:
    # What fails here fails again, and is told, where the reader is needed.
    with suppress(Exception):
        _reader(df)


def read(df: DataFrame, asked: Asked) -> str:
    """The document of the DataFrame's optimized plan. At most `inline_limit + 1` local rows are in it."""
    with _reading(df):
        packed = _reader(df).read(df._jdf, *_arguments(asked))
        if not isinstance(packed, str):
            packed = "".join([packed.part(index) for index in range(packed.size())])
    return zlib.decompress(base64.b64decode(packed)).decode("ascii")


def describe(df: DataFrame, asked: Asked, numbers: Sequence[int]) -> list[str | None]:
    """Spark's SQL text of nodes of the DataFrame's document, by number; None where a node has no SQL."""
    if not numbers:
        return []
    with _reading(df):
        texts = _reader(df).describe(df._jdf, *_arguments(asked), " ".join(map(str, numbers)))
    return list(json.loads(texts))


def _arguments(asked: Asked) -> tuple[int, int, bool]:
    return asked.inline_limit, -1 if asked.list_files is None else asked.list_files, asked.reads == "files"


@contextmanager
def _reading(df: DataFrame) -> Iterator[None]:
    """What fails in Spark or on the way to it is told as an error of ours."""
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    handled = sys.exc_info()[1]
    try:
        yield
    except PySparkException as error:
        # Its message may hold a path with credentials, so it is neither quoted in full nor chained.
        raise _unplanned(error) from None
    except (Py4JError, OSError) as error:
        # An interrupted py4j closes its connection, and fails where that is closed already.
        if isinstance(error.__context__, KeyboardInterrupt) and error.__context__ is not handled:
            raise error.__context__ from None
        if isinstance(error, Py4JNetworkError | OSError):
            raise UnsupportedSessionError(GONE) from error
        require_running(df)
        if _is_unanswered(error):
            raise (SubstraitSparkError(INTERRUPTED) if _is_reached(df) else UnsupportedSessionError(GONE)) from None
        if not _is_planned(df):
            raise _unplanned(error) from None
        raise SubstraitSparkError(f"Reading the plan failed inside the JVM: {redacted(_first_line(error))}") from None


def _is_unanswered(error: Exception) -> bool:
    """Whether py4j got no answer. The older Spark is, the more interrupts end so: its handler uses the same connection."""
    return getattr(error, "java_exception", None) is None and "Trace:" not in str(error)


def _is_reached(df: DataFrame) -> bool:
    from py4j.protocol import Py4JError

    try:
        df._jdf.queryExecution()
    except (Py4JError, OSError):
        return False
    return True


def _unplanned(error: Exception) -> Unsupported:
    return Unsupported(f"Spark itself can't plan it: {redacted(_first_line(error))}")


def _is_planned(df: DataFrame) -> bool:
    """Whether Spark's optimizer gets through the query, which a defect of its own may keep it from."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        df._jdf.queryExecution().optimizedPlan()
    except (PySparkException, Py4JError):
        return False
    return True


def _first_line(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    if java is not None:
        return str(java.getClass().getName())
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def _reader(df: DataFrame) -> Any:
    return _readers.of(df.sparkSession._sc._gateway)
