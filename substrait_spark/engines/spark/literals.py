"""The values of literals, in Catalyst's internal form, as JSON: what doubles or 64 bits could not hold is text."""

from __future__ import annotations

import base64
from typing import Any

from ...algebra.types import FLOATS, Type
from ...errors import Unsupported
from .types import MICROSECONDS, NANOSECONDS, PARTS


def written(value: Any, type: Type) -> Any:
    """The value as PlanBuilder.java reads it."""
    if value is None:
        return None
    kind, inner = type.kind, type.parameters
    if kind in FLOATS:
        return _float(value)
    if kind in ("binary", "fixedbinary"):
        return base64.b64encode(value).decode("ascii")
    if kind == "decimal":
        return str(value)
    if kind in ("precision_timestamp", "precision_timestamp_tz"):
        return _scaled(value, inner[0], MICROSECONDS)
    if kind == "precision_time":
        return _scaled(value, inner[0], NANOSECONDS)
    if kind == "list":
        return [written(element, inner[0]) for element in value]
    if kind == "map":
        keys, values = value
        return [[written(key, inner[0]) for key in keys], [written(each, inner[1]) for each in values]]
    if kind == "struct":
        return [written(field, field_type) for field, field_type in zip(value, inner, strict=True)]
    return value


def _float(value: float) -> str:
    return repr(float(value)).replace("nan", "NaN").replace("inf", "Infinity")


def _scaled(value: int, precision: int, digits: int) -> int:
    if precision > digits:
        raise Unsupported(f"a literal counts smaller parts of a second than {PARTS[digits]}")
    scale: int = 10 ** (digits - precision)
    return value * scale
