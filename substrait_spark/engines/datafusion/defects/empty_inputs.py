"""`unions_lose_names`: DataFusion leaves out an input of a union that it finds empty as it plans, and forgets the union's names.

    SELECT 1 AS v FROM t WHERE 1 > 2 UNION ALL SELECT DISTINCT b FROM t   -- No field named v

It finds that by conditions on constants alone, which this keeps it from computing.
"""

from __future__ import annotations

from ....algebra.expression import Expression
from ....algebra.feature import COLUMN, SUBQUERY
from ....algebra.traversal import is_true
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Filtered
from .constants import always


def with_unknown_conditions(e: LoweringBuilder, form: Filtered) -> Filtered:
    """The conditions of a filter, those on constants alone behind one that always holds, which DataFusion doesn't know."""
    conditions = [e.if_then(always(e), each, e.true()) if _is_constant(each) else each for each in form.conditions]
    return Filtered(form.input, conditions)


def _is_constant(condition: Expression) -> bool:
    return not is_true(condition) and not condition.features & (COLUMN | SUBQUERY)
