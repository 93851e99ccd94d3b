"""`empty_frames`: DataFusion has an error for frames that can't hold a row, where Spark's functions see none."""

from __future__ import annotations

from ....algebra.expression import WindowCall
from ....algebra.frame import frame_of_call
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder


def refused(e: LoweringBuilder, call: WindowCall) -> WindowCall:
    """The call. Raises NotInDialect for one over such a frame."""
    if frame_of_call(call).never_holds_a_row:
        raise NotInDialect(f"the dialect {e.dialect.name} has no frames that can't hold a row")
    return call
