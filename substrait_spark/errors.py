"""The errors that leave this library, and the report of what stands in a plan's way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .quotation import printable

if TYPE_CHECKING:
    from .algebra.expression import Origin


class SubstraitSparkError(Exception):
    """Anything that went wrong in substrait_spark."""

    def __str__(self) -> str:
        # Names of plans, tables and files are in it, and it is printed.
        return printable(super().__str__(), lines=True)


class UnsupportedSessionError(SubstraitSparkError):
    """There is no running Spark session from 3.5 on behind what was given, or for one of Connect, no Spark here that plans."""


class DialectError(SubstraitSparkError):
    """A dialect is unknown, or its file is not a valid dialect file."""


class InvalidPlanError(SubstraitSparkError):
    """A Substrait plan breaks a structural rule, or an engine cannot bind it."""


class PlanningError(SubstraitSparkError):
    """An engine does not take a plan: it lacks a function, say. It has computed no row."""


class EngineError(SubstraitSparkError):
    """An engine failed while it ran a plan; where Spark raises on the same rows, it is meant to."""


def kind_of(value: object) -> str:
    """The type of what was given in place of something else, as messages call it."""
    if value is None:
        return "None"
    module = type(value).__module__
    return type(value).__name__ if module == "builtins" else f"{module}.{type(value).__name__}"


@dataclass(frozen=True)
class Problem:
    """One obstacle between a DataFrame and its plan."""

    path: str
    """Where in the plan, from the root: `Project / Filter / Join.right`."""
    catalyst_class: str
    """The Catalyst class of the node, such as `PythonUDF`."""
    sql: str
    """The node's SQL text as Spark prints it, or its class where it has none."""
    reason: str
    """Why it can't be expressed, as a sentence."""
    hint: str
    """What the user can do."""
    cause: BaseException | None = field(default=None, compare=False, repr=False)
    """What a rule of the dialect's raised, where that is the obstacle."""

    def __str__(self) -> str:
        lines = [f"{self.catalyst_class} at {self.path}: {self.reason}"]
        if self.sql and self.sql != self.catalyst_class:
            lines.append(f"    in: {self.sql}")
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(map(printable, lines))


@dataclass(frozen=True, repr=False)
class Report:
    """What `check` found: every obstacle of a plan. True when the plan can be made."""

    problems: tuple[Problem, ...] = ()
    beyond: tuple[str, ...] = ()
    """What a plan that can be made needs beyond the specification, which an engine has to be given: functions of an extension
    file, and extension messages. Empty where every engine that has all of the specification can run the plan."""

    def __bool__(self) -> bool:
        return not self.problems

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)

    def __len__(self) -> int:
        return len(self.problems)

    def __str__(self) -> str:
        if not self.problems:
            return "\n".join(["The plan can be expressed in Substrait.", *self._beyond()])
        count = len(self.problems)
        head = f"{count} obstacle{'s' if count > 1 else ''} on the way to a Substrait plan:"
        return "\n".join([head, *(f"{n}. {problem}" for n, problem in enumerate(self.problems, 1))])

    def _beyond(self) -> Iterator[str]:
        if self.beyond:
            yield "It runs where the engine has, beyond the specification:"
            yield from (f"    {printable(need)}" for need in self.beyond)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from .display.reports import report_html

        return report_html(self)


class FunctionError(SubstraitSparkError):
    """What was given as `functions=` can't be declared: its name or its file says why."""


class UnsupportedPlanError(SubstraitSparkError):
    """The DataFrame means something that the plan could not say exactly.

    `problems` lists every obstacle of the plan, not just the first. Its cause is what a rule of the dialect's raised, if
    one did.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__(str(Report(self.problems)))
        self.__cause__ = next((problem.cause for problem in self.problems if problem.cause is not None), None)


UNEXPECTED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What Python raises in code that meets a form which it does not know."""


def said(error: Exception) -> str:
    """What an exception of Python's says, for a sentence about what was met."""
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r}"
    return f"{type(error).__name__}: {error}"


class Unsupported(Exception):
    """Raised inside the library where a node can't be expressed; collected into problems."""

    def __init__(self, reason: str, hint: str = "", about: Origin | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint
        self.about = about
        """The node that it is about; None where that is the one in which it is met."""

    def each(self) -> Sequence[Unsupported]:
        """The obstacles one by one, where there are several."""
        return (self,)

    @property
    def cause(self) -> BaseException | None:
        """What the user is to see of the exception that it came from: nothing, unless it is of the user's own code."""
        return None


class SeveralUnsupported(Unsupported):
    """Several obstacles of one node, which are told one by one."""

    def __init__(self, obstacles: Sequence[Unsupported]) -> None:
        super().__init__("; ".join(dict.fromkeys(obstacle.reason for obstacle in obstacles)), obstacles[0].hint)
        self._obstacles = tuple(obstacles)

    def each(self) -> Sequence[Unsupported]:
        return self._obstacles


LACKING = "Compute this column in Spark, or make a plan for another dialect or without one."


class NotInDialect(Unsupported):
    """A form of a node that the dialect doesn't offer; another form may serve."""

    def __init__(self, reason: str, hint: str = LACKING) -> None:
        super().__init__(reason, hint)
        self.lacking = reason
        """What the dialect lacks, without what it lacks of the forms that could be in its place."""


class BrokenRule(Unsupported):
    """A rule of a dialect's that fails, or gives what is no form; where it raised something, that is the cause."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, "Mend the rule, or tell who wrote the rules of the dialect.")

    @property
    def cause(self) -> BaseException | None:
        return self.__cause__
