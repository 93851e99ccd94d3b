"""What measuring DataFusion gives is what its dialect lists, and Spark has all, but for what the page on it explains. No JVM runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml
from corpus import cases

from substrait_spark.dialects import load
from substrait_spark.engines import datafusion
from substrait_spark.engines.measuring.dialect_file import document
from substrait_spark.engines.measuring.findings import Findings
from substrait_spark.engines.measuring.judging import EXACT, Answer, is_asked, judged, questions
from substrait_spark.engines.measuring.listed import Differences, differences, things
from substrait_spark.engines.measuring.outcome import Outcome
from substrait_spark.engines.measuring.recorded import truths
from substrait_spark.lowering.plan import lower_plan

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "reference" / "measured-dialects.md").read_text("utf-8")
HEADINGS = {
    "datafusion": ("Listed, and not measured", "Measured, and not listed"),
    "acero": ("Listed for Acero, and not measured", "Measured of Acero, and not listed"),
}
"""Of the page, by engines: what only the one of the two has."""
OF_PLAIN = "Measured without Spark's functions, and not listed"


def measured(engine: str) -> Any:
    return yaml.safe_load((DOCS / "measurements" / "measured" / f"{engine}.yaml").read_text("utf-8"))


def explained(heading: str) -> list[str]:
    """The patterns in the table below a heading of the page."""
    rows = re.findall(r"^\| (`.*?) \| .* \|$", PAGE.split(f"## {heading}\n")[1].split("\n## ")[0], re.MULTILINE)
    return [pattern for row in rows for pattern in re.findall(r"`(.*?)`", row)]


def assert_explained(found: Iterable[str], patterns: Sequence[str]) -> None:
    """Each difference is in a table of the page, and each row of that is needed."""
    assert patterns
    lacking = [each for each in found if not any(fnmatchcase(each, pattern) for pattern in patterns)]
    assert not lacking, f"not in docs/reference/measured-dialects.md: {lacking[:20]}"
    unneeded = [pattern for pattern in patterns if not any(fnmatchcase(each, pattern) for each in found)]
    assert not unneeded, f"explained, and there is no such difference: {unneeded}"


@pytest.fixture(scope="module")
def of_datafusion() -> Differences:
    return differences(load("datafusion").document, measured("datafusion"))


@pytest.mark.parametrize("engine", HEADINGS)
@pytest.mark.parametrize("side", range(2), ids=Differences._fields)
def test_each_difference_is_explained(engine: str, side: int) -> None:
    assert_explained(differences(load(engine).document, measured(engine))[side], explained(HEADINGS[engine][side]))


@pytest.mark.parametrize("side", range(2), ids=Differences._fields)
def test_datafusion_without_functions_of_spark_differs_in_nothing_else(side: int) -> None:
    found = differences(load("datafusion-plain").document, measured("datafusion-plain"))[side]
    of_both = explained(HEADINGS["datafusion"][side]) + (explained(OF_PLAIN) if side else [])
    assert_explained(found, [each for each in of_both if any(fnmatchcase(one, each) for one in found)])


def test_most_of_what_datafusion_lists_is_measured(of_datafusion: Differences) -> None:
    listed = list(things(load("datafusion").document))
    assert len(of_datafusion.only_listed) < 0.2 * len(listed)


def test_plans_keep_from_what_was_measured_as_a_defect() -> None:
    """Lowered for the dialect that was measured, a plan that shows a defect has Spark's rows, or is refused."""
    dialect = load(DOCS / "measurements" / "measured" / "datafusion.yaml")
    assert dialect.defects
    kept = set()
    for case in cases():
        plan = lower_plan(case.plan(), dialect)[0] if case.subject.section == "defects" else None
        if plan is not None:
            for question in questions(case, truths()[case.name]):
                found = judged(case, question, Answer(datafusion.execute(plan, tables=question.tables)))
                assert found.verdict == EXACT, f"{case.name}: {found.detail}"
            kept.add(case.subject.key[0])
    assert len(kept & dialect.defects.keys()) > 10


def test_what_spark_lacks_is_explained() -> None:
    """Its interpreter has no dialect file: beside what is measured stands what an engine would have that is right in all."""
    known = truths()
    asked = [case for case in cases() if case.name in known and is_asked(case, known[case.name])]
    right = {case.name: Outcome(case.name, known[case.name].digest, EXACT, "", False) for case in asked}
    everything = document("everything", Findings(asked, known, right))
    found = differences(everything, measured("spark"))
    assert_explained([*found.only_listed, *found.only_measured], explained("What Spark lacks"))


def test_the_page_says_how_many_cases_have_rows() -> None:
    known = truths()
    names = [case.name for case in cases()]
    recorded = sum(name in known for name in names)
    said = PAGE.split("## What has no rows\n")[1]
    assert f"Of the {len(names):,} cases of the corpus, {recorded:,} have Spark's rows" in said
    numbers = [int(number.replace(",", "")) for number in re.findall(r"\b\d[\d,]*\b", said)]
    total, with_rows, impossible, of_options, of_columns, of_others, missing, *_ = numbers
    assert impossible == of_options + of_columns + of_others
    assert total == with_rows + impossible + missing


def test_what_a_dialect_lists() -> None:
    document = {
        "metadata": {"abilities": {"emit": False, "measure_filters": True}, "defects": {"nan_payloads": {}}},
        "dependencies": {"a": "extension:io.substrait:functions_arithmetic", "own": "extension:org.example:own"},
        "supported_types": ["I8", {"type": "INTERVAL_DAY", "metadata": {"only_as_column": True}}],
        "supported_relations": ["FILTER", {"relation": "JOIN", "join_types": ["INNER", "LEFT"]}],
        "supported_expressions": [
            {"expression": "CAST", "metadata": {"exact": {"THROW_EXCEPTION": {"i8": ["i8", "i16"]}, "RETURN_NULL": {}}}}
        ],
        "supported_scalar_functions": [{"source": "own", "name": "f", "supported_impls": ["i8"]}],
        "supported_aggregate_functions": [
            {"source": "a", "name": "sum", "supported_impls": ["i8"], "metadata": {"sorts": False, "window": "growing"}}
        ],
        "supported_window_functions": [
            {"source": "a", "name": "ntile", "supported_impls": ["i32"], "metadata": {"literals": [0]}}
        ],
    }
    assert list(things(document)) == [
        "types I8",
        "types INTERVAL_DAY in columns only",
        "relations FILTER",
        "relations JOIN INNER",
        "relations JOIN LEFT",
        "expressions CAST",
        "casts i8 i16 THROW_EXCEPTION",
        "abilities no emit",
        "defects nan_payloads",
        "aggregate arithmetic sum i8",
        "aggregate arithmetic sum i8: of distinct values",
        "aggregate arithmetic sum i8: over windows",
        "window arithmetic ntile i32",
        "window arithmetic ntile i32: literals at 0",
    ]
