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
from ..user_functions.spark_function import PLAIN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FUNCTIONS = click.option(
    "--functions",
    "functions",
    metavar="FILE.yaml|MODULE:NAME",
    multiple=True,
    help="A function of your own that the query or the plan calls: an extension file that declares it, or what udf(…) returned, as module:name or file.py:name, whose code is run. Repeat it for several.",
)


def given(names: Sequence[str]) -> list[Path | UserFunction]:
    """The functions of these names. Modules and files of Python are run, in a session of Spark where there is one."""
    return [Path(name) if name.endswith((".yaml", ".yml")) else _object(name) for name in names]


def registered(spark: SparkSession, names: Sequence[str]) -> list[Path | UserFunction]:
    """The functions of these names; those that are objects are known to the session by their own names, for SQL."""
    functions: list[Path | UserFunction] = []
    for each in given(names):
        if isinstance(each, UserFunction) and each.spark is not None and each.spark.eval_type != PLAIN:
            each = declare_function(spark.udf.register(each.name, each.spark.unwrapped), name=each.name)  # noqa: PLW2901
        functions.append(each)
    return functions


def _object(name: str) -> UserFunction:
    where, colon, attribute = name.rpartition(":")
    if not colon or not where or not attribute:
        raise click.UsageError(f"--functions takes FILE.yaml, MODULE:NAME or FILE.py:NAME, not {name!r}.")
    try:
        module: Any = module_from(Path(where)) if where.endswith(".py") else importlib.import_module(where)
        function = getattr(module, attribute)
    except Exception as error:  # whatever the code of the module raises
        raise click.ClickException(f"--functions {name}: {kind_of(error)}: {error}") from error
    try:
        return declare_function(function)
    except (FunctionError, TypeError) as error:
        raise click.ClickException(f"--functions {name}: {error}") from error
