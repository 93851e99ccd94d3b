"""The concessions: what a caller, or the dialect file of an engine, may accept to differ from Spark. There are no others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ..errors import kind_of
from ..extensions.yaml_schema import likely

DECIMAL_ROUNDING = "decimal_rounding"
OVERFLOW = "overflow"


class Concession(NamedTuple):
    """What one lets differ, and what it never does, in a sentence each."""

    differs: str
    never: str


CONCESSIONS: Mapping[str, Concession] = {
    DECIMAL_ROUNDING: Concession(
        "Quotients, products, sums, differences, averages and roundings of decimals have the type that Spark states, and are "
        "rounded as the engine rounds: to six digits behind the point or more. What hangs on these digits goes by them, "
        "as comparisons, and whether a number overflows that rounding alone takes beyond its type.",
        "Else each is null, or an error, for the same values as in Spark, and it adds or drops no row by itself.",
    ),
    OVERFLOW: Concession(
        "Where arithmetic on integers or decimals, or a sum or an average of them, gives a number that its type doesn't "
        "hold, the engine may wrap around or give null where Spark raises an error, and the other way round.",
        "A number that its type holds is the same as in Spark.",
    ),
}
"""By their names."""


def accepted(names: object, where: str = "accept") -> frozenset[str]:
    """The names of concessions. Raises ValueError for what is no collection of these; `where` says what it is called."""
    if isinstance(names, str) or not isinstance(names, Collection):
        raise ValueError(
            f"{where} must be a set or a list of concessions' names, such as 'decimal_rounding', not {names!r}"
        )
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{where} must hold names of concessions, not {kind_of(name)}")
        if name not in CONCESSIONS:
            raise ValueError(f"{where} names {name!r}, which is no concession; {likely(name, tuple(CONCESSIONS))}")
    return frozenset(names)
