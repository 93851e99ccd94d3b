"""Window functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....algebra import types
from ....algebra.aggregate_form import WindowForm, as_is
from ....algebra.expression import Bound, Cast, Expression, FieldReference, Literal, SortField, WindowCall
from ....algebra.frame import WHOLE, Frame, frame_of_call, over
from ....dialects.rewrite import Apply, rewrites
from ....errors import NotInDialect
from ....extensions import registry
from ....lowering.builder import LoweringBuilder
from ....lowering.window import StagedWindows
from ..structs import element, size


def named(function: str) -> Apply:
    """A function that the engine has under a name of its own."""

    def lower(e: LoweringBuilder, call: WindowCall, staged: StagedWindows) -> WindowForm:
        return WindowForm((e.window(function, *call.arguments, frame=frame_of_call(call)),), as_is)

    return lower


def number(e: LoweringBuilder, call: WindowCall, staged: StagedWindows) -> WindowForm:
    """The number of a row or of its peers, which DataFusion has without a sign: what else is computed of it would be so, too."""
    e.require_window(call)
    return WindowForm((call,), lambda above, refs: Cast(refs[0], call.type, True))


def ntile(e: LoweringBuilder, call: WindowCall, staged: StagedWindows) -> WindowForm:
    """NTile: of a literal number, with a result of 64 bits."""
    (buckets,) = call.expressions()
    made = e.window("datafusion:ntile", buckets, frame=frame_of_call(call))
    return WindowForm((made,), lambda above, refs: above.cast(refs[0], call.type))


def offset(e: LoweringBuilder, call: WindowCall, staged: StagedWindows) -> WindowForm:
    """Lag, Lead: the value of another row; the default of the current row where there is no such row."""
    function = f"arithmetic:{call.declaration.name}"
    input, *others = call.expressions()
    if len(others) < 2:
        return WindowForm((e.window(function, input, *others, frame=WHOLE),), as_is)
    distance, *default = others
    return e.first(
        lambda: WindowForm((e.window(function, input, distance, *default, frame=WHOLE),), as_is),
        lambda: _or_default(e, function, input, distance, default[0]),
    )


def _or_default(
    e: LoweringBuilder, function: str, input: Expression, distance: Expression, default: Expression
) -> WindowForm:
    calls = (
        e.window(function, input, distance, frame=WHOLE),
        e.window(function, e.true(), distance, frame=WHOLE),
    )

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        return above.if_then(above.is_null(refs[1]), default, refs[0])

    return WindowForm(calls, result)


def offset_ignoring_nulls(e: LoweringBuilder, call: WindowCall, staged: StagedWindows) -> WindowForm:
    """Lag, Lead IGNORE NULLS: the value so many rows away, of those with a value before or after the row; else the default."""
    input, distance, *default = call.expressions()
    if not isinstance(distance, Literal) or not distance.value:
        raise NotInDialect(
            f"the dialect {e.dialect.name} has lag and lead IGNORE NULLS by literal distances but 0 only"
        )
    name = "last" if ("lag" in call.declaration.name) is (distance.value > 0) else "first"
    near = Bound("preceding" if name == "last" else "following", e.i64(1))
    further = _among_values(e, name, input, abs(distance.value) - 1, staged)
    neighbour = _known(e, name, input, _up_to(name, near), staged, further)
    if not default:
        return neighbour
    return WindowForm(neighbour.calls, lambda above, refs: above.coalesce(neighbour.result(above, refs), default[0]))


def _among_values(e: LoweringBuilder, name: str, value: Expression, distance: int, staged: StagedWindows) -> Expression:
    """In rows with a value, that of the row so many rows before (`last`) or after, of these rows."""
    if not distance:
        return value
    return staged.column(_away(e, name, value, e.i64(distance)), e.is_not_null(value))


def nth_value_ignoring_nulls(e: LoweringBuilder, call: WindowCall, staged: StagedWindows) -> WindowForm:
    """NthValue IGNORE NULLS, of a literal position: of a frame from the start, the value that so many are counted at."""
    input, position = call.expressions()
    frame = frame_of_call(call)
    if not isinstance(position, Literal) or position.value is None:
        raise NotInDialect(f"the dialect {e.dialect.name} has nth_value IGNORE NULLS of literal positions only")
    if position.value == 1:
        return _known(e, "first", input, frame, staged)
    if frame.lower.kind != "unbounded":
        if frame.upper.kind == "unbounded":
            further = _among_values(e, "first", input, position.value - 1, staged)
            return _known(e, "first", input, frame, staged, further)
        return _of_list(e, input, frame, lambda above, values: above.i64(position.value))
    number = staged.column(_number(e, input, Frame(True, Bound("unbounded"), Bound("current"))))
    there = e.and_(e.is_not_null(input), e.equal(number, e.i64(position.value)))
    return _known(e, "first", e.if_then(there, input, e.null(input.type)), frame, staged)


def end_ignoring_nulls(e: LoweringBuilder, call: WindowCall, staged: StagedWindows) -> WindowForm:
    """First, Last IGNORE NULLS."""
    (input,) = call.expressions()
    return _known(e, call.declaration.name.split("_")[0], input, frame_of_call(call), staged)


# ---- the first or last value of a frame that is not null, from functions that see every row


def _known(
    e: LoweringBuilder,
    name: str,
    value: Expression,
    frame: Frame,
    staged: StagedWindows,
    carried: Expression | None = None,
) -> WindowForm:
    """That value; of a frame without end at the other side also what is `carried` in the row that it is in."""
    near, far = (frame.upper, frame.lower) if name == "last" else (frame.lower, frame.upper)
    carried = value if carried is None else carried
    if near.kind == "unbounded":
        return _at_the_end(e, name, value, frame, staged)
    if far.kind != "unbounded":
        return _of_list(e, value, frame, _first if name == "first" else _last)
    if near.kind == "current":
        known = _last_seen(e, value, carried, frame, staged)
        return WindowForm((), lambda above, refs: known)
    if not frame.rows:
        raise NotInDialect(f"the dialect {e.dialect.name} has no {name} IGNORE NULLS over this frame")
    seen = _last_seen(e, value, carried, _up_to(name, Bound("current")), staged)
    if near.kind == ("preceding" if name == "last" else "following"):
        known = staged.column(_away(e, name, seen, near.offset))
        return WindowForm((), lambda above, refs: known)
    return _beyond(e, name, seen, near, staged)


def _beyond(e: LoweringBuilder, name: str, seen: Expression, near: Bound, staged: StagedWindows) -> WindowForm:
    """Over a frame that reaches beyond the current row: what was seen there, or at the end where that is nearer."""
    there, end = ("first", "last") if name == "last" else ("last", "first")
    reached = staged.column(_away(e, there, seen, near.offset))
    exists = staged.column(_away(e, there, e.true(), near.offset))
    at_end = staged.column(e.window(f"datafusion:{end}_value", seen, frame=WHOLE))
    return WindowForm((), lambda above, refs: above.if_then(above.is_null(exists), at_end, reached))


def _up_to(name: str, near: Bound) -> Frame:
    """The rows from the beginning of the partition up to a bound; for `first`, from it up to the end."""
    far = Bound("unbounded")
    return Frame(True, far, near) if name == "last" else Frame(True, near, far)


def _away(e: LoweringBuilder, name: str, value: Expression, offset: Expression | None) -> WindowCall:
    if not isinstance(offset, Literal):
        raise TypeError("a bound that is so many rows away has no offset")
    return e.window("arithmetic:lag" if name == "last" else "arithmetic:lead", value, e.i32(offset.value), frame=WHOLE)


def _number(e: LoweringBuilder, value: Expression, frame: Frame) -> WindowCall:
    """How many values of a frame are not null."""
    return over(e.aggregate("aggregate_generic:count", value, frame=frame), frame)


def _nulls_behind(e: LoweringBuilder, value: Expression) -> SortField:
    return SortField(e.is_null(value), True, True)


def _last_seen(
    e: LoweringBuilder, value: Expression, carried: Expression, frame: Frame, staged: StagedWindows
) -> FieldReference:
    """Over a frame up to the current row: rows for which it holds as many values share the last of these."""
    number = staged.column(_number(e, value, frame))
    call = e.window("datafusion:first_value", carried, frame=WHOLE)
    return staged.column(call, number, sorts=(_nulls_behind(e, value),))


def _at_the_end(e: LoweringBuilder, name: str, value: Expression, frame: Frame, staged: StagedWindows) -> WindowForm:
    """Over a frame up to that end of the partition: the partition's first or last value, if the frame holds any."""
    end = _nulls_behind(e, value)
    call = e.window(f"datafusion:{name}_value", value, frame=WHOLE)
    value_at_end = staged.column(call, sorts=(end if name == "first" else _reversed(end), *staged.sorts))
    if frame.lower.kind == frame.upper.kind:
        return WindowForm((), lambda above, refs: value_at_end)
    some = e.call("comparison:gt", staged.column(_number(e, value, frame)), e.i64(0))
    return WindowForm((), lambda above, refs: above.if_then(some, value_at_end, above.null(value_at_end.type)))


def _reversed(sort: SortField) -> SortField:
    return SortField(sort.expression, not sort.ascending, not sort.nulls_first)


def _first(above: LoweringBuilder, values: Expression) -> Expression:
    return above.i64(1)


def _last(above: LoweringBuilder, values: Expression) -> Expression:
    return above.cast(size(above, values), types.I64)


def _of_list(
    e: LoweringBuilder, value: Expression, frame: Frame, at: Callable[[LoweringBuilder, Expression], Expression]
) -> WindowForm:
    """Over a frame of limited size: at a position of the list of its values."""
    listed = over(e.aggregate("spark:collect_list", value, frame=frame), frame)

    def result(above: LoweringBuilder, refs: Sequence[Expression]) -> Expression:
        (values,) = refs
        return element(above, values, at(above, values))

    return WindowForm((listed,), result)


def of_users(e: LoweringBuilder, call: WindowCall) -> WindowCall:
    """The call. Raises NotInDialect for a user's own function over a frame that loses rows: Python's have no way to take rows back."""
    is_users = call.declaration.kind == "aggregate" and registry.built_in_alias(call.declaration.urn) is None
    if is_users and not frame_of_call(call).grows:
        raise NotInDialect(
            f"the dialect {e.dialect.name} has no {call.declaration.compound} over window frames that lose rows"
        )
    return call


REWRITES = rewrites(
    {
        WindowCall: of_users,
        "arithmetic:lag": offset,
        "arithmetic:lead": offset,
        "arithmetic:ntile": ntile,
        "arithmetic:dense_rank": number,
        "arithmetic:rank": number,
        "arithmetic:row_number": number,
        "spark:spark_first_value": named("datafusion:first_value"),
        "spark:spark_last_value": named("datafusion:last_value"),
        "spark:first_value_ignore_nulls": end_ignoring_nulls,
        "spark:lag_ignore_nulls": offset_ignoring_nulls,
        "spark:last_value_ignore_nulls": end_ignoring_nulls,
        "spark:lead_ignore_nulls": offset_ignoring_nulls,
        "spark:nth_value_ignore_nulls": nth_value_ignoring_nulls,
    }
)
