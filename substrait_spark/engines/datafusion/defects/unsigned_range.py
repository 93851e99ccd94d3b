"""`unsigned_range_keys`: DataFusion runs RANGE offsets right on unsigned 64-bit sort keys only. This shifts keys to be such.

With keys of other types, it ignores the offsets of a plan: a frame from 1 preceding begins with the first row. RANGE frames
without offsets fail, too, or are wrong, on nested sort keys and on a leading binary key.

    SELECT count(*) OVER (ORDER BY 0, x) FROM (VALUES ({'a': 1}), ({'a': NULL})) t(x)   -- 2, not 1, for the first row
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from ....algebra import types
from ....algebra.expression import Bound, Expression, Literal, SortField, WindowCall, WindowFunction
from ....algebra.frame import Frame, over
from ....algebra.relation import Project, Relation
from ....algebra.types import INTEGERS
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ....lowering.forms import Windowed

DAY = 86_400_000_000
"""A day in microseconds, as day-time intervals count."""

SHIFT = 2**62
"""Makes keys of less than 62 bits positive. Offsets must be smaller than a half of it."""

FULL_SHIFT = 2**63
"""Makes all 64-bit keys positive; the sum is a decimal."""


def windowed(e: LoweringBuilder, form: Windowed) -> Relation:
    """Window functions in a project, each by its own keys."""
    if not form.calls:
        return form.input

    @cache
    def key(*distances: int) -> Expression:
        """One for all frames that reach as far: DataFusion takes minutes, and all memory, where twenty columns are equal."""
        return _unsigned(e, form.sorts[0].expression, distances)

    functions = []
    for call in form.calls:
        keyed, order = _with_unsigned_key(e, call, form.sorts, key)
        functions.append(WindowFunction(keyed, form.partition, order))
    return Project(form.input, functions)


def _with_unsigned_key(
    e: LoweringBuilder, call: WindowCall, sorts: tuple[SortField, ...], key: Callable[..., Expression]
) -> tuple[WindowCall, tuple[SortField, ...]]:
    """A call and its order, with a shifted key and offsets in its units where the frame has offsets by range."""
    bounds = [bound for bound in (call.lower, call.upper) if bound.offset is not None]
    if call.rows:
        return call, sorts
    if not bounds:
        return call, _by_range(e, sorts, is_whole=call.lower.kind == call.upper.kind == "unbounded")
    (sort,) = sorts
    distances = {id(bound): _distance(e, sort.expression, bound) for bound in bounds}
    signed = [distances[id(bound)] * (-1 if bound.kind == "preceding" else 1) for bound in bounds]
    shifted = key(*(signed if sort.ascending else [-distance for distance in signed]))
    lower, upper = (
        Bound(bound.kind, e.i64(distances[id(bound)])) if bound.offset is not None else bound
        for bound in (call.lower, call.upper)
    )
    return over(call, Frame(False, lower, upper)), (sort.by(shifted),)


def _by_range(e: LoweringBuilder, sorts: tuple[SortField, ...], is_whole: bool) -> tuple[SortField, ...]:
    """The order of a RANGE frame without offsets. A constant goes before a leading binary or struct key.

    DataFusion doesn't find the peers by a nested key, so frames that end with them are refused.
    """
    if not is_whole and any(types.holds(sort.expression.type, ("list", "struct")) for sort in sorts):
        raise NotInDialect(
            f"the dialect {e.dialect.name} has no frames by range in an order of lists or structs",
            "Give the window a frame by rows, or order it by the elements or fields.",
        )
    first = sorts[0].expression.type.kind if sorts else None
    return (SortField(e.i64(0), True, True), *sorts) if first in ("binary", "struct") else sorts


def _distance(e: LoweringBuilder, key: Expression, bound: Bound) -> int:
    """An offset in the units that the shifted key counts."""
    offset = bound.offset
    if not isinstance(offset, Literal) or not isinstance(offset.value, int):
        raise NotInDialect(f"the dialect {e.dialect.name} has no frames by range of floating-point numbers")
    if offset.type.kind == "interval_year":
        raise NotInDialect(f"the dialect {e.dialect.name} has no frames by range of months")
    distance = offset.value
    if key.type.kind == "date" and offset.type.kind == "interval_day":
        distance, rest = divmod(distance, DAY)
        if rest:
            raise NotInDialect("a frame of a part of a day")
    if distance >= SHIFT // 2 and key.type.kind != "i64":
        raise NotInDialect("the offset of the frame by range is too great")
    return distance


def _unsigned(e: LoweringBuilder, key: Expression, distances: Sequence[int]) -> Expression:
    """The key as an unsigned number, which raises where key and offset overflow, as Spark does with ANSI mode on."""
    if key.type.kind in INTEGERS:
        key = _checked(e, key, distances)
    if key.type.kind == "i64":
        digits = types.of("decimal", 19, 0, nullable=False)
        positive = e.call("arithmetic_decimal:add", e.cast(key, digits), e.literal(FULL_SHIFT, digits))
        return e.call("datafusion:arrow_cast", positive, e.text("UInt64"))
    return e.call("datafusion:arrow_cast", e.call("datafusion:add", _counted(e, key), e.i64(SHIFT)), e.text("UInt64"))


def _counted(e: LoweringBuilder, key: Expression) -> Expression:
    """The key as a number: of days, of microseconds, or without its point."""
    kind = key.type.kind
    if kind in INTEGERS:
        return e.cast(key, types.I64)
    if kind == "date":
        return e.cast(e.cast(key, types.I32), types.I64)
    if kind in ("precision_timestamp", "precision_timestamp_tz"):
        return e.cast(key, types.I64)
    if kind == "decimal" and key.type.parameters[0] <= 18:
        scale = key.type.parameters[1]
        unit = e.literal(10**scale, types.of("decimal", scale + 1, 0, nullable=False))
        return e.cast(e.call("arithmetic_decimal:multiply", key, unit), types.I64)
    raise NotInDialect(
        f"the dialect {e.dialect.name} has no frames by range of keys of the type {key.type}",
        "Order by an integer, a date, a timestamp or a decimal of at most 18 digits.",
    )


def _checked(e: LoweringBuilder, key: Expression, distances: Sequence[int]) -> Expression:
    """An integer key that raises where an offset leads out of its type."""
    required = types.required(key.type)
    top = 2 ** (int(key.type.kind[1:]) - 1)
    above, below = max([0, *distances]), min([0, *distances])
    outside = []
    if above:
        outside.append(e.call("comparison:gt", key, e.literal(top - 1 - above, required)))
    if below:
        outside.append(e.call("comparison:lt", key, e.literal(-top - below, required)))
    if not outside:
        return key
    overflow = e.raises("[ARITHMETIC_OVERFLOW] a frame by range begins or ends outside of its type", key.type, key)
    return e.if_then(e.or_(*outside), overflow, key)
