"""Literals as Isthmus reads them: timestamps of milliseconds alone, and no zero that is negative."""

from __future__ import annotations

from math import copysign

from ...algebra import types
from ...algebra.expression import Expression, FieldReference, Literal
from ...algebra.relation import Project, Relation, VirtualTable
from ...algebra.types import FLOATS, Type
from ...dialects.rewrite import Apply, Rewrite, Sees
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from ...lowering.expression import ExpressionLowering

MAKERS = {"precision_timestamp": "make_timestamp", "precision_timestamp_tz": "make_timestamptz"}
"""The databases' functions that make timestamps of microseconds."""


def constant(source: str) -> Apply:
    """A timestamp of its microseconds; a negative zero as a product."""

    def rule(e: LoweringBuilder, literal: Literal) -> Expression:
        if is_negative_zero(literal):
            kind = types.required(literal.type)
            return e.call("arithmetic:multiply", Literal(0.0, kind), Literal(-1.0, kind))
        if literal.type.kind not in MAKERS or literal.value is None:
            return literal
        return e.call(f"{source}:{MAKERS[literal.type.kind]}", e.i64(literal.value))

    return rule


def is_negative_zero(value: Expression) -> bool:
    """Whether a value is a literal -0.0."""
    if not isinstance(value, Literal) or value.type.kind not in FLOATS:
        return False
    return bool(value.value == 0 and copysign(1, value.value) < 0)


def rows(source: str) -> Apply:
    """Rows of the plan: of microseconds, with the timestamps that are made of them above."""

    def rule(expressions: ExpressionLowering, table: VirtualTable) -> Relation:
        if any(map(is_negative_zero, table.expressions())):
            raise NotInDialect(
                f"the dialect {expressions.e.dialect.name} has no -0.0 in rows of a plan", "Save the rows as a table."
            )
        made = VirtualTable(
            [tuple([_cell(expressions, cell) for cell in row]) for row in table.rows],
            table.names,
            [_number(kind) if kind.kind in MAKERS else kind for kind in table.schema],
        )
        made.origins = table.origins
        if made.schema == table.schema:
            return made.emitting_as(table)
        above = expressions.e.over(made)
        columns: list[Expression] = [FieldReference(n, kind) for n, kind in enumerate(made.schema)]
        for n, kind in enumerate(table.schema):
            if kind.kind in MAKERS:
                columns[n] = above.call(f"{source}:{MAKERS[kind.kind]}", columns[n])
        return Project(made, columns).select([len(columns) + n for n in table.emitted])

    return rule


def _cell(expressions: ExpressionLowering, cell: Expression) -> Expression:
    if not isinstance(cell, Literal):
        return expressions.lower(cell)
    return Literal(cell.value, _number(cell.type)) if cell.type.kind in MAKERS else cell


def _number(kind: Type) -> Type:
    return types.with_nullable(types.I64, kind.nullable)


def rewrites_of(source: str) -> list[Rewrite]:
    """The rewrites, with a database's functions by their alias."""
    return [Rewrite(Literal, constant(source)), Rewrite(VirtualTable, rows(source), sees=Sees.ORIGINAL)]
