"""Functions of functions_spark.yaml: Spark's functions of the same names, in the mode that the file states."""

from __future__ import annotations

from .rules import Rule, aggregate

RULES: dict[str, Rule] = {
    "spark:avg": aggregate("avg"),
    "spark:try_avg": aggregate("try_avg"),
    "spark:try_sum": aggregate("try_sum"),
    "spark:min": aggregate("min"),
    "spark:max": aggregate("max"),
}
