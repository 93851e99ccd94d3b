"""Users' own functions, which a plan calls by the names that the caller declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra.aggregate_form import AggregateForm, as_is
from ..algebra.expression import AggregateFunction, Expression, ScalarFunction
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.refusals import name_of, no_aggregate, no_expression
from ..errors import Unsupported
from ..user_functions.declared import (
    HANDED_ON,
    Options,
    UserFunction,
    declaration_of,
    options_of,
    require_default_conversions,
)
from .measure import BUFFERS, EmittedCall
from .table import arguments_of, key_of

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder, Rule

CALLS = ("PythonUDF", "ScalaUDF", "HiveSimpleUDF", "HiveGenericUDF")
"""Catalyst's classes of calls of scalar functions."""

AGGREGATE_CALLS = ("PythonUDAF", "ScalaUDAF", "ScalaAggregator", "HiveUDAFFunction")


def scalar(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """A call of a scalar function that the caller declares. Raises Unsupported for another."""
    function = _declared(e, node)
    if function is None:
        raise no_expression(node, key_of(node), e.context.root)
    arguments = _arguments(e, function, node)
    given = _handed_on(function, node, e.emit_all(arguments))
    kinds = [each.type for each in given]
    declaration = declaration_of(function, "scalar", node, kinds, _result(e, node))
    e.traits.draws |= not declaration.deterministic
    # Spark has no id for a call of a function in Scala, Java or Hive: any two may be one.
    drawn_as = None if declaration.deterministic else node.get("resultId", declaration.name)
    return ScalarFunction(declaration, given, _options(e, function, arguments, node), raising=True, drawn_as=drawn_as)


def _handed_on(function: UserFunction, node: tree.Expression, given: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """The arguments of a call. Spark gives a function what another has returned as it is, where that is all that it gets."""
    (inner, *others) = node.get("children") or (None,)
    if inner is None or others or inner.name != "PythonUDF" or inner["evalType"] != node.get("evalType"):
        return given
    (call,) = given
    if not isinstance(call, ScalarFunction) or not call.declaration.users or HANDED_ON in dict(call.options):
        return given
    options = (*call.options, (HANDED_ON, function.name))
    return (ScalarFunction(call.declaration, call.arguments, options, call.raising, call.drawn_as),)


def aggregate(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """A call of an aggregate function that the caller declares."""
    e = call.e
    function = _declared(e, node)
    if function is None:
        raise no_aggregate(node)
    if call.distinct or call.filter is not None:
        raise Unsupported(f"Spark calls {function.name} with DISTINCT or with a FILTER in a way of its own")
    arguments = _arguments(e, function, node)
    given = e.emit_all(arguments)
    declaration = declaration_of(function, "aggregate", node, [each.type for each in given], _result(e, node))
    if not declaration.deterministic:
        raise Unsupported(f"{function.name} is an aggregate function that is not deterministic")
    made = AggregateFunction(declaration, given, _options(e, function, arguments, node))
    e.require_aggregate(made, call.frame)
    return AggregateForm((made,), as_is)


def _declared(e: ExpressionBuilder, node: tree.Expression) -> UserFunction | None:
    context = e.context
    functions = context.settings.functions
    function = functions.of(node, name_of(node), context.gateway) if functions else None
    if function is not None and function.spark is not None:
        require_default_conversions(context.configuration)
    return function


def _result(e: ExpressionBuilder, node: tree.Expression) -> Type:
    return e.type_of(node, True if node.name.startswith("Python") else None)


def _options(
    e: ExpressionBuilder, function: UserFunction, arguments: list[tree.Expression], node: tree.Expression
) -> Options:
    zone = e.context.configuration.get("spark.sql.session.timeZone", "UTC")
    options = options_of(function, e.context.release, zone, arguments, node)
    # In a query as it was written, nothing shows what Spark's optimizer brings together.
    handed_on = node.get("handedOn") if function.spark is not None else None
    return options if handed_on is None else (*options, (HANDED_ON, handed_on))


def _arguments(e: ExpressionBuilder, function: UserFunction, node: tree.Expression) -> list[tree.Expression]:
    """The arguments, all by position."""
    if "children" not in node.cls.index:
        return arguments_of(node, frozenset(BUFFERS.split()))
    given: list[tree.Expression] = list(node["children"])
    names = tuple([each["key"] for each in given if each.name == "NamedArgumentExpression"])
    values = [each["value"] if each.name == "NamedArgumentExpression" else each for each in given]
    if not names:
        return values
    if function.spark is None:
        raise Unsupported(f"{function.name} is called with arguments by name", "Give them by their positions.")
    try:
        return [values[n] for n in function.spark.positions(len(given) - len(names), names)]
    except (LookupError, TypeError, ValueError) as error:
        raise Unsupported(
            f"{function.name} is called with arguments by name: {error}", "Give them by position."
        ) from None


def named_argument(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """NamedArgumentExpression: the value, which the call puts into its position."""
    return e.emit(node["value"])


EXPRESSIONS: dict[str, Rule] = {**dict.fromkeys(CALLS, scalar), "NamedArgumentExpression": named_argument}

AGGREGATE = dict.fromkeys(AGGREGATE_CALLS, aggregate)
