"""A plan as a DataFrame: read, written as a document, built inside the JVM."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from substrait.plan_pb2 import Plan

from ...algebra.drawn_columns import with_drawn_columns
from ...algebra.nondeterminism import drawn_twice
from ...algebra.references import inlined
from ...catalyst.built_frames import built
from ...catalyst.compiler import JavaClass
from ...catalyst.reader import InSession, answer
from ...catalyst.session import require_classic_session
from ...errors import Problem, Unsupported, UnsupportedPlanError
from ...extensions import registry
from ...plan.message import TOO_DEEP
from ...reading.parameters import bound
from ...reading.plan import ReadPlan, read_plan
from ...user_functions.declared import UserFunctions
from ..file_access import folders
from .builder import Builder, Columns
from .correlation import by_single_steps
from .reads import Tables
from .relations import RelationBuilder
from .types import spark_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BUILDERS = JavaClass(__package__, "PlanBuilder")


def execute(
    plan: Plan,
    spark: SparkSession,
    *,
    tables: Mapping[str, DataFrame] | None = None,
    files_under: Iterable[str | Path] | None = None,
    parameters: Mapping[str, Any] | None = None,
    functions: Iterable[Any] = (),
) -> DataFrame:
    """A DataFrame of a canonical plan's rows, in columns named as the plan says.

    Named tables are those of `tables`, by the dotted full name or its last part, else those that the session knows by
    that name; columns are found as the session finds them (`spark.sql.caseSensitive`). What an expression means is the plan's business: the session's ANSI mode and time zone change nothing.
    No job is started, and nothing of the session is changed.

    A plan reads whatever table and file it names, with the session's rights. For plans of others, `files_under` lists the
    folders of this machine that their files must be in, symbolic links resolved; `[]` allows none.

    `parameters` are values of the plan's parameters by name, where it doesn't bind them itself or others are wanted.

    `functions` are those of your own that the plan calls, as `df_to_substrait` takes them: objects of PySpark's.

    Raises UnsupportedPlanError, which lists every obstacle, where the plan has what this engine, or this Spark, can't
    run; InvalidPlanError where a parameter has no value of its type; UnsupportedSessionError for Spark Connect, and for stopped
    and too old sessions; SubstraitSparkError for what is no session; TypeError where `tables` has something else than DataFrames.
    """
    require_classic_session(spark, IN_CONNECT)
    under = folders(files_under)
    registry.load_all()
    given = UserFunctions(functions)
    read = read_plan(bound(plan, parameters), given.nondeterministic)
    try:
        df: DataFrame = answer(InSession(spark), lambda: _run(read, Tables(spark, tables or {}, under), given, spark))
    except Unsupported as problem:
        refused = _unreadable("", None, problem.reason)
    else:
        return df
    raise UnsupportedPlanError([refused])


IN_CONNECT = (
    "This is a Spark Connect session, whose plans are made on the server, out of reach. "
    "Give a classic session, for example SparkSession.builder.master('local[*]')."
)


def _run(read: ReadPlan, tables: Tables, functions: UserFunctions, spark: SparkSession) -> DataFrame:
    problems = [_unreadable(entry.path, entry.part, entry.reason) for entry in read.problems]
    if read.root is None:
        raise UnsupportedPlanError(problems)
    whole = inlined(read.root)
    if whole is not read.root and (twice := drawn_twice(whole)):
        raise UnsupportedPlanError([_unreadable("", None, twice.reason)])
    builder = Builder(tables, functions, str(spark.conf.get("spark.sql.session.timeZone")))
    try:
        root = RelationBuilder(builder).plan(by_single_steps(with_drawn_columns(whole)))
    except RecursionError:
        raise UnsupportedPlanError([_unreadable("", None, TOO_DEEP.reason)]) from None
    _named(builder, root, read.root.types, read.names)
    problems += builder.problems
    if problems:
        raise UnsupportedPlanError(problems)
    return _dataframe(builder, spark)


def _unreadable(path: str, part: Any, reason: str) -> Problem:
    name = part.name if part is not None else "Plan"
    return Problem(path or "the plan", name, part.text if part is not None else name, reason, "")


def _named(builder: Builder, root: Columns, types: Any, names: list[str]) -> None:
    """The last node: the columns by the names that the plan's root has, and fields of structs by theirs."""
    document = builder.document
    try:
        columns = spark_columns(types, names)
    except Unsupported as problem:
        builder.report(None, problem)
        return
    named = [
        document.alias(document.typed(column, kind), name)
        for column, (name, kind) in zip(root.columns, columns, strict=True)
    ]
    builder.made(document.new("Project", named, root.plan), None)


def _dataframe(builder: Builder, spark: SparkSession) -> DataFrame:
    document = builder.document
    answered = built(_BUILDERS, spark, document.text(), document.datasets, document.functions)
    if isinstance(answered, str):
        builder.report_nodes([(number, reason) for number, reason in json.loads(answered)])
        raise UnsupportedPlanError(builder.problems)
    return answered
