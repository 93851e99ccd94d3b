"""The corpus that engines are measured by, lowered for engines: their rows are those that were recorded of Spark. No JVM runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
import slow
from corpus import by_part, cases, part

from substrait_spark import EngineError, UnsupportedPlanError, lower
from substrait_spark.engines.engine import engine_of
from substrait_spark.engines.measuring.case import Case
from substrait_spark.engines.measuring.judging import EXACT, Answer, judged, questions
from substrait_spark.engines.measuring.recorded import truths
from substrait_spark.plan.unread_values import UNREAD

NEGATIVE = (
    "scalar string lpad str_i32_str: string?, i32?, string?",
    "scalar string rpad str_i32_str: string?, i32?, string?",
)
"""What DataFusion fails at for negative lengths, which Spark's queries have another form for. There are no rows either."""

TOO_LARGE = tuple(
    f"aggregate arithmetic_decimal {name} dec overflow=SILENT: decimal?<38, {scale}>"
    for name in ("sum", "sum0")
    for scale in (0, 10)
)
"""Sums that DataFusion's decimals don't hold: it fails, where Spark has null or 0, and the option says nothing of the value. No query asks for it."""

SIGNED = ("scalar rounding ceil fp64: fp64?", "scalar rounding floor fp64: fp64?")
"""Of -0.0, Acero has -0.0, as other producers may mean it. The functions of Spark's queries are other ones: they give integers."""

OF_PAIRS = ("aggregate spark skewness fp64 moving window: fp64?",)
"""The frame has two values, of which it is 0: Spark's sums leave a last digit, which is more than any part of 0."""

LEFT_OPEN = {
    *(f"scalar logarithmic {name} fp64: fp64?" for name in ("ln", "log10", "log1p", "log2")),
    "scalar arithmetic sqrt fp64: fp64?",
}
"""Calls of which the specification leaves to the engine what it gives: NaN or an error of what isn't positive, where Spark has null."""

NULL_TEXTS = (
    "scalar string concat str: string?, string?",
    "scalar string concat str literals: string?, string?",
    "scalar string concat str many: string?, string?, string?, string?",
)
"""Where a call doesn't say what null is, Acero and DataFusion's own function take it for an empty text."""

UNJUDGED_CALLS = {
    "datafusion": {*NEGATIVE, *TOO_LARGE, *OF_PAIRS, *LEFT_OPEN},
    "datafusion-plain": {*NEGATIVE, *TOO_LARGE, *LEFT_OPEN, *NULL_TEXTS},
    "acero": {*TOO_LARGE, *SIGNED, *LEFT_OPEN, *NULL_TEXTS},
}
"""Calls that are lowered, and whose rows are not looked at."""

BROKEN = "the rewrite "
"""In what is told of a rewrite that fails where it should refuse."""

UNLOWERED = ("aggregate string", "scalar rounding", "scalar set", "scalar spark_intervals")
"""Parts of which nothing is lowered for DataFusion: calls that leave options open, and what it lacks."""


PARTS = sorted({part(name) for name in truths()})
"""The parts of the corpus of which Spark's rows are recorded."""

ONE_IN = 1 if slow.asked() else 4
"""Of so many cases of a part, one is tried."""


def _recorded(part: str) -> list[Case]:
    return [case for case in by_part()[part] if case.name in truths()]


# No query of Spark's has some of these calls: a rule that doesn't know one has the plan refused.
@pytest.mark.stumbles
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    "engine", slow.some(["datafusion", "datafusion-plain", "acero"], lambda name: name == "datafusion-plain")
)
def test_lowered_plans_have_the_recorded_rows(engine: str, part: str) -> None:
    seen: Counter[str] = Counter()
    tried = _recorded(part)[::ONE_IN]
    wrong = [said for case in tried for said in _wrong(case, engine, seen)]
    assert not wrong, f"{len(wrong)} of {len(tried)}:\n" + "\n".join(wrong[:20])
    assert engine == "acero" or bool(seen["lowered"]) == (part not in UNLOWERED)


def _wrong(case: Case, engine: str, seen: Counter[str]) -> Iterator[str]:
    try:
        plan = lower(case.plan(), engine)
    except UnsupportedPlanError as refused:
        if BROKEN in str(refused):
            yield f"{case.name}: {refused}"
        return
    seen["lowered"] += 1
    if case.name in UNJUDGED_CALLS[engine]:
        return
    for question in questions(case, truths()[case.name]):
        try:
            answer = Answer(engine_of(engine).rows(plan, question.tables, None, (), None))
        except EngineError as error:
            answer = Answer(None, str(error))
        found = judged(case, question, answer)
        if found.verdict != EXACT and UNREAD not in found.detail:
            yield f"{case.name}: {found.verdict}: {found.detail}"


def test_each_case_is_recorded_as_it_is() -> None:
    recorded = [case for part in PARTS for case in _recorded(part)]
    stale = [case.name for case in recorded if case.digest() != truths()[case.name].digest]
    assert not stale, f"record {len(stale)} cases anew by scripts/record_rows.py: {stale[:5]}"


def test_each_case_has_a_name_of_its_own() -> None:
    names = Counter(case.name for case in cases())
    assert not [name for name, count in names.items() if count > 1]
