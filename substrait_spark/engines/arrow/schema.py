"""Substrait schemas as Arrow schemas, and which columns of a read the plan uses."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pyarrow as pa
from substrait.algebra_pb2 import ReadRel
from substrait.type_pb2 import NamedStruct
from substrait.type_pb2 import Type as TypeMessage

from ...errors import InvalidPlanError

SIMPLE = {
    "bool": pa.bool_(),
    "i8": pa.int8(),
    "i16": pa.int16(),
    "i32": pa.int32(),
    "i64": pa.int64(),
    "fp32": pa.float32(),
    "fp64": pa.float64(),
    "string": pa.string(),
    "varchar": pa.string(),
    "fixed_char": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "interval_year": pa.month_day_nano_interval(),
    "interval_day": pa.duration("us"),
    "precision_time": pa.time64("ns"),
}
"""The Arrow types of the kinds of Substrait's types that have no parameters, or one that says nothing in Arrow."""

_UNITS = {0: "s", 3: "ms", 6: "us", 9: "ns"}


class Condition(NamedTuple):
    """What is true of a column in all rows that are wanted: it compares so with one of the values."""

    column: str
    comparison: str
    values: tuple[Any, ...]
    """Of `=` one or several; of others one."""


@dataclass(frozen=True)
class Columns:
    """The columns of a read: all of them, and the names of those that the plan uses, and that are never null."""

    schema: pa.Schema
    used: frozenset[str]
    required: frozenset[str]
    conditions: Callable[[], tuple[Condition, ...]] = tuple
    """What is true of all rows that the plan uses: a reader may leave out others. It is found out where it is asked for."""
    joined_on: Callable[[], frozenset[str]] = frozenset
    """Those that may go through one join after another, found out in the same way."""

    def without(self, names: Container[str]) -> Columns:
        """The columns but those of these names."""
        return replace(self, schema=pa.schema([field for field in self.schema if field.name not in names]))


def columns_of(read: ReadRel) -> Columns:
    """The columns of a read that picks them by `emit`, as the plans of this library do, or of one that uses all."""
    schema = arrow_schema(read.base_schema)
    picked = read.common.emit.output_mapping if read.common.HasField("emit") else range(len(schema))
    beyond = next((n for n in picked if not 0 <= n < len(schema)), None)
    if beyond is not None:
        raise InvalidPlanError(f"A read emits the column {beyond} of {len(schema)}.")
    required = [
        name
        for name, kind in zip(schema.names, read.base_schema.struct.types, strict=True)
        if getattr(kind, str(kind.WhichOneof("kind"))).nullability == TypeMessage.NULLABILITY_REQUIRED
    ]
    return Columns(schema, frozenset(schema.names[n] for n in picked), frozenset(required))


def arrow_schema(named: NamedStruct) -> pa.Schema:
    """The Arrow schema of a NamedStruct; every field is nullable, as consumers of files see them."""
    if any("\0" in name for name in named.names):
        raise InvalidPlanError("A column's name holds a null character, where names end for Arrow's consumers.")
    names = iter(named.names)
    return pa.schema([_field(kind, names) for kind in named.struct.types])


def _field(message: TypeMessage, names: Iterator[str]) -> pa.Field:
    name = next(names, None)
    if name is None:
        raise InvalidPlanError("The schema of a read has fewer names than there are columns and fields.")
    return pa.field(name, arrow_type(message, names))


def arrow_type(message: TypeMessage, names: Iterator[str]) -> pa.DataType:
    """The Arrow type of a Substrait type whose struct fields have these names, depth-first."""
    kind = message.WhichOneof("kind")
    if kind in SIMPLE:
        return SIMPLE[kind]
    if kind is None:
        raise InvalidPlanError("A type of the plan is empty.")
    value = getattr(message, kind)
    if kind == "decimal":
        if not 0 <= value.scale <= value.precision <= 38 or not value.precision:
            raise InvalidPlanError(f"There is no decimal({value.precision}, {value.scale}).")
        return pa.decimal128(value.precision, value.scale)
    if kind in ("precision_timestamp", "precision_timestamp_tz"):
        if value.precision not in _UNITS:
            raise InvalidPlanError(f"There is no Arrow type for Substrait's {kind} of {value.precision} digits.")
        return pa.timestamp(_UNITS[value.precision], "UTC" if kind == "precision_timestamp_tz" else None)
    if kind == "list":
        return pa.list_(arrow_type(value.type, names))
    if kind == "map":
        key = arrow_type(value.key, names)
        return pa.map_(key, arrow_type(value.value, names))
    if kind == "struct":
        return pa.struct([_field(inner, names) for inner in value.types])
    raise InvalidPlanError(f"There is no Arrow type for Substrait's {kind}.")
