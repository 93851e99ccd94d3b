"""Aggregate functions of statistics: variances, covariances, correlations, regressions and higher moments.

Of pairs only those count in which neither value is null.
"""

from __future__ import annotations

from ..catalyst import tree
from ..errors import Unsupported
from .measure import AggregateForm, AggregateRule, EmittedCall, plain_aggregate


def spread(name: str, distribution: str) -> AggregateRule:
    """StddevSamp, StddevPop, VarianceSamp, VariancePop."""

    def emit(call: EmittedCall, node: tree.Expression) -> AggregateForm:
        require_null_for_one(node)
        return call.one(f"arithmetic:{name}", distribution, call.e.emit(node["child"]), skips=1)

    return emit


def statistic(name: str, *fields: str) -> AggregateRule:
    """A function of the values in the node's fields."""

    def emit(call: EmittedCall, node: tree.Expression) -> AggregateForm:
        require_null_for_one(node)
        return call.one(f"spark:{name}", *call.e.emit_all([node[field] for field in fields]))

    return emit


def require_null_for_one(node: tree.Expression) -> None:
    """Refuse what divides by zero to NaN, as Spark did before 3.1."""
    if node.get("nullOnDivideByZero", True) is not True:
        raise Unsupported(
            "it gives NaN where it would divide by zero, as Spark did before 3.1",
            "Set spark.sql.legacy.statisticalAggregate to false.",
        )


def corr(call: EmittedCall, node: tree.Expression) -> AggregateForm:
    """Corr, which is null where the values don't vary, but an error in the ANSI mode of Spark before 4.3."""
    context = call.e.context
    if context.is_before(4, 3) and context.setting("spark.sql.ansi.enabled", "false") == "true":
        raise Unsupported(
            "in ANSI mode, Spark before 4.3 fails where the values of a group don't vary",
            "Set spark.sql.ansi.enabled to false.",
        )
    return statistic("spark_corr", "x", "y")(call, node)


AGGREGATE: dict[str, AggregateRule] = {
    "Corr": corr,
    "CovPopulation": statistic("covar_pop", "left", "right"),
    "CovSample": statistic("covar_samp", "left", "right"),
    "HistogramNumeric": plain_aggregate("spark:histogram_numeric"),
    "Kurtosis": statistic("kurtosis", "child"),
    "RegrIntercept": statistic("regr_intercept", "left", "right"),
    "RegrR2": statistic("regr_r2", "y", "x"),
    "RegrReplacement": statistic("regr_sxx", "child", "child"),
    "RegrSXY": statistic("regr_sxy", "y", "x"),
    "RegrSlope": statistic("regr_slope", "left", "right"),
    "Skewness": statistic("skewness", "child"),
    "StddevPop": spread("std_dev", "POPULATION"),
    "StddevSamp": spread("std_dev", "SAMPLE"),
    "VariancePop": spread("variance", "POPULATION"),
    "VarianceSamp": spread("variance", "SAMPLE"),
}
"""Aggregate functions by Catalyst class."""
