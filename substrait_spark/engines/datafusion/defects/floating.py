"""`nan_payloads`: Spark's equality of floating-point values, by which NaN equals NaN, and -0.0 equals 0.0.

    SELECT 'NaN'::double = -'NaN'::double   -- false

DataFusion compares NaNs by their bits, and windows take -0.0 for another key than 0.0.
"""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import AggregateFunction, Expression, Literal, ScalarFunction, SortField
from ....algebra.types import FLOATS, Type
from ....errors import Unsupported
from ....lowering.builder import LoweringBuilder
from ....lowering.expression import redeclared
from ....lowering.forms import Key


def comparable(e: LoweringBuilder, value: Expression) -> Expression:
    """The value to compare: with one NaN."""
    if not types.holds(value.type, FLOATS) or _has_one_nan(value):
        return value
    if value.type.kind not in FLOATS:
        return normalized(e, value)
    return value if isinstance(value, Literal) else _one_nan(e, value)


def key(e: LoweringBuilder, form: Key) -> Expression:
    """The value to group or partition by."""
    return groupable(e, form.value)


def sort_key(e: LoweringBuilder, sort: SortField) -> SortField:
    """The value to sort by."""
    return sort.by(groupable(e, sort.expression))


def distinct(e: LoweringBuilder, call: AggregateFunction) -> AggregateFunction:
    """A call of an aggregate function, whose arguments tell rows apart where it is DISTINCT."""
    if not call.distinct:
        return call
    arguments = [each if isinstance(each, str) else _distinct(e, each) for each in call.arguments]
    return AggregateFunction(call.declaration, tuple(arguments), call.options, True, call.sorts, call.filter)


def _distinct(e: LoweringBuilder, value: Expression) -> Expression:
    if isinstance(value, Literal):  # tells no rows apart
        return value
    if isinstance(value, ScalarFunction) and value.declaration.name == "named_struct":
        parts = value.children()
        return value.with_children([part if n % 2 == 0 else groupable(e, part) for n, part in enumerate(parts)])
    return groupable(e, value)


def groupable(e: LoweringBuilder, value: Expression) -> Expression:
    """The value to group, partition or sort by: with one NaN and one zero, as Spark's result has them."""
    if not types.holds(value.type, FLOATS):
        return value
    if value.type.kind not in FLOATS:
        _require_kept(value.type)
        return normalized(e, value)
    if isinstance(value, Literal):
        return e.literal(0.0, value.type) if value.value == 0.0 else value
    zero = e.literal(0.0, types.required(value.type))
    return _one_nan(e, e.call("arithmetic:add", value, zero))


def compared(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A comparison of two values."""
    left, right = call.children()
    if not types.holds(left.type, FLOATS):
        return call
    return redeclared(e, call, (comparable(e, left), comparable(e, right)))


def _one_nan(e: LoweringBuilder, value: Expression) -> Expression:
    return e.call("datafusion:nanvl", value, e.literal(float("nan"), types.required(value.type)))


def _has_one_nan(value: Expression) -> bool:
    if not isinstance(value, ScalarFunction) or value.declaration.name != "nanvl":
        return False
    other = value.children()[1]
    return isinstance(other, Literal) and other.value != other.value


def normalized(e: LoweringBuilder, value: Expression) -> Expression:
    """A list, a struct or a map with one NaN and one zero in it."""
    return e.call("arrow:spark_normalized", value)


def _require_kept(type: Type, depth: int = 0) -> None:
    """Refuse lists of lists, in which Spark takes nulls for numbers when it normalises the numbers."""
    if type.kind in FLOATS and type.nullable and depth > 1:
        raise Unsupported("Spark takes nulls in lists of lists of floating-point numbers for numbers")
    for part in types.parts(type):
        _require_kept(part, depth + (type.kind == "list"))


COMPARISONS = tuple(f"comparison:{name}" for name in ("equal", "is_not_distinct_from", "lt", "lte", "gt", "gte"))
"""Functions that compare two values."""
