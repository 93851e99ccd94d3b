"""What of a plan is said otherwise for PostgreSQL."""

from __future__ import annotations

from ...algebra import types
from ...algebra.expression import Cast, Expression, ScalarFunction
from ...algebra.types import INTEGERS
from ...dialects.rewrite import Rewrite, Sees, rewrites
from ...errors import NotInDialect
from ...lowering.builder import LoweringBuilder
from ..isthmus.rewrites import rewrites_of

SOURCE = "isthmus_postgresql"

NOT_OF_NUMBERS = ("binary", "boolean", "date", "precision_timestamp", "precision_timestamp_tz")
"""Types that PostgreSQL casts no integers to, but those of 32 bits to booleans: what is cast so in a plan is an error."""


def year(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The year of a date or a timestamp: PostgreSQL's own has no 0, and 1 BC before the year 1."""
    if call.arguments[0] != "YEAR":
        return e.general(call)
    (value,) = call.children()
    return e.call(f"{SOURCE}:year", e.cast(value, types.of("date")))


def number(e: LoweringBuilder, cast: Cast) -> Expression:
    """A boolean as a number."""
    value = e.share(cast.input)
    one, zero = (e.cast(e.literal(n, types.I32), cast.type) for n in (1, 0))
    return e.if_then(e.is_null(value), e.null(cast.type), value, one, zero)


def cast(e: LoweringBuilder, cast: Cast) -> Expression:
    """A cast that raises: in the place of null where it can't fail; by a text where an error is cast to a type that no integer is."""
    kind = cast.input.type.kind
    if not cast.throws and not e.dialect.allows_cast(cast.input.type, cast.type, throws=False):
        raise NotInDialect(
            f"the dialect {e.dialect.name} has no cast of {cast.input.type} to {cast.type} that gives null"
        )
    value = cast.input
    if kind in INTEGERS and cast.type.kind in NOT_OF_NUMBERS and (kind, cast.type.kind) != ("i32", "boolean"):
        value = e.cast(value, types.STRING)
    return cast if value is cast.input and cast.throws else Cast(value, cast.type, throws=True)


REWRITES = [
    Rewrite(Cast, cast, sees=Sees.BUILT),
    *rewrites(
        {
            "datetime:extract": year,
            **{("boolean", kind): number for kind in ("i16", "i64", "fp32", "fp64", "decimal")},
        }
    ),
    *rewrites_of(SOURCE),
]
