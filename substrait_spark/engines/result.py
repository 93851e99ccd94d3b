"""Giving an engine's result the names of a plan's root, which are depth-first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from ..errors import InvalidPlanError


def named(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The table with its columns, and the fields of structs in them, named in depth-first order, as `named_schema` has them."""
    if not table.columns:
        return table
    schema = named_schema(table.schema, names)
    arrays = [
        pa.chunked_array([rebuilt(chunk, field.type) for chunk in column.chunks], field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def named_schema(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    """The schema with these names of its columns and of the fields of structs in them, depth-first.

    Strings and binaries of 64-bit offsets or views become plain ones. Raises InvalidPlanError where there are too few
    names, or too many.
    """
    remaining = iter(names)
    fields = [_field(field, remaining) for field in schema]
    if schema.names and next(remaining, None) is not None:
        raise InvalidPlanError(f"The plan's root has {len(names)} names, more than there are columns and fields.")
    return pa.schema(fields)


def in_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch in a schema that `named_schema` gives."""
    if not batch.columns:
        return batch
    arrays = [rebuilt(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def plain(table: pa.Table) -> pa.Table:
    """The table with plain strings and binaries; Arrow has few functions for views."""
    return named(table, [name for field in table.schema for name in _names(field)])


def without_columns(rows: int) -> pa.Table:
    """A table of so many rows that has no columns."""
    return pa.table({"": pa.nulls(rows)}).select([])


def _field(field: pa.Field, names: Iterator[str]) -> pa.Field:
    name = next(names, None)
    if name is None:
        raise InvalidPlanError("The plan's root has fewer names than there are columns and fields.")
    return pa.field(name, _type(field.type, names))


def _names(field: pa.Field) -> Iterator[str]:
    """The names of a field and of those in it, depth-first."""
    yield field.name
    yield from _inner_names(field.type)


def _inner_names(type: pa.DataType) -> Iterator[str]:
    if pa.types.is_struct(type):
        for n in range(type.num_fields):
            yield from _names(type.field(n))
    elif pa.types.is_map(type):
        yield from _inner_names(type.key_type)
        yield from _inner_names(type.item_type)
    elif pa.types.is_list(type) or pa.types.is_large_list(type):
        yield from _inner_names(type.value_type)


def _type(type: pa.DataType, names: Iterator[str]) -> pa.DataType:
    if pa.types.is_struct(type):
        return pa.struct([_field(type.field(n), names) for n in range(type.num_fields)])
    if pa.types.is_map(type):
        key = _type(type.key_type, names)
        return pa.map_(key, _type(type.item_type, names))
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return pa.list_(_type(type.value_type, names))
    if pa.types.is_large_string(type) or pa.types.is_string_view(type):
        return pa.string()
    if pa.types.is_large_binary(type) or pa.types.is_binary_view(type):
        return pa.binary()
    return type


def rebuilt(array: pa.Array, type: pa.DataType) -> pa.Array:
    """The array in a type that differs in field names and offset sizes only."""
    # Types that differ in the names of elements alone are equal, and engines tell them apart.
    if array.type == type and (not pa.types.is_nested(type) or str(array.type) == str(type)):
        return array
    if pa.types.is_struct(type):
        parts = [rebuilt(part, type.field(n).type) for n, part in enumerate(array.flatten())]
        return pa.StructArray.from_arrays(parts, fields=list(type), mask=array.is_null())
    if pa.types.is_map(type):
        offsets, kept = _contents(array)
        keys, items = (
            rebuilt(part, inner).take(kept)
            for part, inner in ((array.keys, type.key_type), (array.items, type.item_type))
        )
        return pa.MapArray.from_arrays(offsets, keys, items, type=type, mask=None)
    if pa.types.is_list(type):
        offsets, kept = _contents(array)
        return pa.ListArray.from_arrays(offsets, rebuilt(array.values, type.value_type).take(kept), type=type)
    return array.cast(type)


def _contents(array: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Where each list starts in what all of them hold, null where it is null; and what that is of the array's values.

    Below a null list there may be values, which are none of its.
    """
    ends = array.offsets.to_pylist()
    starts: list[int | None] = []
    kept: list[int] = []
    for start, end, is_null in zip(ends, ends[1:], array.is_null().to_pylist(), strict=False):
        starts.append(None if is_null else len(kept))
        kept.extend(() if is_null else range(start, end))
    return pa.array([*starts, len(kept)], pa.int32()), pa.array(kept, pa.int64())
