"""The offsets of time zones' regions as Java has them: what a machine or a package has may be another release of the tz database.

Releases differ in times that are long past, and those of Linux distributions keep local times from before 1970 that others join with
those of a neighbour.
"""

from __future__ import annotations

import importlib.resources
from bisect import bisect_right
from calendar import isleap
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from ...functions.time_zone import DAY, SECOND

FILE = "zone_rules.parquet"
"""What `scripts/record_zone_rules.py` records: an offset is that of all instants before the one at its place. In seconds."""

SCHEMA = pa.schema(
    {"regions": pa.list_(pa.string()), "instants": pa.list_(pa.int64()), "offsets": pa.list_(pa.int32())}
)

LISTED_UNTIL = 2100
"""The year in which the recorded changes end, though some rules go on forever."""

EPOCH = date(1970, 1, 1).toordinal()

YEARS_OF_CYCLE, DAYS_OF_CYCLE = 400, 146_097
"""After so many years, which are so many days, the calendar repeats itself, weekdays too."""


class ZoneRules(NamedTuple):
    """The offsets of a region, and the instants and the local times from which on each but the first one holds, in microseconds."""

    offsets: Sequence[int]
    instants: Sequence[int]
    locals: Sequence[int]

    def at_instant(self, micros: int) -> int:
        """The offset at an instant."""
        return self.offsets[bisect_right(self.instants, _listed(micros))]

    def at_local(self, micros: int) -> int:
        """The offset of a local time: of one that is skipped that before, of one that comes twice that of its first coming."""
        return self.offsets[bisect_right(self.locals, _listed(micros))]


@lru_cache(maxsize=1)
def regions() -> Mapping[str, ZoneRules]:
    """The rules by the names of regions."""
    with importlib.resources.files(__package__).joinpath(FILE).open("rb") as file:
        rows = pq.read_table(file).to_pylist()
    return {
        name: rules for row in rows for rules in [_rules(row["instants"], row["offsets"])] for name in row["regions"]
    }


def _rules(instants: Sequence[int], offsets: Sequence[int]) -> ZoneRules:
    locals = [at + max(pair) for at, *pair in zip(instants, offsets, offsets[1:], strict=False)]
    return ZoneRules(*([second * SECOND for second in seconds] for seconds in (offsets, instants, locals)))


def _listed(micros: int) -> int:
    """A time for which the rules are listed: the same day of a year that begins with the same weekday and is as long."""
    if micros < _END:
        return micros
    days, in_day = divmod(micros, DAY)
    day, _ = in_cycle(days)
    start = day.replace(month=1, day=1)
    alike = date(_ALIKE[isleap(day.year), start.weekday()], 1, 1) + (day - start)
    return (alike.toordinal() - EPOCH) * DAY + in_day


def in_cycle(days: int) -> tuple[date, int]:
    """The day of a count from 1970, but for whole cycles of the calendar, and how many of these it is later."""
    cycles, day = divmod(days + EPOCH - 1, DAYS_OF_CYCLE)
    return date.fromordinal(day + 1), cycles


_END = (date(LISTED_UNTIL - 1, 1, 1).toordinal() - EPOCH) * DAY
_ALIKE = {(isleap(year), date(year, 1, 1).weekday()): year for year in range(LISTED_UNTIL - 29, LISTED_UNTIL - 1)}
