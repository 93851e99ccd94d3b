"""DataFusion: its dialect, the rules that lower plans for it, and running them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import SubstraitSparkError

if TYPE_CHECKING:
    from .run import context, execute

__all__ = ["context", "execute"]


def __getattr__(name: str) -> Any:
    # Lowering needs the rules here, but not the engine's own package, which is an extra.
    if name in __all__:
        try:
            from . import run
        except ModuleNotFoundError as error:
            raise SubstraitSparkError(
                f"This needs the package {error.name}: pip install 'datafusion==55.*' pyarrow."
            ) from error
        return getattr(run, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
