"""Canonical functions in DataFusion's own: one module a family, as in `functions/` of the package."""

from __future__ import annotations

from importlib import import_module

FAMILIES = [
    import_module(f"{__name__}.{family}")
    for family in (
        "aggregate",
        "arithmetic",
        "bitmap",
        "calendar_interval",
        "cast",
        "collection",
        "comparison",
        "datetime",
        "datetime_format",
        "decimal_arithmetic",
        "encoding",
        "format",
        "hash",
        "higher_order",
        "interval",
        "map_",
        "mathematics",
        "names",
        "nested",
        "order_statistics",
        "parameter",
        "regular_expression",
        "rounding",
        "sketch",
        "statistics",
        "string",
        "structured_text",
        "subquery",
        "time_cast",
        "time_of_day",
        "time_zone",
        "window",
    )
]
