"""Aggregate functions that look at the order of values: percentiles, modes, and values by the extremes of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..algebra import types
from ..algebra.expression import Expression, Literal, SortField
from ..algebra.types import FLOATS, INTEGERS
from ..catalyst import tree
from ..errors import NotInDialect, Unsupported
from ..expr.nested import list_of
from .floating import comparable, groupable
from .measure import AggregateRule, Measured, Site
from .struct_order import by_fields

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


def extreme_by(name: str) -> AggregateRule:
    """MaxBy, MinBy: the value in the row of the greatest or the least ordering value; in any of them, where several tie."""

    def emit(site: Site, node: tree.Expression) -> Measured:
        e = site.e
        value, order = e.emit_all([node["valueExpr"], node["orderingExpr"]])

        def engines() -> Measured:
            """The last or the first value by the order, of the rows that have one."""
            sorts: tuple[SortField, ...]
            if order.type.kind == "struct":
                sorts = by_fields(e, e.share(order), node["orderingExpr"].type)
            else:
                sorts = (SortField(groupable(e, order), True, name == "max_by"),)
            function = {"max_by": "datafusion:last_value", "min_by": "datafusion:first_value"}[name]
            return site.one(function, value, where=e.is_not_null(order), sorts=sorts, skips=None)

        return e.first(lambda: site.one(f"spark:{name}", value, order, skips=1), engines)

    return emit


def extremes_by(site: Site, node: tree.Expression) -> Measured:
    """MaxMinByK: the values in the k rows of the greatest or the least ordering values."""
    e = site.e
    value, order, number = e.emit_all([node["valueExpr"], node["orderingExpr"], node["kExpr"]])

    def engines() -> Measured:
        """The beginning of a sorted list."""
        sort = SortField(groupable(e, order), bool(node["reverse"]), False)
        call = site.call("datafusion:array_agg", value, where=e.is_not_null(order), sorts=(sort,))

        def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
            wanted = e.type_of(site.aggregate)
            top = above.call("datafusion:array_slice", refs[0], above.i64(1), above.cast(number, types.I64))
            return above.as_type(top, types.with_nullable(wanted, True))

        return Measured((call,), result)

    return e.first(
        lambda: site.one("spark:min_by" if node["reverse"] else "spark:max_by", value, order, number, skips=1), engines
    )


TIES = {None: "ANY", True: "LEAST", False: "GREATEST"}
"""Which of several most frequent values Mode takes, by its `reverseOpt`."""


def mode(site: Site, node: tree.Expression) -> Measured:
    """Mode: the most frequent value; of several that are, the least, the greatest, or any."""
    e = site.e
    ties = TIES[node["reverseOpt"]]
    child = e.emit(node["child"])

    def engines() -> Measured:
        """The last value in the order of how often each occurs, which a window over its equals tells."""
        if types.holds(child.type, (*FLOATS, "list", "map", "struct")):
            raise NotInDialect(f"the dialect {e.dialect.name} has no mode of {child.type}")
        value = e.share(site.filtered(child))
        (number,) = site.below(("aggregate_generic:count", value), within=[value])
        sorts = (SortField(number, True, True), SortField(value, ties == "GREATEST", True))
        return site.one("datafusion:last_value", value, where=e.is_not_null(value), sorts=sorts, skips=None)

    return e.first(lambda: site.one("spark:mode", ties, child, skips=1), engines)


def approx_percentile(site: Site, node: tree.Expression) -> Measured:
    """ApproximatePercentile."""
    e = site.e
    child, percentage, accuracy = e.emit_all([node["child"], node["percentageExpression"], node["accuracyExpression"]])
    return e.first(
        lambda: site.one("spark:approx_percentile", child, percentage, e.cast(accuracy, types.I64)),
        lambda: _exact_percentile(site, child, percentage, accuracy),
    )


def _exact_percentile(site: Site, child: Expression, percentage: Expression, accuracy: Expression) -> Measured:
    """Of less than half as many values as its accuracy says, Spark's sketch holds each, and gives the discrete percentile.

    Raises for more values, and for NaN, after which Spark's sketches are in no order.
    """
    e = site.e
    if not isinstance(accuracy, Literal) or child.type.kind not in (*INTEGERS, *FLOATS):
        raise NotInDialect(f"the dialect {e.dialect.name} has no approx_percentile of {child.type} here")
    number = e.cast(child, types.FP64)
    found = _of_sorted(site, number, percentage, False, discrete)
    nans = site.count(e.call("comparison:is_nan", number))

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        *parts, nan = refs
        value = found.result(above, parts)
        wanted = types.required(child.type)
        if value.type.kind == "list":
            wanted = types.of("list", types.nullable(wanted), nullable=False)
        few = above.call("comparison:lt", refs[1], above.i64(accuracy.value // 2))
        known = above.and_(few, above.equal(nan, above.i64(0)))
        error = above.raises("[UNSUPPORTED_COUNT] NaN, or too many values for an exact sketch:", types.I64, refs[1])
        least = above.if_then(known, above.i64(0), error)
        checked = above.if_then(above.call("comparison:gte", least, above.i64(0)), value, above.null(value.type))
        return above.cast(checked, wanted)

    return Measured((*found.calls, nans), result)


def percentile(site: Site, node: tree.Expression) -> Measured:
    """Percentile: exact, interpolated between two values."""
    e = site.e
    child, percentage, frequency = e.emit_all(
        [node["child"], node["percentageExpression"], node["frequencyExpression"]]
    )
    child = _as_number(e, child)
    descending = bool(node.get("reverse", False))

    def engines() -> Measured:
        if not (isinstance(frequency, Literal) and frequency.value == 1):
            raise NotInDialect(f"the dialect {e.dialect.name} has no percentile of frequencies")
        return _of_sorted(site, child, percentage, descending, interpolated)

    return e.first(
        lambda: site.one("spark:percentile", child, percentage, e.cast(frequency, types.I64), _flag(descending)),
        engines,
    )


def percentile_disc(site: Site, node: tree.Expression) -> Measured:
    """PercentileDisc: one of the values."""
    e = site.e
    if node.get("legacyCalculation"):
        raise Unsupported(
            "percentile_disc is computed in the way of Spark before 4.0",
            "Set spark.sql.legacy.percentileDiscCalculation to false.",
        )
    child, percentage = e.emit_all([node["child"], node["percentageExpression"]])
    child = _as_number(e, child)
    descending = bool(node["reverse"])
    return e.first(
        lambda: site.one("spark:percentile_disc", child, percentage, _flag(descending)),
        lambda: _of_sorted(site, child, percentage, descending, discrete),
    )


def _as_number(e: ExpressionBuilder, child: Expression) -> Expression:
    """Numbers count as doubles; intervals stay."""
    return e.cast(child, types.FP64) if child.type.kind in (*INTEGERS, *FLOATS, "decimal") else child


def _flag(value: bool) -> Literal:
    return Literal(value, types.BOOLEAN)


class Sorted(NamedTuple):
    """The values of a group in order, as a list, and how many they are."""

    e: ExpressionBuilder
    values: Expression
    size: Expression

    def at(self, position: Expression) -> Expression:
        """The value at a position, counted from 1."""
        return self.e.call("datafusion:array_element", self.values, position)

    def up(self, number: Expression) -> tuple[Expression, Expression]:
        """A number that is not negative without its fraction, and whether it has one."""
        e = self.e
        whole = e.share(e.cast(number, types.I64))
        return whole, e.call("comparison:gt", number, e.cast(whole, types.FP64))


def interpolated(s: Sorted, p: float) -> Expression:
    """The value at position p * (count - 1), counted from 0, in a straight line between those around it."""
    e = s.e
    last = e.call("arithmetic:subtract", e.cast(s.size, types.FP64), e.fp64(1.0))
    position = e.share(e.call("arithmetic:multiply", e.fp64(p), last))
    whole, between = s.up(position)
    lower = e.share(s.at(e.call("spark:add", whole, e.i64(1))))
    upper = e.share(s.at(e.call("spark:add", whole, e.i64(2))))
    rest = e.call("arithmetic:subtract", position, e.cast(whole, types.FP64))
    width = e.call("arithmetic:subtract", upper, lower)
    line = e.call("arithmetic:add", lower, e.call("arithmetic:multiply", width, rest))
    return e.if_then(e.not_(between), lower, e.equal(lower, upper), lower, line)


def discrete(s: Sorted, p: float) -> Expression:
    """The first value whose position, counted from 1, is at least p * count."""
    e = s.e
    whole, more = s.up(e.share(e.call("arithmetic:multiply", e.fp64(p), e.cast(s.size, types.FP64))))
    position = e.share(e.call("spark:add", whole, e.if_then(more, e.i64(1), e.i64(0))))
    return s.at(e.if_then(e.equal(position, e.i64(0)), e.i64(1), position))


def _of_sorted(
    site: Site,
    child: Expression,
    percentage: Expression,
    descending: bool,
    pick: Callable[[Sorted, float], Expression],
) -> Measured:
    """Percentiles from a sorted list of the values."""
    e = site.e
    if child.type.kind != "fp64" or not isinstance(percentage, Literal):
        raise NotInDialect(f"the dialect {e.dialect.name} has no percentile of {child.type} here")
    order = "DESC" if descending else "ASC"
    collect = "datafusion:array_agg" if site.frame is None else "spark:collect_list"
    calls = (
        site.call(collect, comparable(e, child), where=e.is_not_null(child)),
        site.call("aggregate_generic:count", child),
    )

    def result(above: ExpressionBuilder, refs: Sequence[Expression]) -> Expression:
        values, count = refs
        in_order = above.call("datafusion:array_sort", values, above.text(order), above.text("NULLS FIRST"))
        s = Sorted(above, above.share(in_order), count)
        if percentage.type.kind == "list":
            element = types.of("list", types.of("fp64", nullable=True), nullable=False)
            found = list_of(above, element, [pick(s, p) for p in percentage.value])
        else:
            found = pick(s, percentage.value)
        return above.if_then(above.equal(count, above.i64(0)), above.null(found.type), found)

    return Measured(calls, result)


AGGREGATE: dict[str, AggregateRule] = {
    "ApproximatePercentile": approx_percentile,
    "MaxBy": extreme_by("max_by"),
    "MaxMinByK": extremes_by,
    "MinBy": extreme_by("min_by"),
    "Mode": mode,
    "Percentile": percentile,
    "PercentileDisc": percentile_disc,
}
"""Aggregate functions by Catalyst class."""
