"""The rules of a dialect: found where its file names them, `package.module:NAME` or `file.py:NAME` beside it, and checked.

To load them is to run code. It is done only for a dialect that the caller names.
"""

from __future__ import annotations

import importlib
import importlib.util
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ..algebra.types import SHORT_NAMES
from ..errors import DialectError, kind_of
from ..extensions import registry
from ..lowering.builder import LoweringBuilder
from ..lowering.rules import Guard, GuardingPass, Rules
from .declared import instead


def rules_of(named: Any, folder: Path | None, origin: str) -> Rules:
    """The rules behind a name, none for None. Raises DialectError where there are none."""
    if named is None:
        return Rules()
    where, _, name = str(named).rpartition(":")
    if not isinstance(named, str) or not where or not name:
        raise DialectError(f"{origin}: metadata.rules: {named!r} is not named as package.module:NAME or file.py:NAME.")
    try:
        module = module_from(Path(where), folder) if where.endswith(".py") else importlib.import_module(where)
        found = getattr(module, name)
    except (Exception, SystemExit) as error:  # whatever the code of the module raises
        raise DialectError(f"{origin}: metadata.rules: {named!r} can't be loaded: {_told(error)}.") from error
    if not isinstance(found, Rules):
        raise DialectError(
            f"{origin}: metadata.rules: {named!r} is {kind_of(found)}, not a substrait_spark.lowering.rules.Rules."
        )
    return found


def _told(error: BaseException) -> str:
    """What a module raised, and where it did."""
    said = " ".join(str(error).split())
    told = f"{kind_of(error)}: {said}" if said else kind_of(error)
    if isinstance(error, SyntaxError):  # which says its place
        return told
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_between(frame.filename)]
    return f"{told} ({frames[-1].filename}, line {frames[-1].lineno})" if frames else told


def _is_between(file: str) -> bool:
    """Whether a file is one of those between the caller and the code of a module."""
    return file in (__file__, importlib.__file__) or file.startswith("<frozen importlib")


def module_from(path: Path, folder: Path | None = None) -> ModuleType:
    """The module in a file of Python's, which is run."""
    location = (folder or Path()) / path
    if not location.is_file():
        raise FileNotFoundError(f"there is no file {str(location)!r}")
    specification = importlib.util.spec_from_file_location(path.stem, location)
    if specification is None or specification.loader is None:
        raise ImportError(f"{location} is no Python file")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


# ---- what is wrong with them

BY_FUNCTION: Mapping[str, str] = {
    "calls": "scalar",
    "unlowered": "scalar",
    "guards": "scalar",
    "aggregates": "aggregate",
    "windows": "window",
}
"""The rules that go by functions, and the kind of these."""

BY_TYPES = ("casts", "unlowered_casts")
"""The rules that go by two kinds of types."""

CALLABLE = ("calls", "unlowered", "originals", "casts", "unlowered_casts", "aggregates", "windows", "kinds")
"""The rules that are functions themselves, each by what it is for."""

CONTAINERS: Mapping[str, tuple[type, str]] = {
    **dict.fromkeys((*CALLABLE, "guards"), (Mapping, "mapping")),
    "passes": (Sequence, "list"),
    "counting": (Collection, "set"),
    "defects": (frozenset, "frozenset"),
}
"""What the parts of rules are, and what problems call that."""


def problems_of_rules(rules: Rules) -> Iterator[str]:
    """What is no rule, and rules for what no extension file declares, which would never be used."""
    unfit = [
        f"{field} of the rules is no {name}"
        for field, (kind, name) in CONTAINERS.items()
        if not isinstance(getattr(rules, field), kind) or isinstance(getattr(rules, field), str)
    ]
    yield from unfit
    if unfit:
        return
    builder = rules.builder
    if builder is not None and not (isinstance(builder, type) and issubclass(builder, LoweringBuilder)):
        yield "builder of the rules is no class derived from LoweringBuilder"
    yield from _problems_of_keys(rules)
    for field in CALLABLE:
        for key, rule in getattr(rules, field).items():
            if not callable(rule):
                yield f"{field} of the rules has no function for {key}"
    for key, guard in rules.guards.items():
        if not isinstance(guard, Guard) or not callable(guard.rule) or guard.defect not in rules.defects:
            yield f"guards of the rules has no Guard for {key}, or one against a defect that is not among `defects`"
    for position, guarding in enumerate(rules.passes):
        if not isinstance(guarding, GuardingPass) or not callable(guarding.run) or guarding.defect not in rules.defects:
            where = f"passes[{position}] of the rules"
            yield f"{where} is no GuardingPass, or one against a defect that is not among `defects`"


def _problems_of_keys(rules: Rules) -> Iterator[str]:
    for field, kind in BY_FUNCTION.items():
        for function in getattr(rules, field):
            alias, _, name = str(function).partition(":")
            if not isinstance(function, str) or alias not in registry.ALIASES:
                yield f"{field} of the rules has {function!r}, which is no {kind} function as in 'string:lower'"
            elif not registry.implementations(kind, alias, name):
                yield f"{field} of the rules has {function!r}, which is no {kind} function{instead(kind, alias, name)}"
    for field in BY_TYPES:
        for pair in getattr(rules, field):
            if not isinstance(pair, tuple) or len(pair) != 2 or not set(pair) <= set(SHORT_NAMES):
                yield f"{field} of the rules has {pair!r}, which is no pair of kinds of types as in ('i32', 'string')"


def problems_of_guards(document: Mapping[str, Any], rules: Rules) -> Iterator[str]:
    """Defects that a dialect document has guards against, but none of a function that it lists: these would never be used.

    Other guards may be of functions that it lacks, so that engines can share rules.
    """
    entries = document.get("supported_scalar_functions")
    urns = document.get("dependencies") or {}
    listed = {(urns.get(entry["source"]), entry["name"]) for entry in entries or ()}
    for defect in (document.get("metadata") or {}).get("defects") or () if entries else ():
        guarded = [function for function, guard in rules.guards.items() if guard.defect == defect]
        others = [guarding for guarding in rules.passes if guarding.defect == defect]
        if guarded and not others and listed.isdisjoint(map(_urn_and_name, guarded)):
            yield (
                f"metadata.defects.{defect}: the rules guard {' and '.join(guarded)} against it, which is not among "
                "supported_scalar_functions; list the function, or leave out the guard"
            )


def _urn_and_name(function: str) -> tuple[str, str]:
    alias, _, name = function.partition(":")
    return registry.urn(alias), name
