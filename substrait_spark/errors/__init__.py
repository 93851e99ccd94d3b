"""What leaves the library when a plan can't be made or run, and what it says of what it refuses."""

from .problem import Problem
from .raised import (
    CollectedInSparkWarning,
    DialectError,
    EngineError,
    InvalidPlanError,
    PlanningError,
    SubstraitSparkError,
    UnsupportedPlanError,
    UnsupportedSessionError,
)
from .unsupported import (
    LACKING,
    UNEXPECTED,
    BrokenRule,
    NotInDialect,
    Origin,
    SeveralUnsupported,
    Unsupported,
    kind_of,
    said,
    unknown_form,
)

__all__ = [
    "LACKING",
    "UNEXPECTED",
    "BrokenRule",
    "CollectedInSparkWarning",
    "DialectError",
    "EngineError",
    "InvalidPlanError",
    "NotInDialect",
    "Origin",
    "PlanningError",
    "Problem",
    "SeveralUnsupported",
    "SubstraitSparkError",
    "Unsupported",
    "UnsupportedPlanError",
    "UnsupportedSessionError",
    "kind_of",
    "said",
    "unknown_form",
]
