"""Selecting expressions from a schema in Spark, and converting each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..catalyst import reader
from ..catalyst.failures import failure_text, spark_errors
from ..catalyst.session import is_connect, require_dataframe, require_pyspark, require_running
from ..dialects import Dialect
from ..errors import Problem, SubstraitSparkError, Unsupported, UnsupportedPlanError, UnsupportedSessionError, kind_of
from ..user_functions.declared import UserFunctions
from .convert import SELECTED, referred, schema_of, settings_of
from .message import Referred, build

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from substrait.extended_expression_pb2 import ExtendedExpression

Made = TypeVar("Made")

NO_SESSION = (
    "A schema alone needs an active Spark session, which settles what expressions mean: start one, or give a DataFrame."
)


def convert(
    given: Any,
    expressions: Mapping[str, Any],
    dialect: Dialect,
    *,
    detach: bool,
    functions: UserFunctions,
    allow_version_mismatch: bool,
) -> ExtendedExpression:
    """The message of expressions over a schema. Arguments as `expressions_to_substrait`."""
    _require_expressions(expressions)
    settings = settings_of(dialect, detach, functions)
    columns = _columns_of(given)

    schema, problems = _planned(columns, partial(schema_of, settings=settings), allow_version_mismatch)
    if schema is None:
        raise UnsupportedPlanError(problems)
    converted: list[Referred] = []
    obstacles: list[Problem] = []
    for name, expression in expressions.items():
        try:
            selected = _selected(columns, name, expression)
        except Unsupported as error:
            text = expression if isinstance(expression, str) else "Column"
            obstacles.append(Problem(f"expression {name!r}", "Column", text, error.reason, error.hint))
            continue
        conversion = partial(referred, settings=settings, name=name, schema=schema)
        one, problems = _planned(selected, conversion, allow_version_mismatch)
        obstacles += [_of_expression(each, name) for each in problems]
        converted += [] if one is None else [one]
    if obstacles:
        raise UnsupportedPlanError(obstacles)
    try:
        return build(schema, converted, detach)
    except Unsupported as error:
        obstacle = Problem("the expressions", "Column", ", ".join(expressions), error.reason, error.hint)
    raise UnsupportedPlanError([obstacle])


def _of_expression(problem: Problem, name: str) -> Problem:
    """A problem with the name of its expression, where that couldn't even be planned."""
    return replace(problem, path=f"expression {name!r}") if problem.path == "the plan" else problem


def _planned(
    df: DataFrame,
    conversion: Callable[[reader.Planned], tuple[Made | None, Sequence[Problem]]],
    allow_version_mismatch: bool,
) -> tuple[Made | None, Sequence[Problem]]:
    """What is made of a DataFrame, which is planned here where it is of Spark Connect."""
    if is_connect(df):
        from ..connect.frame import convert_planned

        return convert_planned(df, conversion, allow_version_mismatch=allow_version_mismatch)
    require_running(df)
    return conversion(df)


def _require_expressions(expressions: Mapping[str, Any]) -> None:
    """Raise a clear error unless these are expressions by name."""
    require_pyspark()
    from pyspark.sql import Column

    if not isinstance(expressions, Mapping):
        raise TypeError(f"expressions must be a mapping of names to expressions, not {kind_of(expressions)}")
    if not expressions:
        raise ValueError("expressions must have at least one expression")
    for name, expression in expressions.items():
        if not isinstance(name, str):
            raise TypeError(f"the names of expressions must be str, not {kind_of(name)}")
        if not isinstance(expression, str | Column) and type(expression).__name__ != "Column":
            raise TypeError(f"expression {name!r} must be a Column or SQL text, not {kind_of(expression)}")


def _columns_of(given: Any) -> Any:
    """What expressions select from: no rows, in the columns of a schema."""
    from pyspark.sql.types import StructType

    if isinstance(given, str | StructType):
        session = _active_session()
        try:
            return _asked(session, lambda: session.createDataFrame([], given).where(SELECTED))
        except Unsupported as error:
            failure = SubstraitSparkError(f"The schema can't be read: {error.reason}")
        raise failure
    require_dataframe(given)
    if not is_connect(given):
        require_running(given)
    try:
        return _asked(given.sparkSession, lambda: given.where(SELECTED))
    except Unsupported as error:
        failure = SubstraitSparkError(f"Nothing can be selected from the DataFrame: {error.reason}")
    raise failure


def _active_session() -> Any:
    from pyspark.sql import SparkSession

    for _ in range(reader.TRIES):
        with suppress(OSError, *spark_errors()):
            session = SparkSession.getActiveSession()
            if session is not None:
                return session
    raise UnsupportedSessionError(NO_SESSION)


def _selected(columns: Any, name: str, expression: Any) -> Any:
    """A DataFrame that selects an expression. Raises `Unsupported` where Spark can't make one."""
    if isinstance(expression, str):
        return _asked(columns.sparkSession, lambda: columns.selectExpr(expression))
    if is_connect(expression) != is_connect(columns):
        raise TypeError(f"expression {name!r} is a Column of another kind of session than the DataFrame")
    return _asked(columns.sparkSession, lambda: columns.select(expression))


def _asked(session: Any, ask: Callable[[], Made]) -> Made:
    """What Spark answers, with its exceptions as `Unsupported`."""
    from pyspark.errors import PySparkException

    if not is_connect(session):
        made: Made = reader.answer(reader.InSession(session), ask)
        return made
    try:
        return ask()
    except (PySparkException, OSError) as error:
        failure = Unsupported(f"Spark itself can't plan it: {failure_text(error)}")
    # Here, where nothing is handled: Spark's exception may hold credentials, and stays behind.
    raise failure
