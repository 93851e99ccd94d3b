"""What measuring DataFusion gives is what its dialect lists, but for what the page on it explains. No JVM runs."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml

from substrait_spark.dialects import load
from substrait_spark.engines.measuring.listed import Differences, differences, things

DOCS = Path(__file__).parents[1] / "docs"
HEADINGS = ("Listed, and not measured", "Measured, and not listed")


def explained() -> list[list[str]]:
    """The patterns of both tables of the page."""
    page = (DOCS / "reference" / "measured-dialects.md").read_text("utf-8")
    found = []
    for heading in HEADINGS:
        rows = re.findall(r"^\| (`.*?) \| .* \|$", page.split(f"## {heading}")[1].split("\n## ")[0], re.MULTILINE)
        found.append([pattern for row in rows for pattern in re.findall(r"`(.*?)`", row)])
    return found


@pytest.fixture(scope="module")
def found() -> Differences:
    measured = yaml.safe_load((DOCS / "measurements" / "measured" / "datafusion.yaml").read_text("utf-8"))
    return differences(load("datafusion").document, measured)


@pytest.mark.parametrize("side", range(2), ids=HEADINGS)
def test_each_difference_is_explained(found: Differences, side: int) -> None:
    patterns = explained()[side]
    assert patterns
    lacking = [each for each in found[side] if not any(fnmatchcase(each, pattern) for pattern in patterns)]
    assert not lacking, f"not in docs/reference/measured-dialects.md: {lacking[:20]}"
    unneeded = [pattern for pattern in patterns if not any(fnmatchcase(each, pattern) for each in found[side])]
    assert not unneeded, f"explained, and there is no such difference: {unneeded}"


def test_most_of_what_is_listed_is_measured(found: Differences) -> None:
    listed = list(things(load("datafusion").document))
    assert len(found.only_listed) < 0.2 * len(listed)


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
