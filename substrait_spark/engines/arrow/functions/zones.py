"""Local times in time zones that rows name, by the rules of the regions that Java has alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial

import pyarrow as pa

from ....errors import Unsupported
from ....functions.time_zone import zone
from ..function import Compute, PythonFunction, Signature
from ..zone_rules import ZoneRules, regions


@lru_cache(maxsize=1024)
def _rules(name: str) -> int | ZoneRules:
    """The offset in microseconds of a zone that never changes it, else its rules."""
    with suppress(Unsupported):
        named = zone(name)
        if named.offset is not None:
            return named.offset
        if named.name in regions():
            return regions()[named.name]
    raise NotImplementedError(f"[UNSUPPORTED_TEXT] {name!r} is no time zone of which the rules are the same in Java")


@lru_cache(maxsize=1024)
def zone_named(text: str) -> str | None:
    """A text if it is a time zone's, by its name or its offset."""
    try:
        named = zone(text)
    except Unsupported:
        return None
    if named.offset is not None or named.name in regions():
        return text
    if "/" in text or text == "Iran":
        raise NotImplementedError(f"[UNSUPPORTED_TEXT] Java may know a time zone {text!r}")
    return None


def local(instant: int, name: str) -> int:
    """The local time of an instant."""
    rules = _rules(name)
    return instant + (rules if isinstance(rules, int) else rules.at_instant(instant))


def instant(local: int, name: str) -> int:
    """The instant of a local time: of one that is skipped later by what was skipped, the earlier of two."""
    rules = _rules(name)
    return local - (rules if isinstance(rules, int) else rules.at_local(local))


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
