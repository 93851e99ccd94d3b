"""Acero, PyArrow's own engine: its dialect, the rewrites that lower plans for it, and running them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...errors import SubstraitSparkError

if TYPE_CHECKING:
    from .run import execute

__all__ = ["execute"]


def __getattr__(name: str) -> Any:
    # Lowering needs the rewrites here, but not pyarrow, which is an extra.
    if name != "execute":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from .run import execute
    except ModuleNotFoundError as error:
        raise SubstraitSparkError(f"This needs the package {error.name}: pip install pyarrow.") from error
    return execute
