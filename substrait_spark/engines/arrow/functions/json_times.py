"""Dates and timestamps in JSON, as Spark's JacksonParser reads them and its JacksonGenerator writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from ....functions.time_zone import DAY, SECOND
from .time_texts import cast_date, cast_instant, cast_local, day_or_number, reader, writer
from .timestamps import LEAST, MOST
from .zones import instant, local

FALLBACK = "enabledatetimeparsingfallback"


class Times(NamedTuple):
    """The time zone of instants, and the options of a call by their names in lower case."""

    zone: str
    options: Mapping[str, str]

    def pattern(self, kind: pa.DataType) -> str | None:
        """The pattern that is given for a type."""
        return self.options.get(_option(kind))

    def falls_back(self, kind: pa.DataType) -> bool:
        """Whether texts are read as before Spark 2 where they are none of the type by the rules of today."""
        return self.options.get(FALLBACK, str(self.pattern(kind) is None)).lower() == "true"


def _option(kind: pa.DataType) -> str:
    if pa.types.is_date(kind):
        return "dateformat"
    return "timestampformat" if kind.tz else "timestampntzformat"


DEFAULTS = {
    "dateformat": "yyyy-MM-dd",
    "timestampformat": "yyyy-MM-dd'T'HH:mm:ss.SSSXXXXX",
    "timestampntzformat": "yyyy-MM-dd'T'HH:mm:ss.SSS",
}
"""By option, the pattern that values are written by without one."""


def is_time(kind: pa.DataType) -> bool:
    """Whether values of a type are dates or timestamps."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def time_reader(kind: pa.DataType, times: Times) -> Callable[[Any], int | None]:
    """What reads a str or a number as days or microseconds since 1970; it gives None for what is none of the type."""
    of_text = _text_reader(kind, times)
    counts_seconds = pa.types.is_timestamp(kind) and kind.tz is not None

    def read(value: Any) -> int | None:
        if type(value) is str and value:
            return of_text(value)
        if type(value) is int and counts_seconds and LEAST <= value <= MOST:
            return (value * SECOND - LEAST) % 2**64 + LEAST  # Spark multiplies without a look at the result
        return None

    return read


def _text_reader(kind: pa.DataType, times: Times) -> Callable[[str], int | None]:
    pattern, falls_back = times.pattern(kind), times.falls_back(kind)
    by_rules = _of_casts(kind, times.zone) if pattern is None else _of_pattern(kind, pattern, times.zone)
    if not falls_back or not (pa.types.is_date(kind) or kind.tz):
        return by_rules

    def as_before(text: str) -> int | None:
        return day_or_number(text) if pa.types.is_date(kind) else cast_instant(text.replace("GMT", ""), times.zone)

    def read(text: str) -> int | None:
        found = by_rules(text)
        return as_before(text) if found is None else found

    return read


def _of_casts(kind: pa.DataType, zone: str) -> Callable[[str], int | None]:
    if pa.types.is_date(kind):
        return cast_date
    return (lambda text: cast_instant(text, zone)) if kind.tz else cast_local


def _of_pattern(kind: pa.DataType, pattern: str, zone: str) -> Callable[[str], int | None]:
    read = reader(pattern)

    def of_text(text: str) -> int | None:
        found = read(text)
        if found is None:
            return None
        if pa.types.is_date(kind):
            return found.local // DAY
        if not kind.tz:
            return found.local
        return instant(found.local, zone) if found.offset is None else found.local - found.offset

    return of_text


def time_writer(kind: pa.DataType, times: Times) -> Callable[[int], str]:
    """What writes days or microseconds since 1970."""
    write = writer(times.pattern(kind) or DEFAULTS[_option(kind)])
    if pa.types.is_date(kind):
        return lambda days: write(days * DAY, 0)
    if not kind.tz:
        return lambda micros: write(micros, 0)

    def of_instant(micros: int) -> str:
        here = local(micros, times.zone)
        return write(here, here - micros)

    return of_instant


def counts(kind: pa.DataType) -> pa.DataType:
    """The type with integers in the place of dates and timestamps, which Python may not have."""
    if is_time(kind):
        return pa.int32() if pa.types.is_date(kind) else pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(counts(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(kind.key_field, kind.item_field.with_type(counts(kind.item_type)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(counts(kind.value_type)))
    return kind
