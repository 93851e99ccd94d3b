"""The functions of functions_spark.yaml: Spark's functions, most by the same names, in the mode that the file states."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..rules import Rule

_PREFIXED = frozenset(
    (
        "abs",
        "add",
        "add_intervals",
        "approx_count_distinct",
        "atan2",
        "avg",
        "ceil",
        "concat",
        "concat_ws",
        "contains",
        "corr",
        "divide",
        "factorial",
        "filter",
        "first_value",
        "floor",
        "initcap",
        "last_value",
        "like",
        "lpad",
        "max",
        "min",
        "mode",
        "multiply",
        "power",
        "regexp_replace",
        "repeat",
        "replace",
        "reverse",
        "round",
        "rpad",
        "substring",
        "subtract",
        "sum",
        "transform",
    )
)
"""Names that standard functions have too: ours begin with `spark_`."""


def same(names: Sequence[str], rule: Callable[[str], Rule]) -> dict[str, Rule]:
    """Rules for our functions of these names of Spark's, by Spark's names."""
    return {f"spark:{'spark_' * (name in _PREFIXED)}{name}": rule(name) for name in names}
