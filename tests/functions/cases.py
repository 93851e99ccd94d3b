"""The verdicts on functions, read from the YAML files beside this module.

Each entry says what DataFusion does with a function, measured on the grid:

* `function`: Spark's SQL name, and `class`: the Catalyst class that the optimizer leaves
* `calls`: SQL expressions over the columns of the grid
* `datafusion`: `equal` (Spark's rows, errors included) or `refused` (not exported, with the reason in `notes`)
* `with_catalyst`: what it does with a refused one where Catalyst evaluates it: `equal` unless said otherwise, `refused`, or `open`
  where the rows hang on the order of other rows
* `modes`: `[ansi, legacy]` unless said otherwise
* `raises`: the modes in which Spark raises on some rows of the grid; where only some of the calls do, these by mode
* `aggregate`: true for an aggregate call; `group_by`: the key that it is grouped by, or several to try one by one
* `over`: for a window function, the window specifications to try it over, one by one
* `from`: the rows instead of all of `grid`, for example `grid WHERE id < 0`
* `canonical`: false where not even the canonical plan has it
* `since`: the release of Spark that the function came with, where it isn't in the oldest that is supported (`LATER` has calls)
* `unjudged`: why the rows of what DataFusion refuses are not compared with those of the canonical plan in Spark
* `tolerance`: for results that depend on the order of summation
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from substrait_spark.extensions.yaml_text import parsed

MODES = ("ansi", "legacy")
OLDEST = "3.5"
"""The oldest release of Spark that is supported."""

LATER = {
    "4.0": r"\btry_(mod|make_timestamp|make_timestamp_ntz|make_interval|parse_url|url_decode)\(|\buniform\(|to_char\(bin"
    r"|\b(en|de)code\(|\bparse_url\(|\bcorr\(|\bmake_interval\(pos\)|timestampadd\(HOUR, if|_binary\([st], 'utf-8'\)|\bmode\(\)|\bmode\(.*, true\)|shuffle\(ai, 5\)|LIKE .* ESCAPE"
    r"|VARIANT|\binitcap\((s|t|concat)|\b[lr]pad\(bin, pos|\bsubstring\(bin, (pos|i32)|^-d38_0|\babs\(d38_10\)",
    "4.1": r"\bquote\(|\btry_to_date\(|\btry_to_number\(s, 'S999'\)|cast\(ts AS DECIMAL",
    "4.2": r"array_(distinct|union|except|intersect)\(.*\b(ad2?|f64|f32)\b|arrays_overlap\(.*\bad|size\(collect_set\((f32|f64|ad)\)|collect_set\(ad\)|FILTER \(WHERE .*\) OVER|RESPECT NULLS|\b(max|min)_by\(.*, \d+\)"
    r"|\b(asinh|acosh)\(|\boverlay\(.* FROM (pos|i32|2147483647)",
    "4.3": r"\b(ceil|floor)\(f64\) \(ansi\)|\bcorr\(.*\(ansi\)|\bsubstring_index\(t, 'ab', i32\)",
}
"""By release, patterns of what a call and its mode have that came with it: a function, an argument, a clause, or the meaning
that its plan has; the latest that fits is meant."""

GRID = "grid"


@dataclass(frozen=True)
class Case:
    """One call in one mode, and what should come of it."""

    family: str
    function: str
    catalyst_class: str
    call: str
    mode: str
    datafusion: str
    with_catalyst: str
    raises: bool
    canonical: bool
    aggregate: bool
    group_by: str
    source: str
    tolerance: float | None
    notes: str
    unjudged: str
    since: str
    repeats: bool
    """Whether it is the call in LEGACY mode of a function that raises in neither mode: most are one function in both."""

    @property
    def id(self) -> str:
        grouped = f" by {self.group_by}" if self.group_by else ""
        source = "" if self.source == GRID else f" from {self.source}"
        return f"{self.family}: {self.call}{source}{grouped} ({self.mode})"

    @property
    def batch(self) -> tuple[str, str, bool, str, str, bool] | None:
        """Cases of the same batch run as columns of one query; None for those that raise, or whose rows nothing tells."""
        if self.raises or not self.is_judged:
            return None
        return (self.family, self.mode, self.aggregate, self.group_by, self.source, self.runs_in_datafusion)

    @property
    def is_judged(self) -> bool:
        """Whether the rows of the canonical plan are compared with Spark's."""
        return self.canonical and not self.unjudged

    @property
    def runs_in_datafusion(self) -> bool:
        """Whether the call has a plan for DataFusion; every one has a canonical plan, which Spark runs."""
        return self.datafusion == "equal"

    @property
    def by_rows(self) -> bool:
        """Whether the result for a row hangs on that row alone."""
        return not self.aggregate and " OVER (" not in self.call

    def query(self, calls: Sequence[str] = ()) -> str:
        """The calls, or this one, as columns `r0`, `r1`, …, with the row's id or the group's key before them."""
        key = self.group_by if self.aggregate else "id"
        columns = [*([f"{key} AS k"] if key else []), *(f"{c} AS r{n}" for n, c in enumerate(calls or [self.call]))]
        grouped = f" GROUP BY {self.group_by}" if self.group_by else ""
        return f"SELECT {', '.join(columns)} FROM {self.source}{grouped}"


@cache
def load() -> Sequence[Case]:
    """Every case of every family."""
    found: list[Case] = []
    for path in sorted(Path(__file__).parent.glob("*.yaml")):
        for entry in parsed(path.read_text("utf-8")) or []:
            found += [_case(path.stem, entry, *variant) for variant in _variants(entry)]
    return tuple(found)


def _variants(entry: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Call, key to group by and mode, of each case of an entry."""
    keys = entry.get("group_by", "")
    calls = (
        [f"{call} OVER ({window})" for call in entry["calls"] for window in entry["over"]]
        if "over" in entry
        else entry["calls"]
    )
    return itertools.product(calls, keys if isinstance(keys, list) else [keys], entry.get("modes", MODES))


def _case(family: str, entry: dict[str, Any], call: str, group_by: str, mode: str) -> Case:
    return Case(
        family=family,
        function=entry["function"],
        catalyst_class=entry["class"],
        call=call,
        mode=mode,
        datafusion=entry["datafusion"],
        with_catalyst=entry.get("with_catalyst", "equal"),
        raises=_raises(entry.get("raises", ()), call, mode),
        canonical=entry.get("canonical", True),
        aggregate=entry.get("aggregate", False),
        group_by=group_by,
        source=entry.get("from", GRID),
        tolerance=entry.get("tolerance"),
        notes=entry.get("notes", ""),
        unjudged=entry.get("unjudged", ""),
        repeats=mode == "legacy" and "ansi" in entry.get("modes", MODES) and not entry.get("raises"),
        since=entry.get("since")
        or next((release for release, what in reversed(LATER.items()) if re.search(what, f"{call} ({mode})")), OLDEST),
    )


def _raises(raises: Sequence[str] | Mapping[str, Sequence[str]], call: str, mode: str) -> bool:
    return mode in raises and (not isinstance(raises, Mapping) or call in raises[mode])
