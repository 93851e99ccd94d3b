"""Casts between each two kinds of types, over edge values, as they fail."""

from __future__ import annotations

from collections.abc import Iterator

from ....algebra import types
from ....algebra.expression import Cast, FieldReference
from ....algebra.relation import Project
from ....dialects.dialect import CAST_OPTIONS
from ..case import Case, Subject, output_names, read
from ..values import edges, table
from .functions import DECIMALS, SIMPLE, of_kind

SPELLINGS = (
    " 12 ", "\t7\n", "+5", "-0", "007", "1.", ".5", "5d", "5f", "0x1F", "1_000", "1e-2", "1e400", "128", "99999999999999999999", "1.999",
    "Infinity", "-inf", "nan", "+nan", "T", "yes", "off", "0", " true ", "TRUE", "tr", "2024", "2024-2", "2024-2-9", " 2024-02-29 ", "2023-02-29",
    "+2024-02-29", "12024-02-29", "-0001-01-01", "2024-02-29T", "2024-02-29 10:00 junk", "2024-02-29T10:00:00Z", "2024-02-29 1:2:3.5",
    "2024-02-29 10:00:00.123456789", "2024-02-29 10:00:00+05:30", "2024-02-29 24:00:00", "epoch", "now", "today",
)  # fmt: skip
"""Texts that are read as values of other types, or nearly: Spark's way to do it is no engine's."""

KINDS = [of_kind(kind) for kind in SIMPLE]
DIGITS = [types.of("decimal", *digits) for digits in DECIMALS]


def cases() -> Iterator[Case]:
    """Casts that throw, and casts to null; of decimals each pair of digits."""
    for source in (*KINDS, *DIGITS):
        for target in (*KINDS, *DIGITS):
            if source is not target:
                for throws, option in CAST_OPTIONS.items():
                    values = (*edges(source), *SPELLINGS) if source.kind == "string" else edges(source)
                    rows = table([("a0", source, values)], f"cast {source}")
                    cast = Cast(FieldReference(1, types.nullable(source)), types.nullable(target), throws)
                    relation = Project(read("t", rows), [cast]).select([0, 2])
                    subject = Subject("casts", (source.kind, target.kind, option))
                    about = f"{source} to {target}"
                    yield Case(subject, about, relation, {"t": rows}, output_names(relation), by_rows=True)
