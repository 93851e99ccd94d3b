"""Local times in time zones that rows name, by the rules of the regions that Java has alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from functools import lru_cache, partial
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pyarrow as pa

from ....errors import Unsupported
from ....functions.time_zone import DAY, zone
from ...datafusion.functions.time_zone import is_settled
from ..function import Compute, PythonFunction, Signature

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

MICROSECOND = timedelta(microseconds=1)

CYCLE_OF_YEARS = 400
CYCLE = 146_097 * DAY
"""The years after which the calendar repeats itself, weekdays too, and their microseconds."""

LEAST, MOST = ((datetime(year, 1, 1, tzinfo=timezone.utc) - EPOCH) // MICROSECOND for year in (2, 9999))
"""The times, whose local times Python has as well."""


@lru_cache(maxsize=1024)
def _rules(name: str) -> int | ZoneInfo:
    """The offset in microseconds of a zone that never changes it, else its rules."""
    try:
        named = zone(name)
        if named.offset is not None:
            return named.offset
        if is_settled(named.name):
            return ZoneInfo(named.name)
    except (Unsupported, ZoneInfoNotFoundError):
        pass
    raise NotImplementedError(f"[UNSUPPORTED_TEXT] {name!r} is no time zone of which the rules are the same in Java")


def local(instant: int, name: str) -> int:
    """The local time of an instant."""
    rules = _rules(name)
    return instant + (rules if isinstance(rules, int) else _offset(nearest(instant)[0].astimezone(rules)))


def instant(local: int, name: str) -> int:
    """The instant of a local time: of one that is skipped later by what was skipped, the earlier of two."""
    rules = _rules(name)
    return local - (rules if isinstance(rules, int) else _offset(nearest(local)[0].replace(tzinfo=rules)))


def nearest(micros: int) -> tuple[datetime, int]:
    """A time that Python has, and by how many years it is before the one that is meant: some cycles of the calendar, or none.

    Time zones have the same offsets then: rules of today go on forever, and before the first one there was one local time.
    """
    cycles = -((LEAST - micros) // -CYCLE) if micros < LEAST else (MOST - micros) // CYCLE if micros > MOST else 0
    return EPOCH + MICROSECOND * (micros + cycles * CYCLE), -cycles * CYCLE_OF_YEARS


def _offset(time: datetime) -> int:
    return (time.utcoffset() or timedelta()) // MICROSECOND


def _of_counts(function: Callable[..., int], timestamp: int, _: Signature) -> Compute:
    """A function of names, and of the microseconds of the argument that is a timestamp."""

    def computed(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        columns = [(a.cast(pa.int64()) if n == timestamp else a).to_pylist() for n, a in enumerate(arrays)]
        counts = [None if None in row else function(*row) for row in zip(*columns, strict=True)]
        return pa.array(counts, pa.int64()).cast(arrays[timestamp].type)

    return computed


def _function(function: Callable[..., int], timestamp: int = 0) -> PythonFunction:
    return PythonFunction(partial(_of_counts, function, timestamp))


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_convert_timezone": _function(lambda source, target, time: local(instant(time, source), target), timestamp=2),
    "spark_from_utc_timestamp": _function(local),
    "spark_to_utc_timestamp": _function(instant),
}
