"""What an engine's answer to a case is worth: beside Spark's rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from ...catalyst.query_order import Ordering
from ...errors import InvalidPlanError
from ..comparison.tables import compared
from ..result import named
from .case import Case
from .recorded import Truth

EXACT, REFUSED, WRONG, ENDED, HUNG = "exact", "refused", "wrong", "ended", "hung"
"""Verdicts: Spark's rows, or an error where Spark raises; an error; other rows, or some where Spark raises; the end of the
process; no answer in time."""

LONGEST = 400
"""How many characters of an error, or of a difference, are kept."""


class Question(NamedTuple):
    """What an engine is asked: a plan, and tables by name; and what Spark makes of that."""

    plan: bytes
    tables: dict[str, pa.Table]
    expected: pa.Table | None
    """None where Spark raises."""


class Answer(NamedTuple):
    """What an engine gave: rows, or what it raised, or how its process ended."""

    rows: pa.Table | None
    error: str = ""
    end: str = ""
    """`ended` or `hung`; empty where it answered."""


class Judgement(NamedTuple):
    """A verdict, and what shows it."""

    verdict: str
    detail: str = ""
    """Of an exact answer, what the engine raised."""


def questions(case: Case, truth: Truth) -> Iterator[Question]:
    """What is asked for a case: all rows that have a result, and one by one some that raise, which may have one where it is left open."""
    plan = case.plan().SerializeToString(deterministic=True)
    if truth.stream is not None or (truth.kept is None and not case.leaves_open):
        yield Question(plan, _arrow(case, truth.kept), truth.rows)
    for position in truth.raising[: 1 if case.leaves_open else None]:
        yield Question(plan, _arrow(case, (position,)), None)


def is_asked(case: Case, truth: Truth) -> bool:
    """Whether there are any questions for a case."""
    return truth.stream is not None or not case.leaves_open


def _arrow(case: Case, kept: tuple[int, ...] | None) -> dict[str, pa.Table]:
    tables = case.tables if kept is None else {"t": case.tables["t"].only(kept)}
    return {name: table.arrow() for name, table in tables.items()}


def judged(case: Case, question: Question, answer: Answer) -> Judgement:
    """What an answer is worth."""
    if answer.end:
        return Judgement(answer.end, shortened(answer.error))
    if question.expected is None:
        if answer.rows is None or case.leaves_open:
            return Judgement(EXACT, shortened(answer.error))
        return Judgement(WRONG, shortened(f"Spark raises, and here are {_shown(answer.rows)}{_given(question)}"))
    if answer.rows is None:
        return Judgement(REFUSED, shortened(answer.error))
    return _compared(case, question.expected, answer.rows, question)


def _compared(case: Case, expected: pa.Table, actual: pa.Table, question: Question) -> Judgement:
    order = Ordering(tuple(range(expected.num_columns))) if case.ordered else None
    try:
        actual, expected = named(actual, case.names), named(expected, case.names)
        comparison = compared(expected, actual, tolerance=case.tolerance, order=order)
    except UNCOMPARED as error:
        return Judgement(WRONG, shortened(f"columns that can't be compared, {actual.schema.types}: {error}"))
    if comparison:
        return Judgement(EXACT)
    said = str(comparison).splitlines()
    return Judgement(WRONG, shortened("\n".join(said[1:])) + _given(question, comparison.only_in_spark))


UNCOMPARED = (InvalidPlanError, ValueError, TypeError, NotImplementedError, KeyError, pa.ArrowException)
"""What comparing raises for columns of types that Spark has none of. PyArrow itself has no arrays of intervals of months: a KeyError."""


def _given(question: Question, rows: pa.Table | None = None) -> str:
    """The first row of the table that a difference is about, where its number tells."""
    table = question.tables.get("t")
    if table is None or table.num_rows == 0:
        return ""
    if table.num_rows > 1 and (rows is None or rows.num_rows == 0 or rows.num_columns < 2):
        return ""
    number = table.column(0)[0].as_py() if table.num_rows == 1 or rows is None else rows.column(0)[0].as_py()
    position = table.column(0).to_pylist().index(number) if number in table.column(0).to_pylist() else None
    return "" if position is None else f"\nof {table.slice(position, 1).to_pylist()[0]}"


def _shown(table: pa.Table) -> str:
    return str(table.slice(0, 3).to_pylist())


def shortened(text: str) -> str:
    """A text without what is beyond its first characters."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def worst(judgements: list[Judgement]) -> Judgement:
    """The judgement that tells most against an engine, the first of its kind."""
    return max(judgements, key=lambda each: _RANK[each.verdict])


_RANK = {EXACT: 0, REFUSED: 1, WRONG: 2, HUNG: 3, ENDED: 4}
