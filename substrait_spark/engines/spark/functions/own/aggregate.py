"""Aggregates of functions_spark.yaml."""

from __future__ import annotations

from ...calls import LEGACY
from ..rules import Rule, aggregate, by_kind

RULES: dict[str, Rule] = {
    "spark:sum": by_kind(
        {"interval_year": aggregate("sum"), "interval_day": aggregate("sum")}, aggregate("sum", LEGACY)
    ),
    "spark:try_sum": aggregate("try_sum"),
    "spark:avg": aggregate("avg"),
    "spark:try_avg": aggregate("try_avg"),
    "spark:min": aggregate("min"),
    "spark:max": aggregate("max"),
}
