"""What measuring DataFusion gives is what its dialect lists, and Spark has all, but for what the page on it explains. No JVM runs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import yaml
from corpus import cases

from substrait_spark.dialects import load
from substrait_spark.engines.measuring.dialect_file import document
from substrait_spark.engines.measuring.findings import Findings
from substrait_spark.engines.measuring.judging import EXACT, is_asked
from substrait_spark.engines.measuring.listed import Differences, differences, things
from substrait_spark.engines.measuring.outcome import Outcome
from substrait_spark.engines.measuring.recorded import truths

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "reference" / "measured-dialects.md").read_text("utf-8")
HEADINGS = ("Listed, and not measured", "Measured, and not listed")


def measured(engine: str) -> Any:
    return yaml.safe_load((DOCS / "measurements" / "measured" / f"{engine}.yaml").read_text("utf-8"))


def assert_explained(found: Iterable[str], heading: str) -> None:
    """Each difference is in the table below a heading of the page, and each row of that is needed."""
    rows = re.findall(r"^\| (`.*?) \| .* \|$", PAGE.split(f"## {heading}\n")[1].split("\n## ")[0], re.MULTILINE)
    patterns = [pattern for row in rows for pattern in re.findall(r"`(.*?)`", row)]
    assert patterns
    lacking = [each for each in found if not any(fnmatchcase(each, pattern) for pattern in patterns)]
    assert not lacking, f"not in docs/reference/measured-dialects.md: {lacking[:20]}"
    unneeded = [pattern for pattern in patterns if not any(fnmatchcase(each, pattern) for each in found)]
    assert not unneeded, f"explained, and there is no such difference: {unneeded}"


@pytest.fixture(scope="module")
def of_datafusion() -> Differences:
    return differences(load("datafusion").document, measured("datafusion"))


@pytest.mark.parametrize("side", range(2), ids=HEADINGS)
def test_each_difference_of_datafusion_is_explained(of_datafusion: Differences, side: int) -> None:
    assert_explained(of_datafusion[side], HEADINGS[side])


def test_most_of_what_datafusion_lists_is_measured(of_datafusion: Differences) -> None:
    listed = list(things(load("datafusion").document))
    assert len(of_datafusion.only_listed) < 0.2 * len(listed)


def test_what_spark_lacks_is_explained() -> None:
    """Its interpreter has no dialect file: beside what is measured stands what an engine would have that is right in all."""
    known = truths()
    asked = [case for case in cases() if case.name in known and is_asked(case, known[case.name])]
    right = {case.name: Outcome(case.name, known[case.name].digest, EXACT, "", False) for case in asked}
    everything = document("everything", Findings(asked, known, right))
    found = differences(everything, measured("spark"))
    assert_explained([*found.only_listed, *found.only_measured], "What Spark lacks")


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
        "metadata": {"abilities": {"emit": False, "measure_filters": True}},
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
        "aggregate arithmetic sum i8",
        "aggregate arithmetic sum i8: of distinct values",
        "aggregate arithmetic sum i8: over windows",
        "window arithmetic ntile i32",
        "window arithmetic ntile i32: literals at 0",
    ]
