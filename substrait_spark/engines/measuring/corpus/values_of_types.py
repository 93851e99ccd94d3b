"""Values of each type: in the columns of a table, as literals, and in rows that are written into the plan."""

from __future__ import annotations

from collections.abc import Iterator

from ....algebra import types
from ....algebra.expression import Literal
from ....algebra.relation import Project, Relation, VirtualTable
from ....algebra.types import Type
from ..case import Case, Subject, output_names, read
from ..values import Table, edges, field_names, table
from .functions import DECIMALS, SIMPLE, of_kind

I32, TEXT = types.of("i32"), types.of("string")

TYPES: tuple[Type, ...] = (
    *[of_kind(kind) for kind in SIMPLE],
    of_kind("precision_time"),
    *[types.of("decimal", *digits) for digits in DECIMALS],
    types.of("list", I32),
    types.of("list", TEXT),
    types.of("list", types.of("list", I32)),
    types.of("map", types.required(TEXT), I32),
    types.of("struct", I32, TEXT),
    types.of("list", types.of("struct", I32, types.of("fp64"))),
    types.of("struct", types.of("struct", TEXT), types.of("list", I32)),
)


def cases() -> Iterator[Case]:
    """Each type: columns, literals and rows, with a null and without."""
    for type in TYPES:
        rows = table([("a0", type, edges(type))], str(type))
        source = read("t", rows)
        one = rows.only([0])
        yield _case(type, "column", source, rows=rows)
        literals = [Literal(value, type) for value in edges(type)]
        for n, literal in enumerate(literals):
            relation = Project(read("t", one), [literal]).select([0, 2])
            yield _case(type, "literal", relation, f"{n + 1}", rows=one)
        required = Project(read("t", one), [Literal(literals[0].value, types.required(type))]).select([0, 2])
        yield _case(type, "literal", required, "never null", rows=one)
        null = Project(read("t", one), [Literal(None, type)]).select([0, 2])
        yield _case(type, "null", null, rows=one)
        written = [(Literal(row[0], types.I32), Literal(row[1], type)) for row in rows.rows]
        names = ["id", *field_names("a0", type)]
        yield _case(type, "row", VirtualTable(written, names, rows.schema), rows=one)


def _case(type: Type, variant: str, relation: Relation, about: str = "", *, rows: Table) -> Case:
    said = f"{type} {about}".strip()
    subject = Subject("types", (type.kind,), variant)
    return Case(subject, said, relation, {"t": rows}, output_names(relation))
