"""Which functions a conversion spends its time in."""

from __future__ import annotations

import cProfile
import pstats
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import substrait_spark

from .stages import converted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROOT = Path(substrait_spark.__file__).parent
MOST = 12


def profile(frames: Iterable[DataFrame], dialect: str | None) -> dict[str, float]:
    """The functions with most time of their own, as shares of the whole; Spark has planned the frames already."""
    profiler = cProfile.Profile()
    for df in frames:
        profiler.runcall(converted, df, dialect)
    found: Counter[str] = Counter()
    for (file, _, function), (_, _, own, _, _) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        found[_shown(file, function)] += own
    whole = sum(found.values())
    return {name: own / whole for name, own in found.most_common(MOST)}


def _shown(file: str, function: str) -> str:
    path = Path(file)
    if path.is_relative_to(ROOT):
        return f"{path.relative_to(ROOT)}: {function}"
    return function if file == "~" else f"{path.stem}: {function}"
