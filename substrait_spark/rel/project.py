"""ProjectRel: https://substrait.io/relations/logical_relations/#project-operation."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.expression import Expression, FieldReference
from ..algebra.relation import Project, Relation
from ..catalyst import tree
from .builder import RelationBuilder
from .output import Output, ids_of


def emit(r: RelationBuilder, node: tree.Plan) -> Output:
    """Project: columns of the child picked by emit, others computed."""
    input = r.emit(node["child"])
    items = node["projectList"]
    e = r.expressions(input.scope())
    return Output(columns(input.relation, e.emit_all(items)), ids_of(items))


def columns(input: Relation, expressions: Sequence[Expression]) -> Relation:
    """A relation with exactly these columns: a project for those to compute, and an emit that orders all."""
    computed: list[Expression] = []
    ordinals: list[int] = []
    for expression in expressions:
        if is_column(expression):
            ordinals.append(expression.ordinal)  # type: ignore[attr-defined]
        else:
            ordinals.append(len(input.types) + len(computed))
            computed.append(expression)
    return (Project(input, computed) if computed else input).select(ordinals)


def is_column(expression: Expression) -> bool:
    """Whether an expression is just a column of the input."""
    return (
        isinstance(expression, FieldReference)
        and not expression.path
        and not expression.outer
        and expression.parameter is None
    )


HANDLERS = {"Project": emit}
