"""The rewrites of a dialect: found where its file names them, `package.module:NAME` or `file.py:NAME` beside it, and checked.

To load them is to run code. It is done only for a dialect that the caller names.
"""

from __future__ import annotations

import importlib
import importlib.util
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ..algebra.types import SHORT_NAMES
from ..errors import DialectError, kind_of
from ..extensions import registry
from .declared import instead
from .rewrite import PLAN, Conversion, Rewrite, Sees

Listed = Sequence[Rewrite | Conversion]


def rewrites_of(named: Any, folder: Path | None, origin: str) -> Listed:
    """The rewrites behind a name, none for None. Raises DialectError where there are none."""
    if named is None:
        return ()
    where, _, name = str(named).rpartition(":")
    if not isinstance(named, str) or not where or not name:
        raise DialectError(
            f"{origin}: metadata.rewrites: {named!r} is not named as package.module:NAME or file.py:NAME."
        )
    try:
        module = module_from(Path(where), folder) if where.endswith(".py") else importlib.import_module(where)
        rewrites = getattr(module, name)
    except (Exception, SystemExit) as error:  # whatever the code of the module raises
        raise DialectError(f"{origin}: metadata.rewrites: {named!r} can't be loaded: {_told(error)}.") from error
    if not are_rewrites(rewrites):
        raise DialectError(f"{origin}: metadata.rewrites: {named!r} is {kind_of(rewrites)}, not a list of rewrites.")
    return rewrites  # type: ignore[no-any-return]


def are_rewrites(value: Any) -> bool:
    """Whether a value is a list of what may be a rewrite."""
    return isinstance(value, list | tuple) and not isinstance(value, Rewrite | Conversion)


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


def problems_of_rewrites(listed: Listed) -> Iterator[str]:
    """Problems of a list of rewrites: entries that are none, and functions that no extension file declares."""
    for position, each in enumerate(listed):
        where = f"rewrites[{position}]"
        if isinstance(each, Conversion):
            if each.kind not in SHORT_NAMES or not callable(each.back):
                yield f"{where} is a Conversion of {each.kind!r}, which is no kind of type, or has no function to go back"
            continue
        if not isinstance(each, Rewrite):
            yield f"{where} is neither a Rewrite nor a Conversion"
            continue
        if problem := _problem_of_target(each.target, each.sees):
            yield f"{where} is for {problem}"
        elif not callable(each.apply):
            yield f"{where} has no function for {each.of}"
        elif not isinstance(each.defect, str) or not isinstance(each.sees, Sees):
            yield f"{where} names no defect as text, or sees nothing that is of Sees"


def _problem_of_target(target: Any, sees: Sees) -> str | None:
    if isinstance(target, type) or target == PLAN:
        return None
    if isinstance(target, tuple):
        if len(target) != 2 or not set(target) <= set(SHORT_NAMES):
            return f"{target!r}, which is no pair of kinds of types as in ('i32', 'string')"
        return None
    alias, _, name = str(target).partition(":")
    if not isinstance(target, str) or alias not in registry.ALIASES:
        return f"{target!r}, which is no function as in 'string:lower'"
    kinds = ("scalar", "aggregate", "window") if sees is Sees.LOWERED else ("scalar",)
    if any(registry.implementations(kind, alias, name) for kind in kinds):
        return None
    return f"{target!r}, which is no {'scalar ' if len(kinds) == 1 else ''}function{instead('scalar', alias, name)}"


def problems_of_guards(document: Mapping[str, Any], listed: Listed) -> Iterator[str]:
    """Defects that a dialect document has rewrites against, but none of a function that it has: these would never be used.

    Others may be of functions that it lacks, so that engines can share rewrites.
    """
    for defect in (document.get("metadata") or {}).get("defects") or ():
        targets = [each.target for each in listed if isinstance(each, Rewrite) and each.defect == defect]
        guarded = [target for target in targets if isinstance(target, str) and target != PLAN]
        if guarded and len(guarded) == len(targets) and not any(_may_be_called(document, each) for each in guarded):
            yield (
                f"metadata.defects.{defect}: the rewrites against it are for {' and '.join(guarded)}, which is not among "
                "the functions that it lists; list the function, or leave out the rewrite"
            )


def _may_be_called(document: Mapping[str, Any], function: str) -> bool:
    """Whether a dialect document lists a function, or no functions of its kind, since it has all of these then."""
    alias, _, name = function.partition(":")
    urns = document.get("dependencies") or {}
    for kind, section in registry.KINDS.items():
        if registry.implementations(kind, alias, name):
            entries = document.get(f"supported_{section}")
            named = {(urns.get(entry["source"]), entry["name"]) for entry in entries or ()}
            if not entries or (registry.urn(alias), name) in named:
                return True
    return False
