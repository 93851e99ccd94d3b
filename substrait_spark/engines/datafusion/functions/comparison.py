"""The greatest and the least of some values.

DataFusion takes -0.0 for less than 0.0, some NaNs for less than any number, and nulls inside a list or struct for greater
than values, so that these are compared one by one.
"""

from __future__ import annotations

from ....algebra.expression import Expression, ScalarFunction
from ....algebra.types import FLOATS
from ....dialects.rewrite import Apply, rewrites
from ....lowering.builder import LoweringBuilder
from ..defects.floating import comparable


def extreme(name: str) -> Apply:
    """greatest_skip_null, least_skip_null: of equal values, such as 0.0 and -0.0, the first."""
    better = "comparison:gt" if name == "greatest" else "comparison:lt"

    def lower(e: LoweringBuilder, call: ScalarFunction) -> Expression:
        if call.type.kind not in (*FLOATS, "struct", "list"):
            return e.call(f"datafusion:{name}", *call.children())
        best, *rest = map(e.share, call.children())
        for value in rest:
            wins = e.call(better, comparable(e, value), comparable(e, best))
            best = e.share(e.if_then(e.is_null(best), value, e.is_null(value), best, wins, value, best))
        return best

    return lower


REWRITES = rewrites(
    {
        "comparison:greatest_skip_null": extreme("greatest"),
        "comparison:least_skip_null": extreme("least"),
    }
)
