"""Counts of rows as counts of values, or the reverse, where the dialect has only one of the two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...algebra.aggregate_form import AggregateForm
from ...dialects.rewrite import rewrites
from ...errors import NotInDialect

if TYPE_CHECKING:
    from ..aggregate import LoweredCall

COUNT = "aggregate_generic:count"


def counted(call: LoweredCall) -> AggregateForm:
    """`count(x)` as `count(*) FILTER (WHERE x IS NOT NULL)`; `count(*)` as the count of a value that is not null."""
    if not call.arguments:
        return call.one(COUNT, call.e.true())
    if call.distinct and not call.function.options:
        raise NotInDialect(f"the dialect {call.e.dialect.name} has no count of distinct values")
    if call.distinct:  # there are never so many that an option matters
        return call.one(COUNT, *call.arguments)
    return call.one(COUNT, where=call.e.is_not_null(call.arguments[0]))


REWRITES = rewrites({COUNT: counted})
