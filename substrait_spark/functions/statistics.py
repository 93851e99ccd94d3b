"""Aggregate functions of statistics: variances, correlations, regressions, moments."""

from __future__ import annotations

from .measure import AggregateRule, plain_aggregate

AGGREGATE: dict[str, AggregateRule] = {
    "CovPopulation": plain_aggregate("spark:covar_pop", "nullOnDivideByZero"),
}
"""Aggregate functions by Catalyst class."""
