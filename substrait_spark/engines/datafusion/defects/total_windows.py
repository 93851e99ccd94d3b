"""`totals_keep_no_order`: DataFusion sorts no single row, and then misses the order of it that a window above another wants.

    SELECT c, row_number() OVER (ORDER BY m) FROM (SELECT c, min(c) OVER (PARTITION BY c) AS m FROM (SELECT count(DISTINCT 1) AS c))
    -- an error: SanityCheckPlan

One row is the same by any keys. So calls over an aggregate without keys get none.
"""

from __future__ import annotations

from ....algebra.expression import WindowCall
from ....algebra.subqueries import yields_one_row
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Windowed


def without_keys(e: LoweringBuilder, form: Windowed) -> Windowed:
    """Window calls over exactly one row, without keys, unless a key may raise or a frame counts from one."""
    keys = (*form.partition, *(sort.expression for sort in form.sorts))
    if not yields_one_row(form.input) or any(key.raises for key in keys) or any(map(_counts_from_key, form.calls)):
        return form
    return form._replace(partition=(), sorts=())


def _counts_from_key(call: WindowCall) -> bool:
    """Whether a frame begins or ends some distance from the key of the current row."""
    return not call.rows and any(bound.offset is not None for bound in (call.lower, call.upper))
