"""Lambdas: the functions that higher-order functions apply, and their variables."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra import types
from ..algebra.expression import Expression, FieldReference, Lambda
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import Unsupported
from .builder import ExpressionBuilder, Rule

NULLABLE_BOOLEAN = types.of("boolean", nullable=True)
"""What predicates return."""


def lambda_of(
    e: ExpressionBuilder, node: tree.Expression, parameters: Sequence[Type], result: Type | None = None
) -> Lambda:
    """A LambdaFunction whose parameters have these types; its result has the given type but for nullability."""
    variables = node["arguments"]
    if len(variables) > len(parameters):
        raise Unsupported(f"a lambda of {len(variables)} parameters is applied to {len(parameters)}")
    inner = e.branch()
    inner.lambdas.append(
        {v["exprId"]: (n, type) for n, (v, type) in enumerate(zip(variables, parameters, strict=False))}
    )
    body = inner.emit(node["function"])
    return Lambda(tuple(parameters), body if result is None else inner.as_type(body, result))


def transformed(e: ExpressionBuilder, list: Expression, element: Type, body: Expression) -> Expression:
    """The list of what a body gives for each element."""
    return e.call("list:transform", list, Lambda((element,), body))


def variable(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """NamedLambdaVariable: a parameter of this lambda or of one around it."""
    for steps, parameters in enumerate(reversed(e.lambdas)):
        if node["exprId"] in parameters:
            ordinal, type = parameters[node["exprId"]]
            return FieldReference(ordinal, type, parameter=steps)
    raise Unsupported(f"the lambda variable {node['name']!r} is not bound by a lambda around it")


RULES: dict[str, Rule] = {"NamedLambdaVariable": variable}
