"""Spark's hashes of values of any types: Murmur3 of 32 bits and XXH64, over whole arrays with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Context
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..function import Compute, PythonFunction, Signature

EXACT = Context(prec=80)

Hashes: TypeAlias = Any
"""An array of NumPy's: hashes, which are the seeds of the next values', words or bytes."""


class Algorithm(NamedTuple):
    """A hash function of 32 or 64 bits, of integers and of the rows of a table of bytes."""

    unsigned: type
    signed: type
    of_int: Callable[[Hashes, Hashes], Hashes]
    of_long: Callable[[Hashes, Hashes], Hashes]
    of_bytes: Callable[[Hashes, Hashes], Hashes]


def _rotated(x: Hashes, by: int) -> Hashes:
    bits = x.dtype.type(x.dtype.itemsize * 8 - by)
    return (x << x.dtype.type(by)) | (x >> bits)


# ---- Murmur3, as Spark has it: of bytes behind the last four, each counts as a word by itself


def _mixed(hashes: Hashes, words: Hashes) -> Hashes:
    words = _rotated(words * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    return _rotated(hashes ^ words, 13) * np.uint32(5) + np.uint32(0xE6546B64)


def _finished(hashes: Hashes, length: int) -> Hashes:
    hashes = hashes ^ np.uint32(length)
    hashes = (hashes ^ (hashes >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    hashes = (hashes ^ (hashes >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return hashes ^ (hashes >> np.uint32(16))


def _murmur_of_int(values: Hashes, seeds: Hashes) -> Hashes:
    return _finished(_mixed(seeds, values.astype(np.uint32)), 4)


def _murmur_of_long(values: Hashes, seeds: Hashes) -> Hashes:
    low, high = values.astype(np.uint32), (values >> np.uint64(32)).astype(np.uint32)
    return _finished(_mixed(_mixed(seeds, low), high), 8)


def _murmur_of_bytes(table: Hashes, seeds: Hashes) -> Hashes:
    length = table.shape[1]
    words = np.ascontiguousarray(table[:, : length // 4 * 4]).view("<u4")
    for column in words.T:
        seeds = _mixed(seeds, column)
    for column in table[:, length // 4 * 4 :].astype(np.int8).T:
        seeds = _mixed(seeds, column.astype(np.int32).view(np.uint32))
    return _finished(seeds, length)


# ---- XXH64 (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md)

P1, P2, P3, P4, P5 = (
    np.uint64(prime)
    for prime in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
)


def _round(hashes: Hashes, lane: Hashes) -> Hashes:
    return _rotated(hashes + lane * P2, 31) * P1


def _avalanche(hashes: Hashes) -> Hashes:
    hashes = (hashes ^ (hashes >> np.uint64(33))) * P2
    hashes = (hashes ^ (hashes >> np.uint64(29))) * P3
    return hashes ^ (hashes >> np.uint64(32))


def _with_four(hashes: Hashes, word: Hashes) -> Hashes:
    return _rotated(hashes ^ (word * P1), 23) * P2 + P3


def _with_eight(hashes: Hashes, word: Hashes) -> Hashes:
    return _rotated(hashes ^ _round(np.zeros_like(hashes), word), 27) * P1 + P4


def _xx_of_int(values: Hashes, seeds: Hashes) -> Hashes:
    return _avalanche(_with_four(seeds + P5 + np.uint64(4), values & np.uint64(0xFFFFFFFF)))


def _xx_of_long(values: Hashes, seeds: Hashes) -> Hashes:
    return _avalanche(_with_eight(seeds + P5 + np.uint64(8), values))


def _xx_of_bytes(table: Hashes, seeds: Hashes) -> Hashes:
    length = table.shape[1]
    words = np.ascontiguousarray(table[:, : length // 8 * 8]).view("<u8")
    striped = length // 32 * 4
    hashes = _xx_of_stripes(words[:, :striped], seeds) if striped else seeds + P5
    hashes = hashes + np.uint64(length)
    for column in words[:, striped:].T:
        hashes = _with_eight(hashes, column)
    at = length // 8 * 8
    if length - at >= 4:
        hashes = _with_four(hashes, np.ascontiguousarray(table[:, at : at + 4]).view("<u4")[:, 0].astype(np.uint64))
        at += 4
    for column in table[:, at:].T:
        hashes = _rotated(hashes ^ (column.astype(np.uint64) * P5), 11) * P1
    return _avalanche(hashes)


def _xx_of_stripes(words: Hashes, seeds: Hashes) -> Hashes:
    lanes = [seeds + P1 + P2, seeds + P2, seeds + np.uint64(0), seeds - P1]
    for number, column in enumerate(words.T):
        lanes[number % 4] = _round(lanes[number % 4], column)
    hashes = sum((_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)), np.zeros_like(seeds))
    for lane in lanes:
        hashes = (hashes ^ _round(np.zeros_like(lane), lane)) * P1 + P4
    return hashes


MURMUR = Algorithm(np.uint32, np.int32, _murmur_of_int, _murmur_of_long, _murmur_of_bytes)
XX = Algorithm(np.uint64, np.int64, _xx_of_int, _xx_of_long, _xx_of_bytes)


# ---- values of any types


def _hashed(algorithm: Algorithm, array: pa.Array, seeds: Hashes) -> Hashes:
    """The hashes with the values of an array, where these are not null."""
    valid = np.flatnonzero(pc.is_valid(array).to_numpy(zero_copy_only=False))
    if not len(valid):
        return seeds
    values = array if len(valid) == len(array) else array.take(pa.array(valid))
    hashes = seeds.copy()
    hashes[valid] = _of_values(algorithm, values, seeds[valid])
    return hashes


def _of_values(algorithm: Algorithm, values: pa.Array, seeds: Hashes) -> Hashes:
    kind = values.type
    if pa.types.is_struct(kind):
        for field in values.flatten():
            seeds = _hashed(algorithm, field, seeds)
        return seeds
    if pa.types.is_map(kind):
        starts, ends = _bounds(values)
        return _of_elements(algorithm, [values.keys, values.items], starts, ends, seeds)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        starts, ends = _bounds(values)
        return _of_elements(algorithm, [values.values], starts, ends, seeds)
    if pa.types.is_decimal(kind):
        return _of_decimals(algorithm, values, seeds)
    words = _words(values)
    if words is None:
        return _of_bytes(algorithm, [bytes(value) for value in values.cast(pa.large_binary()).to_pylist()], seeds)
    wide = words.dtype.itemsize == 8
    return (algorithm.of_long if wide else algorithm.of_int)(words.astype(np.int64).view(np.uint64), seeds)


def _bounds(values: pa.Array) -> tuple[Hashes, Hashes]:
    offsets = values.offsets.to_numpy()
    return offsets[:-1], offsets[1:]


def _of_elements(
    algorithm: Algorithm, columns: Sequence[pa.Array], starts: Hashes, ends: Hashes, seeds: Hashes
) -> Hashes:
    """The hashes with the elements of lists, one after the other; of maps, a key and its value in turn."""
    seeds = seeds.copy()
    rows = np.flatnonzero(starts < ends)
    step = 0
    while len(rows):
        for column in columns:
            seeds[rows] = _hashed(algorithm, column.take(pa.array(starts[rows] + step)), seeds[rows])
        step += 1
        rows = rows[starts[rows] + step < ends[rows]]
    return seeds


def _words(values: pa.Array) -> Hashes | None:
    """The values as integers of 32 or 64 bits; None where they are hashed by their bytes."""
    kind = values.type
    if pa.types.is_floating(kind):
        return _bits(values)
    if not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_temporal(kind)):
        return None
    wide = not pa.types.is_boolean(kind) and kind.bit_width == 64
    return values.cast(pa.int64() if wide else pa.int32()).to_numpy(zero_copy_only=False)


def _bits(values: pa.Array) -> Hashes:
    """The bits of floating-point numbers, of one NaN and one zero."""
    numbers = values.to_numpy()
    one = np.where(np.isnan(numbers), numbers.dtype.type("nan"), numbers + numbers.dtype.type(0))
    return one.view(f"i{numbers.dtype.itemsize}")


def _of_decimals(algorithm: Algorithm, values: pa.Array, seeds: Hashes) -> Hashes:
    kind = values.type
    unscaled = [int(value.scaleb(kind.scale, EXACT)) for value in values.to_pylist()]
    if kind.precision <= 18:
        return algorithm.of_long(np.array(unscaled, np.int64).view(np.uint64), seeds)
    return _of_bytes(algorithm, [_shortest(value) for value in unscaled], seeds)


def _shortest(value: int) -> bytes:
    """The bytes of java.math.BigInteger, highest first."""
    length = ((value if value >= 0 else ~value).bit_length() // 8) + 1
    return value.to_bytes(length, "big", signed=True)


def _of_bytes(algorithm: Algorithm, values: Sequence[bytes], seeds: Hashes) -> Hashes:
    lengths = np.array([len(value) for value in values])
    hashes = np.empty_like(seeds)
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        joined = b"".join([values[int(row)] for row in rows])
        table = np.frombuffer(joined, np.uint8).reshape(len(rows), length)
        hashes[rows] = algorithm.of_bytes(table, seeds[rows])
    return hashes


def _of(algorithm: Algorithm) -> Callable[[Signature], Compute]:
    def compute(_: Signature) -> Compute:
        def hashed(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
            seeds = arrays[0].to_numpy().view(algorithm.unsigned)
            with np.errstate(over="ignore"):
                for array in arrays[1:]:
                    seeds = _hashed(algorithm, array, seeds)
            return pa.array(seeds.view(algorithm.signed))

        return hashed

    return compute


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_hash": PythonFunction(_of(MURMUR)),
    "spark_xxhash64": PythonFunction(_of(XX)),
}
