"""Parameters of statements, whose values are given where the plan runs."""

from __future__ import annotations

from ..algebra.expression import DynamicParameter, Expression
from ..catalyst import tree
from ..catalyst.types import to_substrait
from .builder import ExpressionBuilder, Rule


def parameter(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """A parameter (StatementReader.java), by the number that the statement's caller gave it."""
    return DynamicParameter(node["reference"], to_substrait(node.type, node.nullable))


RULES: dict[str, Rule] = {"DynamicParameter": parameter}
