"""What a recursion's step is over: rows that DataFusion has computed before, in its own forms of values."""

from __future__ import annotations

from ...algebra import types
from ...algebra.recursion import PreviousRows
from ...algebra.relation import Relation
from ...errors import NotInDialect
from ...lowering.expression import ExpressionLowering
from ...lowering.text_length import read_without_lengths
from .structs import require_nameless


def as_computed(lowering: ExpressionLowering, read: PreviousRows) -> Relation:
    """The rows, where DataFusion has their values in no other form than tables do, and knows no part of them by a name."""
    e = lowering.e
    for kind in read.schema:
        require_nameless(e, kind)
        if types.holds(kind, tuple(e.rewrites.conversions)):
            raise NotInDialect(f"the dialect {e.dialect.name} has {kind} in no rows that a query is repeated over")
    return read_without_lengths(e.dialect, read)
