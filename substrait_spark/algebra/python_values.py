"""Values of Python in Catalyst's internal form, as literals have them: days, microseconds, unscaled decimals."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from ..errors import Unsupported, kind_of
from .types import INTEGERS, Type

_EPOCH_DAY = dt.date(1970, 1, 1)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)
MICROSECONDS = 6
"""The digits behind the point that values of Python have."""
_MICROSECOND = dt.timedelta(microseconds=1)


def internal(value: Any, type: Type) -> Any:
    """A value of Python as one of a type. Raises `Unsupported` where it is none of the type's."""
    if value is None:
        if not type.nullable:
            raise Unsupported("it may not be null")
        return None
    rule = _RULES.get(type.kind)
    if rule is None:
        raise Unsupported(f"no value of Python stands for a {type}")
    converted = rule(value, type)
    if converted is None:
        raise Unsupported(f"{value!r} ({kind_of(value)}) is no {type}{_HINTS.get(type.kind, '')}")
    return converted


_HINTS = {
    "date": ": give a datetime.date",
    "decimal": ": give a decimal.Decimal or an int that has no more digits, before and behind the point",
    "precision_time": ": give a datetime.time without a time zone, of no more digits",
    "precision_timestamp": ": give a datetime.datetime without a time zone",
    "precision_timestamp_tz": ": give a datetime.datetime with a time zone",
    "list": ": give a list",
    "map": ": give a dict",
    "struct": ": give a tuple or a Row of its fields",
}


def _boolean(value: Any, type: Type) -> bool | None:
    return value if isinstance(value, bool) else None


def _integer(value: Any, type: Type) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    most = 2 ** (int(type.kind[1:]) - 1)
    return value if -most <= value < most else None


def _float(value: Any, type: Type) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _text(value: Any, type: Type) -> str | None:
    return value if isinstance(value, str) else None


def _binary(value: Any, type: Type) -> bytes | None:
    return bytes(value) if isinstance(value, bytes | bytearray) else None


def _decimal(value: Any, type: Type) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not Decimal(value).is_finite():
        return None
    precision, scale = type.parameters
    sign, digits, exponent = Decimal(value).as_tuple()
    shift, magnitude = int(exponent) + scale, int("".join(map(str, digits)))
    if abs(shift) > len(digits) + precision:  # before a power of ten that fills the memory
        return None if magnitude else 0
    unscaled, rest = (magnitude * 10**shift, 0) if shift >= 0 else divmod(magnitude, 10**-shift)
    return None if rest or unscaled >= 10**precision else (-unscaled if sign else unscaled)


def _date(value: Any, type: Type) -> int | None:
    return (value - _EPOCH_DAY).days if isinstance(value, dt.date) and not isinstance(value, dt.datetime) else None


def _local_time(value: Any, type: Type) -> int | None:
    is_local = isinstance(value, dt.datetime) and value.tzinfo is None
    return _instant(value.replace(tzinfo=dt.timezone.utc), type) if is_local else None


def _instant(value: Any, type: Type) -> int | None:
    aware = isinstance(value, dt.datetime) and value.tzinfo is not None
    return (value - _EPOCH) // _MICROSECOND if aware else None


def _time(value: Any, type: Type) -> int | None:
    """A time of the day, counted in the last of the digits that the type has."""
    if not isinstance(value, dt.time) or value.tzinfo is not None:
        return None
    micros = ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    digits = type.parameters[0]
    if digits >= MICROSECONDS:
        return int(micros * 10 ** (digits - MICROSECONDS))
    counted, rest = divmod(micros, 10 ** (MICROSECONDS - digits))
    return None if rest else counted


def _duration(value: Any, type: Type) -> int | None:
    return value // _MICROSECOND if isinstance(value, dt.timedelta) else None


def _list(value: Any, type: Type) -> tuple[Any, ...] | None:
    (element,) = type.parameters
    return tuple([internal(each, element) for each in value]) if isinstance(value, list | tuple) else None


def _map(value: Any, type: Type) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    if not isinstance(value, Mapping):
        return None
    key, entry = type.parameters
    return tuple([internal(each, key) for each in value]), tuple([internal(each, entry) for each in value.values()])


def _struct(value: Any, type: Type) -> tuple[Any, ...] | None:
    """A Row, or any tuple of as many values: the fields have no names in a plan."""
    if not isinstance(value, tuple) or len(value) != len(type.parameters):
        return None
    return tuple([internal(each, field) for each, field in zip(value, type.parameters, strict=True)])


_RULES: dict[str, Callable[[Any, Type], Any]] = {
    **dict.fromkeys(INTEGERS, _integer),
    "binary": _binary,
    "boolean": _boolean,
    "date": _date,
    "decimal": _decimal,
    "fp32": _float,
    "fp64": _float,
    "interval_day": _duration,
    "list": _list,
    "map": _map,
    "precision_timestamp": _local_time,
    "precision_timestamp_tz": _instant,
    "precision_time": _time,
    "string": _text,
    "struct": _struct,
}
