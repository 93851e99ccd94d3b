"""Lambdas: the functions that higher-order functions apply."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import types
from ..algebra.expression import Expression, Lambda
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import Unsupported
from .builder import ExpressionBuilder, Rule


def lambda_of(
    e: ExpressionBuilder, node: tree.Expression, parameters: Sequence[Type], result: Type | None = None
) -> Lambda:
    """A LambdaFunction whose parameters have these types; its result has the given type but for nullability."""
    variables = node["arguments"]
    if len(variables) != len(parameters):
        raise Unsupported(f"a lambda of {len(variables)} parameters is applied to {len(parameters)}")
    for parameter in parameters:
        e.require_nameless(parameter)
    inner = e.branch()
    inner.lambdas.append(
        {variable["exprId"]: (n, type) for n, (variable, type) in enumerate(zip(variables, parameters, strict=True))}
    )
    body = inner.emit(node["function"])
    return Lambda(tuple(parameters), body if result is None else inner.as_type(body, result))


def transformed(e: ExpressionBuilder, list: Expression, element: Type, body: Expression) -> Expression:
    """The list of what a body gives for each element."""
    e.require_nameless(element)
    function = Lambda((element,), body)
    return e.first(
        lambda: e.call("list:transform", list, function), lambda: e.call("datafusion:array_transform", list, function)
    )


NULLABLE_BOOLEAN = types.of("boolean", nullable=True)
"""What predicates return."""

RULES: dict[str, Rule] = {}
