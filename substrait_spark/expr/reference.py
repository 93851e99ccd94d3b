"""Attributes: field references by position."""

from __future__ import annotations

from ..algebra.expression import Expression
from ..catalyst import tree
from ..errors import Unsupported
from .builder import ExpressionBuilder, Rule


def attribute(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """AttributeReference: the column of the input that carries its exprId."""
    column = e.scope.column(node["exprId"])
    if column is None and e.context.problems:
        return e.stand_in(node)  # the problem is the relation below, and is reported there
    if column is None:
        raise Unsupported(f"the column {node['name']!r} is not among the columns of the relation below")
    return column


def alias(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Alias: only a name, which positional references do not need."""
    return e.emit(node["child"])


RULES: dict[str, Rule] = {
    "AttributeReference": attribute,
    "Alias": alias,
}
