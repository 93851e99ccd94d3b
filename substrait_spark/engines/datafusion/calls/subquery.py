"""Scalar subqueries are null without a row. DataFusion forgets this where their column has no nulls, so it is given some.

SELECT (SELECT 1 WHERE false) IS NULL   -- false
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....algebra.expression import Expression, ScalarSubquery
from ....algebra.relation import Join, VirtualTable
from ....lowering.subquery import yields_one_row

if TYPE_CHECKING:
    from ....lowering.expression import ExpressionLowering
    from ....lowering.rules import OriginalRule


def scalar(lowering: ExpressionLowering, original: ScalarSubquery) -> Expression:
    """The subquery as a left join with it, from a relation of one row: where it has no row, the join has a null."""
    e = lowering.e
    relation = e.lowering.subquery(original.relation)
    if e.has_defect("subquery_nulls") and not yields_one_row(original.relation):
        relation = Join(VirtualTable([()], [], []), relation, "LEFT", e.true())
    return ScalarSubquery(relation)


ORIGINALS: dict[str | type[Expression], OriginalRule] = {ScalarSubquery: scalar}
