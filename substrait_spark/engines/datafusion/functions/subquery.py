"""Scalar subqueries are null without a row. DataFusion forgets this where their column has no nulls, so it is given some.

SELECT (SELECT 1 WHERE false) IS NULL   -- false
"""

from __future__ import annotations

from ....algebra.expression import Expression, ScalarSubquery
from ....algebra.relation import Join, VirtualTable
from ....algebra.subqueries import yields_one_row
from ....dialects.rewrite import Sees, rewrites
from ....lowering.expression import ExpressionLowering


def scalar(lowering: ExpressionLowering, original: ScalarSubquery) -> Expression:
    """The subquery as a left join with it, from a relation of one row: where it has no row, the join has a null."""
    e = lowering.e
    relation = e.lowering.subquery(original.relation)
    if not yields_one_row(original.relation):
        relation = Join(VirtualTable([()], [], []), relation, "LEFT", e.true())
    return ScalarSubquery(relation)


REWRITES = rewrites({ScalarSubquery: scalar}, defect="subquery_nulls", sees=Sees.BOTH)
