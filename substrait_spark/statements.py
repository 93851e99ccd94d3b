"""The way of a statement's plan, which runs nothing of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from substrait.plan_pb2 import Plan

from .algebra.expression import Literal
from .catalyst import reader
from .catalyst.document import decode
from .catalyst.failures import shown
from .catalyst.statement import Statement, is_required, is_type, parameter_frame, statement
from .context import Settings
from .conversion import convert_as
from .errors import Problem, SubstraitSparkError, Unsupported
from .expr.literal import typed_literal
from .parameters import declare

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def convert_statement(
    spark: SparkSession, sql: str, parameters: Mapping[str, Any], settings: Settings
) -> tuple[Plan | None, Sequence[Problem]]:
    """The plan of a statement, or None and what stands in its way."""
    frame = parameter_frame(spark, parameters)
    constants = _constants(frame, settings)
    nullable = {
        name: not is_required(given) if is_type(given) else constants[name].value is None
        for name, given in parameters.items()
    }
    found = _analysed(spark, sql, frame, nullable, settings)
    if isinstance(found, Problem):
        return None, [found]
    plan, problems = convert_as(found, settings)
    if plan is not None and parameters:
        declare(plan, list(parameters), {name: constants[name] for name in parameters if not is_type(parameters[name])})
    return plan, problems


def _constants(frame: DataFrame, settings: Settings) -> dict[str, Literal]:
    """The values of a frame of one row, all of which are constants."""
    if not frame.columns:
        return {}
    document = decode(reader.read(frame, settings))
    columns = document.root["projectList"]
    found = {}
    for name, alias in zip(document.names, columns, strict=True):
        node = alias["child"] if alias.name == "Alias" else alias
        try:
            if node.name != "Literal":
                raise Unsupported("it is no constant", "Give a value, or its type.")
            found[name] = typed_literal(node["value"], node.type)
        except Unsupported as problem:
            raise SubstraitSparkError(f"The parameter {name}: {problem.reason}.") from None
    return found


def _analysed(
    spark: SparkSession, sql: str, frame: DataFrame, nullable: Mapping[str, bool], settings: Settings
) -> Statement | Problem:
    """The statement, or what keeps Spark from understanding it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        found = statement(spark, sql, frame, nullable, settings.stage)
        if found.is_positional:
            return _problem("it has parameters without names (?)", "Give each a name: :name.")
        if found.missing:
            names = ", ".join(f":{name}" for name in found.missing)
            return _problem(f"nothing says the type of {names}", 'Give it as parameters={"name": "bigint", …}.')
        found.java.analyse()
        return found
    except (PySparkException, Py4JError) as error:
        text = str(error).partition("\nJVM stacktrace")[0]
        named = [f":{name}" for name in nullable if re.search(rf":{re.escape(name)}\b", text)]
        what = f"it with {' and '.join(named)} open" if named else "it"
        return _problem(f"Spark itself can't plan {what}: {shown(error)}", SHAPES if named else "")


SHAPES = (
    "Spark must know some values to plan a statement, such as that of a LIMIT, a schema or a table's name: "
    "write the value into the statement."
)
"""What to do about parameters that Spark names in an error."""


def _problem(reason: str, hint: str) -> Problem:
    return Problem("the statement", "Statement", "Statement", reason, hint)
