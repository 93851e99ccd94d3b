"""What leaves the library when a plan can't be made or run, and what it says of what it refuses."""

from __future__ import annotations

from collections.abc import Sequence

from .problem import Problem, obstacles_text
from .quotation import printable
from .unsupported import (
    LACKING,
    UNEXPECTED,
    BrokenRewrite,
    NotInDialect,
    Origin,
    SeveralUnsupported,
    Unsupported,
    exception_text,
    kind_of,
    unknown_form,
)

__all__ = [
    "LACKING",
    "UNEXPECTED",
    "BrokenRewrite",
    "CollectedInSparkWarning",
    "DialectError",
    "EngineError",
    "FunctionError",
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
    "exception_text",
    "kind_of",
    "unknown_form",
]


class SubstraitSparkError(Exception):
    """Anything that went wrong in substrait_spark."""

    def __str__(self) -> str:
        # Names of plans, tables and files are in it, and it is printed.
        return printable(super().__str__(), lines=True)


class UnsupportedSessionError(SubstraitSparkError):
    """There is no running Spark session from 3.5 on behind what was given, or for one of Connect, no Spark here that plans."""


class DialectError(SubstraitSparkError):
    """A dialect is unknown, or its file is not a valid dialect file."""


class FunctionError(SubstraitSparkError):
    """What was given as `functions=` can't be declared: its name or its file says why."""


class InvalidPlanError(SubstraitSparkError):
    """A Substrait plan breaks a structural rule, or an engine cannot bind it."""


class PlanningError(SubstraitSparkError):
    """An engine does not take a plan: it lacks a function, say. It has computed no row."""


class EngineError(SubstraitSparkError):
    """An engine failed while it ran a plan; where Spark raises on the same rows, it is meant to."""


class CollectedInSparkWarning(UserWarning):
    """DataFusion doesn't compute the rows that were asked for, and Spark does, as the caller has allowed."""


class UnsupportedPlanError(SubstraitSparkError):
    """The DataFrame means something that the plan could not say exactly.

    `problems` lists every obstacle of the plan, not just the first. Its cause is what a rewrite of the dialect's raised, if
    one did.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(obstacles_text(self.problems))
        self.__cause__ = next((problem.cause for problem in self.problems if problem.cause is not None), None)
