"""`distinct_widens_sums`: beside DISTINCT calls, DataFusion gives sums of decimals another type than the plan says.

SELECT arrow_typeof(sum(x)), count(DISTINCT x) FROM (SELECT 1::decimal(5, 2) AS x)   -- Decimal128(25, 2)
"""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import Literal
from ....algebra.relation import Aggregate, Relation
from ....lowering.builder import LoweringBuilder


def with_filters(e: LoweringBuilder, relation: Aggregate) -> Relation:
    """The aggregate, with a filter that holds for every row in the DISTINCT calls beside sums of decimals."""
    measures = relation.measures
    if not any(call.type.kind == "decimal" and not call.distinct for call in measures):
        return relation
    filtered = [
        call.filtered(Literal(True, types.BOOLEAN)) if call.distinct and call.filter is None else call
        for call in measures
    ]
    return Aggregate(relation.inputs[0], relation.groupings, filtered, relation.sets)
