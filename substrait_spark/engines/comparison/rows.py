"""Rows in one form, whatever Arrow type carries them: tuples that compare and hash by value."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

Row = tuple[Any, ...]


class Float(str):
    """A floating-point number by its shortest decimal form, so that NaN equals itself and -0.0 isn't 0.0."""

    __slots__ = ()


def rows(table: pa.Table) -> list[Row]:
    """A table's rows. Dates, timestamps and durations are numbers of days and of microseconds; structs, lists and maps are
    tuples, of maps sorted, since their entries have no order.
    """
    if not table.num_columns:
        return [()] * table.num_rows
    columns = [[value for chunk in column.chunks for value in _values(chunk)] for column in table.columns]
    return list(zip(*columns, strict=True))


def _values(array: pa.Array) -> list[Any]:
    type = array.type
    if pa.types.is_dictionary(type):
        return _values(array.dictionary_decode())
    if pa.types.is_floating(type):
        return [None if value is None else Float(repr(value)) for value in array.to_pylist()]
    if pa.types.is_timestamp(type):
        return list(array.cast(pa.timestamp("us", type.tz)).cast(pa.int64()).to_pylist())
    if pa.types.is_date(type):
        return list(array.cast(pa.date32()).cast(pa.int32()).to_pylist())
    if pa.types.is_duration(type):
        return list(array.cast(pa.duration("us")).cast(pa.int64()).to_pylist())
    if pa.types.is_struct(type):
        fields = zip(*map(_values, array.flatten()), strict=True) if type.num_fields else [()] * len(array)
        return _where_valid(array, list(fields))
    if pa.types.is_map(type):
        entries = list(zip(_values(array.keys), _values(array.items), strict=True))
        return _where_valid(array, [tuple(sorted(part, key=repr)) for part in _parts(array, entries)])
    if is_list(type):
        # A cast to the type that it has almost: Arrow refuses it where a struct is null of which a field never is.
        if not (pa.types.is_list(type) or pa.types.is_large_list(type)):
            array = array.cast(pa.large_list(type.value_type))
        return _where_valid(array, [tuple(part) for part in _parts(array, _values(array.values))])
    return list(array.to_pylist())


def _parts(array: pa.Array, values: Sequence[Any]) -> list[Sequence[Any]]:
    offsets = array.offsets.to_pylist()
    return [values[start:end] for start, end in itertools.pairwise(offsets)]


def _where_valid(array: pa.Array, values: Sequence[Any]) -> list[Any]:
    return [value if valid else None for value, valid in zip(values, array.is_valid().to_pylist(), strict=True)]


def kind(type: pa.DataType) -> str:
    """An Arrow type's name, the same for every layout of the same type; NULLs without a type are booleans in plans."""
    if pa.types.is_dictionary(type):
        return kind(type.value_type)
    if pa.types.is_struct(type):
        fields = [type.field(index) for index in range(type.num_fields)]
        return f"struct<{', '.join(f'{field.name}: {kind(field.type)}' for field in fields)}>"
    if pa.types.is_map(type):
        return f"map<{kind(type.key_type)}, {kind(type.item_type)}>"
    if is_list(type):
        return f"list<{kind(type.value_type)}>"
    if pa.types.is_timestamp(type):
        return "timestamp" if type.tz is None else "timestamp with time zone"
    if pa.types.is_decimal(type):
        return f"decimal({type.precision}, {type.scale})"
    return next((name for name, is_it in _LAYOUTS.items() if is_it(type)), str(type))


_LAYOUTS: dict[str, Callable[[pa.DataType], bool]] = {
    "string": lambda type: pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type),
    "binary": lambda type: (
        pa.types.is_binary(type)
        or pa.types.is_large_binary(type)
        or pa.types.is_binary_view(type)
        or pa.types.is_fixed_size_binary(type)
    ),
    "date": pa.types.is_date,
    "duration": pa.types.is_duration,
    "time": pa.types.is_time,
    "bool": lambda type: pa.types.is_boolean(type) or pa.types.is_null(type),
}


def is_list(type: pa.DataType) -> bool:
    """Whether a type is that of lists, in any layout."""
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_list_view)
    return any(is_it(type) for is_it in tests) or pa.types.is_large_list_view(type)
