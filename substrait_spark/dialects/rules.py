"""Where a dialect file names its engine's rules: `package.module:NAME`, or `file.py:NAME` beside the dialect file.

To load them is to run code. It is done only for a dialect that the caller names.
"""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import DialectError, kind_of
from ..lowering.rules import Rules


def rules_of(named: Any, folder: Path | None) -> Rules:
    """The rules behind a name, none for None. Raises DialectError where there are none."""
    if named is None:
        return Rules()
    where, _, name = str(named).rpartition(":")
    if not isinstance(named, str) or not where or not name:
        raise DialectError(f"The dialect's rules {named!r} are not named as package.module:NAME or file.py:NAME.")
    try:
        module = _from_file(Path(where), folder) if where.endswith(".py") else importlib.import_module(where)
        found = getattr(module, name)
    except (Exception, SystemExit) as error:  # whatever the code of the module raises
        raise DialectError(f"The dialect's rules {named!r} can't be loaded: {kind_of(error)}: {error}") from error
    if not isinstance(found, Rules):
        raise DialectError(f"The dialect's rules {named!r} are no substrait_spark.lowering.rules.Rules.")
    return found


def _from_file(path: Path, folder: Path | None) -> ModuleType:
    location = (folder or Path()) / path
    specification = importlib.util.spec_from_file_location(path.stem, location)
    if specification is None or specification.loader is None:
        raise ImportError(f"{location} is no Python file")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
