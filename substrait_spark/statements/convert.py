"""Making the plan of a SQL statement, such as an INSERT, or of a DataFrame's writer; nothing of it is run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from substrait.plan_pb2 import Plan

from ..algebra.expression import Literal
from ..algebra.relation import Relation
from ..algebra.types import equal_but_nullability
from ..algebra.write import Ddl, Write
from ..catalyst import reader
from ..catalyst.failures import failure_text
from ..catalyst.session import file_system, is_connect
from ..catalyst.statement import Statement, is_required, is_type, parameter_frame, statement
from ..catalyst.tree import Document
from ..catalyst.types import field_names
from ..catalyst.write_commands import EVOLVES, HINT, NO_DEFAULT, Change, Session, change
from ..context import Settings, WriteRoot
from ..conversion import convert_as
from ..errors import Problem, SubstraitSparkError, Unsupported
from ..plan.parameters import declare
from .definitions import columns_of, defined, literals
from .row_changes import CHANGES, changed, replacing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def convert_statement(
    spark: SparkSession, sql: str, parameters: Mapping[str, Any], settings: Settings
) -> tuple[Plan | None, Sequence[Problem]]:
    """The plan of a statement, or None and what stands in its way."""
    try:
        plan_and_problems: tuple[Plan | None, Sequence[Problem]] = reader.answer(
            reader.InSession(spark), lambda: _analysed_and_converted(spark, sql, parameters, settings)
        )
    except Unsupported as problem:
        return None, [_problem(problem.reason, problem.hint)]
    return plan_and_problems


def _analysed_and_converted(
    spark: SparkSession, sql: str, parameters: Mapping[str, Any], settings: Settings
) -> tuple[Plan | None, Sequence[Problem]]:
    from pyspark.errors import PySparkException

    frame = parameter_frame(spark, parameters)
    constants = _constants(frame, settings)
    nullable = {
        name: not is_required(given) if is_type(given) else constants[name].value is None
        for name, given in parameters.items()
    }
    try:
        analysed = _analysed(spark, sql, frame, nullable, settings)
        plan, problems = (None, [analysed]) if isinstance(analysed, Problem) else _converted(analysed, settings)
    except PySparkException as error:
        open_parameters = _named(error, nullable)
        if not open_parameters:
            raise
        what = f"it with {' and '.join(open_parameters)} open"
        return None, [_problem(f"Spark itself can't plan {what}: {failure_text(error)}", SHAPES)]
    if plan is not None and parameters:
        declare(plan, list(parameters), {name: constants[name] for name in parameters if not is_type(parameters[name])})
    return plan, problems


def _converted(analysed: Statement, settings: Settings) -> tuple[Plan | None, Sequence[Problem]]:
    command = analysed.command
    if command is None:
        return convert_as(analysed, settings)
    try:
        rows = analysed.change
        if rows is not None and rows.kind in CHANGES:
            return changed(rows, settings)
        said = change(command, session_of(analysed.sparkSession))
        if said.op in WITHOUT_ROWS and said.object == "TABLE":
            if said.op == "ALTER" and analysed.columns is None:
                raise Unsupported(NO_DEFAULT, HINT)
            return defined(said, settings, *columns_of(analysed, command, settings)), ()
        if said.op.startswith("DROP"):
            return defined(said, settings), ()
        query = analysed.query
        if query is None:
            raise Unsupported("its query is not known", HINT)
        whole, problems = (said, ()) if rows is None else replacing(rows.rows, said, settings)
    except Unsupported as problem:
        return None, [Problem("the statement", command["class"], command["class"], problem.reason, problem.hint)]
    return (None, problems) if whole is None else convert_as(query, settings, finishing(whole))


WITHOUT_ROWS = ("ALTER", "CREATE", "CREATE_OR_REPLACE")
"""What is done to a table without rows for it."""


def session_of(spark: SparkSession) -> Session:
    """What commands take from a session, classic or of Spark Connect."""
    dynamic = str(spark.conf.get("spark.sql.sources.partitionOverwriteMode")).lower() == "dynamic"
    if is_connect(spark):
        return Session(None, dynamic)
    return Session(file_system(spark), dynamic)


def session_of_writes(df: DataFrame) -> tuple[str, Session]:
    """The format in which a session saves where none is said, and what commands take from the session.

    Raises UnsupportedSessionError where it doesn't answer.
    """
    session = df.sparkSession

    def ask() -> tuple[str, Session]:
        return str(session.conf.get("spark.sql.sources.default")), session_of(session)

    if is_connect(df):
        from ..connect.server import answers

        with answers():
            return ask()
    format_and_session: tuple[str, Session] = reader.answer(df, ask)
    return format_and_session


def finishing(said: Change) -> WriteRoot:
    """What makes of a query's relation the relation of a change."""

    def finish(relation: Relation, names: Sequence[str], document: Document) -> Relation:
        if said.names:
            pairs = zip(said.names, document.shown, strict=True)
            names = [name for column, type in pairs for name in field_names(column, type)]
        if said.object:
            return Ddl(said.object, said.op, said.target, names, relation.types, relation)
        return Write(relation, names, said.op, said.create_mode, said.target, said.schema)

    return finish


def finishing_saved(said: Change) -> WriteRoot:
    """What makes of a DataFrame's relation the one that saves it: a table has the columns that part it last."""

    def finish(relation: Relation, names: Sequence[str], document: Document) -> Relation:
        shown = list(document.names)
        keys = [_place(key, shown, document) for key in said.target.storage.partition_by]
        if len(set(map(str.lower, shown))) < len(shown):
            raise Unsupported("several of its columns have one name, as no table has", "Rename columns before.")
        if len(keys) == len(shown):
            raise Unsupported(
                "it is partitioned by all of its columns, which leaves none for the rows", "Leave one out."
            )
        if said.target.names:
            order = [*(n for n in range(len(shown)) if n not in keys), *keys]
            relation = relation.select(order)
            names = [name for n in order for name in field_names(shown[n], document.shown[n])]
        return Write(relation, names, said.op, said.create_mode, said.target)

    return finish


def finishing_replaced(df: DataFrame, said: Change, settings: Settings) -> tuple[WriteRoot | None, Sequence[Problem]]:
    """What makes of a DataFrame's relation the one that puts it in the place of some rows of a table; or what stands in the way.

    The columns are those of the table, by their names. Raises Spark's errors where the condition is none.
    """
    spark, name = df.sparkSession, ".".join(f"`{part.replace('`', '``')}`" for part in said.target.names)
    if is_connect(df):
        raise Unsupported("a server has the table whose rows it replaces, out of reach", "Give a classic session.")
    if not spark.catalog.tableExists(name):
        raise Unsupported(f"there is no table {name}, of which it would replace rows", "Create the table before.")
    table = spark.table(name)
    whole, problems = replacing(table.where(said.condition), said, settings)
    if whole is None:
        return None, problems
    columns, schema = table.columns, whole.schema or ()

    def finish(relation: Relation, names: Sequence[str], document: Document) -> Relation:
        shown = list(document.names)
        order = [_place(column, shown, document, "for the table's") for column in columns]
        if len(order) < len(shown):
            raise Unsupported("it has columns that the table has not", f"The table has {', '.join(columns)}.")
        relation = relation.select(order)
        differing = [
            column
            for column, *types in zip(columns, relation.types, schema, strict=True)
            if not equal_but_nullability(*types)
        ]
        if differing:
            raise Unsupported(
                f"the table has another type for {', '.join(differing)}", "Cast these columns to the table's types."
            )
        names = [
            name for column, n in zip(columns, order, strict=True) for name in field_names(column, document.shown[n])
        ]
        return Write(relation, names, whole.op, whole.create_mode, whole.target, whole.schema)

    return finish, ()


def _place(key: str, shown: Sequence[str], document: Document, purpose: str = "to partition by") -> int:
    """Which column a name means, as the session compares names."""
    exact = document.configuration.get("spark.sql.caseSensitive") == "true"
    places = [n for n, name in enumerate(shown) if name == key or (not exact and name.lower() == key.lower())]
    if len(places) != 1:
        raise Unsupported(f"there is not one column {key!r} {purpose}", f"It has {', '.join(shown)}.")
    return places[0]


def _constants(frame: DataFrame, settings: Settings) -> dict[str, Literal]:
    """The values of parameters, which are a frame of one row."""
    constants = {}
    for name, value in literals(frame, settings).items():
        if not isinstance(value, Literal):
            raise SubstraitSparkError(f"The parameter {name} {value.reason}.")
        constants[name] = value
    return constants


def _analysed(
    spark: SparkSession, sql: str, frame: DataFrame, nullable: Mapping[str, bool], settings: Settings
) -> Statement | Problem:
    """The statement, or what keeps it from being understood. Raises Spark's errors where it is none."""
    analysed = statement(spark, sql, frame, nullable, settings.stage)
    if analysed.runs_early:
        return _problem("Spark would run it, or the statements in it, to understand it", HINT)
    if analysed.evolves:
        return _problem(*EVOLVES)
    if analysed.is_positional:
        return _problem("it has parameters without names (?)", "Give each a name: :name.")
    if analysed.missing:
        names = ", ".join(f":{name}" for name in analysed.missing)
        return _problem(f"nothing says the type of {names}", 'Give it as parameters={"name": "bigint", …}.')
    if analysed.ordinals:
        names = ", ".join(f":{name}" for name in analysed.ordinals)
        return _problem(f"Spark takes {names} in ORDER BY or GROUP BY for the place of a column", ORDINALS)
    analysed.java.analyse()
    return analysed


def _named(error: Exception, parameters: Iterable[str]) -> list[str]:
    """The parameters that Spark names where it says why it can't analyse a statement."""
    text = str(error).partition("\nJVM stacktrace")[0]
    return [f":{name}" for name in parameters if re.search(rf":{re.escape(name)}\b", text)]


ORDINALS = "Write the column into the statement; a value to order by is :name + 0."

SHAPES = (
    "Spark must know some values to plan a statement, such as that of a LIMIT, a schema or a table's name: "
    "write the value into the statement."
)
"""What to do about parameters that Spark names in an error."""


def _problem(reason: str, hint: str) -> Problem:
    return Problem("the statement", "Statement", "Statement", reason, hint)
