"""Aggregate functions: counts, sums, means, extremes, first and last values, collections."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..algebra import types
from ..algebra.expression import AggregateFunction, Expression, FieldReference, Literal, Nested
from ..algebra.types import FLOATS, INTEGERS, Type
from ..catalyst import tree
from ..catalyst.modes import ANSI, LEGACY, TRY, eval_mode
from ..catalyst.tree import DataType
from ..errors import NotInDialect, Unsupported
from ..expr.builder import ExpressionBuilder
from ..expr.nested import empty_list, named_struct, size
from ..expr.sort_order import sort_field
from . import bitmap, order_statistics, pivot, sketch, statistics, vector
from .decimal_arithmetic import NARROW, WIDE, widened
from .floating import comparable, groupable
from .measure import AggregateRule, Measured, Site, as_is, plain_aggregate, values_in_frame
from .struct_order import by_fields

SUM_DIGITS = 10
"""How many more digits than its argument Spark's decimal sum has, up to 38: no sum of fewer rows overflows."""

OVERFLOW = "[ARITHMETIC_OVERFLOW] a sum has too many digits"


# ---- count


def count(site: Site, node: tree.Expression) -> Measured:
    """Count: rows in which no argument is null."""
    e = site.e
    arguments = e.emit_all(node["children"])
    if site.distinct and len(arguments) > 1:
        return Measured((count_of_tuples(site, arguments),), as_is)
    if not site.distinct:
        arguments = tuple([a for a in arguments if a.type.nullable])
    if len(arguments) > 1:
        return Measured((site.count(e.and_(*(e.is_not_null(a) for a in arguments))),), as_is)
    return site.one("aggregate_generic:count", *arguments)


def count_of_tuples(site: Site, values: Sequence[Expression]) -> AggregateFunction:
    """How many different tuples of values without a null there are."""
    e = site.e
    present = [e.is_not_null(value) for value in values if value.type.nullable]
    where = e.and_(*present) if present else None
    return site.call(
        "aggregate_generic:count", tuple_of(e, [groupable(e, value) for value in values]), where=where, as_told=True
    )


def tuple_of(e: ExpressionBuilder, values: Sequence[Expression]) -> Expression:
    """A struct of values."""
    type = types.of("struct", *(value.type for value in values), nullable=False)
    if e.dialect.allows_expression("NESTED", "nested_types", "STRUCT"):
        return Nested(type, tuple(values))
    return named_struct(e, type, [f"c{n}" for n in range(len(values))], values)


# ---- sums and means


def sum_(site: Site, node: tree.Expression) -> Measured:
    """Sum: integers in 64 bits, decimals in ten more digits; an overflow raises, gives null or wraps by the mode."""
    e = site.e
    child = e.emit(node["child"])
    if child.type.kind in FLOATS:
        return e.first(
            lambda: site.one("arithmetic:sum", e.cast(child, types.FP64)), lambda: summed_in_order(site, child)
        )
    if child.type.kind in INTEGERS:
        return integer_sum(site, child, eval_mode(node))
    if child.type.kind == "decimal":
        return decimal_sum(site, child, eval_mode(node))
    return site.one("spark:try_sum" if eval_mode(node) == TRY else "spark:sum", child)


def integer_sum(site: Site, child: Expression, mode: str) -> Measured:
    """A sum of integers in 64 bits."""
    if mode == LEGACY:
        return site.one("spark:sum", child)
    if mode == TRY:
        return site.one("spark:try_sum", child)
    digits = types.of("decimal", types.DIGITS[child.type.kind], 0, nullable=False)
    return site.e.first(
        lambda: site.one("arithmetic:sum", child, overflow="ERROR"),
        lambda: checked_sum(site, child),
        lambda: signed_sum(site, child, digits, types.I64, "spark:add"),
    )


def decimal_sum(site: Site, child: Expression, mode: str) -> Measured:
    """A sum of decimals."""
    wanted = sum_type(child.type)
    forms = [lambda: site.one("spark:try_sum", child)]
    if mode == ANSI:
        forms = [
            lambda: _cast(site.call("arithmetic_decimal:sum", child, overflow="ERROR"), wanted),
            lambda: checked_sum(site, child),
            lambda: signed_sum(site, child, None, wanted, "arithmetic_decimal:add"),
        ]
    if child.type.parameters[0] + SUM_DIGITS <= NARROW:
        forms.insert(1, lambda: site.one("datafusion:sum", child))
    return site.e.first(*forms)


def _cast(call: AggregateFunction, wanted: Type) -> Measured:
    return Measured((call,), lambda above, refs: above.cast(refs[0], wanted))


def signed_sum(site: Site, child: Expression, part: Type | None, wanted: Type, add: str) -> Measured:
    """The sums of the positive and of the other values, which raise where a partial sum in some order might overflow.

    `part` is the decimal type to add in; None for the engine's wider decimals.
    """
    e = site.e
    zero = e.literal(0, types.required(child.type))
    positive = e.call("comparison:gt", child, zero)

    def total(where: Expression) -> AggregateFunction:
        value = e.if_then(where, child, e.null(child.type))
        widest = widened(e, value, WIDE, child.type.parameters[1]) if part is None else e.cast(value, part)
        return site.call("datafusion:sum", widest)

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        gains, losses = [above.share(above.narrow(ref, wanted, True)) for ref in refs]
        return above.coalesce(above.cast(above.call(add, gains, losses), wanted), gains, losses)

    return Measured((total(positive), total(e.not_(positive))), result)


def sum_type(type: Type) -> Type:
    """The type of Spark's sum of decimals."""
    precision, scale = type.parameters
    return types.of("decimal", min(NARROW, precision + SUM_DIGITS), scale, nullable=True)


def checked_sum(site: Site, child: Expression) -> Measured:
    """A sum that gives null where it overflows, made to raise there."""
    calls = (site.call("spark:try_sum", child), site.call("aggregate_generic:count", child))

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        total, number = refs
        overflowed = above.and_(above.is_null(total), above.call("comparison:gt", number, above.i64(0)))
        return above.if_then(overflowed, above.raises(OVERFLOW, total.type, number), total)

    return Measured(calls, result)


def average(site: Site, node: tree.Expression) -> Measured:
    """Average: of numbers in doubles, of decimals in four more digits, of intervals in their own type."""
    e = site.e
    child = e.emit(node["child"])
    if child.type.kind in INTEGERS or child.type.kind in FLOATS:
        return e.first(
            lambda: site.one("arithmetic:avg", e.cast(child, types.FP64)),
            lambda: mean_of_numbers(site, child),
            lambda: mean_in_order(site, child),
        )
    if child.type.kind == "decimal":
        return decimal_average(site, child, eval_mode(node))
    return site.one("spark:try_avg" if eval_mode(node) == TRY else "spark:avg", child)


def mean_of_numbers(site: Site, child: Expression) -> Measured:
    """The sum as a double by the count; sums of integers that doubles hold are exact, as Spark's are."""
    e = site.e
    if child.type.kind in ("i8", "i16", "i32"):
        total = site.call("arithmetic:sum", child, overflow="ERROR")
    else:
        total = e.first(lambda: site.call("arithmetic:sum", e.cast(child, types.FP64)), lambda: _exact_sum(site, child))
    number = site.call("aggregate_generic:count", child)

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        total, number = refs
        if total.type.kind == "decimal":  # by way of text, because engines round this cast to doubles twice
            total = above.cast(total, types.STRING)
        return _quotient(above, above.cast(total, types.FP64), number)

    return Measured((total, number), result)


def summed_in_order(site: Site, child: Expression) -> Measured:
    """The sum of floating-point numbers over a frame that loses rows: of a list of them, in the frame's order."""
    values = values_in_frame(site, child)
    return Measured((values,), lambda above, refs: above.call("datafusion:array_sum", refs[0]))


def mean_in_order(site: Site, child: Expression) -> Measured:
    """The same sum by the number of its terms."""
    values = values_in_frame(site, child)

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        return _quotient(above, above.call("datafusion:array_sum", refs[0]), size(above, refs[0]))

    return Measured((values,), result)


def _exact_sum(site: Site, child: Expression) -> AggregateFunction:
    if child.type.kind != "i64":
        raise NotInDialect(f"the dialect {site.e.dialect.name} has no mean of floating-point numbers here")
    return site.call("datafusion:sum", site.e.cast(child, types.of("decimal", 19, 0, nullable=False)))


def _quotient(e: ExpressionBuilder, dividend: Expression, divisor: Expression) -> Expression:
    return e.call("arithmetic:divide", dividend, e.cast(divisor, types.FP64), on_division_by_zero="IEEE")


def decimal_average(site: Site, child: Expression, mode: str) -> Measured:
    """An average of decimals, rounded half up."""
    wanted = average_type(child.type)
    throws = mode == ANSI
    own = "spark:avg" if throws else "spark:try_avg"
    forms = [lambda: site.one(own, child), lambda: _divided_average(site, child, wanted, mode)]
    if child.type.parameters[0] + SUM_DIGITS <= NARROW:
        forms.insert(0, lambda: standard_average(site, child))
    return site.e.first(*forms)


def standard_average(site: Site, child: Expression) -> Measured:
    """The standard average keeps the scale of its argument, which gets that of the result first."""
    wanted = average_type(child.type)
    return _cast(site.call("arithmetic_decimal:avg", site.e.cast(child, wanted), overflow="ERROR"), wanted)


def average_type(type: Type) -> Type:
    """The type of Spark's average of decimals."""
    precision, scale = type.parameters
    return types.of("decimal", min(NARROW, precision + 4), min(NARROW, scale + 4), nullable=True)


def _divided_average(site: Site, child: Expression, wanted: Type, mode: str) -> Measured:
    """The sum by the count, with two digits more than the result: a division that truncates is rounded right then."""
    total = decimal_sum(site, child, mode)
    number = site.call("aggregate_generic:count", child)

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        *parts, number = refs
        dividend = total.result(above, parts)
        precision, scale = dividend.type.parameters
        divisor = above.cast(number, types.of("decimal", 19, 0, nullable=False))
        if precision + 2 + 4 <= NARROW:
            dividend = above.cast(dividend, types.of("decimal", precision + 2, scale + 2, nullable=False))
        else:
            dividend, divisor = widened(above, dividend, WIDE, scale + 2), widened(above, divisor)
        return above.narrow(above.call("datafusion:divide", dividend, divisor), wanted, mode == ANSI)

    return Measured((*total.calls, number), result)


def average_of_unscaled(site: Site, node: tree.Expression) -> Measured:
    """AverageOfUnscaled: a decimal average that Spark computes in doubles, and rounds by their shortest decimal form.

    The standard average is the exact one that users mean: in about one of a hundred ties Spark's is a unit less.
    """
    child = site.e.emit(node["child"])
    return site.e.first(lambda: standard_average(site, child), lambda: _average_by_doubles(site, child))


def _average_by_doubles(site: Site, child: Expression) -> Measured:
    """The sum without its point, as a double, by the count, by the power of ten; then rounded as Spark does."""
    wanted = average_type(child.type)
    precision, scale = child.type.parameters
    if precision > 10:
        raise NotInDialect(
            f"Spark averages {child.type} in doubles and rounds their text, which this dialect can't repeat",
            "Cast the argument to a decimal of 10, or of 12 or more digits.",
        )
    calls = (site.call("datafusion:sum", child), site.call("aggregate_generic:count", child))

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        total, number = refs
        shift = above.literal(10**scale, types.of("decimal", scale + 1, 0, nullable=False))
        unscaled = above.call("arithmetic_decimal:multiply", total, shift) if scale else total
        mean = _quotient(above, above.cast(above.cast(unscaled, types.I64), types.FP64), number)
        return shortest_rounded(above, _quotient(above, mean, above.fp64(10.0**scale)), total, wanted)

    return Measured(calls, result)


def shortest_rounded(e: ExpressionBuilder, value: Expression, sign: Expression, wanted: Type) -> Expression:
    """A double as a decimal of at most 14 digits: its shortest decimal form, rounded half up.

    Numbers half way between two results have at most 15 digits, so that each has its own double, whose shortest form
    it is: the form of `value` is at least that number where `value` is at least its double. So the result counts how
    many of the numbers half way, of the two nearest, `value` reaches. `sign` has the sign of the value.
    """
    digits, scale = wanted.parameters
    size = e.share(e.call("arithmetic:abs", value))
    unit = 10.0**scale
    floor = e.share(e.cast(e.call("arithmetic:multiply", size, e.fp64(unit)), types.I64))

    def reached(units: Expression, halves: int) -> Expression:
        """1 where the value is at least so many units and `halves` half ones."""
        doubled = e.call("arithmetic:multiply", e.cast(units, types.FP64), e.fp64(2.0))
        half_way = _quotient(e, e.call("arithmetic:add", doubled, e.fp64(float(halves))), e.fp64(2 * unit))
        return e.if_then(e.call("comparison:gte", size, half_way), e.i64(1), e.i64(0))

    rounded = e.call("spark:add", e.call("spark:add", floor, e.i64(-1)), reached(floor, -1))
    rounded = e.call("spark:add", rounded, reached(floor, 1))
    negative = e.call("comparison:lt", sign, e.literal(0, types.required(sign.type)))
    signed = e.call("spark:multiply", rounded, e.if_then(negative, e.i64(-1), e.i64(1)))
    whole = e.cast(signed, types.of("decimal", digits, 0, nullable=False))
    step = e.literal(1, types.of("decimal", scale + 1, scale, nullable=False))
    return e.cast(e.call("arithmetic_decimal:multiply", whole, step), wanted)


def product(site: Site, node: tree.Expression) -> Measured:
    """Product: null without a value, where the standard function gives 1."""
    e = site.e
    child = e.emit(node["child"])
    where = e.is_not_null(child) if child.type.nullable else None
    calls = (site.call("arithmetic:product", child, where=where), site.call("aggregate_generic:count", child))

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        value, number = refs
        return above.if_then(above.equal(number, above.i64(0)), above.null(value.type), value)

    return Measured(calls, result)


# ---- extremes


def extreme(name: str) -> AggregateRule:
    """Min, Max: NaN is greatest, and false is less than true."""
    logical = {"min": "bool_and", "max": "bool_or"}[name]
    forms = [f"{alias}:{name}" for alias in ("arithmetic", "arithmetic_decimal", "datetime")]

    def emit(site: Site, node: tree.Expression) -> Measured:
        child = site.e.emit(node["child"])
        standard = [partial(site.one, form, child) for form in (*forms, f"boolean:{logical}")]
        if child.type.kind in FLOATS:
            return site.e.first(*standard, lambda: _float_extreme(site, name, child))
        if child.type.kind == "struct":
            own = partial(site.one, f"spark:{name}", child)
            return site.e.first(*standard, own, lambda: _struct_extreme(site, name, child, node["child"].type))
        return site.e.first(*standard, lambda: site.one(f"spark:{name}", child))

    return emit


def _float_extreme(site: Site, name: str, child: Expression) -> Measured:
    """For engines that lose infinities and NaN: the extreme of the other values, and counts of these."""
    e = site.e
    required = types.required(child.type)
    null = e.null(required)
    infinity = e.literal(float("inf") if name == "min" else float("-inf"), required)
    value = e.share(comparable(e, child))
    nan = e.equal(value, e.literal(float("nan"), required))
    inside = e.call("comparison:lt" if name == "min" else "comparison:gt", value, infinity)
    calls = (
        site.call(f"datafusion:{name}", e.if_then(nan, null, inside, value, null)),
        site.count(nan),
        site.call("aggregate_generic:count", child),
    )

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        found, nans, number = refs
        no_value = above.equal(number, above.i64(0))
        only_nan = above.equal(number, nans)
        any_nan = above.call("comparison:gt", nans, above.i64(0))
        not_a_number = above.literal(float("nan"), required)
        return above.if_then(
            no_value,
            above.null(required),
            only_nan if name == "min" else any_nan,
            not_a_number,
            above.is_null(found),
            infinity,
            found,
        )

    return Measured(calls, result)


def _struct_extreme(site: Site, name: str, child: Expression, struct: DataType) -> Measured:
    """The last or the first struct by its fields, nulls being least."""
    e = site.e
    value = e.share(child)
    function = {"max": "datafusion:last_value", "min": "datafusion:first_value"}[name]
    return site.one(function, value, where=e.is_not_null(value), sorts=by_fields(e, value, struct), skips=None)


# ---- rows


def first(site: Site, node: tree.Expression) -> Measured:
    """First: where a sort below orders the rows, the first by that; else any row's value, as Spark documents it."""
    e = site.e
    child = e.emit(node["child"])
    if node["ignoreNulls"]:
        return _end(site, "first", child, True)
    if not site.group.order() and e.has(lambda: site.call("aggregate_generic:any_value", child, ignore_nulls="FALSE")):
        return _value_of_any_row(site, node, child)
    return _end(site, "first", child, False)


def _value_of_any_row(site: Site, node: tree.Expression, child: Expression) -> Measured:
    """Any row's value. Several of one relation are of the same row, as dropDuplicates needs: of a struct of them all."""
    e = site.e
    same_row = [
        call
        for call in site.group.aggregates
        if _of_any_row(call) and tree.same(call["filter"], site.aggregate["filter"])
    ]
    if len(same_row) < 2 or not e.dialect.allows_expression("NESTED", "nested_types", "STRUCT"):
        return site.one("aggregate_generic:any_value", child, skips=None, ignore_nulls="FALSE")
    position = next(n for n, call in enumerate(same_row) if call is site.aggregate)

    def row() -> AggregateFunction:
        values = e.emit_all([call["aggregateFunction"]["child"] for call in same_row])
        return site.call("aggregate_generic:any_value", tuple_of(e, values), ignore_nulls="FALSE")

    call = site.group.shared(same_row[0], row)

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        (reference,) = refs
        if not isinstance(reference, FieldReference):
            raise TypeError("the row is no column")
        return reference.step(("field", position), types.nullable(child.type))

    return Measured((call,), result)


def _of_any_row(call: tree.Expression) -> bool:
    function = call["aggregateFunction"]
    return function.name == "First" and not function["ignoreNulls"] and not call["isDistinct"]


def last(site: Site, node: tree.Expression) -> Measured:
    """Last: where a sort below orders the rows, the last by that; else any row's value, as Spark documents it."""
    return _end(site, "last", site.e.emit(node["child"]), node["ignoreNulls"])


def _end(site: Site, name: str, child: Expression, ignore_nulls: bool) -> Measured:
    """The value of the first or the last row, of those where it is not null."""
    sorts = site.group.order()

    def standard() -> Measured:
        if name == "last" or sorts:
            raise NotInDialect("any_value knows no order")
        return site.one("aggregate_generic:any_value", child, ignore_nulls="TRUE")

    def own() -> Measured:
        return site.one(f"spark:{name}{'_ignore_nulls' if ignore_nulls else ''}", child, sorts=sorts, skips=None)

    def engines() -> Measured:
        where = site.e.is_not_null(child) if ignore_nulls else None
        return site.one(f"datafusion:{name}_value", child, where=where, sorts=sorts, skips=None)

    return site.e.first(*([standard] if ignore_nulls else []), own, engines)


# ---- collections


def collect(name: str) -> AggregateRule:
    """CollectList, CollectSet, CollectUnion: without nulls unless they are respected."""

    def emit(site: Site, node: tree.Expression) -> Measured:
        e = site.e
        child = e.emit(node["child"])
        respects_nulls = not node.get("ignoreNulls", True)
        suffix = "_respect_nulls" if respects_nulls else ""
        sorts = site.group.order() if name == "collect_list" else ()
        value = child if name == "collect_list" else groupable(e, child)
        wanted = e.type_of(site.aggregate)

        def engines() -> Measured:
            """A list of what is wanted; where there is nothing, engines give null."""
            where = None if respects_nulls else e.is_not_null(child)
            call = site.call("datafusion:array_agg", child, where=where, sorts=sorts)

            def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
                nothing = empty_list(above, types.required(refs[0].type), site.aggregate.type)
                return above.as_type(above.coalesce(refs[0], nothing), wanted)

            return Measured((call,), result)

        def own() -> Measured:
            call = site.call(f"spark:{name}{suffix}", value, sorts=sorts, skips=None if suffix else 0)
            return Measured((call,), lambda above, refs: above.as_type(refs[0], wanted))

        return e.first(own, *([engines] if name == "collect_list" else []))

    return emit


def listagg(site: Site, node: tree.Expression) -> Measured:
    """ListAgg: the values that are not null, in the order of WITHIN GROUP."""
    e = site.e
    child = e.emit(node["child"])
    delimiter = node["delimiter"]
    nothing = "" if child.type.kind == "string" else b""
    value = None if delimiter.name != "Literal" else delimiter["value"]
    separator = Literal(nothing if value is None else value, types.of(child.type.kind, nullable=False))
    if delimiter.name != "Literal":
        raise Unsupported("the delimiter of listagg is no literal")
    sorts = tuple([sort_field(e, order) for order in node["orderExpressions"]]) or site.group.order()
    value_or_null = e.as_type(child, types.nullable(child.type))
    function = "string:string_agg" if child.type.kind == "string" else "spark:listagg"
    call = site.call(function, value_or_null, separator, sorts=sorts)
    return Measured((call,), lambda above, refs: above.cast(refs[0], types.nullable(child.type)))


AGGREGATE: dict[str, AggregateRule] = {
    "Average": average,
    "AverageOfUnscaled": average_of_unscaled,
    "BitAndAgg": plain_aggregate("spark:bit_and"),
    "BitOrAgg": plain_aggregate("spark:bit_or"),
    "BitXorAgg": plain_aggregate("spark:bit_xor"),
    "CollectList": collect("collect_list"),
    "CollectSet": collect("collect_set"),
    "CollectUnion": collect("collect_union"),
    "Count": count,
    "First": first,
    "Last": last,
    "ListAgg": listagg,
    "Max": extreme("max"),
    "Min": extreme("min"),
    "Product": product,
    "Sum": sum_,
    **bitmap.AGGREGATE,
    **order_statistics.AGGREGATE,
    **pivot.AGGREGATE,
    **sketch.AGGREGATE,
    **statistics.AGGREGATE,
    **vector.AGGREGATE,
}
"""Aggregate functions by Catalyst class."""
