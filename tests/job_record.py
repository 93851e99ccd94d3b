"""The jobs of `jobs/` by name, and what is on record of them: those that DataFusion has no plan for, and why."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from pyspark.sql import DataFrame, SparkSession

Job = Callable[[SparkSession], DataFrame]

FOLDER = Path(__file__).parent / "jobs"
RECORD: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "refused.yaml").read_text(encoding="utf-8"))
TOLERANCE = 1e-12
"""Sums of floating-point numbers depend on their order in the last digits."""


def _jobs() -> dict[str, Job]:
    found: dict[str, Job] = {}
    for path in sorted(FOLDER.glob("*.py")):
        module = importlib.import_module(f"jobs.{path.stem}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if not name.startswith("_") and function.__module__ == module.__name__:
                found[f"{path.stem}.{name}"] = function
    return found


JOBS = _jobs()

EQUAL = [name for name in JOBS if not any(name in names for names in RECORD.values())]
"""Those whose plan for DataFusion has Spark's rows."""
