"""Spark types as its SQL writes them."""

from __future__ import annotations

from .tree import DataType

SQL_NAMES = {"byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT"}
"""Types that Spark's SQL calls otherwise."""

UNITS = {"daytime": ("DAY", "HOUR", "MINUTE", "SECOND"), "yearmonth": ("YEAR", "MONTH")}
"""The units of intervals, as Spark numbers them."""


def sql_type(type: DataType) -> str:
    """A type as Spark's SQL writes it, with the names of struct fields."""
    if type.name == "decimal":
        return f"DECIMAL({type.parameters[0]},{type.parameters[1]})"
    if type.name == "array":
        return f"ARRAY<{sql_type(type.parameters[0])}>"
    if type.name == "map":
        return f"MAP<{sql_type(type.parameters[0])}, {sql_type(type.parameters[1])}>"
    if type.name == "struct":
        return f"STRUCT<{', '.join(f'{_quoted(field.name)}: {sql_type(field.type)}' for field in type.parameters)}>"
    if type.name in UNITS:
        start, end = (UNITS[type.name][bound] for bound in type.parameters)
        return f"INTERVAL {start}" if start == end else f"INTERVAL {start} TO {end}"
    return SQL_NAMES.get(type.name, type.name.upper())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
