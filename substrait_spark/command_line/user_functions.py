"""The user's own functions that a command is given by `--functions`: extension files, and objects of Python by their names."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
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


def given(names: Sequence[str], loaded: Iterable[ModuleType] = ()) -> list[Path | UserFunction]:
    """The functions of these names. Modules and files of Python are run, but files of which there is a loaded module.

    Raises NoSessionError where PySpark needs a session for that, and there is none.
    """
    return [Path(name) if name.endswith((".yaml", ".yml")) else _object(name, loaded) for name in names]


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


def _object(name: str, loaded: Iterable[ModuleType]) -> UserFunction:
    where, colon, attribute = name.rpartition(":")
    if not colon or not where or not attribute:
        raise click.UsageError(f"--functions takes FILE.yaml, MODULE:NAME or FILE.py:NAME, not {name!r}.")
    try:
        function = _declared(getattr(_module(where, loaded), attribute), attribute)
        if function.spark is not None and function.spark.eval_type != PLAIN:
            _ = function.spark.return_type  # is parsed now
    except (FunctionError, TypeError) as error:
        raise click.ClickException(f"--functions {name}: {error}") from error
    except Exception as error:  # whatever the code of the module raises
        kind = NoSessionError if NO_SESSION in str(error) else click.ClickException
        raise kind(f"--functions {name}: {kind_of(error)}: {error}") from error
    return function


def _module(where: str, loaded: Iterable[ModuleType]) -> ModuleType:
    if not where.endswith(".py"):
        return importlib.import_module(where)
    path = Path(where).resolve()
    files = ((Path(file).resolve(), module) for module in loaded if (file := getattr(module, "__file__", None)))
    return next((module for file, module in files if file == path), None) or module_from(Path(where))


def _declared(value: Any, attribute: str) -> UserFunction:
    """What an attribute of a module declares. A function without a name, as a lambda, has the attribute's."""
    if isinstance(value, UserFunction):
        return value
    return declare_function(value, name=attribute if spark_function(value).name == "<lambda>" else None)
