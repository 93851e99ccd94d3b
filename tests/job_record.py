"""The jobs of `jobs/` by name, and what is on record of them: those that DataFusion has no plan for, and why."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import slow
from pyspark.sql import DataFrame, SparkSession
from releases import has

from substrait_spark.extensions.yaml_text import parsed

Job = Callable[[SparkSession], DataFrame]

FOLDER = Path(__file__).parent / "jobs"
RECORD: dict[str, dict[str, Any]] = parsed((FOLDER / "refused.yaml").read_text(encoding="utf-8"))
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

NEWER = {
    "clickstream.url_parts": "4.0",
    "nested.json_paths": "4.0",  # by another class of Catalyst
    "nested.to_json_export": "4.0",  # by another class of Catalyst
    "reports.string_agg_report": "4.0",
    "sql.conditional_functions": "4.0",
    "sql.org_recursive": "4.1",
    "sql.pipe_syntax": "4.0",
    "sql.scalar_subqueries": "4.0",
    "statistics.correlations": "4.3",
    "text.clean_names": "4.0",
    "text.mask_pii": "4.0",
}
"""Jobs that ask for what came with a release, a function or an argument, or the meaning that the plan has."""

HERE = [name for name in EQUAL if has(NEWER.get(name, "3.5"))][:: 1 if slow.asked() else 3]
"""Those of the equal ones that the Spark which runs here has; a third of them without slow tests."""
