"""Puts virtual tables in DataFusion's form: struct fields are named by the schema, and allow nulls; intervals are counts.

`nested_required`: DataFusion has nullable fields only in structs that a virtual table holds, and an error for REQUIRED ones.
"""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import Expression, Literal
from ....algebra.relation import Relation, VirtualTable
from ....algebra.types import Type
from ....lowering.builder import LoweringBuilder
from ....lowering.expression import ExpressionLowering
from ..counts import counted
from .struct_names import filled, has_names, split
from .wanted_names import WantedNames


def nullable(expressions: ExpressionLowering, relation: VirtualTable) -> Relation:
    """The rows, with nulls allowed inside their columns."""
    return _table(expressions, relation, [types.nullable_inside(counted(kind)) for kind in relation.schema])


def table(expressions: ExpressionLowering, relation: VirtualTable) -> Relation:
    """The rows, with structs as literals of these."""
    return _table(expressions, relation, list(map(counted, relation.schema)))


def _table(expressions: ExpressionLowering, relation: VirtualTable, schema: list[Type]) -> Relation:
    e = expressions.e
    names = _names(e, relation)
    as_it_is = schema == list(relation.schema) and names == list(relation.names)
    if as_it_is and all(isinstance(cell, Literal) for cell in relation.expressions()):
        return relation
    rows = [tuple([_cell(expressions, *cell) for cell in zip(row, schema, strict=True)]) for row in relation.rows]
    made = VirtualTable(rows, names, schema)
    made.origins = relation.origins
    return made.emitting_as(relation)


def _cell(expressions: ExpressionLowering, value: Expression, type: Type) -> Expression:
    kind = types.with_nullable(type, value.type.nullable)
    as_it_is = isinstance(value, Literal) and counted(value.type) is value.type
    return expressions.e.as_type(value if as_it_is else expressions.lower(value), kind)


def _names(e: LoweringBuilder, relation: VirtualTable) -> list[str]:
    """The names of the columns, and in them those that are wanted of the result, or else those that they have."""
    named = len(relation.names) == len(relation.schema) + sum(map(types.field_count, relation.schema))
    if not named or not any(map(has_names, relation.schema)):
        return list(relation.names)
    inside = split(relation.schema, relation.names)
    for ordinal, names in zip(relation.emitted, e.lowering.memory(WantedNames).in_columns(relation), strict=True):
        inside[ordinal] = filled(names, inside[ordinal])
    depth_first: list[str] = []
    start = 0
    for names in inside:
        depth_first += [relation.names[start], *map(str, names)]
        start += 1 + len(names)
    return depth_first
