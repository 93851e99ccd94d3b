"""The order of structs and lists, in which null is less than any value.

DataFusion's comparisons have it, and its sorts where nulls come first. Its own extremes, and first and last values by lists, don't:

    SELECT min(x) FROM (VALUES ([1, NULL]), ([NULL]), ([1])) t(x)   -- [1]
"""

from __future__ import annotations

from ....algebra import types
from ....algebra.aggregate_form import AggregateForm
from ....algebra.expression import Expression, SortField
from ....lowering.aggregate import LoweredCall
from ....lowering.builder import LoweringBuilder
from ..structs import field_of


def ascending(e: LoweringBuilder, value: Expression) -> tuple[SortField, ...]:
    """What to sort by for the values to ascend, as first and last values need it. Nulls come first."""
    if value.type.kind == "struct" and not types.holds(value.type, ("list",)):
        return _by_fields(e, e.share(value))
    if value.type.kind in ("struct", "list"):
        return (SortField(order_key(e, value), True, True),)
    return (SortField(e.key(value), True, True),)


def at_extreme(call: LoweredCall, value: Expression, order: Expression, *, greatest: bool) -> AggregateForm:
    """The value in the row of the greatest or the least order, of the rows that have one."""
    e = call.e
    function = "datafusion:last_value" if greatest else "datafusion:first_value"
    return call.one(function, value, where=e.is_not_null(order), sorts=ascending(e, order), skips=None)


def order_key(e: LoweringBuilder, value: Expression) -> Expression:
    """Bytes in the values' order, null where the value is."""
    return e.call("arrow:spark_order_key", value)


def _by_fields(e: LoweringBuilder, value: Expression) -> tuple[SortField, ...]:
    """The fields of a struct in turn, those of structs inside in their place."""
    keys: list[SortField] = []
    for ordinal in range(len(value.type.parameters)):
        part = field_of(e, value, ordinal)
        if part.type.kind == "struct":
            part = e.share(part)
            keys += [SortField(e.is_not_null(part), True, True), *_by_fields(e, part)]
        else:
            keys.append(SortField(e.key(part), True, True))
    return tuple(keys)
