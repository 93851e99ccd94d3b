"""`unwraps_casts`: DataFusion compares what is cast to another type of number, in the place of the cast.

SELECT cast(x AS int) > 0 FROM (SELECT 3000000000 AS x)   -- true
"""

from __future__ import annotations

from ....algebra import types
from ....algebra.expression import Cast, Expression, Literal
from ....lowering.builder import LoweringBuilder


def shielded(e: LoweringBuilder, input: Expression) -> Expression:
    """The same value, in a form that the optimizer does not look into."""
    return e.call_as(input.type, "datafusion:greatest", input)


def shielded_cast(e: LoweringBuilder, cast: Cast) -> Expression:
    """A cast between numbers, shielded where it may change the value."""
    exact = types.widens(cast.input.type, cast.type) and not cast.checks
    numbers = {cast.input.type.kind, cast.type.kind} <= {*types.INTEGERS, "decimal"}
    same = types.equal_but_nullability(cast.input.type, cast.type) and not cast.checks
    return cast if exact or same or not numbers or isinstance(cast.input, Literal) else shielded(e, cast)
