"""Statements that define a table without a query: its columns, and what they hold where nothing is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from substrait.plan_pb2 import Plan

from ..algebra.expression import Literal
from ..algebra.types import Type, equal_but_nullability, of
from ..algebra.write import Ddl
from ..catalyst import reader
from ..catalyst.document import decode
from ..catalyst.statement import Statement
from ..catalyst.tree import Expression
from ..catalyst.types import field_names, to_substrait
from ..catalyst.write_commands import Change
from ..context import Settings
from ..errors import Unsupported
from ..expr.literal import typed_literal
from ..lowering.legality import require_relation
from ..plan.message import build


def columns_of(
    analysed: Statement, command: Mapping[str, Any], settings: Settings
) -> tuple[list[str], list[Type], list[Literal]]:
    """The depth-first names of the columns that a table will have, their types, and their default values if any has one."""
    columns = analysed.columns
    output = decode(reader.read(columns, settings)).output if columns is not None else ()
    if columns is None or not output:
        raise Unsupported("its columns are found in its files when it runs", "Write its columns into the statement.")
    names = [name for column in output for name in field_names(column["name"], column.type)]
    lengths, texts = command["lengths"], command["defaults"]
    kinds = [_stored_type(column, lengths.get(column["name"])) for column in output]
    if not texts:
        return names, kinds, []
    stated = literals(columns.default_values(texts), replace(settings, stage="analyzed"))
    values = []
    for column, kind in zip(output, kinds, strict=True):
        value = stated.get(column["name"], Literal(None, kind))
        if not isinstance(value, Literal):
            raise Unsupported(f"the default value of the column {column['name']} {value.reason}", CONSTANT)
        if not equal_but_nullability(value.type, kind):
            raise Unsupported(f"the column {column['name']} of limited length has a default value", CONSTANT)
        values.append(value)
    return names, kinds, values


def _stored_type(column: Expression, length: str | None) -> Type:
    """The type of a table's column; texts of limited length have theirs apart: `char(3)`, `varchar(3)`."""
    if length is None:
        return to_substrait(column.type, column.nullable)
    name, _, most = length.rstrip(")").partition("(")
    return of("varchar" if name == "varchar" else "fixedchar", int(most), nullable=column.nullable)


CONSTANT = "Give a constant, or leave the default value out."


def defined(
    said: Change,
    settings: Settings,
    names: Sequence[str] = (),
    schema: Sequence[Type] = (),
    defaults: Sequence[Literal] = (),
) -> Plan:
    """The plan of a change without a query."""
    relation = Ddl(said.object, said.op, said.target, names, schema, None, defaults)
    require_relation(settings.dialect, relation)
    return build(relation, [])


def literals(frame: reader.Planned, settings: Settings) -> dict[str, Literal | Unsupported]:
    """The values in a frame of one row by name, or why they are none."""
    document = decode(reader.read(frame, settings))
    if document.root.name != "Project":
        return {}
    return dict(zip(document.names, map(_literal, document.root["projectList"]), strict=True))


def _literal(column: Expression) -> Literal | Unsupported:
    node = column["child"] if column.name == "Alias" else column
    try:
        return typed_literal(node["value"], node.type) if node.name == "Literal" else Unsupported("is no constant")
    except Unsupported as problem:
        return Unsupported(f"has no literal: {problem.reason}")
