"""DataFusion: its dialect, the rules that lower plans for it, and running them and whole queries."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import SubstraitSparkError

if TYPE_CHECKING:
    from .dataframe import collect, show, stream
    from .run import execute
    from .session import context

__all__ = ["collect", "context", "execute", "show", "stream"]

MODULES = {
    "collect": "dataframe",
    "context": "session",
    "execute": "run",
    "plain_context": "session",
    "show": "dataframe",
    "stream": "dataframe",
}
"""Where that is which needs the engine's own package."""


def __getattr__(name: str) -> Any:
    # Lowering needs the rules here, but not the engine's own package, which is an extra.
    if name in MODULES:
        try:
            module = import_module(f".{MODULES[name]}", __name__)
        except ModuleNotFoundError as error:
            raise SubstraitSparkError(
                f"This needs the package {error.name}: pip install 'datafusion==55.*' numpy pyarrow regex."
            ) from error
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
