"""LeftSingle without a join type for it: a left join, which raises where a row on the left has several matches."""

from __future__ import annotations

from collections.abc import Callable

from ..algebra import types
from ..algebra.expression import FieldReference
from ..algebra.relation import Fetch, Filter, Relation
from ..functions.frame import WHOLE, over
from .builder import RelationBuilder
from .output import Output
from .window import computed

NUMBER, MATCHES = -2, -3
"""The ids of columns that no attribute refers to: the number of the row on the left, and how many matches it has."""


def single(r: RelationBuilder, left: Output, join: Callable[[Output], Relation], right: Output) -> Output:
    """The columns of both sides; `join` is the left join of what it is given with the right side."""
    number = r.expressions(left.scope()).window("arithmetic:row_number", frame=WHOLE)
    numbered = Output(computed(r, left.relation, [number], (), ()), (*left.ids, NUMBER))
    joined = Output(join(numbered), (*numbered.ids, *right.ids))
    row = FieldReference(len(left.ids), number.type)
    e = r.expressions(joined.scope())
    matches = over(e.aggregate("aggregate_generic:count", frame=WHOLE), WHOLE)
    counted = Output(computed(r, joined.relation, [matches], (row,), ()), (*joined.ids, MATCHES))

    e = r.expressions(counted.scope())
    found = FieldReference(len(joined.ids), matches.type)
    several = e.call("comparison:gt", found, e.i64(1))
    error = e.raises(
        "[SCALAR_SUBQUERY_TOO_MANY_ROWS] so many rows of a subquery used as an expression", types.I64, found
    )
    checked = e.if_then(several, e.call("comparison:gt", error, e.i64(0)), e.true())
    # A limit that none reaches: engines move no filter past it, so that none hides a row that raises.
    whole = Fetch(Filter(counted.relation, checked), 0, 2**63 - 1)
    return Output(whole, counted.ids).select((*left.ids, *right.ids))
