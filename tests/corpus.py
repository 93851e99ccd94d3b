"""The corpus that engines are measured by, made once in each process of the tests: that takes seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from substrait_spark.engines.measuring import corpus
from substrait_spark.engines.measuring.case import Case


@cache
def cases() -> Sequence[Case]:
    """All cases, simple ones first."""
    return tuple(corpus.cases())


def part(name: str) -> str:
    """The part of the corpus that a case of a name is in: a section, of functions one for each of their files."""
    section, file, *_ = name.replace(":", "").split(" ")
    return f"{section} {file}" if section in ("scalar", "aggregate", "window") else section


@cache
def by_part() -> Mapping[str, Sequence[Case]]:
    """All cases by the part that they are in."""
    found: dict[str, list[Case]] = {}
    for case in cases():
        found.setdefault(part(case.name), []).append(case)
    return found
