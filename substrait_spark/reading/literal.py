"""Literal messages as values in Catalyst's internal form, which the tree keeps them in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from substrait.algebra_pb2 import Expression as Message

from ..algebra.expression import Literal
from ..algebra.type_messages import DeclaredTypes, literal_type
from ..algebra.types import Type, equal_but_nullability
from ..errors import Unsupported

MICROSECONDS = 6


def read_literal(message: Message.Literal, declared: DeclaredTypes) -> Literal:
    """The literal. Raises `Unsupported` for one that the tree has no value for."""
    complaints: list[str] = []
    kind = literal_type(message, complaints.append, declared)
    if kind is None:
        raise Unsupported("; ".join(complaints) or "the type of a literal is not known")
    return Literal(value_of(message, kind), kind)


def bound_literal(reference: int, type: Type, message: Message.Literal, declared: DeclaredTypes) -> Literal:
    """The value that a plan binds to a parameter. Raises `Unsupported` where it is of another type."""
    bound = read_literal(message, declared)
    if not equal_but_nullability(bound.type, type) or (bound.value is None and not type.nullable):
        raise Unsupported(f"the parameter {reference} is {type}, and bound to {bound.type}")
    return Literal(bound.value, type)


def value_of(message: Message.Literal, type: Type) -> Any:
    """The value of a literal of a type."""
    kind = message.WhichOneof("literal_type")
    if kind == "null":
        return None
    value = getattr(message, str(kind))
    if kind in _PLAIN:
        return value
    if kind not in _VALUES:
        raise Unsupported(f"literals of the kind {kind} are not read")
    return _VALUES[kind](value, type)


_PLAIN = frozenset("boolean i8 i16 i32 i64 fp32 fp64 string binary date uuid fixed_char fixed_binary".split())


def _decimal(value: Any, type: Type) -> int:
    return int.from_bytes(value.value, "little", signed=True)


def _varchar(value: Any, type: Type) -> str:
    return str(value.value)


def _time(value: Any, type: Type) -> int:
    return int(value.value)


def _interval_year(value: Any, type: Type) -> int:
    return int(value.years * 12 + value.months)


def _interval_day(value: Any, type: Type) -> int:
    if value.precision > MICROSECONDS:
        raise Unsupported("a literal interval of days counts smaller parts than microseconds")
    seconds = value.days * 86_400 + value.seconds
    return int(seconds * 1_000_000 + value.subseconds * 10 ** (MICROSECONDS - value.precision))


def _interval_compound(value: Any, type: Type) -> tuple[int, int, int]:
    """Months, days and microseconds."""
    days = value.interval_day_to_second
    if days.precision > MICROSECONDS:
        raise Unsupported("a literal interval of days counts smaller parts than microseconds")
    micros = days.seconds * 1_000_000 + days.subseconds * 10 ** (MICROSECONDS - days.precision)
    return _interval_year(value.interval_year_to_month, type), days.days, micros


def _list(value: Any, type: Type) -> tuple[Any, ...]:
    return tuple([value_of(element, type.parameters[0]) for element in value.values])


def _map(value: Any, type: Type) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    keys = tuple([value_of(pair.key, type.parameters[0]) for pair in value.key_values])
    return keys, tuple([value_of(pair.value, type.parameters[1]) for pair in value.key_values])


def _struct(value: Any, type: Type) -> tuple[Any, ...]:
    return tuple([value_of(field, kind) for field, kind in zip(value.fields, type.parameters, strict=True)])


_VALUES: dict[str, Callable[[Any, Type], Any]] = {
    "decimal": _decimal,
    "var_char": _varchar,
    "precision_time": _time,
    "precision_timestamp": _time,
    "precision_timestamp_tz": _time,
    "interval_year_to_month": _interval_year,
    "interval_day_to_second": _interval_day,
    "interval_compound": _interval_compound,
    "list": _list,
    "empty_list": lambda value, type: (),
    "map": _map,
    "empty_map": lambda value, type: ((), ()),
    "struct": _struct,
}
