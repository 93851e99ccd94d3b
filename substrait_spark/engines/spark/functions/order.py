"""The values of a group in an order, which Spark's aggregate functions take no notice of, but for a few."""

from __future__ import annotations

from substrait.algebra_pb2 import Expression as Message
from substrait.plan_pb2 import Plan

from ....algebra import types
from ....algebra.expression import Cast, Expression
from ....algebra.types import I32, equal_but_nullability
from ....errors import Unsupported
from ....plan.message import Declarations
from ..calls import AggregateCall, Call
from ..document import Node


def values_in_order(call: Call, ignore_nulls: bool) -> Node:
    """A list of the first argument's values, in the order of the call where it has one."""
    value = call.values[0]
    if not isinstance(call, AggregateCall) or not call.keys:
        return _values(call, value, ignore_nulls)
    if call.function.distinct and not all(_is_argument(sort.expression, call) for sort in call.function.sorts):
        raise Unsupported(f"{call.key} is not run over distinct values in the order of others")
    parts = [*call.keys, value]
    kinds = [*(sort.expression.type for sort in call.function.sorts), call.types[0]]
    row = types.of("struct", *kinds)
    rows = call.over_any_rows(call.new("CollectList", _struct(call, parts), 0, 0))
    in_order = call.spark("array_sort", rows, call.lambda_((row, row), lambda a, b: _comparison(call, a, b)))
    values = call.spark("transform", in_order, call.lambda_((row,), lambda each: _part(call, each, len(call.keys))))
    return call.spark("array_compact", values) if ignore_nulls else values


def _is_argument(key: Expression, call: AggregateCall) -> bool:
    """Whether rows are sorted by what is aggregated, nullability aside."""
    value = call.function.arguments[0]
    if isinstance(value, Cast) and equal_but_nullability(value.type, value.input.type):
        value = value.input
    return isinstance(value, Expression) and _written(key) == _written(value)


def _written(expression: Expression) -> tuple[bytes, bytes]:
    """An expression as a message, with the functions that it declares."""
    plan, message = Plan(), Message()
    expression.write(message, Declarations(plan))
    return message.SerializeToString(deterministic=True), plan.SerializeToString(deterministic=True)


def _values(call: Call, value: Node, ignore_nulls: bool) -> Node:
    """Older releases of Spark collect lists without nulls only; in structs these are values."""
    if ignore_nulls:
        return call.over_rows(call.new("CollectList", value, 0, 0))
    row = types.of("struct", call.types[0])
    rows = call.over_rows(call.new("CollectList", _struct(call, [value]), 0, 0))
    return call.spark("transform", rows, call.lambda_((row,), lambda each: _part(call, each, 0)))


def sort_orders(call: Call) -> list[Node]:
    """The order of a call as Spark's own."""
    if not isinstance(call, AggregateCall):
        raise Unsupported(f"{call.key} is not run over a frame")
    return [
        call.builder.sort_order(key, sort.ascending, sort.nulls_first)
        for key, sort in zip(call.keys, call.function.sorts, strict=True)
    ]


def _struct(call: Call, parts: list[Node]) -> Node:
    named = [node for n, part in enumerate(parts) for node in (call.literal(str(n), types.STRING), part)]
    return call.new("CreateNamedStruct", named)


def _part(call: Call, row: Node, ordinal: int) -> Node:
    return call.new("GetStructField", row, ordinal, None)


def _comparison(call: AggregateCall, a: Node, b: Node) -> Node:
    """-1, 0 or 1 where a comes before b, anywhere, or after it: by the first key that differs."""
    comparison = call.literal(0, I32)
    for ordinal, sort in reversed(list(enumerate(call.function.sorts))):
        left, right = _part(call, a, ordinal), _part(call, b, ordinal)
        comparison = compared(call, left, right, sort.ascending, sort.nulls_first, comparison)
    return comparison


def compared(call: Call, a: Node, b: Node, ascending: bool, nulls_first: bool, where_equal: Node | None = None) -> Node:
    """-1 or 1 where a comes before or after b; where they are equal 0, or what else is given."""
    before, after = call.literal(-1, I32), call.literal(1, I32)
    first, last = (before, after) if nulls_first else (after, before)
    less, greater = (before, after) if ascending else (after, before)
    clauses = [
        (call.spark("<=>", a, b), where_equal or call.literal(0, I32)),
        (call.new("IsNull", a), first),
        (call.new("IsNull", b), last),
        (call.spark("<", a, b), less),
    ]
    return call.builder.choice(clauses, greater)
