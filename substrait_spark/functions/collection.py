"""Functions on arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import FieldReference, Lambda
from ..algebra.types import FLOATS, INTEGERS, Type
from ..catalyst import tree
from ..catalyst.modes import time_zone
from ..catalyst.tree import DataType
from ..errors import NotInDialect, Unsupported
from ..expr.lambda_ import NULLABLE_BOOLEAN, Parameter, element_of, of_each, positions, this_position, transformed
from ..expr.nested import guarded, literal_index, named_struct, size, typed_null
from . import time_zone as tz
from .floating import groupable, holds_float
from .table import Plain, arguments_of, lossless, plain

if TYPE_CHECKING:
    from ..algebra.expression import Expression
    from ..expr.builder import ExpressionBuilder, Rule

LONGEST = 2**31 - 1
"""More elements than Spark's arrays can have."""


# ---- elements of one type


def unified(e: ExpressionBuilder, *lists: Expression) -> tuple[Expression, ...]:
    """Lists with elements of one type: Spark lets them differ in nullability."""
    elements = [list.type.parameters[0] for list in lists]
    if all(element == elements[0] for element in elements):
        return lists
    common = elements[0]
    for element in elements[1:]:
        common = types.least_nullable_common(common, element)
    return tuple([e.as_type(list, types.of("list", common, nullable=list.type.nullable)) for list in lists])


def with_element(e: ExpressionBuilder, list: Expression, value: Expression) -> tuple[Expression, Expression]:
    """A list and a value of its elements' type, the nullability of the value itself aside."""
    element = list.type.parameters[0]
    if types.required(element) == types.required(value.type):
        return list, value
    common = types.least_nullable_common(element, value.type)
    wanted = types.of("list", types.with_nullable(common, element.nullable), nullable=list.type.nullable)
    return e.as_type(list, wanted), e.as_type(value, types.with_nullable(common, value.type.nullable))


# ---- what engines do to floating-point numbers and to nested nulls


def by_bits(e: ExpressionBuilder, value: Expression) -> None:
    """Refuse floating-point elements where the engine compares them by their bits."""
    if e.dialect.quirks.nan_payloads and holds_float(value.type):
        raise NotInDialect(
            f"the dialect {e.dialect.name} compares floating-point elements by their bits",
            "Compute this column in Spark, or cast the elements to decimals.",
        )


def groupable_elements(e: ExpressionBuilder, value: Expression) -> Expression:
    """The list to look values up in: with one NaN and one zero."""
    element: Type = value.type.parameters[0]
    if not e.dialect.quirks.nan_payloads or not holds_float(element):
        return value
    if element.kind not in FLOATS:
        by_bits(e, value)
    return transformed(e, value, element, groupable(e, FieldReference(0, element, parameter=0)))


def flat(e: ExpressionBuilder, value: Expression) -> None:
    """Refuse nested elements where the engine orders the nulls in them in its own way."""
    if e.dialect.quirks.nested_nulls_follow and _has_parts(value.type.parameters[0]):
        raise NotInDialect(f"the dialect {e.dialect.name} orders nulls inside elements differently")


def _has_parts(type: Type) -> bool:
    return any(isinstance(part, Type) for part in type.parameters)


# ---- rules


def reduced(name: str) -> Rule:
    """ArrayMin, ArrayMax: nulls are skipped, NaN is greatest."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        child = e.emit(node["child"])
        by_bits(e, child)
        flat(e, child)
        return e.call(f"spark:{name}", child)

    return emit


def set_of(name: str) -> Rule:
    """ArrayDistinct, ArrayUnion, ArrayExcept: in the order of first occurrence."""

    def emit(e: ExpressionBuilder, node: tree.Expression) -> Expression:
        lists = unified(e, *e.emit_all(arguments_of(node)))
        by_bits(e, lists[0])
        return lossless(e, e.call(f"spark:{name}", *lists), node)

    return emit


def intersection(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayIntersect: in the order of the first array."""
    left, right = unified(e, e.emit(node["left"]), e.emit(node["right"]))
    by_bits(e, left)

    def by_difference() -> Expression:
        shared = e.share(left)
        return e.call("spark:array_except", shared, e.call("spark:array_except", shared, right))

    call = e.first(lambda: e.call("spark:array_intersect", left, right), by_difference)
    return lossless(e, call, node)


def contains(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayContains: null where the value is in no element and some element is null."""
    left, right = with_element(e, e.emit(node["left"]), e.emit(node["right"]))
    return e.call("spark:array_contains", groupable_elements(e, left), groupable(e, right))


def position(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayPosition: from 1; 0 where the value is in no element."""
    left, right = with_element(e, e.emit(node["left"]), e.emit(node["right"]))

    def by_engine() -> Expression:
        list, value = e.share(groupable_elements(e, left)), e.share(groupable(e, right))
        found = e.cast(e.call("datafusion:array_position", list, value), types.I64)
        known = e.and_(e.is_not_null(list), e.is_not_null(value))
        return e.if_then(known, e.coalesce(found, e.i64(0)), e.null(types.I64))

    return e.first(lambda: e.call("spark:array_position", left, right), by_engine)


def overlap(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArraysOverlap: null where no value is common, neither array is empty, and one has a null."""
    left, right = unified(e, e.emit(node["left"]), e.emit(node["right"]))

    def by_engine() -> Expression:
        one, other = e.share(groupable_elements(e, left)), e.share(groupable_elements(e, right))
        common = e.call("datafusion:array_has_any", _compact(e, one), _compact(e, other))
        both = [e.call("comparison:gt", size(e, list), e.i32(0)) for list in (one, other)]
        nulls = e.or_(_holds_null(e, one), _holds_null(e, other))
        boolean = types.of("boolean", nullable=True)
        missing = e.or_(e.is_null(one), e.is_null(other))
        return e.if_then(
            missing, e.null(boolean), common, e.true(), e.and_(*both, nulls), e.null(boolean), e.false()
        )  # fmt: skip

    return e.first(lambda: e.call("spark:arrays_overlap", left, right), by_engine)


def _compact(e: ExpressionBuilder, list: Expression) -> Expression:
    return e.call("datafusion:array_compact", list)


def _holds_null(e: ExpressionBuilder, list: Expression) -> Expression:
    return e.call("comparison:lt", size(e, _compact(e, list)), size(e, list))


def remove(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayRemove: null for a null value."""
    left, right = with_element(e, e.emit(node["left"]), e.emit(node["right"]))

    def by_engine() -> Expression:
        by_bits(e, left)
        value = e.share(right)
        return guarded(e, [value], lambda: e.call("datafusion:array_remove_all", left, value), node.type)

    return lossless(e, e.first(lambda: e.call("spark:array_remove", left, right), by_engine), node)


def insert(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayInsert: behind the end, nulls fill the gap; position 0 raises. Appending and prepending are forms of it."""
    if node["legacyNegativeIndex"]:
        raise Unsupported("spark.sql.legacy.negativeIndexInArrayInsert is on", "Turn that setting off.")
    position = e.emit(node["posExpr"])
    list, item = with_element(e, e.emit(node["srcArrayExpr"]), e.emit(node["itemExpr"]))
    known = literal_index(node["posExpr"])

    def by_engine() -> Expression:
        if known not in (1, -1):
            raise NotInDialect("the position is neither the first nor the last")
        value = e.share(list)
        type = types.of("list", types.nullable(value.type.parameters[0]), nullable=value.type.nullable)
        call = partial(e.call_as, type)
        added = {1: ("array_prepend", item, value), -1: ("array_append", value, item)}[known]
        return guarded(e, [value], lambda: call(f"datafusion:{added[0]}", *added[1:]), node.type)

    return lossless(e, e.first(lambda: e.call("spark:array_insert", list, position, item), by_engine), node)


def concat(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Concat of arrays: null where any of them is."""
    lists = unified(e, *e.emit_all(node["children"]))

    def by_engine() -> Expression:
        shared = [e.share(list) for list in lists]
        return guarded(e, shared, lambda: e.call("datafusion:array_concat", *shared), node.type)

    if len(lists) == 1:
        return lists[0]
    return lossless(e, e.first(lambda: e.call("spark:concat", *lists), by_engine), node)


def reverse(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Reverse of an array."""
    child = e.emit(node["child"])
    return e.first(lambda: e.call("spark:reverse", child), lambda: e.call("datafusion:array_reverse", child))


def flatten(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Flatten: null where any of the arrays in the array is."""
    child = e.emit(node["child"])
    inner: Type = child.type.parameters[0]

    def by_engine() -> Expression:
        value = e.share(child)
        length = size(e, value)
        complete = e.equal(size(e, _compact(e, value)), length)
        type = types.of("list", *inner.parameters, nullable=True)
        return e.if_then(complete, e.call_as(type, "datafusion:flatten", value), typed_null(e, node.type))

    wanted = types.of("list", types.nullable(inner), nullable=child.type.nullable)
    return e.first(lambda: e.call("spark:flatten", e.as_type(child, wanted)), by_engine)


def zipped(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArraysZip: shorter arrays are filled up with nulls."""
    names = [field.name for field in node.type.parameters[0].parameters]

    def function(meanings: Sequence[Parameter]) -> Lambda:
        inner = e.branch()
        inner.lambdas.append({})
        values = [meaning(inner, 0) for meaning in meanings]
        struct = types.of("struct", *[value.type for value in values], nullable=False)
        return Lambda((types.I64,), named_struct(inner, struct, names, values))

    def by_position() -> Expression:
        if not names:
            raise NotInDialect("no arrays are zipped")
        return side_by_side(e, node["children"], function, node.type)

    call = e.first(lambda: e.call("spark:arrays_zip", *e.emit_all(node["children"])), by_position)
    return lossless(e, call, node)


def side_by_side(
    e: ExpressionBuilder,
    lists: Sequence[tree.Expression],
    function: Callable[[Sequence[Parameter]], Lambda],
    type: DataType,
) -> Expression:
    """What a function makes of the elements at each position of several lists, of which the shorter ones end in nulls."""
    values = [e.share(list) for list in e.emit_all(lists)]
    meanings = [
        element_of(e, partial(_emitted, list), types.nullable(value.type.parameters[0]))
        for list, value in zip(lists, values, strict=True)
    ]

    def longer(left: Expression, right: Expression) -> Expression:
        return e.if_then(e.call("comparison:gte", left, right), left, right)

    longest = reduce(longer, [size(e, value) for value in values])
    return guarded(
        e, values, lambda: e.call("datafusion:array_transform", positions(e, longest), function(meanings)), type
    )


def _emitted(node: tree.Expression, e: ExpressionBuilder) -> Expression:
    return e.emit(node)


def join(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayJoin: nulls are left out, or replaced."""
    given = [part for part in (node["array"], node["delimiter"], node["nullReplacement"]) if part is not None]
    list, *texts = e.emit_all(given)
    list = e.as_type(list, types.of("list", types.nullable(types.STRING), nullable=list.type.nullable))

    def by_engine() -> Expression:
        shared = [e.share(text) for text in texts]
        return guarded(e, shared[1:], lambda: e.call("datafusion:array_to_string", list, *shared), node.type)

    return e.first(lambda: e.call("spark:array_join", list, *texts), by_engine)


def repeat(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """ArrayRepeat: a negative count gives an empty array."""
    return lossless(e, e.call("spark:array_repeat", e.emit(node["left"]), e.emit(node["right"])), node)


def sort_array(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """SortArray: nulls come first when ascending, last when descending."""
    list = e.emit(node["base"])
    ascending = node["ascendingOrder"]["value"] if node["ascendingOrder"].cls.name == "Literal" else None

    def by_standard() -> Expression:
        if ascending is None or _has_parts(list.type.parameters[0]):
            raise NotInDialect("the direction is no literal, or the elements have parts")
        return e.call("list:sort", list, direction="ASC_NULLS_FIRST" if ascending else "DESC_NULLS_LAST")

    def by_engine() -> Expression:
        by_bits(e, list)
        if ascending is None:
            raise NotInDialect("the direction is no literal")
        order = ("ASC", "NULLS FIRST") if ascending else ("DESC", "NULLS LAST")
        return e.call("datafusion:array_sort", list, *map(e.text, order))

    return e.first(by_standard, lambda: e.call("spark:sort_array", list, e.emit(node["ascendingOrder"])), by_engine)


def array_size(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Size of an array or a map; -1 for null under spark.sql.legacy.sizeOfNull."""
    child = e.emit(node["child"])
    count = size(e, e.call("spark:map_keys", child) if child.type.kind == "map" else child)
    return e.coalesce(count, e.i32(-1)) if node["legacySizeOfNull"] else count


def known_elements(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """KnownNotContainsNull: an array that has no nulls."""
    child = e.emit(node["child"])
    return e.as_type(child, e.type_of(node, child.type.nullable))


def sequence(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Sequence: up or down to the end; a step that leads away from it raises."""
    bounds = e.emit_all([node["start"], node["stop"]])
    kind = bounds[0].type.kind
    if kind not in INTEGERS and e.dialect.quirks.counting_casts:
        return _times(e, node, *map(e.share, bounds))
    step = node["stepOpt"]
    arguments = [*bounds, *([] if step is None else [e.emit(step)])]
    zone = [] if kind in INTEGERS else [e.text(time_zone(node))]
    return e.first(
        lambda: e.call("spark:sequence", *arguments, *zone), lambda: e.cast(_series(e, arguments), e.type_of(node))
    )


def _times(e: ExpressionBuilder, node: tree.Expression, start: Expression, stop: Expression) -> Expression:
    """A sequence of dates or timestamps: days or microseconds as integers, unless the step is one of months."""
    step, kind = node["stepOpt"], start.type.kind
    if step is not None and (step.cls.name != "Literal" or not isinstance(step["value"], int)):
        raise NotInDialect("the step is no literal")
    if step is not None and step.type.name == "yearmonth":
        return _months(e, node, start, stop, step["value"])
    if step is not None and step.type.name != "daytime":
        raise NotInDialect("the step has months, days and seconds")
    unit, counted = (tz.DAY, types.I32) if kind == "date" else (1, types.I64)
    amount, rest = divmod(tz.DAY if step is None else step["value"], unit)
    if rest or not amount:
        raise NotInDialect("only steps of whole days are the same in the engine")
    if kind == "precision_timestamp_tz" and abs(amount) >= tz.DAY and _zone(node).offset is None:
        raise NotInDialect("the days of a step may have 23 or 25 hours in the session's time zone")
    if abs(amount) > tz.DAY and amount % tz.DAY:
        raise NotInDialect("the step has days and a part of a day")
    literal = partial(e.literal, type=counted)
    forward = e.call("comparison:lte", start, stop)
    by = literal(amount) if step is not None else e.if_then(forward, literal(amount), literal(-amount))
    made = _series(e, [e.cast(start, counted), e.cast(stop, counted), by], widest="i64")
    return e.cast(e.cast(made, types.of("list", counted, nullable=made.type.nullable)), e.type_of(node))


def _zone(node: tree.Expression) -> tz.Zone:
    return tz.zone(time_zone(node))


def _months(e: ExpressionBuilder, node: tree.Expression, start: Expression, stop: Expression, step: int) -> Expression:
    """The start, and what is so many times the months of the step later, as long as that is not behind the end."""
    zoned = start.type.kind == "precision_timestamp_tz"
    where = _zone(node)
    if (zoned and where.offset is None) or not step:
        raise NotInDialect("the days of a step may have 23 or 25 hours in the session's time zone")
    local, end = ((tz.local(e, time, where) if zoned else time) for time in (start, stop))
    day, last = (e.share(e.cast(time, tz.DATE)) for time in (local, end))

    def number(date: Expression) -> Expression:
        year, month = (e.call("datafusion:date_part", e.text(part), date) for part in ("year", "month"))
        return tz.plus(e, tz.times(e, e.cast(year, types.I64), 12), e.cast(month, types.I64))

    first = e.share(tz.micros(e, local))
    midnight = e.share(tz.minus(e, first, tz.micros(e, day)))
    ahead: Expression = e.call("comparison:lte" if step > 0 else "comparison:gte", start, stop)
    apart = tz.quotient(e, tz.minus(e, number(last), number(day)), step)
    missing = e.or_(e.is_null(start), e.is_null(stop))
    error = e.raises("[ILLEGAL_SEQUENCE_BOUNDARIES]", types.I64, first)
    if start.type.kind == "date" and where.offset is None:
        # Spark goes from the day's first moment, which may be behind that of the end though the dates are the same.
        begins = tz.local_micros(e, tz.start_micros(e, start, where), where)
        ahead = e.and_(ahead, e.equal(begins, first))
    most = e.if_then(missing, e.null(types.I64), ahead, apart, error)
    times = e.call("datafusion:generate_series", e.i64(0), most, e.i64(1))

    def time(inner: ExpressionBuilder, steps: int) -> Expression:
        months = inner.cast(tz.times(inner, this_position(inner, steps), step), types.I32)
        date = inner.call("spark:add_months", day, months)
        if node["start"].type.name == "date":
            return inner.as_type(date, types.required(date.type))
        found = tz.plus(inner, tz.plus(inner, tz.micros(inner, date), midnight), -(where.offset or 0) if zoned else 0)
        return inner.as_type(tz.from_micros(inner, found, start.type), types.required(start.type))

    made = of_each(e, times, time)
    element: Type = made.type.parameters[0]
    kept = e.call("comparison:lte" if step > 0 else "comparison:gte", FieldReference(0, element, parameter=0), stop)
    test = Lambda((element,), e.as_type(kept, NULLABLE_BOOLEAN))
    return lossless(e, e.call("datafusion:array_filter", made, test), node)


def _series(e: ExpressionBuilder, arguments: Sequence[Expression], widest: str = "i32") -> Expression:
    if arguments[0].type.kind not in ("i8", "i16", "i32", widest):
        raise NotInDialect("only sequences of integers of up to 32 bits are the same in the engine")
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
        witness = next((part for part in (given, start, stop) if not is_constant(part)), given)
        error = e.raises("[ILLEGAL_SEQUENCE_BOUNDARIES]", types.I64, witness)
        step = e.if_then(
            e.or_(forward, backward), given, e.equal(start, stop), e.i64(1), missing, e.null(types.I64), error
        )
    return e.call("datafusion:generate_series", start, stop, step)


def is_constant(value: Expression) -> bool:
    """Whether a value hangs on no column, so that engines compute it when they plan, and an error too."""
    return not isinstance(value, FieldReference) and all(map(is_constant, value.children()))


SCALAR: dict[str, Plain | Rule] = {
    "ArrayContains": contains,
    "ArrayDistinct": set_of("array_distinct"),
    "ArrayExcept": set_of("array_except"),
    "ArrayInsert": insert,
    "ArrayIntersect": intersection,
    "ArrayJoin": join,
    "ArrayMax": reduced("array_max"),
    "ArrayMin": reduced("array_min"),
    "ArrayPosition": position,
    "ArrayRemove": remove,
    "ArrayRepeat": repeat,
    "ArrayUnion": set_of("array_union"),
    "ArraysOverlap": overlap,
    "ArraysZip": zipped,
    "Concat(array)": concat,
    "Flatten": flatten,
    "KnownNotContainsNull": known_elements,
    "Reverse(array)": reverse,
    "Sequence": sequence,
    "Size": array_size,
    "Slice": plain("spark:slice"),
    "SortArray": sort_array,
}
