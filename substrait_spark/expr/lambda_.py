"""Lambdas: the functions that higher-order functions apply."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.expression import Lambda
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import Unsupported
from .builder import ExpressionBuilder, Rule


def lambda_of(e: ExpressionBuilder, node: tree.Expression, parameters: Sequence[Type]) -> Lambda:
    """A LambdaFunction whose parameters have these types."""
    variables = node["arguments"]
    if len(variables) != len(parameters):
        raise Unsupported(f"a lambda of {len(variables)} parameters is applied to {len(parameters)}")
    inner = e.branch()
    inner.lambdas.append(
        {variable["exprId"]: (n, type) for n, (variable, type) in enumerate(zip(variables, parameters, strict=True))}
    )
    return Lambda(tuple(parameters), inner.emit(node["function"]))


RULES: dict[str, Rule] = {}
