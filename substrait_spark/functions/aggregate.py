"""Aggregate functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..algebra import types
from ..algebra.expression import AggregateFunction, Expression, FieldReference
from ..algebra.types import FLOATS, INTEGERS
from ..catalyst import tree
from ..catalyst.modes import ANSI, eval_mode
from ..errors import Unsupported

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


class Measured(NamedTuple):
    """The measures that an aggregate needs, and what its result is in terms of them."""

    calls: tuple[AggregateFunction, ...]
    result: Callable[[ExpressionBuilder, Sequence[FieldReference]], Expression]


AggregateRule = Callable[["ExpressionBuilder", tree.Expression, tree.Expression], Measured]


def _as_is(e: ExpressionBuilder, references: Sequence[FieldReference]) -> Expression:
    return references[0]


def call_of(
    e: ExpressionBuilder, aggregate: tree.Expression, function: str, *arguments: Expression | str, **options: str
) -> AggregateFunction:
    """A measure with the DISTINCT and the FILTER of Catalyst's AggregateExpression."""
    filter = None if aggregate["filter"] is None else e.emit(aggregate["filter"])
    return e.aggregate(function, *arguments, distinct=aggregate["isDistinct"], filter=filter, **options)


def count(e: ExpressionBuilder, aggregate: tree.Expression, node: tree.Expression) -> Measured:
    """Count: rows in which no argument is null."""
    arguments = [a for a in e.emit_all(node["children"]) if a.type.nullable or aggregate["isDistinct"]]
    if len(arguments) > 1:
        if aggregate["isDistinct"]:
            raise Unsupported("count(DISTINCT …) of several columns has no Substrait form")
        null = e.null(types.BOOLEAN)
        arguments = [e.if_then(e.or_(*(e.is_null(a) for a in arguments)), null, e.true())]
    return Measured((call_of(e, aggregate, "aggregate_generic:count", *arguments),), _as_is)


def sum_(e: ExpressionBuilder, aggregate: tree.Expression, node: tree.Expression) -> Measured:
    """Sum."""
    child = e.emit(node["child"])
    throws = eval_mode(node) == ANSI
    if child.type.kind in FLOATS:
        child = e.cast(child, types.FP64)
        return Measured((call_of(e, aggregate, "arithmetic:sum", child),), _as_is)
    if child.type.kind == "decimal":
        call = call_of(e, aggregate, "arithmetic_decimal:sum", child, overflow="ERROR")
        wanted = e.type_of(aggregate, True)
        return Measured((call,), lambda above, refs: above.cast(refs[0], wanted, throws))
    if child.type.kind in INTEGERS and throws:
        return Measured((call_of(e, aggregate, "arithmetic:sum", child, overflow="ERROR"),), _as_is)
    raise Unsupported(f"sum of {child.type} in this evaluation mode has no Substrait form")


def average(e: ExpressionBuilder, aggregate: tree.Expression, node: tree.Expression) -> Measured:
    """Average: of integers as doubles; of decimals with four more digits."""
    child = e.emit(node["child"])
    if child.type.kind != "decimal":
        return Measured((call_of(e, aggregate, "arithmetic:avg", e.cast(child, types.FP64)),), _as_is)
    wanted = e.type_of(aggregate, True)
    scaled = e.cast(child, wanted, eval_mode(node) == ANSI)
    call = call_of(e, aggregate, "arithmetic_decimal:avg", scaled, overflow="ERROR")
    return Measured((call,), lambda above, refs: above.cast(refs[0], wanted))


def extreme(name: str) -> AggregateRule:
    """Min, Max."""

    def emit(e: ExpressionBuilder, aggregate: tree.Expression, node: tree.Expression) -> Measured:
        child = e.emit(node["child"])
        forms = [f"{alias}:{name}" for alias in ("arithmetic", "arithmetic_decimal", "datetime", "spark")]
        call = e.first(*(partial(call_of, e, aggregate, form, child) for form in forms))
        return Measured((call,), lambda above, refs: above.cast(refs[0], e.type_of(aggregate, True)))

    return emit


def first(e: ExpressionBuilder, aggregate: tree.Expression, node: tree.Expression) -> Measured:
    """First: any row's value, because a group has no order."""
    ignore = "TRUE" if node["ignoreNulls"] else "FALSE"
    return Measured((call_of(e, aggregate, "aggregate_generic:any_value", e.emit(node["child"]), ignore_nulls=ignore),), _as_is)


AGGREGATE: dict[str, AggregateRule] = {
    "Average": average,
    "Count": count,
    "First": first,
    "Max": extreme("max"),
    "Min": extreme("min"),
    "Sum": sum_,
}
