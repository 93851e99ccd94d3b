"""What the standard has, as any producer may state it: lowered for DataFusion, it has Spark's rows, or is refused by its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from substrait.plan_pb2 import Plan

from substrait_spark import lower
from substrait_spark.engines import datafusion, measure
from substrait_spark.engines.measuring.judging import EXACT, REFUSED

pytestmark = pytest.mark.usefixtures("corpus_made_once")

BROKEN = "the rewrite "
"""In what is told of a rewrite that fails where it should refuse."""


def run(plan: bytes, tables: Mapping[str, pa.Table]) -> pa.Table:
    """The rows of a plan, in whatever forms it is."""
    return datafusion.execute(lower(Plan.FromString(plan), "datafusion"), tables=tables)


LEAST = {"window": 70}
"""How many cases have rows, at the least."""

MORE = {"aggregate": 225, "relations": 160, "expressions": 35, "casts": 250, "types": 300, "scalar": 900}


LEFT_OPEN = {f"scalar logarithmic {name} fp64: fp64?" for name in ("ln", "log10", "log1p", "log2")}
"""Calls of which the specification leaves to the engine what it gives: NaN for the logarithm of what isn't positive, where Spark has null."""


@pytest.mark.parametrize(
    ("section", "least"), [*LEAST.items(), *(pytest.param(*each, marks=pytest.mark.slow) for each in MORE.items())]
)
def test_rows_are_as_in_spark(tmp_path: Path, section: str, least: int) -> None:
    found = measure(run, tmp_path, only=section, seconds=120)
    outcomes = [each.outcome for each in found.findings.tried if each.case.subject.section == section]
    wrong = [
        f"{each.case}: {each.verdict}, {each.detail}"
        for each in outcomes
        if each.verdict not in (EXACT, REFUSED) and str(each.case) not in LEFT_OPEN
    ]
    assert not wrong, "\n".join(wrong)
    broken = [f"{each.case}: {each.detail}" for each in outcomes if BROKEN in each.detail]
    assert not broken, "\n".join(broken)
    assert sum(each.verdict == EXACT for each in outcomes) >= least
