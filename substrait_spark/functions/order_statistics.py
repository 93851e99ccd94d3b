"""Aggregate functions that look at the order of values: percentiles, modes, and values by the extremes of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Expression, Literal, SortField
from ..algebra.types import FLOATS, INTEGERS
from ..catalyst import tree
from ..errors import NotInDialect, Unsupported
from .floating import groupable
from .measure import AggregateRule, Measured, Site

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


def extreme_by(name: str) -> AggregateRule:
    """MaxBy, MinBy: the value in the row of the greatest or the least ordering value; in any of them, where several tie."""

    def emit(site: Site, node: tree.Expression) -> Measured:
        e = site.e
        value, order = e.emit_all([node["valueExpr"], node["orderingExpr"]])

        def engines() -> Measured:
            """The last or the first value by the order, of the rows that have one."""
            ascending = SortField(groupable(e, order), True, name == "max_by")
            function = {"max_by": "datafusion:last_value", "min_by": "datafusion:first_value"}[name]
            return site.one(function, value, where=e.is_not_null(order), sorts=(ascending,), skips=None)

        return e.first(lambda: site.one(f"spark:{name}", value, order, skips=1), engines)

    return emit


def extremes_by(site: Site, node: tree.Expression) -> Measured:
    """MaxMinByK: the values in the k rows of the greatest or the least ordering values."""
    arguments = site.e.emit_all([node["valueExpr"], node["orderingExpr"], node["kExpr"]])
    return site.one("spark:min_by" if node["reverse"] else "spark:max_by", *arguments, skips=1)


TIES = {None: "ANY", True: "LEAST", False: "GREATEST"}
"""Which of several most frequent values Mode takes, by its `reverseOpt`."""


def mode(site: Site, node: tree.Expression) -> Measured:
    """Mode."""
    return site.one("spark:mode", TIES[node["reverseOpt"]], site.e.emit(node["child"]), skips=1)


def approx_percentile(site: Site, node: tree.Expression) -> Measured:
    """ApproximatePercentile."""
    e = site.e
    child, percentage, accuracy = e.emit_all([node["child"], node["percentageExpression"], node["accuracyExpression"]])
    return site.one("spark:approx_percentile", child, percentage, e.cast(accuracy, types.I64))


def percentile(site: Site, node: tree.Expression) -> Measured:
    """Percentile: exact, interpolated between two values."""
    e = site.e
    child, percentage, frequency = e.emit_all(
        [node["child"], node["percentageExpression"], node["frequencyExpression"]]
    )
    child = _as_number(e, child)
    descending = e.literal(bool(node.get("reverse", False)), types.BOOLEAN)

    def engines() -> Measured:
        if not (isinstance(frequency, Literal) and frequency.value == 1):
            raise NotInDialect(f"the dialect {e.dialect.name} has no percentile of frequencies")
        return _of_sorted(site, child, percentage, bool(descending.value), _interpolated)

    return e.first(
        lambda: site.one("spark:percentile", child, percentage, e.cast(frequency, types.I64), descending), engines
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
    descending = e.literal(bool(node["reverse"]), types.BOOLEAN)
    return e.first(
        lambda: site.one("spark:percentile_disc", child, percentage, descending),
        lambda: _of_sorted(site, child, percentage, bool(descending.value), _discrete),
    )


def _as_number(e: ExpressionBuilder, child: Expression) -> Expression:
    """Numbers count as doubles; intervals stay."""
    return e.cast(child, types.FP64) if child.type.kind in (*INTEGERS, *FLOATS, "decimal") else child


def _of_sorted(site: Site, child: Expression, percentage: Expression, descending: bool, pick: object) -> Measured:
    raise NotInDialect(f"the dialect {site.e.dialect.name} has no percentiles")


def _interpolated() -> None: ...


def _discrete() -> None: ...


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
