"""The values of literals, in Catalyst's internal form, as JSON: what doubles or 64 bits could not hold is text."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from ...algebra.types import FLOATS, Type
from ...errors import Unsupported
from .types import MICROSECONDS, NANOSECONDS, PARTS, digits_of_times


def written(value: Any, type: Type) -> Any:
    """The value as PlanBuilder.java reads it."""
    if value is None:
        return None
    rule = _WRITTEN.get(type.kind)
    return value if rule is None else rule(value, type)


def _binary(value: bytes, type: Type) -> str:
    return base64.b64encode(value).decode("ascii")


def _list(value: Any, type: Type) -> list[Any]:
    return [written(element, type.parameters[0]) for element in value]


def _map(value: Any, type: Type) -> list[Any]:
    keys, values = value
    key_type, value_type = type.parameters
    return [[written(key, key_type) for key in keys], [written(each, value_type) for each in values]]


def _struct(value: Any, type: Type) -> list[Any]:
    return [written(field, field_type) for field, field_type in zip(value, type.parameters, strict=True)]


def _float(value: float, type: Type) -> str:
    return repr(float(value)).replace("nan", "NaN").replace("inf", "Infinity")


def _scaled(digits: int) -> Callable[[int, Type], int]:
    """A number of parts of a second in those that Spark counts."""

    def scale(value: int, type: Type) -> int:
        (precision,) = type.parameters
        if precision > digits:
            raise Unsupported(f"a literal counts smaller parts of a second than {PARTS[digits]}")
        size: int = 10 ** (digits - precision)
        return value * size

    return scale


def _time(value: int, type: Type) -> int:
    """Nanoseconds since midnight, of which a Spark without smaller parts than microseconds takes none."""
    nanoseconds = _scaled(NANOSECONDS)(value, type)
    if nanoseconds % 10 ** (NANOSECONDS - digits_of_times()):
        raise Unsupported("this Spark has no TIME of more than six digits")
    return nanoseconds


_WRITTEN: dict[str, Callable[[Any, Type], Any]] = {
    **dict.fromkeys(FLOATS, _float),
    **dict.fromkeys(("binary", "fixedbinary"), _binary),
    "decimal": lambda value, type: str(value),
    **dict.fromkeys(("precision_timestamp", "precision_timestamp_tz"), _scaled(MICROSECONDS)),
    "precision_time": _time,
    "u!variant": lambda value, type: [base64.b64encode(part).decode("ascii") for part in value],
    "interval_compound": lambda value, type: list(value),
    "list": _list,
    "map": _map,
    "struct": _struct,
}
"""By the kind of type; the others are JSON's values."""
