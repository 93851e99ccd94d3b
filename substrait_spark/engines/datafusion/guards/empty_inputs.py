"""`unions_lose_names`: DataFusion leaves out an input of a union that it finds empty as it plans, and forgets the union's names.

    SELECT 1 AS v FROM t WHERE 1 > 2 UNION ALL SELECT DISTINCT b FROM t   -- No field named v

It finds that by conditions on constants alone, which this keeps it from computing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....algebra.expression import Expression
from ....algebra.occurrence import COLUMN, SUBQUERY
from ....algebra.traversal import is_true
from ....lowering.builder import LoweringBuilder
from .constants import always


def unknown_conditions(e: LoweringBuilder, conditions: Sequence[Expression]) -> list[Expression]:
    """The conditions, those on constants alone behind one that always holds, which DataFusion doesn't know."""
    return [e.if_then(always(e), each, e.true()) if _is_constant(each) else each for each in conditions]


def _is_constant(condition: Expression) -> bool:
    return not is_true(condition) and not condition.occurs & (COLUMN | SUBQUERY)
