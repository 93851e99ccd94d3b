"""Engines that run plans, and the comparison of their rows with Spark's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparison.result import Comparison
    from .comparison.run import compare

__all__ = ["Comparison", "compare"]


def __getattr__(name: str) -> Any:
    # To compare takes what converts DataFrames, which itself takes the engines' rules.
    if name in __all__:
        from .comparison import run

        return getattr(run, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
