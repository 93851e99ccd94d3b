"""Turn PySpark DataFrames into Substrait plans that mean exactly the same."""

from __future__ import annotations

__version__ = "0.1.0"

from .api import check, df_to_substrait
from .errors import (
    DialectError,
    EngineError,
    InvalidPlanError,
    Problem,
    Report,
    SubstraitSparkError,
    UnsupportedPlanError,
    UnsupportedSessionError,
)
from .explain import explain

__all__ = [
    "DialectError",
    "EngineError",
    "InvalidPlanError",
    "Problem",
    "Report",
    "SubstraitSparkError",
    "UnsupportedPlanError",
    "UnsupportedSessionError",
    "check",
    "df_to_substrait",
    "explain",
]
