"""Functions on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ....algebra import types
from ....algebra.expression import Expression, FieldReference, Lambda, Literal, ScalarFunction
from ....algebra.lists import unified, with_element
from ....algebra.traversal import moved_inwards, subexpressions
from ....algebra.types import FLOATS, INTEGERS, TEXTS, Type
from ....dialects.rewrite import rewrites
from ....errors import NotInDialect
from ....lowering.builder import LoweringBuilder
from ....lowering.expression import redeclared
from ..defects.floating import groupable, normalized
from ..defects.known_nulls import unless_null
from ..structs import bare, element, guarded, null_like, size
from . import time_zone as tz
from .datetime import date_part

NO_NUMBERS = ("boolean", "binary", "fixedbinary", "list", "struct", *TEXTS)
"""Kinds of values that are no numbers in Arrow's memory."""

# ---- what DataFusion does to floating-point numbers and to nested nulls


def groupable_elements(e: LoweringBuilder, list: Expression) -> Expression:
    """The list with one NaN and one zero."""
    element: Type = list.type.parameters[0]
    if not e.has_defect("nan_payloads") or not types.holds(element, FLOATS):
        return list
    if element.kind not in FLOATS:
        return normalized(e, list)
    body = groupable(e, FieldReference(0, element, parameter=0))
    return e.call("datafusion:array_transform", list, Lambda((element,), body))


def _as_set(e: LoweringBuilder, list: Expression) -> Expression:
    """The list as Spark normalises it, where it does so itself."""
    nested = _differ(e, list) and list.type.parameters[0].kind not in FLOATS
    return groupable(e, list) if nested else groupable_elements(e, list)


def _differ(e: LoweringBuilder, list: Expression) -> bool:
    """Whether DataFusion has another order of floating-point elements."""
    return e.has_defect("nan_payloads") and types.holds(list.type, FLOATS)


def _nest(e: LoweringBuilder, list: Expression) -> bool:
    """Whether DataFusion has nulls in elements where it puts null elements."""
    return e.has_defect("nested_nulls_follow") and bool(types.parts(list.type.parameters[0]))


# ---- against defects


def extreme(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """array_min, array_max: the first of the elements that are equal."""
    (list,) = call.children()
    if not _differ(e, list) and not _nest(e, list):
        return call
    return _first_sorted(e, call, list)


def _first_sorted(e: LoweringBuilder, call: ScalarFunction, list: Expression) -> Expression:
    direction = "ASC" if call.declaration.name == "array_min" else "DESC"
    return element(e, _sorted(e, list, direction, "NULLS LAST"), e.i64(1))


def extreme_of_others(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """array_min, array_max of elements for which DataFusion has no loop of its own, but puts together a row's values."""
    (list,) = call.children()
    return _first_sorted(e, call, list) if list.type.parameters[0].kind in NO_NUMBERS else call


def of_lists(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """array_distinct, array_union, array_except: of normalised elements, as Spark's results have them."""
    return redeclared(e, call, tuple([_as_set(e, list) for list in call.children()]))


def contains(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    list, value = call.children()
    return e.call("spark:array_contains", groupable_elements(e, list), e.key(value))


# ---- functions


def intersection(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """In the order of the first list: it without what is not in the second."""
    left, right = (_as_set(e, list) for list in unified(e, *call.children()))
    shared = e.share(left)
    return e.call("spark:array_except", shared, e.call("spark:array_except", shared, right))


def position(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """From 1; 0 where the value is in no element."""
    left, right = with_element(e, *call.children())
    if right.type.kind == "struct":
        raise NotInDialect(f"the dialect {e.dialect.name} finds no struct in a list")
    list, value = e.share(groupable_elements(e, left)), e.share(e.key(right))
    found = e.cast(e.call("datafusion:array_position", list, value), types.I64)
    known = e.and_(e.is_not_null(list), e.is_not_null(value))
    return e.if_then(known, e.coalesce(found, e.i64(0)), e.null(types.I64))


def overlap(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Null where no value is common, neither list is empty, and one has a null."""
    left, right = unified(e, *call.children())
    one, other = e.share(_as_set(e, left)), e.share(_as_set(e, right))
    common = e.call("datafusion:array_has_any", _compact(e, one), _compact(e, other))
    both = [e.call("comparison:gt", size(e, list), e.i32(0)) for list in (one, other)]
    nulls = e.or_(_holds_null(e, one), _holds_null(e, other))
    boolean = types.of("boolean", nullable=True)
    missing = e.or_(e.is_null(one), e.is_null(other))
    return e.if_then(missing, e.null(boolean), common, e.true(), e.and_(*both, nulls), e.null(boolean), e.false())


def _compact(e: LoweringBuilder, list: Expression) -> Expression:
    return e.call("datafusion:array_compact", list)


def _holds_null(e: LoweringBuilder, list: Expression) -> Expression:
    return e.call("comparison:lt", size(e, _compact(e, list)), size(e, list))


def remove(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Null for a null value."""
    left, right = with_element(e, *call.children())
    value = e.share(right)
    by_value = _differ(e, left) or right.type.kind == "struct"
    function = "arrow:spark_array_remove" if by_value else "datafusion:array_remove_all"
    return guarded(e, [value], lambda: e.call(function, left, value))


def insert(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Appending and prepending."""
    list, where, item = call.children()
    known = where.value if isinstance(where, Literal) else None
    if known not in (1, -1):
        raise NotInDialect("the position is neither the first nor the last")
    list, item = with_element(e, list, item)
    value = e.share(list)
    type = types.of("list", types.nullable(value.type.parameters[0]), nullable=value.type.nullable)
    name, *arguments = ("array_prepend", item, value) if known == 1 else ("array_append", value, item)
    return guarded(e, [value], lambda: e.call_as(type, f"datafusion:{name}", *arguments))


def concat(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """spark_concat of lists, null where any of them is; or of binary values."""
    if call.type.kind == "binary":
        return e.call("datafusion:concat", *call.children())
    shared = [e.share(list) for list in unified(e, *call.children())]
    return guarded(e, shared, lambda: e.call("datafusion:array_concat", *shared))


def reverse(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The elements from the last to the first."""
    (value,) = call.children()
    return e.call("datafusion:array_reverse", value) if value.type.kind == "list" else e.native_form(call)


def flatten(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Null where any of the lists in the list is."""
    value = e.share(bare(*call.children()))
    inner: Type = value.type.parameters[0]
    complete = e.equal(size(e, _compact(e, value)), size(e, value))
    made = e.call_as(types.of("list", *inner.parameters, nullable=True), "datafusion:flatten", value)
    return e.if_then(complete, made, null_like(e, made))


def join(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Nulls are left out, or replaced."""
    list, *texts = call.children()
    shared = [e.share(text) for text in texts]
    return guarded(e, shared[1:], lambda: e.call("datafusion:array_to_string", list, *shared))


def sort(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """The standard's sort."""
    (list,) = call.children()
    stated = dict(call.options)
    if "direction" not in stated:
        raise NotInDialect("this sort of a list doesn't say in which direction", "State its option direction.")
    direction, _, nulls = stated["direction"].partition("_")
    return _sorted(e, list, direction, nulls.replace("_", " "))


def sort_array(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Nulls come first when ascending, last when descending."""
    list, ascending = call.children()
    if not isinstance(ascending, Literal):
        descending = e.share(e.not_(ascending))
        return guarded(e, [descending], lambda: _sorted_by_value(e, list, descending, descending))
    return _sorted(e, list, *(("ASC", "NULLS FIRST") if ascending.value else ("DESC", "NULLS LAST")))


def array_sort(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Nulls come last; inside of elements they come first, where DataFusion has them where it puts null elements."""
    list, *comparator = call.children()
    if comparator:
        raise e.lacks(call)
    return _sorted(e, list, "ASC", "NULLS LAST" if list.type.parameters[0].nullable else "NULLS FIRST")


DEFAULTS = {"ASC": "NULLS FIRST", "DESC": "NULLS LAST"}
"""Where nulls are that are less than any value."""


def _sorted(e: LoweringBuilder, list: Expression, direction: str, nulls: str) -> Expression:
    if _differ(e, list) or (_nest(e, list) and DEFAULTS[direction] != nulls):
        return _sorted_by_value(
            e, list, *(e.true() if each else e.false() for each in (direction == "DESC", nulls == "NULLS LAST"))
        )
    return e.call("datafusion:array_sort", list, e.text(direction), e.text(nulls))


def _sorted_by_value(
    e: LoweringBuilder, list: Expression, descending: Expression, nulls_last: Expression
) -> Expression:
    return e.call("arrow:spark_sort_elements", list, descending, nulls_last)


# ---- sequences


def sequence(e: LoweringBuilder, call: ScalarFunction) -> Expression:
    """Up or down to the end; a step that leads away from it raises."""
    start, stop, *rest = call.children()
    if start.type.kind in INTEGERS:
        return e.cast(_series(e, [start, stop, *rest]), call.type)
    *step, zone = rest
    return _times(e, call, e.share(start), e.share(stop), step, tz.zone_of(zone))


def _times(
    e: LoweringBuilder,
    call: ScalarFunction,
    start: Expression,
    stop: Expression,
    steps: Sequence[Expression],
    zone: tz.Zone,
) -> Expression:
    """A sequence of dates or timestamps: days or microseconds as integers, unless the step is one of months."""
    kind = start.type.kind
    step = _known_step(steps)
    if "iyear" in call.declaration.signature and step is not None:
        return _months(e, call, start, stop, step, zone)
    unit, counted = (tz.DAY, types.I32) if kind == "date" else (1, types.I64)
    amount, rest = divmod(tz.DAY if step is None else step, unit)
    if rest or not amount:
        raise NotInDialect("only steps of whole days are the same in the engine")
    if kind == "precision_timestamp_tz" and abs(amount) >= tz.DAY and zone.offset is None:
        raise NotInDialect("the days of a step may have 23 or 25 hours in the session's time zone")
    if abs(amount) > tz.DAY and amount % tz.DAY:
        raise NotInDialect("the step has days and a part of a day")
    literal = partial(e.literal, type=counted)
    forward = e.call("comparison:lte", start, stop)
    by = literal(amount) if step is not None else e.if_then(forward, literal(amount), literal(-amount))
    made = _series(e, [e.cast(start, counted), e.cast(stop, counted), by])
    return e.cast(e.cast(made, types.of("list", counted, nullable=made.type.nullable)), call.type)


def _known_step(steps: Sequence[Expression]) -> int | None:
    """The months, or the microseconds, of a step; None without one, which is a day forward or back."""
    if not steps:
        return None
    (step,) = steps
    if not isinstance(step, Literal) or step.value is None:
        raise NotInDialect("the step is no literal")
    return int(step.value)


def _months(
    e: LoweringBuilder, call: ScalarFunction, start: Expression, stop: Expression, step: int, zone: tz.Zone
) -> Expression:
    """The start, and what is so many times the months of the step later, as long as that is not behind the end."""
    zoned = start.type.kind == "precision_timestamp_tz"
    if (zoned and zone.offset is None) or not step:
        raise NotInDialect("the days of a step may have 23 or 25 hours in the session's time zone")
    local, end = ((tz.local(e, time, zone) if zoned else time) for time in (start, stop))
    day, last = (e.share(e.cast(time, tz.DATE)) for time in (local, end))

    def number(date: Expression) -> Expression:
        year, month = (date_part(e, part, date) for part in ("year", "month"))
        return tz.plus(e, tz.times(e, e.cast(year, types.I64), 12), e.cast(month, types.I64))

    first = e.share(tz.micros(e, local))
    midnight = e.share(tz.minus(e, first, tz.micros(e, day)))
    ahead: Expression = e.call("comparison:lte" if step > 0 else "comparison:gte", start, stop)
    apart = tz.quotient(e, tz.minus(e, number(last), number(day)), step)
    missing = e.or_(e.is_null(start), e.is_null(stop))
    error = e.raises("[ILLEGAL_SEQUENCE_BOUNDARIES]", types.I64, first)
    if start.type.kind == "date" and zone.offset is None:
        # Spark goes from the day's first moment, which may be behind that of the end though the dates are the same.
        begins = tz.local_micros(e, tz.start_micros(e, start, zone), zone)
        ahead = e.and_(ahead, e.equal(begins, first))
    most = e.if_then(missing, e.null(types.I64), ahead, apart, error)
    times = e.call("datafusion:generate_series", e.i64(0), most, e.i64(1))

    since, in_day, until = (moved_inwards(each, 1) for each in (day, midnight, stop))

    def time(position: Expression) -> Expression:
        months = e.cast(tz.times(e, position, step), types.I32)
        date = e.call("spark:add_months", since, months)
        if start.type.kind == "date":
            return e.as_type(date, types.required(date.type))
        found = tz.plus(e, tz.plus(e, tz.micros(e, date), in_day), -(zone.offset or 0) if zoned else 0)
        return e.as_type(tz.from_micros(e, found, start.type), types.required(start.type))

    made = of_each(e, times, time)
    element: Type = made.type.parameters[0]
    kept = e.call("comparison:lte" if step > 0 else "comparison:gte", FieldReference(0, element, parameter=0), until)
    test = Lambda((element,), e.as_type(kept, types.of("boolean", nullable=True)))
    return e.call("datafusion:array_filter", made, test)


def positions(e: LoweringBuilder, number: Expression) -> Expression:
    """The list of the positions of so many elements, from 1."""
    return e.call("datafusion:generate_series", e.i64(1), e.cast(number, types.I64), e.i64(1))


def of_each(e: LoweringBuilder, positions: Expression, body: Callable[[Expression], Expression]) -> Expression:
    """The list of what a body gives for each position."""
    function = Lambda((types.I64,), body(FieldReference(0, types.I64, parameter=0)))
    return e.call("datafusion:array_transform", positions, function)


MOST_ELEMENTS = 2**31 - 16
"""How many elements a list has in Spark at most (`ByteArrayUtils.MAX_ROUNDED_ARRAY_LENGTH`)."""


def _series(e: LoweringBuilder, arguments: Sequence[Expression]) -> Expression:
    """A sequence of integers."""
    start, stop, *rest = [e.share(e.cast(argument, types.I64)) for argument in arguments]
    lte, gt, lt = (partial(e.call, f"comparison:{name}") for name in ("lte", "gt", "lt"))
    zero = e.i64(0)
    if not rest:
        step = e.if_then(lte(start, stop), e.i64(1), e.i64(-1))
    else:
        (given,) = rest
        forward = e.and_(gt(given, zero), lte(start, stop))
        backward = e.and_(lt(given, zero), lte(stop, start))
        missing = e.or_(*[e.is_null(part) for part in (start, stop, given)])
        error = e.raises("[ILLEGAL_SEQUENCE_BOUNDARIES]", types.I64, _varying(given, start, stop))
        step = e.if_then(
            e.or_(forward, backward), given, e.equal(start, stop), e.i64(1), missing, e.null(types.I64), error
        )
    if arguments[0].type.kind == "i64":
        step = _within_limit(e, start, stop, e.share(step))
    return e.call("datafusion:generate_series", start, stop, step)


def _within_limit(e: LoweringBuilder, start: Expression, stop: Expression, step: Expression) -> Expression:
    """The step of a sequence, which raises where it would have more elements than a list may: DataFusion would end the process."""
    ends = [e.cast(end, types.FP64) for end in (stop, start)]
    steps = e.call("arithmetic:divide", e.call("arithmetic:subtract", *ends), e.cast(step, types.FP64))
    too_many = e.call("comparison:gte", steps, e.fp64(MOST_ELEMENTS))
    error = e.raises("[COLLECTION_SIZE_LIMIT_EXCEEDED.PARAMETER]", types.I64, _varying(start, stop, step))
    return e.if_then(too_many, error, step)


def _varying(*parts: Expression) -> Expression:
    """The first that hangs on a column, by which an error isn't raised as DataFusion plans; the first of all where none does."""
    return next((part for part in parts if not is_constant(part)), parts[0])


def is_constant(value: Expression) -> bool:
    """Whether a value hangs on no column, so that DataFusion computes it when it plans, and an error too."""
    return not any(isinstance(part, FieldReference) for part in subexpressions(value))


CALLS = {
    "list:sort": sort,
    "spark:array_insert": insert,
    "spark:array_intersect": intersection,
    "spark:array_join": join,
    "spark:array_position": position,
    "spark:array_remove": remove,
    "spark:array_sort": array_sort,
    "spark:arrays_overlap": overlap,
    "spark:spark_concat": concat,
    "spark:flatten": flatten,
    "spark:spark_reverse": reverse,
    "spark:sequence": sequence,
    "spark:sort_array": sort_array,
}

REWRITES = [
    *rewrites(CALLS),
    *rewrites(
        {
            "spark:array_contains": contains,
            "spark:array_distinct": of_lists,
            "spark:array_except": of_lists,
            "spark:array_union": of_lists,
        },
        defect="nan_payloads",
    ),
    *rewrites({"spark:array_contains": unless_null(1)}, defect="null_looked_for"),
    *rewrites({"spark:array_max": extreme, "spark:array_min": extreme}, defect="nested_nulls_follow"),
    *rewrites(
        {"spark:array_max": extreme_of_others, "spark:array_min": extreme_of_others}, defect="extremes_want_rows"
    ),
]
