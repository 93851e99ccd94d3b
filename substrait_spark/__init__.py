"""Turn PySpark DataFrames into Substrait plans that mean exactly the same."""

from __future__ import annotations

__version__ = "0.1.0"

from typing import Any

# Before the others, which may be compiled: it looks whether they were made of these sources.
from . import compiled  # noqa: F401
from .api import (
    capture,
    check,
    declare_function,
    df_to_substrait,
    expressions_to_substrait,
    lower,
    sql_to_substrait,
    write_extension_file,
    write_to_substrait,
)
from .catalyst.commands import Target
from .display import to_dot, to_html, to_mermaid, to_svg
from .errors import (
    CollectedInSparkWarning,
    DialectError,
    EngineError,
    FunctionError,
    InvalidPlanError,
    PlanningError,
    Problem,
    SubstraitSparkError,
    UnsupportedPlanError,
    UnsupportedSessionError,
)
from .explain import diff, explain
from .report import Report
from .statements.captured import CapturedQueries, CapturedQuery

__all__ = [
    "CapturedQueries",
    "CapturedQuery",
    "CollectedInSparkWarning",
    "DialectError",
    "EngineError",
    "FunctionError",
    "InvalidPlanError",
    "PlanningError",
    "Problem",
    "Report",
    "SubstraitSparkError",
    "Target",
    "UnsupportedPlanError",
    "UnsupportedSessionError",
    "capture",
    "check",
    "declare_function",
    "df_to_substrait",
    "diff",
    "explain",
    "expressions_to_substrait",
    "load_ipython_extension",
    "lower",
    "sql_to_substrait",
    "to_dot",
    "to_html",
    "to_mermaid",
    "to_svg",
    "unload_ipython_extension",
    "write_extension_file",
    "write_to_substrait",
]


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext substrait_spark`: plans show themselves in notebooks."""
    from .display.ipython import register

    register(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext substrait_spark`: plans show as protobuf messages again."""
    from .display.ipython import unregister

    unregister(shell)
