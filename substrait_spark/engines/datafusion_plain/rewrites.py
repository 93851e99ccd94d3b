"""What DataFusion's own functions get otherwise than Spark's that go by the same names, beside all that DataFusion's plans are rewritten by."""

from __future__ import annotations

from ...algebra.expression import Expression, Literal, ScalarFunction
from ...dialects.rewrite import Rewrite, Sees
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from ..datafusion import rewrites as datafusion
from ..substring import within

OTHERWISE = ("dow", "epoch")
"""The parts of a date that Spark's `date_part` in DataFusion counts in another way, or lacks."""


def date_part(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """A part that both have alike."""
    part = call.children()[0]
    if not isinstance(part, Literal) or part.value in OTHERWISE:
        raise NotInDialect(f"the dialect {e.dialect.name} has no function date_part as Spark has it")
    return call


REWRITES = [
    Rewrite("string:substring", within("datafusion:substr")),
    *datafusion.REWRITES,
    Rewrite("datafusion:date_part", date_part, sees=Sees.BUILT),
]
