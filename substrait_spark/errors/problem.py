"""One obstacle between a DataFrame and its plan, and how obstacles are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .quotation import printable


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
    """What a rewrite of the dialect's raised, where that is the obstacle."""

    def __str__(self) -> str:
        lines = [f"{self.catalyst_class} at {self.path}: {self.reason}"]
        if self.sql and self.sql != self.catalyst_class:
            lines.append(f"    in: {self.sql}")
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(map(printable, lines))


def obstacles_text(problems: Sequence[Problem]) -> str:
    """All obstacles of a plan, as text: how many there are, then each with its number."""
    count = len(problems)
    head = f"{count} obstacle{'s' if count > 1 else ''} on the way to a Substrait plan:"
    return "\n".join([head, *(f"{n}. {problem}" for n, problem in enumerate(problems, 1))])
