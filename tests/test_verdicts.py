"""What `make matrix` counts."""

from __future__ import annotations

from typing import Any

import pytest
import write_versions_page
from verdicts import Module


def ran(module: Module, test: str, outcome: Any, compared: dict[str, int], longrepr: Any = None) -> None:
    """Let a module have the reports of a test: the call's outcome, and how its comparisons ended."""
    for when in ("setup", "call", "teardown"):
        found: Any = outcome if when == "call" else "passed"
        properties = [("compared", compared)] if when == "teardown" else []
        module.add(
            pytest.TestReport(
                test, ("", 0, ""), {}, found, longrepr if when == "call" else None, when, user_properties=properties
            )
        )


def test_counts() -> None:
    module = Module()
    ran(module, "a", "passed", {"equal": 2, "refused": 1, "different": 1})
    ran(module, "b", "failed", {"equal": 1, "different": 1})
    ran(module, "c", "skipped", {}, ("file", 1, "Skipped: it came later"))
    first = module.result(None)
    assert (first["passed"], first["skipped"]) == (1, {"it came later": 1})
    assert first["compared"] == {"equal": 2, "refused": 1}, "a test that passes wants the difference"
    assert first["failed"] == {"b": {"equal": 1, "different": 1}}
    row = write_versions_page.Version("4.0.5", {"m": first})
    assert row.numbers == [1, 1, 1, 2, 0, 1, 1]


def test_what_failed_is_run_again() -> None:
    first = {"passed": 3, "failed": {"b": {"different": 1}, "d": {}}, "skipped": {"old": 1}, "compared": {"equal": 2}}
    module = Module()
    ran(module, "b", "passed", {"equal": 1})
    again = module.result(first)
    assert (again["passed"], again["failed"], again["compared"]) == (4, {"d": {}}, {"equal": 3})
    ran(module, "new", "passed", {})
    assert module.result(first)["passed"] == 2, "a module is run anew"


def test_page_is_up_to_date() -> None:
    text = write_versions_page.PAGE.read_text("utf-8")
    assert text == write_versions_page.page(text), "run python scripts/write_versions_page.py"
