"""What may be asked for of a plan, once for all functions that make one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    from ..dialects import Dialect

    Arguments = ParamSpec("Arguments")

Result = TypeVar("Result")


class QueryOptions(TypedDict, total=False):
    """What may be asked for of any plan: `df_to_substrait` says what each means."""

    dialect: str | Path | Dialect | None
    reads: str
    inline_limit: int
    list_files: int | None
    local_data: str | Path | None
    type_aliases: bool
    detach: bool
    provenance: bool
    share_subplans: bool
    hints: bool
    functions: Iterable[Any]
    accept: Collection[str]


class StatementOptions(QueryOptions, total=False):
    """Also what may be asked for where the query hasn't run yet."""

    stage: str


class FrameOptions(StatementOptions, total=False):
    """Also what may be asked for of a DataFrame, which may be Spark Connect's."""

    allow_version_mismatch: bool


DEFAULTS: Mapping[str, object] = {
    "dialect": None,
    "reads": "auto",
    "inline_limit": 10_000,
    "list_files": 1000,
    "stage": "optimized",
    "local_data": None,
    "type_aliases": False,
    "detach": False,
    "provenance": False,
    "share_subplans": False,
    "hints": False,
    "functions": (),
    "accept": frozenset(),
    "allow_version_mismatch": False,
}
"""The defaults. Signatures show them; `context.Settings` has the same."""


def takes(options: type) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Has a function's signature name its options, which notebooks complete and `help` shows, and refuses others as Python does."""
    types = options.__annotations__

    def taking(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        plain = inspect.signature(function)
        *own, _ = plain.parameters.values()
        named = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS[name], annotation=types[name].__forward_arg__
            )
            for name in DEFAULTS
            if name in types
        ]
        signature = plain.replace(parameters=[*own, *named])

        @wraps(function)
        def checked(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Result:
            for name in keywords:
                if name not in signature.parameters:
                    raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
            return function(*arguments, **keywords)

        vars(checked)["__signature__"] = signature
        return checked

    return taking
