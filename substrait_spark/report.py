"""What `check` found, and how it shows itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from .algebra.limits import text_of
from .errors import Problem
from .errors.problem import obstacles_text
from .errors.quotation import printable
from .plan.concessions import Use


@dataclass(frozen=True, repr=False)
class Report:
    """What `check` found: every obstacle of a plan. True when the plan can be made."""

    problems: tuple[Problem, ...] = ()
    beyond: tuple[str, ...] = ()
    """What a plan that can be made needs beyond the specification, which an engine has to be given: functions of an extension
    file, and extension messages. Empty where every engine that has all of the specification can run the plan."""
    unread: tuple[str, ...] = ()
    """Values for which a plan of a dialect raises an error though Spark has a result, if any of them occurs."""

    conceded: tuple[Use, ...] = ()
    """Where a concession was used: its name, and the place."""

    def __bool__(self) -> bool:
        return not self.problems

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)

    def __len__(self) -> int:
        return len(self.problems)

    def __str__(self) -> str:
        if not self.problems:
            return "\n".join(
                ["The plan can be expressed in Substrait.", *self._beyond(), *self._unread(), *self._conceded()]
            )
        return obstacles_text(self.problems)

    def _beyond(self) -> Iterator[str]:
        if self.beyond:
            yield "It runs where the engine has, beyond the specification:"
            yield from (f"    {printable(need)}" for need in self.beyond)

    def _unread(self) -> Iterator[str]:
        if self.unread:
            yield "Where one of these occurs, it ends in an error, and Spark has a result:"
            yield from (f"    {printable(values)}" for values in self.unread)

    def _conceded(self) -> Iterator[str]:
        for name in dict.fromkeys(use.concession for use in self.conceded):
            yield f"By the concession {name}, it may differ from Spark at:"
            yield from (f"    {printable(use.place)}" for use in self.conceded if use.concession == name)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return text_of(self._html())

    def _html(self) -> Iterator[str]:
        """Its first lines, then each obstacle with its place, the reason, the SQL and the hint."""
        head, _, rest = printable(str(self), lines=True).partition("\n")
        yield f"<div class='substrait-report'><p><b>{escape(head)}</b></p>"
        if self.problems:
            yield "<ol>"
            for problem in self.problems:
                yield f"<li>{'<br>'.join(_problem(problem))}</li>"
            yield "</ol>"
        elif rest:
            yield f"<pre>{escape(rest)}</pre>"
        yield "</div>"


def _problem(problem: Problem) -> Iterator[str]:
    yield f"<b>{_text(problem.catalyst_class)}</b> at {_text(problem.path)}"
    yield _text(problem.reason)
    if problem.sql and problem.sql != problem.catalyst_class:
        yield f"in <code>{_text(problem.sql)}</code>"
    if problem.hint:
        yield f"<i>hint: {_text(problem.hint)}</i>"


def _text(text: str) -> str:
    return escape(printable(text))
