"""Rewrites against what engines are known to get wrong, for the dialect files of engines that are measured.

They are those that the engines here have. A dialect file names the defects that its engine showed, and the rewrites against others rest.
What they need that an engine lacks is refused, as anything is that it lacks.
"""

from __future__ import annotations

import math

from ...algebra import types
from ...algebra.expression import Expression, ScalarFunction
from ...dialects.rewrite import Conversion, Rewrite, Sees
from ...lowering.builder import LoweringBuilder
from ..acero import relations as acero
from ..datafusion import rewrites as datafusion


def instead_of_nan(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The other value where the first is NaN, for engines without a function for it: NaN is beyond both infinities, or compares with neither."""
    value, other = call.children()
    value = e.share(value)
    least, most = (e.literal(sign * math.inf, types.required(value.type)) for sign in (-1, 1))
    within = e.and_(e.call("comparison:gte", value, least), e.call("comparison:lte", value, most))
    kept = e.or_(e.is_null(value), within) if value.type.nullable else within
    return e.if_then(kept, value, other)


REWRITES: list[Rewrite | Conversion] = [
    *(each for each in (*datafusion.REWRITES, *acero.REWRITES) if isinstance(each, Rewrite) and each.defect),
    Rewrite("datafusion:nanvl", instead_of_nan, sees=Sees.BUILT),
]

NAME = f"{__name__}:REWRITES"
"""How a dialect file names them."""
