"""Spark types as its SQL writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import Unsupported
from .tree import DataType
from .types import COLLATED

SQL_NAMES = {"byte": "TINYINT", "short": "SMALLINT", "integer": "INT", "long": "BIGINT"}
"""Types that Spark's SQL calls otherwise."""

OF_VALUES = {**SQL_NAMES, "void": "BOOLEAN"}
"""Of types that plans have values of: a NULL without a type is a boolean there (types.py)."""

UNITS = {"daytime": ("DAY", "HOUR", "MINUTE", "SECOND"), "yearmonth": ("YEAR", "MONTH")}
"""The units of intervals, as Spark numbers them."""


def sql_type(type: DataType, names: Mapping[str, str] = SQL_NAMES) -> str:
    """A type as Spark's SQL writes it, with the names of struct fields; `names` are of types without parameters."""
    if type.name == "decimal":
        return f"DECIMAL({type.parameters[0]},{type.parameters[1]})"
    if type.name == "array":
        return f"ARRAY<{sql_type(type.parameters[0], names)}>"
    if type.name == "map":
        return f"MAP<{sql_type(type.parameters[0], names)}, {sql_type(type.parameters[1], names)}>"
    if type.name == "struct":
        fields = [f"{_quoted(field.name)}: {sql_type(field.type, names)}" for field in type.parameters]
        return f"STRUCT<{', '.join(fields)}>"
    if type.name in UNITS:
        start, end = (UNITS[type.name][bound] for bound in type.parameters)
        return f"INTERVAL {start}" if start == end else f"INTERVAL {start} TO {end}"
    if type.name.startswith("collated"):
        return type.name.removeprefix("collated ")
    return names.get(type.name, type.name.upper())


def catalog_type(type: DataType) -> str:
    """A type as Spark's typeof writes it. Raises Unsupported where that hangs on the release."""
    if type.name == "array":
        return f"array<{catalog_type(type.parameters[0])}>"
    if type.name == "map":
        return f"map<{catalog_type(type.parameters[0])},{catalog_type(type.parameters[1])}>"
    if type.name == "struct":
        if not all(_PLAIN_NAME.fullmatch(field.name) for field in type.parameters):
            raise Unsupported("typeof quotes a field's name in some releases of Spark", "Write the text as a literal.")
        return f"struct<{','.join(f'{field.name}:{catalog_type(field.type)}' for field in type.parameters)}>"
    if type.name.startswith(COLLATED):
        return f"string collate {type.name.removeprefix(COLLATED)}"
    return sql_type(type).lower()


_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
