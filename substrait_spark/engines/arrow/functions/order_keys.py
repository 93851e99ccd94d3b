"""Keys that sort as Spark sorts nested values: bytes in whose order nulls come first, then -0.0 with 0.0, NaN last, shorter lists first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from ..function import PythonFunction, over_arrays
from .elements import normalized

NULL, VALUE, END = b"\0", b"\1", b"\0"
"""What the key of a null is, what the key of another value begins with, and what those of a list's elements end with."""


def order_keys(array: pa.Array) -> pa.Array:
    """The key of each value, null where the value is."""
    return pa.array(_keys(array), pa.binary(), mask=np.asarray(array.is_null()))


def _keys(array: pa.Array) -> list[bytes]:
    """The keys of the values, whatever they are for nulls."""
    kind = array.type
    if pa.types.is_struct(kind):
        return _joined([_with_nulls(array.field(n)) for n in range(kind.num_fields)], len(array))
    if pa.types.is_list(kind):
        return _of_lists(array)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return [_of_bytes(value) for value in array.cast(pa.binary()).fill_null(b"").to_pylist()]
    return _of_numbers(array)


def _with_nulls(array: pa.Array) -> list[bytes]:
    """The keys of values that are part of others."""
    valid = array.is_valid().to_pylist()
    return [VALUE + key if is_valid else NULL for key, is_valid in zip(_keys(array), valid, strict=True)]


def _joined(fields: Sequence[list[bytes]], rows: int) -> list[bytes]:
    return [b"".join(parts) for parts in zip(*fields, strict=True)] if fields else [b""] * rows


def _of_lists(array: pa.Array) -> list[bytes]:
    if not len(array):
        return []
    starts = array.offsets.to_pylist()
    first = starts[0]
    elements = [VALUE + key for key in _with_nulls(array.values.slice(first, starts[-1] - first))]
    return [b"".join(elements[start - first : end - first]) + END for start, end in pairwise(starts)]


def _of_bytes(value: bytes) -> bytes:
    """Bytes that end, so that a beginning of others is less whatever follows: a zero is told from the end by what is behind it."""
    return value.replace(b"\0", b"\0\xff") + b"\0\0"


def _of_numbers(array: pa.Array) -> list[bytes]:
    """Values of so many bits, from the highest to the lowest, the one that is the sign turned."""
    kind = array.type
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    if pa.types.is_floating(kind):
        array = normalized(array)
    width = array.type.bit_width // 8
    data = np.frombuffer(array.buffers()[1] or b"", np.uint8)
    values = data[array.offset * width : (array.offset + len(array)) * width].reshape(-1, width)[:, ::-1].copy()
    values[:, 0] ^= 0x80
    if pa.types.is_floating(kind):  # of the negative ones, those with greater bits are less
        negative = values[:, 0] < 0x80
        values[negative, 1:] ^= 0xFF
        values[negative, 0] ^= 0x7F
    return [row.tobytes() for row in values]


FUNCTIONS: Mapping[str, PythonFunction] = {"spark_order_key": PythonFunction(over_arrays(order_keys))}
