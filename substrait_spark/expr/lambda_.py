"""Lambdas: the functions that higher-order functions apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..algebra import types
from ..algebra.expression import Expression, FieldReference, Lambda
from ..algebra.types import Type
from ..catalyst import tree
from ..errors import Unsupported
from .builder import ExpressionBuilder, Rule

Parameter = Callable[[ExpressionBuilder, int], Expression]
"""What a variable stands for inside a lambda, or so many lambdas further in."""


def lambda_of(
    e: ExpressionBuilder, node: tree.Expression, parameters: Sequence[Type], result: Type | None = None
) -> Lambda:
    """A LambdaFunction whose parameters have these types; its result has the given type but for nullability."""
    require_parameters(e, parameters)
    return _bound(e, node, parameters, [_given(n, type) for n, type in enumerate(parameters)], result)


def require_parameters(e: ExpressionBuilder, parameters: Sequence[Type]) -> None:
    """Refuse parameters of types that the dialect's lambdas can't have."""
    for parameter in parameters:
        e.require_nameless(parameter)


def _given(ordinal: int, type: Type) -> Parameter:
    return lambda inner, steps: FieldReference(ordinal, type, parameter=steps)


def _bound(
    e: ExpressionBuilder,
    node: tree.Expression,
    parameters: Sequence[Type],
    meanings: Sequence[Parameter],
    result: Type | None = None,
) -> Lambda:
    variables = node["arguments"]
    if len(variables) > len(meanings):
        raise Unsupported(f"a lambda of {len(variables)} parameters is applied to {len(meanings)}")
    inner = e.branch()
    inner.lambdas.append({variable["exprId"]: meaning for variable, meaning in zip(variables, meanings, strict=False)})
    body = inner.emit(node["function"])
    return Lambda(tuple(parameters), body if result is None else inner.as_type(body, result))


# ---- lambdas of positions, for engines that have no lambdas of what the elements are


def positions(e: ExpressionBuilder, number: Expression) -> Expression:
    """The list of the positions of so many elements, from 1."""
    return e.call("datafusion:generate_series", e.i64(1), e.cast(number, types.I64), e.i64(1))


def over_positions(
    e: ExpressionBuilder, node: tree.Expression, meanings: Sequence[Parameter], result: Type | None = None
) -> Lambda:
    """A LambdaFunction as one of a position, in terms of which its variables have a meaning."""
    return _bound(e, node, [types.I64], meanings, result)


Emitted = Callable[[ExpressionBuilder], Expression]
"""A value as it is emitted where it is used."""


def element_of(e: ExpressionBuilder, list: Emitted, element: Type) -> Parameter:
    """The element at the position: of a list outside of the lambda."""
    outside = e.share(list(e)) if not e.lambdas else None

    def meaning(inner: ExpressionBuilder, steps: int) -> Expression:
        # What refers to a lambda around this one is so many lambdas further out now, so that it is emitted again.
        value = list(inner) if outside is None else outside
        return inner.call_as(element, "datafusion:array_element", value, this_position(inner, steps))

    return meaning


def this_position(e: ExpressionBuilder, steps: int) -> Expression:
    """The position itself."""
    return FieldReference(0, types.I64, parameter=steps)


def index(e: ExpressionBuilder, steps: int) -> Expression:
    """The position counted from 0, as Spark does."""
    return e.cast(e.call("spark:subtract", this_position(e, steps), e.i64(1)), types.I32)


def of_each(e: ExpressionBuilder, positions: Expression, body: Parameter) -> Expression:
    """The list of what a body gives for each position."""
    inner = e.branch()
    inner.lambdas.append({})
    return e.call("datafusion:array_transform", positions, Lambda((types.I64,), body(inner, 0)))


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
