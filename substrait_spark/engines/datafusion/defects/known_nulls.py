"""`null_looked_for` and `null_characters`: functions of DataFusion that fail for a null which it knows before it has rows.

    SELECT array_contains(l, NULL::int) FROM (VALUES ([1]), ([2])) t(l)   -- Expected: 2, Got: 1

The one answer of the first is no column, and Spark's `char` in DataFusion takes no null but those of columns. A column that has one
value in a file is known there, so they are asked for values alone.
"""

from __future__ import annotations

from ....algebra.expression import Expression, Literal, ScalarFunction
from ....algebra.traversal import is_null
from ....dialects.rewrite import Apply
from ....lowering.builder import LoweringBuilder
from ..structs import guarded


def unless_null(place: int) -> Apply:
    """The call, evaluated where its argument at this place isn't null, and null elsewhere."""

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        arguments = list(call.children())
        if isinstance(arguments[place], Literal):
            return e.null(call.type) if is_null(arguments[place]) else call
        arguments[place] = value = e.share(arguments[place])
        return guarded(e, [value], lambda: call.with_children(arguments))

    return lower
