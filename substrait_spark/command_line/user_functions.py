"""The user's own functions that a command is given by `--functions`: extension files, and objects of Python by their names."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..dialects.loading import module_from
from ..errors import FunctionError, kind_of
from ..user_functions.declared import UserFunction, declare_function
from ..user_functions.spark_function import PLAIN, spark_function

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FUNCTIONS = click.option(
    "--functions",
    "functions",
    metavar="FILE.yaml|MODULE:NAME",
    multiple=True,
    help="A function of your own that the query or the plan calls: an extension file that declares it, or what udf(…) returned, as module:name or file.py:name, whose code is run. Repeat it for several.",
)


class NoSessionError(click.ClickException):
    """PySpark needs a session for a function, for one whose type is given as text."""


NO_SESSION = "SparkContext or SparkSession should be created first"
"""What PySpark says then."""


def given(names: Sequence[str]) -> list[Path | UserFunction]:
    """The functions of these names. Modules and files of Python are run.

    Raises NoSessionError where PySpark needs a session for that, and there is none.
    """
    return [Path(name) if name.endswith((".yaml", ".yml")) else _object(name) for name in names]


def registered(spark: SparkSession, names: Sequence[str]) -> list[Path | UserFunction]:
    """The functions of these names; those that are objects are known to the session by their own names, for SQL."""
    functions: list[Path | UserFunction] = []
    for each in given(names):
        if isinstance(each, UserFunction) and each.spark is not None and each.spark.eval_type != PLAIN:
            known = spark.udf.register(each.name, each.spark.unwrapped)
            functions.append(declare_function(known, name=each.name, urn=each.urn))
        else:
            functions.append(each)
    return functions


def _object(name: str) -> UserFunction:
    where, colon, attribute = name.rpartition(":")
    if not colon or not where or not attribute:
        raise click.UsageError(f"--functions takes FILE.yaml, MODULE:NAME or FILE.py:NAME, not {name!r}.")
    try:
        module: Any = module_from(Path(where)) if where.endswith(".py") else importlib.import_module(where)
        function = _declared(getattr(module, attribute), attribute)
        if function.spark is not None and function.spark.eval_type != PLAIN:
            _ = function.spark.return_type  # is parsed now
    except (FunctionError, TypeError) as error:
        raise click.ClickException(f"--functions {name}: {error}") from error
    except Exception as error:  # whatever the code of the module raises
        kind = NoSessionError if NO_SESSION in str(error) else click.ClickException
        raise kind(f"--functions {name}: {kind_of(error)}: {error}") from error
    return function


def _declared(value: Any, attribute: str) -> UserFunction:
    """What an attribute of a module declares. A function without a name, as a lambda, has the attribute's."""
    if isinstance(value, UserFunction):
        return value
    return declare_function(value, name=attribute if spark_function(value).name == "<lambda>" else None)
