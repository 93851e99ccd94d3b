"""How the tests and their comparisons end on one release of Spark: `pytest --verdicts FOLDER` writes it to a file of the folder.

It runs the tests that use Spark's session, whatever they compare: the others say nothing about a release.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyspark
import pytest

COMPARED: Counter[str] = Counter()
"""How the comparisons of the running test have ended: `equal`, `different`, both `raised`, or `refused` to be made."""


class Verdicts:
    """A plugin that counts in each process, and writes in the one that the others report to.

    What a file has of other modules stays. Where only tests are run that had failed, they go to what their module came to.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{pyspark.__version__}.json"
        self._modules: dict[str, Module] = defaultdict(Module)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        outside = [item for item in items if "shared_session" not in getattr(item, "fixturenames", ())]
        items[:] = [item for item in items if "shared_session" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=outside)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        COMPARED.clear()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        item.user_properties.append(("compared", dict(COMPARED)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._modules[Path(report.location[0]).stem].add(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workerinput"):
            return
        modules = json.loads(self._path.read_text("utf-8"))["modules"] if self._path.exists() else {}
        modules |= {name: module.result(modules.get(name)) for name, module in self._modules.items()}
        written = {"spark": pyspark.__version__, "modules": dict(sorted(modules.items()))}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", "utf-8")


class Module:
    """What has come of a module's tests, and of the comparisons in them."""

    def __init__(self) -> None:
        self._passed: set[str] = set()
        self._skipped: dict[str, str] = {}
        self._failed: set[str] = set()
        self._compared: dict[str, Counter[str]] = {}

    def add(self, report: pytest.TestReport) -> None:
        """One phase of a test: its set-up, its call or its teardown."""
        test = report.nodeid
        if report.failed:
            self._failed.add(test)
        elif report.skipped and isinstance(report.longrepr, tuple):
            self._skipped[test] = report.longrepr[2].removeprefix("Skipped: ")
        elif report.when == "call":
            self._passed.add(test)
        if report.when == "teardown":
            self._compared[test] = Counter(dict(report.user_properties).get("compared", {}))  # type: ignore[call-overload]

    def result(self, before: dict[str, Any] | None) -> dict[str, Any]:
        """The numbers, as JSON has them, with those of an earlier run of which these tests are some that failed."""
        failed = {test: dict(self._compared.get(test, {})) for test in sorted(self._failed)}
        passed, skipped = len(self._passed - self._failed), Counter(self._skipped.values())
        compared = sum((self._compared[test] for test in self._passed - self._failed), Counter())
        del compared["different"]  # which is what a test that passes wants to see
        if before is not None and {*self._passed, *self._skipped, *self._failed} <= before["failed"].keys():
            others = before["failed"].keys() - self._compared.keys()
            failed |= {test: before["failed"][test] for test in others}
            passed += before["passed"]
            skipped += Counter(before["skipped"])
            compared += Counter(before["compared"])
        return {
            "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
            "passed": passed,
            "failed": dict(sorted(failed.items())),
            "skipped": dict(sorted(skipped.items())),
            "compared": dict(sorted(compared.items())),
        }
