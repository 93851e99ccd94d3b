"""`forgets_nulls`: DataFusion takes `x ^ x` for 0, though `x` may be null.

    SELECT x ^ x FROM (VALUES (NULL::int)) t(x)   -- 0, not NULL

The defect's other side is in `in_list`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....algebra.expression import Expression, ScalarFunction
from .unwrapped_casts import shielded

if TYPE_CHECKING:
    from ....lowering.builder import LoweringBuilder


def xor(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The call with one operand shielded, so that DataFusion doesn't see that both are the same."""
    left, right = call.children()
    return e.call("arithmetic:bitwise_xor", shielded(e, left), right)
