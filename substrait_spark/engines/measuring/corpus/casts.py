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

KINDS = [of_kind(kind) for kind in SIMPLE]
DIGITS = [types.of("decimal", *digits) for digits in DECIMALS]


def cases() -> Iterator[Case]:
    """Casts that throw, and casts to null; of decimals each pair of digits."""
    for source in (*KINDS, *DIGITS):
        for target in (*KINDS, *DIGITS):
            if source is not target:
                for throws, option in CAST_OPTIONS.items():
                    rows = table([("a0", source, edges(source))], f"cast {source}")
                    cast = Cast(FieldReference(1, types.nullable(source)), types.nullable(target), throws)
                    relation = Project(read("t", rows), [cast]).select([0, 2])
                    subject = Subject("casts", (source.kind, target.kind, option))
                    about = f"{source} to {target}"
                    yield Case(subject, about, relation, {"t": rows}, output_names(relation), by_rows=True)
