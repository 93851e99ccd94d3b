"""What our errors repeat of an exception of Spark's: its class, and its message where Spark itself wrote that and put only names into it.

Whoever writes a file system, a catalog or a driver chooses the words of its exceptions, and secrets are among them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

NAMES = frozenset(
    """
    alternative alternatives ansiConfig class className columnName columnNames config configKey dataType dataTypes
    expectedNum actualNum fieldName fieldNames functionName funcName functionSignature inputName inputType leftType
    nameParts numCols objectName objectType operation paramIndex proposal relationName rightType requiredType routineName sqlState
    srcType suggestedFunc suggestion targetType type unsupported
    """.split()
)
"""The parameters of Spark's messages that hold names of columns, functions, types and settings, or numbers."""


def spark_errors() -> tuple[type[Exception], ...]:
    """What is raised where Spark fails, by PySpark or by py4j, which a client of Spark Connect need not have."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ModuleNotFoundError:
        return (PySparkException,)
    return PySparkException, Py4JError


def java_errors() -> tuple[type[Exception], ...]:
    """What is raised where the JVM answers that it failed; not where it doesn't answer."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    return PySparkException, Py4JJavaError


def failure_text(error: Exception) -> str:
    """An exception in a message: `[CLASS] sentence` where Spark made the sentence of names, else the class alone."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    name = type(error).__name__ if java is None else str(java.getClass().getName())
    if not name.startswith("org.apache.spark.") and java is not None:
        return name
    condition, parameters = _condition(error)
    if condition is None:
        return name
    if parameters is None or not parameters.keys() <= NAMES:
        return f"[{condition}]"
    # A name may be a path, as in parquet.`s3a://…`, and paths may hold secrets.
    return f"[{condition}]" if "/" in "".join(parameters.values()) else _message(error).strip().partition("\n")[0]


def _message(error: Exception) -> str:
    thrown = getattr(error, "java_exception", None)
    return str(error) if thrown is None else str(thrown.getMessage())


def _condition(error: Any) -> tuple[str | None, Mapping[str, str] | None]:
    """The name that Spark has for what went wrong, and the parameters of its message, where it is one of Spark's kinds."""
    from py4j.protocol import Py4JError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            condition = (getattr(error, "getCondition", None) or error.getErrorClass)()
            parameters = error.getMessageParameters()
            # Copied, since a map of the JVM's minds when Python stops in the middle of it.
            return condition, None if parameters is None else dict(parameters)
    except (AttributeError, Py4JError, OSError):
        pass
    # PySpark has no class of its own for it where there is no session of PySpark's: in the JVM that plans Connect frames.
    thrown: Any = getattr(error, "java_exception", None)
    try:
        condition = thrown.getCondition()
        return condition and str(condition), dict(thrown.getMessageParameters())
    except (AttributeError, TypeError, Py4JError, OSError):
        return None, None


def sentence(error: BaseException) -> str:
    """What is wrong, in one line, for the eyes of who ran the query: Spark's errors go on with the query and the plan, or
    only wrap another.
    """
    said = _first_line(str(error))
    java: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is None or said.startswith("["):
        return said
    while java.getCause() is not None:
        java = java.getCause()
    return _first_line(java.getMessage() or java.toString())


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
