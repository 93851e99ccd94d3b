"""Aggregate functions that look at the order of values: percentiles, modes, and values by the extremes of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..algebra import types
from ..algebra.expression import Expression, Literal
from ..catalyst import tree
from ..errors import Unsupported
from .measure import AggregateForm, AggregateRule, EmittedCall

if TYPE_CHECKING:
    from ..expr.builder import ExpressionBuilder


DOUBLE_DIGITS = 15
"""Decimals of so many digits are different as doubles where they are different."""


def extreme_by(name: str) -> AggregateRule:
    """MaxBy, MinBy: the value in the row of the greatest or the least ordering value; in any of them, where several tie."""

    def emit(call: EmittedCall, node: tree.Expression) -> AggregateForm:
        value, order = call.e.emit_all([node["valueExpr"], node["orderingExpr"]])
        return call.one(f"spark:{name}", value, order, skips=1)

    return emit


def extremes_by(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """MaxMinByK: the values in the k rows of the greatest or the least ordering values."""
    value, order, number = call.e.emit_all([node["valueExpr"], node["orderingExpr"], node["kExpr"]])
    return call.one("spark:min_by" if node["reverse"] else "spark:max_by", value, order, number, skips=1)


TIES = {None: "ANY", True: "LEAST", False: "GREATEST"}
"""Which of several most frequent values Mode takes, by its `reverseOpt`, which Spark 3.5 lacks."""


def mode(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """Mode: the most frequent value; of several that are, the least, the greatest, or any."""
    return call.one("spark:spark_mode", TIES[node.get("reverseOpt")], call.e.emit(node["child"]), skips=1)


def approx_percentile(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """ApproximatePercentile."""
    e = call.e
    child, accuracy = e.emit_all([node["child"], node["accuracyExpression"]])
    percentage = _percentage(e, node["percentageExpression"])
    return call.one("spark:approx_percentile", child, percentage, e.cast(accuracy, types.I64))


def percentile(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """Percentile: exact, interpolated between two values."""
    e = call.e
    child, frequency = e.emit_all([node["child"], node["frequencyExpression"]])
    percentage, descending = _percentage(e, node["percentageExpression"]), _flag(bool(node.get("reverse", False)))
    function = "spark:percentile_of_weights" if e.context.is_before(4, 3) else "spark:percentile"
    return call.one(function, _as_number(call, child), percentage, e.cast(frequency, types.I64), descending)


def percentile_disc(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """PercentileDisc: one of the values."""
    e = call.e
    if node.get("legacyCalculation"):
        raise Unsupported(
            "percentile_disc is computed in the way of Spark before 4.0",
            "Set spark.sql.legacy.percentileDiscCalculation to false.",
        )
    child, percentage = e.emit(node["child"]), _percentage(e, node["percentageExpression"])
    return call.one("spark:percentile_disc", _as_number(call, child), percentage, _flag(bool(node["reverse"])))


def _percentage(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """A percentage, or a list of them, in which Spark takes a null for 0."""
    percentage = e.emit(node)
    if percentage.type.kind != "list" or not percentage.type.parameters[0].nullable:
        return percentage
    if not isinstance(percentage, Literal) or percentage.value is None:
        raise Unsupported("a percentage may be null, which Spark takes for 0, and the list is no literal")
    values = tuple([0.0 if value is None else value for value in percentage.value])
    return Literal(values, types.of("list", types.FP64, nullable=False))


def _as_number(call: EmittedCall, child: Expression) -> Expression:
    """Numbers count as doubles, once they are told apart; intervals stay."""
    kind = child.type.kind
    if kind == "precision_time":
        raise Unsupported("no function of plans is a percentile of TIME", "Take that of time_to_micros(t).")
    if call.distinct and kind == "i64":
        return child
    if call.distinct and kind == "decimal" and child.type.parameters[0] > DOUBLE_DIGITS:
        raise Unsupported(
            f"different values of {child.type} may be one double, which percentiles are of",
            "Cast the argument to DOUBLE, or to a decimal of fewer digits.",
        )
    return call.e.cast(child, types.FP64) if kind in types.NUMBERS else child


def _flag(value: bool) -> Literal:
    return Literal(value, types.BOOLEAN)


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
