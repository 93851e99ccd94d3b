"""Engines that run plans, and the comparison of their rows with Spark's."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import acero, datafusion, isthmus, spark
    from .comparison.result import Comparison
    from .comparison.run import compare
    from .measuring.measure import measure

__all__ = ["Comparison", "acero", "compare", "datafusion", "isthmus", "measure", "spark"]


def __getattr__(name: str) -> Any:
    # An engine takes its own package, and to compare takes what converts DataFrames, which itself takes the engines' rules.
    if name in ("Comparison", "compare"):
        return getattr(import_module(".comparison.run", __name__), name)
    if name == "measure":
        return import_module(".measuring.measure", __name__).measure
    from ..dialects import discovery

    if name.replace("_", "-") in discovery.built_in(discovery.RUNNER):
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
