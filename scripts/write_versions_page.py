"""Writes into docs/spark-versions.md what `make matrix` has measured: `python scripts/write_versions_page.py`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "spark-versions.md"
MEASURED = DOCS / "measurements" / "versions"

BEGIN, END = "<!-- measured: -->\n", "<!-- :measured -->"

HEAD = "| Spark | when | passed | skipped | failed | equal | both raise | refused | wrong |"


class Version(NamedTuple):
    """What was measured on a version: the results of each module of tests."""

    name: str
    modules: Mapping[str, Any]

    def total(self, key: str) -> Counter[str]:
        """The sum of what all modules count under a key."""
        return sum((Counter(module[key]) for module in self.modules.values()), Counter())

    @property
    def numbers(self) -> list[int]:
        """The columns of the table."""
        compared = self.total("compared")
        of_failed = [Counter(counts) for module in self.modules.values() for counts in module["failed"].values()]
        return [
            sum(module["passed"] for module in self.modules.values()),
            self.total("skipped").total(),
            len(of_failed),
            *(compared[outcome] for outcome in ("equal", "raised", "refused")),
            sum(counts["different"] for counts in of_failed),
        ]

    @property
    def when(self) -> str:
        """The day, or the first and the last one."""
        days = sorted({module["date"] for module in self.modules.values()})
        return " to ".join(dict.fromkeys((days[0], days[-1])))


def measured() -> list[Version]:
    """Every version, the oldest first."""
    found = [json.loads(path.read_text("utf-8")) for path in MEASURED.glob("*.json")]
    versions = [Version(version["spark"], version["modules"]) for version in found]
    return sorted(versions, key=lambda version: [*map(int, version.name.split("."))])


def written(versions: Sequence[Version]) -> str:
    """The part of the page that is measured."""
    return "\n".join([HEAD, "|---" * 9 + "|", *map(_row, versions), "", *_left_out(versions), *_skipped(versions), ""])


def _row(version: Version) -> str:
    return f"| {version.name} | {version.when} | {' | '.join(f'{number:,}' for number in version.numbers)} |"


def _left_out(versions: Sequence[Version]) -> Iterator[str]:
    """Which modules were run on other versions only, and which tests failed."""
    modules = sorted({module for version in versions for module in version.modules})
    for version in versions:
        left_out = [f"`{module}`" for module in modules if module not in version.modules]
        if left_out:
            yield f"Not run on {version.name}: {', '.join(left_out)}."
            yield ""
        if failed := [test for module in version.modules.values() for test in module["failed"]]:
            yield from [f"Failed on {version.name}:", "", *(f"* `{test}`" for test in sorted(failed)), ""]


def _skipped(versions: Sequence[Version]) -> Iterator[str]:
    """Why tests can't run, and how many of each version."""
    skipped = [version.total("skipped") for version in versions]
    yield f"| tests skipped, because | {' | '.join(version.name for version in versions)} |"
    yield "|---" * (len(versions) + 1) + "|"
    for reason in sorted({reason for counts in skipped for reason in counts}):
        yield f"| {reason} | {' | '.join(f'{counts[reason]:,}' if counts[reason] else '' for counts in skipped)} |"


def page(text: str) -> str:
    """The page with what is measured in its place."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{written(measured())}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
