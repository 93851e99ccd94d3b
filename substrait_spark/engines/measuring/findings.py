"""What the outcomes of the cases say of an engine, entry by entry of a dialect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .case import Case, Subject
from .judging import EXACT
from .outcome import Outcome
from .recorded import Truth


class Tried(NamedTuple):
    """A case, Spark's rows of it, and what came of it."""

    case: Case
    truth: Truth
    outcome: Outcome

    @property
    def says_something(self) -> bool:
        """Whether an exact outcome shows that the engine has it: to raise where Spark does shows nothing."""
        return self.truth.stream is not None

    @property
    def is_exact(self) -> bool:
        """Whether the engine has Spark's rows, and raises where Spark does."""
        return self.outcome.verdict == EXACT


class Findings:
    """All that was tried of an engine, by what it is about."""

    def __init__(self, cases: Iterable[Case], truths: Mapping[str, Truth], outcomes: Mapping[str, Outcome]) -> None:
        self.tried: list[Tried] = []
        self.by_subject: dict[Subject, list[Tried]] = defaultdict(list)
        for case in cases:
            truth, outcome = truths.get(case.name), outcomes.get(case.name)
            if truth is not None and outcome is not None:
                tried = Tried(case, truth, outcome)
                self.tried.append(tried)
                self.by_subject[case.subject].append(tried)

    def of(self, section: str) -> dict[tuple[object, ...], dict[str, list[Tried]]]:
        """What was tried of a section: by key, then by variant."""
        by_key: dict[tuple[object, ...], dict[str, list[Tried]]] = defaultdict(dict)
        for subject, tried in self.by_subject.items():
            if subject.section == section:
                by_key[subject.key][subject.variant] = tried
        return by_key

    def has(self, subject: Subject) -> bool:
        """Whether all that was tried of a subject is exact, and something was."""
        return are_exact(self.by_subject.get(subject, ()))

    def lacks(self, subject: Subject) -> bool:
        """Whether something that was tried of a subject isn't exact."""
        return any(not each.is_exact for each in self.by_subject.get(subject, ()))


def are_exact(tried: Sequence[Tried]) -> bool:
    """Whether all of some cases are exact, and one of them shows something."""
    return all(each.is_exact for each in tried) and any(each.says_something for each in tried)


def not_for(tried: Sequence[Tried]) -> tuple[str, ...] | None:
    """The kinds of types, and the enum values, for which something isn't exact that is for all others.

    None where it is for none, or where no kinds tell those from the others.
    """
    fine = {kind for each in tried if each.is_exact for kind in each.case.kinds}
    wrong: dict[str, None] = {}
    for each in tried:
        if not each.is_exact:
            kinds = each.case.kinds
            suspects = kinds if len(kinds) == 1 else [kind for kind in kinds if kind not in fine]
            if not suspects:
                return None
            wrong.update(dict.fromkeys(suspects))
    right = [each for each in tried if each.is_exact and wrong.keys().isdisjoint(each.case.kinds)]
    return tuple(wrong) if any(each.says_something for each in right) else None
