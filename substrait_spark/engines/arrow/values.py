"""Values in Catalyst's internal form, as literals have them, in Arrow's arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa

from ...algebra.types import Type
from .schema import SIMPLE


def array(values: Sequence[Any], type: Type) -> pa.Array:
    """Values of a type, or null, as an array. Fields of structs are called f0, f1, …"""
    kind = arrow_type(type)
    as_is = _AS.get(type.kind)
    if as_is is not None:
        return pa.array(values, as_is).cast(kind)
    return pa.array([_value(value, type) for value in values], kind)


def _value(value: Any, type: Type) -> Any:
    """A value as pyarrow takes it, inside of others too."""
    rule = _VALUES.get(type.kind)
    return value if value is None or rule is None else rule(value, type)


def _scalar(value: Any, type: Type) -> Any:
    return pa.scalar(value, _AS[type.kind]).cast(arrow_type(type))


_DIGITS = Context(prec=38)

_VALUES: dict[str, Callable[[Any, Type], Any]] = {
    "decimal": lambda value, type: _DIGITS.scaleb(Decimal(value), -type.parameters[1]),
    "interval_year": lambda value, type: (value, 0, 0),
    "list": lambda value, type: [_value(each, type.parameters[0]) for each in value],
    "map": lambda value, type: [
        (_value(key, type.parameters[0]), _value(each, type.parameters[1])) for key, each in zip(*value, strict=True)
    ],
    "struct": lambda value, type: {
        f"f{n}": _value(each, kind) for n, (each, kind) in enumerate(zip(value, type.parameters, strict=True))
    },
    **dict.fromkeys(("date", "precision_timestamp", "precision_timestamp_tz"), _scalar),
}

_AS = {
    "date": pa.int32(),
    "precision_timestamp": pa.int64(),
    "precision_timestamp_tz": pa.int64(),
    "precision_time": pa.int64(),
    "interval_day": pa.int64(),
}
"""What values of a type are counted in, which Arrow casts."""

_PLAIN = {
    **SIMPLE,
    "boolean": pa.bool_(),
    "precision_timestamp": pa.timestamp("us"),
    "precision_timestamp_tz": pa.timestamp("us", "UTC"),
    "precision_time": pa.time64("us"),
}


def arrow_type(type: Type) -> pa.DataType:
    """The Arrow type of a table's column. Raises LookupError where there is none."""
    if type.kind == "decimal":
        return pa.decimal128(*type.parameters)
    if type.kind == "list":
        return pa.list_(arrow_type(type.parameters[0]))
    if type.kind == "map":
        return pa.map_(*map(arrow_type, type.parameters))
    if type.kind == "struct":
        return pa.struct([(f"f{n}", arrow_type(part)) for n, part in enumerate(type.parameters)])
    return _PLAIN[type.kind]
