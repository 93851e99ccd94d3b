"""Aggregate functions: counts, sums, means, extremes, first and last values, collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import AggregateFunction, Expression, FieldReference, Literal, Nested
from ..algebra.types import FLOATS, INTEGERS, Type
from ..catalyst import tree
from ..catalyst.modes import ANSI, LEGACY, TRY, eval_mode
from ..catalyst.row_order import deciding
from ..errors import Unsupported
from ..expr.sort_order import sort_field
from . import bitmap, order_statistics, pivot, sketch, statistics, variant, vector
from .measure import AggregateForm, AggregateRule, EmittedCall, as_is, plain_aggregate

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder

DIGITS = 38
"""The most digits of a decimal."""

SUM_DIGITS = 10
"""How many more digits than its argument Spark's decimal sum has, up to 38: no sum of fewer rows overflows."""


# ---- count


def count(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """Count: rows in which no argument is null."""
    e = call.e
    arguments = e.emit_all(node["children"])
    if call.distinct and e.context.is_before(4, 3) and any(types.holds(each.type, ("map",)) for each in arguments):
        raise Unsupported(
            "before Spark 4.3, maps whose entries are in another order count as others",
            "Count their map_entries, in the order that they have.",
        )
    if call.distinct and len(arguments) > 1:
        return AggregateForm((count_of_tuples(call, arguments),), as_is)
    if not call.distinct:
        arguments = tuple([a for a in arguments if a.type.nullable])
    if len(arguments) > 1:
        return AggregateForm((call.count(e.and_(*(e.is_not_null(a) for a in arguments))),), as_is)
    return call.one("aggregate_generic:count", *arguments)


def count_of_tuples(call: EmittedCall, values: Sequence[Expression]) -> AggregateFunction:
    """How many different tuples of values without a null there are."""
    e = call.e
    present = [e.is_not_null(value) for value in values if value.type.nullable]
    where = e.and_(*present) if present else None
    return call.call("aggregate_generic:count", tuple_of(values), where=where)


def tuple_of(values: Sequence[Expression]) -> Expression:
    """A struct of values."""
    return Nested(types.of("struct", *(value.type for value in values), nullable=False), tuple(values))


# ---- sums and means


def sum_(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """Sum: integers in 64 bits, decimals in ten more digits; an overflow raises, gives null or wraps by the mode."""
    e = call.e
    child = e.emit(node["child"])
    mode = eval_mode(node)
    if child.type.kind in FLOATS:
        return call.one("arithmetic:sum", e.cast(child, types.FP64), overflow="SILENT")
    if child.type.kind in INTEGERS:
        return integer_sum(call, child, mode)
    if child.type.kind == "decimal":
        return decimal_sum(call, child, mode)
    return call.one("spark:try_sum" if mode == TRY else "spark:spark_sum", child)


def integer_sum(call: EmittedCall, child: Expression, mode: str) -> AggregateForm:
    """A sum of integers in 64 bits."""
    if mode == ANSI:
        return call.one("arithmetic:sum", child, overflow="ERROR")
    return call.one("spark:spark_sum" if mode == LEGACY else "spark:try_sum", child)


def decimal_sum(call: EmittedCall, child: Expression, mode: str) -> AggregateForm:
    """A sum of decimals."""
    if mode != ANSI:
        return call.one("spark:try_sum", child)
    precision, scale = child.type.parameters
    wanted = types.of("decimal", min(DIGITS, precision + SUM_DIGITS), scale, nullable=True)
    return _cast(call.call("arithmetic_decimal:sum", child, overflow="ERROR"), wanted)


def _cast(function: AggregateFunction, wanted: Type) -> AggregateForm:
    return AggregateForm((function,), lambda above, refs: above.cast(refs[0], wanted))


def average(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """Average: of numbers in doubles, of decimals in four more digits, of intervals in their own type."""
    e = call.e
    child = e.emit(node["child"])
    mode = eval_mode(node)
    if call.distinct and child.type.kind == "i64":  # some that differ are one double
        return call.one("spark:spark_avg", child)
    if child.type.kind in INTEGERS or child.type.kind in FLOATS:
        return call.one("arithmetic:avg", e.cast(child, types.FP64), overflow="SILENT")
    if child.type.kind == "decimal":
        return decimal_average(call, child, mode)
    return call.one("spark:try_avg" if mode == TRY else "spark:spark_avg", child)


def decimal_average(call: EmittedCall, child: Expression, mode: str) -> AggregateForm:
    """An average of decimals. The standard one keeps the scale of its argument, which gets that of the result first."""
    precision, scale = child.type.parameters
    if precision + SUM_DIGITS > DIGITS:
        return call.one("spark:spark_avg" if mode == ANSI else "spark:try_avg", child)
    wanted = types.of("decimal", precision + 4, scale + 4, nullable=True)
    return _cast(call.call("arithmetic_decimal:avg", call.e.cast(child, wanted), overflow="ERROR"), wanted)


def average_of_unscaled(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """AverageOfUnscaled: a decimal average that Spark computes in doubles, where no mode makes a difference."""
    return call.one("spark:avg_in_doubles", call.e.emit(node["child"]))


def product(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """Product: null without a value, where the standard function gives 1."""
    e = call.e
    child = e.emit(node["child"])
    where = e.is_not_null(child) if child.type.nullable else None
    calls = (call.call("arithmetic:product", child, where=where), call.call("aggregate_generic:count", child))

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        value, number = refs
        return above.if_then(above.equal(number, above.i64(0)), above.null(value.type), value)

    return AggregateForm(calls, result)


# ---- extremes

EXTREMES = {
    **dict.fromkeys((*INTEGERS, *FLOATS), "arithmetic:"),
    "decimal": "arithmetic_decimal:",
    **dict.fromkeys(
        (
            "date",
            "interval_day",
            "interval_year",
            "precision_time",
            "precision_timestamp",
            "precision_timestamp_tz",
        ),
        "datetime:",
    ),
}
"""Where the standard functions min and max are, by the kind of their argument."""

LOGICAL = {"min": "boolean:bool_and", "max": "boolean:bool_or"}


def extreme(name: str) -> AggregateRule:
    """Min, Max: NaN is greatest, and false is less than true."""

    def emit(call: EmittedCall, node: tree.Expression) -> AggregateForm:
        child = call.e.emit(node["child"])
        if child.type.kind == "boolean":
            return call.one(LOGICAL[name], child)
        return call.one(f"{EXTREMES.get(child.type.kind, 'spark:spark_')}{name}", child)

    return emit


# ---- rows


def first(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """First: where a sort below orders the rows, the first by that; else any row's value, as Spark documents it."""
    child = call.e.emit(node["child"])
    if call.order(node["child"]):
        return _end(call, "first", node)
    if node["ignoreNulls"]:
        return call.one("aggregate_generic:any_value", child, ignore_nulls="TRUE")
    return _value_of_any_row(call, child)


def _value_of_any_row(call: EmittedCall, child: Expression) -> AggregateForm:
    """Any row's value. Several of one relation are of the same row, as dropDuplicates needs: of a struct of them all."""
    e = call.e
    same_row = [
        other
        for other in call.group.aggregates
        if _of_any_row(other) and tree.same(other["filter"], call.aggregate["filter"])
    ]
    if call.distinct or len(same_row) < 2:
        return call.one("aggregate_generic:any_value", child, skips=None, ignore_nulls="FALSE")
    position = next(n for n, other in enumerate(same_row) if other is call.aggregate)

    def row() -> AggregateFunction:
        values = e.emit_all([other["aggregateFunction"]["child"] for other in same_row])
        return call.call("aggregate_generic:any_value", tuple_of(values), ignore_nulls="FALSE")

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        (reference,) = refs
        if not isinstance(reference, FieldReference):
            raise TypeError("the row is no column")
        return reference.step(("field", position), types.nullable(child.type))

    return AggregateForm((call.group.shared(same_row[0], row),), result)


def _of_any_row(aggregate: tree.Expression) -> bool:
    function = aggregate["aggregateFunction"]
    return function.name == "First" and not function["ignoreNulls"] and not aggregate["isDistinct"]


def last(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """Last: where a sort below orders the rows, the last by that; else any row's value, as Spark documents it."""
    return _end(call, "last", node)


def _end(call: EmittedCall, name: str, node: tree.Expression) -> AggregateForm:
    """The value of the first or the last row, of those where it is not null."""
    suffix = "_ignore_nulls" if node["ignoreNulls"] else ""
    value = node["child"]
    return call.one(f"spark:{name}{suffix}", call.e.emit(value), sorts=call.order(value), skips=None)


# ---- collections

EVERY_NAN = (
    "before Spark 4.2, a set of floating-point numbers holds NaN as often as it comes, and either zero",
    "Use Spark 4.2 or later, or cast the values to decimals.",
)
"""Why those releases have no set of floating-point numbers, whose class has no field for nulls yet."""


def collect(name: str) -> AggregateRule:
    """CollectList, CollectSet, CollectUnion: without nulls unless they are respected."""

    def emit(call: EmittedCall, node: tree.Expression) -> AggregateForm:
        e = call.e
        child = e.emit(node["child"])
        ignores_nulls = node.get("ignoreNulls", True)
        if name == "collect_set" and "ignoreNulls" not in node.cls.fields and types.holds(child.type, FLOATS):
            raise Unsupported(*EVERY_NAN)
        function = f"spark:{name}" if ignores_nulls else f"spark:{name}_respect_nulls"
        sorts = call.order(node["child"]) if name == "collect_list" else ()
        made = call.call(function, child, sorts=sorts, skips=0 if ignores_nulls else None)
        wanted = e.type_of(call.aggregate)
        return AggregateForm((made,), lambda above, refs: above.as_type(refs[0], wanted))

    return emit


def listagg(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """ListAgg: the values that are not null, in the order of WITHIN GROUP."""
    e = call.e
    child = e.emit(node["child"])
    delimiter = node["delimiter"]
    if delimiter.name != "Literal":
        raise Unsupported("the delimiter of listagg is no literal")
    nothing = "" if child.type.kind == "string" else b""
    value = delimiter["value"]
    separator = Literal(nothing if value is None else value, types.of(child.type.kind, nullable=False))
    # An engine may fail where a key comes twice, and the second decides nothing.
    sorts = tuple([sort_field(e, order) for order in deciding(node["orderExpressions"])]) or call.order(node["child"])
    value_or_null = e.as_type(child, types.nullable(child.type))
    function = "string:string_agg" if child.type.kind == "string" else "spark:listagg"
    made = call.call(function, value_or_null, separator, sorts=sorts)
    return AggregateForm((made,), lambda above, refs: above.cast(refs[0], types.nullable(child.type)))


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
    **variant.AGGREGATE,
    **vector.AGGREGATE,
}
"""Aggregate functions by Catalyst class."""
