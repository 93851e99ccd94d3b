"""The verdicts on functions, read from the YAML files beside this module.

Each entry says what DataFusion does with a function, measured on the grid:

* `function`: Spark's SQL name, and `class`: the Catalyst class that the optimizer leaves
* `calls`: SQL expressions over the columns of the grid
* `datafusion`: `equal` (Spark's rows, errors included) or `refused` (not exported, with the reason in `notes`)
* `modes`: `[ansi, legacy]` unless said otherwise
* `raises`: the modes in which Spark raises on some rows of the grid
* `aggregate`: true for an aggregate or window call, with `group_by` where it is grouped
* `canonical`: false where not even the canonical plan has it
* `tolerance`: for results that depend on the order of summation
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

MODES = ("ansi", "legacy")


@dataclass(frozen=True)
class Case:
    """One call in one mode, and what should come of it."""

    family: str
    function: str
    catalyst_class: str
    call: str
    mode: str
    datafusion: str
    raises: bool
    canonical: bool
    aggregate: bool
    group_by: str
    tolerance: float | None
    notes: str

    @property
    def id(self) -> str:
        grouped = f" by {self.group_by}" if self.group_by else ""
        return f"{self.family}: {self.call}{grouped} ({self.mode})"

    @property
    def batch(self) -> tuple[str, str, bool, str] | None:
        """Cases of the same batch run as columns of one query; None for those that raise, and for refusals."""
        if self.raises or self.datafusion != "equal":
            return None
        return (self.family, self.mode, self.aggregate, self.group_by)

    def query(self) -> str:
        return query([self.call], self.aggregate, self.group_by)


def query(calls: list[str], aggregate: bool, group_by: str) -> str:
    """The calls as columns `r0`, `r1`, … over the grid, with the row's id or the group's key before them."""
    key = group_by if aggregate else "id"
    columns = [*([f"{key} AS k"] if key else []), *(f"{call} AS r{n}" for n, call in enumerate(calls))]
    return f"SELECT {', '.join(columns)} FROM grid" + (f" GROUP BY {group_by}" if group_by else "")


def load() -> list[Case]:
    """Every case of every family."""
    found = []
    for path in sorted(Path(__file__).parent.glob("*.yaml")):
        for entry in yaml.safe_load(path.read_text("utf-8")) or []:
            found += [
                _case(path.stem, entry, call, mode) for call in entry["calls"] for mode in entry.get("modes", MODES)
            ]
    return found


def _case(family: str, entry: dict[str, Any], call: str, mode: str) -> Case:
    return Case(
        family=family,
        function=entry["function"],
        catalyst_class=entry["class"],
        call=call,
        mode=mode,
        datafusion=entry["datafusion"],
        raises=mode in entry.get("raises", ()),
        canonical=entry.get("canonical", True),
        aggregate=entry.get("aggregate", False),
        group_by=entry.get("group_by", ""),
        tolerance=entry.get("tolerance"),
        notes=entry.get("notes", ""),
    )
