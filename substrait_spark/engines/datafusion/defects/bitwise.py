"""`forgets_nulls`: DataFusion takes `x ^ x` for 0, though `x` may be null.

    SELECT x ^ x FROM (VALUES (NULL::int)) t(x)   -- 0, not NULL

The defect's other side is in `in_list`.
"""

from __future__ import annotations

from ....algebra.expression import Expression, ScalarFunction
from ....lowering.builder import LoweringBuilder
from .unwrapped_casts import shielded


def xor(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The call with one operand shielded, so that DataFusion doesn't see that both are the same."""
    left, right = call.children()
    return e.call("arithmetic:bitwise_xor", shielded(e, left), right)
