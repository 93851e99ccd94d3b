"""Literals, in every type that Spark has values of."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from ..algebra import types
from ..algebra.expression import Expression, Literal, Nested
from ..algebra.types import Type
from ..catalyst import tree
from ..catalyst.sql_types import catalog_type
from ..catalyst.tree import DataType, Opaque
from ..catalyst.types import COLLATED, nanoseconds, to_substrait
from ..errors import Unsupported
from .builder import ExpressionBuilder, Rule

BINARY = types.of("binary", nullable=False)


def literal(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """Literal: the value that Spark holds, in its type."""
    return constant(e, node["value"], node.type)


def constant(e: ExpressionBuilder, value: Any, type: DataType) -> Expression:
    """A value in Catalyst's internal form: a literal, or what makes it of values that functions make, those of our own types."""
    if value in (None, ()) or not _is_made(type):
        return typed_literal(value, type)
    for name, made in _MADE.items():
        if type.name.startswith(name):
            return made(e, value, to_substrait(type, True))
    return _nested(e, value, type)


@lru_cache(maxsize=65536)
def _is_made(type: DataType) -> bool:
    """Whether functions make values of a type."""
    return types.holds(to_substrait(type, True), types.OWN)


def _nested(e: ExpressionBuilder, value: Any, type: DataType) -> Expression:
    """An array, a struct or a map of values."""
    kind = to_substrait(type, False)
    if type.name == "struct":
        parts = [
            _element(e, part, field.type, field.nullable) for part, field in zip(value, type.parameters, strict=True)
        ]
    elif type.name == "map":
        (keys, values), (key, entry, nullable) = value, type.parameters
        pairs = zip(keys, values, strict=True)
        parts = [part for k, v in pairs for part in (_element(e, k, key, False), _element(e, v, entry, nullable))]
    else:
        parts = [_element(e, part, *type.parameters) for part in value]
    return Nested(kind, tuple(parts))


def _element(e: ExpressionBuilder, value: Any, type: DataType, nullable: bool) -> Expression:
    require_value(value, nullable)
    return e.as_type(constant(e, value, type), to_substrait(type, nullable))


def _variant(e: ExpressionBuilder, value: Any, type: Type) -> Expression:
    return e.call("spark:variant", *[e.literal(part, BINARY) for part in value])


def _collated(e: ExpressionBuilder, value: Any, type: Type) -> Expression:
    return e.call("spark:collate", typed_literal(value, DataType("string")), e.null(type))


def _geometry(e: ExpressionBuilder, value: Any, type: Type) -> Expression:
    srid, encoding = value
    return e.call("spark:st_geomfromwkb", e.literal(encoding, BINARY), e.i32(srid), e.null(type))


def _geography(e: ExpressionBuilder, value: Any, type: Type) -> Expression:
    srid, encoding = value
    degrees = types.of("u!geography", "OGC:CRS84", "SPHERICAL")
    made = e.call("spark:st_geogfromwkb", e.literal(encoding, BINARY), e.null(degrees))
    return e.call("spark:st_setsrid", made, e.i32(srid), e.null(type))


_MADE = {"variant": _variant, COLLATED: _collated, "geometry(": _geometry, "geography(": _geography}
"""What makes the values of types, by how the names of these begin."""


def typed_literal(value: Any, type: DataType) -> Literal:
    """A literal of a value in Catalyst's internal form. Raises `Unsupported` where it has none."""
    kind = to_substrait(type, value is None)  # first: that a type is unknown says more than that a value is
    return Literal(plain(value, type), kind)


def plain(value: Any, type: DataType) -> Any:
    """The value, checked to be one that a Substrait literal can hold; decimals become integers."""
    if value is None:
        return None
    if isinstance(value, Opaque):
        raise Unsupported(f"its value is a Java object ({value.java_class})")
    if type.name == "decimal":
        unscaled = int(value)
        if abs(unscaled) >= 10 ** type.parameters[0]:
            raise Unsupported(f"its value has more than {type.parameters[0]} digits")
        return unscaled
    if type.name.startswith(tuple(_MADE)):
        raise Unsupported(f"no literal holds a value of the type {type}", "Make the value by a function.")
    if type.name.startswith("time("):
        return value // nanoseconds(type)
    if isinstance(value, bytes) and type.name != "binary":
        raise Unsupported("the string holds bytes that are no UTF-8", "Keep such bytes in a BINARY column.")
    if isinstance(value, bool) != (type.name == "boolean"):  # in Python, True is an integer too
        raise Unsupported(f"its value {value!r} is no {type.name}")
    return _parts(value, type)


def _parts(value: Any, type: DataType) -> Any:
    """The value, with those in it as `plain` has them."""
    if type.name == "interval":
        return _calendar_interval(value)
    if type.name == "array":
        return tuple(_part(element, *type.parameters) for element in value)
    if type.name == "map":
        (keys, values), (key, entry, nullable) = value, type.parameters
        return tuple(_part(part, key, False) for part in keys), tuple(_part(part, entry, nullable) for part in values)
    if type.name == "struct":
        return tuple(
            _part(part, field.type, field.nullable) for part, field in zip(value, type.parameters, strict=True)
        )
    return value


def _calendar_interval(value: Any) -> tuple[int, int, int]:
    months, days, micros = value
    if abs(micros) // 1_000_000 >= 2**31:
        raise Unsupported("its interval has more seconds than a literal holds", "Write whole days as days.")
    return months, days, micros


def _part(value: Any, type: DataType, nullable: bool) -> Any:
    require_value(value, nullable)
    return plain(value, type)


def require_value(value: Any, nullable: bool) -> None:
    """Refuse a null that a schema rules out: Spark and other engines would make different things of it."""
    if value is None and not nullable:
        raise Unsupported("it holds a null where its schema says that there is none", "Correct the schema.")


# ---- constants, which are literals once Spark's optimizer has been there


def number(value: float) -> Rule:
    """A number of double precision."""
    return lambda e, node: e.fp64(value)


def type_of(e: ExpressionBuilder, node: tree.Expression) -> Expression:
    """TypeOf: the name of a type, which is never evaluated."""
    return e.text(catalog_type(node["child"].type))


RULES: dict[str, Rule] = {
    "EulerNumber": number(math.e),
    "Literal": literal,
    "Pi": number(math.pi),
    "TypeOf": type_of,
}
