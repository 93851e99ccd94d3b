"""What is raised inside the library where something can't be said; each is told as a problem of the plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Origin(Protocol):
    """What an expression or a relation was made from, as problems with it are told: a Catalyst node, or a message."""

    @property
    def name(self) -> str: ...


def kind_of(value: object) -> str:
    """The type of what was given in place of something else, as messages call it."""
    if value is None:
        return "None"
    module = type(value).__module__
    return type(value).__name__ if module == "builtins" else f"{module}.{type(value).__name__}"


UNEXPECTED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What Python raises in code that meets a form which it does not know."""


def exception_text(error: Exception) -> str:
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
        """The exception that the user is to see as the cause: one of the user's own code, else none."""
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


class BrokenRewrite(Unsupported):
    """A rewrite of an engine's that fails, or gives what is no form; where it raised something, that is the cause."""

    def __init__(self, reason: str, cause: BaseException | None = None) -> None:
        super().__init__(reason, "Mend the rewrite, or tell who wrote those of the dialect.")
        self.__cause__ = cause  # compiled code forgets what `raise` says it is raised from

    @property
    def cause(self) -> BaseException | None:
        return self.__cause__


def unknown_form(error: Exception) -> Unsupported:
    """Why a node can't be exported whose fields are not what is known of its class."""
    return Unsupported(f"its form is not known ({exception_text(error)})")
