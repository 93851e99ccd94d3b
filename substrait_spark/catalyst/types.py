"""Spark types and what they are in Substrait."""

from __future__ import annotations

from functools import lru_cache

from ..algebra import types
from ..algebra.types import Type
from ..errors import Unsupported
from .tree import DataType, Field

ATOMIC = {
    "boolean": ("boolean",),
    "byte": ("i8",),
    "short": ("i16",),
    "integer": ("i32",),
    "long": ("i64",),
    "float": ("fp32",),
    "double": ("fp64",),
    "string": ("string",),
    "binary": ("binary",),
    "date": ("date",),
    "timestamp": ("precision_timestamp_tz", 6),
    "timestamp_ntz": ("precision_timestamp", 6),
    "yearmonth": ("interval_year",),
    "daytime": ("interval_day", 6),
    "interval": ("interval_compound", 6),
    "variant": ("u!variant",),
    "void": ("boolean",),
}
"""Spark's timestamps and intervals of a day count microseconds. The sub-ranges of interval types (DAY TO HOUR)
say how values print, not which values there are, and have no counterpart. The only value of the type of a NULL that
nothing gives a type is null, which the smallest type has too."""

REFUSED = {
    "fields of variant": (
        "Spark has the scan read some fields of a VARIANT, which no file holds",
        "Set spark.sql.variant.pushVariantIntoScan to false, or export the query as it is written, with stage='analyzed'.",
    ),
    "udt": (
        "Substrait has no type for a user-defined type",
        "Convert the column to the built-in type that it is stored as.",
    ),
    "object": (
        "Substrait has no type for a JVM object",
        "Typed Dataset operations can't be exported; use DataFrame operations.",
    ),
}
"""Why the types are refused that no plan has, by the name before any parameters, and what to do instead."""


@lru_cache(maxsize=65536)
def to_substrait(type: DataType, nullable: bool) -> Type:
    """The Substrait type of a Spark type. Raises `Unsupported` where there is none."""
    name = type.name
    if name in ATOMIC:
        kind, *parameters = ATOMIC[name]
        return types.of(str(kind), *parameters, nullable=nullable or name == "void")
    if name.startswith("time("):
        return types.of("precision_time", _digits(type), nullable=nullable)
    if name.startswith((COLLATED, *SHAPES)):
        return _user_defined(type, nullable)
    if name.startswith(("char(", "varchar(")) and " " not in name:
        return types.of("string", nullable=nullable)
    if name == "decimal":
        return _decimal(type, nullable)
    if name == "array":
        element, contains_null = type.parameters
        return types.of("list", to_substrait(element, contains_null), nullable=nullable)
    if name == "map":
        key, value, contains_null = type.parameters
        if holds_collation(key):
            raise Unsupported("the keys of a map are collated", "Use keys of the collation UTF8_BINARY.")
        parts = (to_substrait(key, False), to_substrait(value, contains_null))
        return types.of("map", *parts, nullable=nullable)
    if name == "struct":
        fields = (to_substrait(field.type, field.nullable) for field in type.parameters)
        return types.of("struct", *fields, nullable=nullable)
    raise refusal(type)


def _user_defined(type: DataType, nullable: bool) -> Type:
    """The type of our extension file for one of Spark's that has names as parameters."""
    if type.name.startswith(COLLATED):
        collation = type.name.removeprefix(COLLATED)
        if collation.lower() == "null":
            raise Unsupported("strings of several collations meet, of which none is named", "Name it with COLLATE.")
        return types.of("u!collated_string", collation, nullable=nullable)
    return types.of(f"u!{base_name(type)}", *type.parameters, nullable=nullable)


def _digits(type: DataType) -> int:
    """The number in the name of a type, as of the digits behind a second's point in time(6)."""
    return int(type.name.partition("(")[2].rstrip(")"))


def nanoseconds(type: DataType) -> int:
    """How many nanoseconds there are in the last digit of a TIME's type, whose values Spark counts in nanoseconds."""
    size: int = 10 ** (9 - _digits(type))
    return size


def _decimal(type: DataType, nullable: bool) -> Type:
    precision, scale = type.parameters
    if not 0 <= scale <= precision <= 38:
        raise Unsupported(
            f"Substrait has no {type}", "Cast the column to a decimal with a scale from 0 to its precision."
        )
    return types.of("decimal", precision, scale, nullable=nullable)


def refusal(type: DataType) -> Unsupported:
    """Why a type can't be expressed."""
    if holds_collation(type):
        return Unsupported(f"no function of plans takes {collation_in(type)} here", BINARY)
    return Unsupported(*REFUSED.get(base_name(type), (f"Substrait has no type for the Spark type {type.name}", "")))


COLLATED = "collated STRING COLLATE "
"""How the names begin of types of strings with another collation than UTF8_BINARY."""

SHAPES = ("geometry(", "geography(")
"""How the names begin of types of shapes. Their parameters name the reference system, and how points of a geography are joined."""

BINARY = "Use the collation UTF8_BINARY, for example with collate(column, 'UTF8_BINARY')."


@lru_cache(maxsize=65536)
def collation_in(type: DataType) -> str:
    """The collated type that a type is, or has inside, as SQL writes it; empty where it has none."""
    if type.name.startswith("collated"):
        return type.name.removeprefix("collated ")
    parts = [part.type if isinstance(part, Field) else part for part in type.parameters]
    return next((inner for part in parts if isinstance(part, DataType) and (inner := collation_in(part))), "")


def holds_collation(type: DataType) -> bool:
    """Whether a type is that of collated strings, or has them inside."""
    return bool(collation_in(type))


def base_name(type: DataType) -> str:
    """The name of a type without its parameters."""
    return type.name.split("(")[0]


def field_names(name: str, type: DataType) -> list[str]:
    """A column's name and, depth-first, those of the struct fields in its type, as NamedStruct lists them."""
    return [name, *nested_names(type)] if type.parameters else [name]


def nested_names(type: DataType) -> list[str]:
    """The names of the struct fields in a type, depth-first; a map's key comes before its value."""
    if type.name == "array":
        return nested_names(type.parameters[0])
    if type.name == "map":
        return nested_names(type.parameters[0]) + nested_names(type.parameters[1])
    if type.name == "struct":
        return [name for field in _fields(type) for name in field_names(field.name, field.type)]
    return []


def _fields(type: DataType) -> tuple[Field, ...]:
    return type.parameters
