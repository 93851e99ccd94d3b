"""What came of each case, kept line by line in a file, so that a measurement goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...errors import SubstraitSparkError

FILE = "outcomes.jsonl"


class Outcome(NamedTuple):
    """What came of a case."""

    case: str
    digest: str
    """Of the case that was tried."""
    verdict: str
    detail: str
    raised: bool
    """Whether the engine raised for rows for which Spark does."""


class Outcomes:
    """The outcomes in a file, by the names of cases."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.by_case = {outcome.case: outcome for outcome in read(path)} if path.exists() else {}

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome, in the file at once."""
        self.by_case[outcome.case] = outcome
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(outcome, ensure_ascii=True) + "\n")

    def forget(self, names: Iterable[str]) -> None:
        """Take cases for such as were not tried; the file has what came of them until they are tried again."""
        for name in names:
            self.by_case.pop(name, None)


def read(path: Path) -> Iterator[Outcome]:
    """The outcomes in a file; what was cut off when a measurement was ended is none. Raises SubstraitSparkError for another file."""
    for number, line in enumerate(path.read_text("utf-8").splitlines()):
        try:
            yield Outcome(*json.loads(line))
        except (ValueError, TypeError) as error:
            if number == 0:
                raise SubstraitSparkError(f"{path} holds no outcomes of a measurement.") from error
