"""Elements of lists as Spark compares them: all NaNs are one value and the greatest, -0.0 equals 0.0, nulls inside come first."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ..function import Compute, PythonFunction, Signature, over_arrays

# ---- values that are equal get equal bits


def normalized(array: pa.Array) -> pa.Array:
    """The values with one NaN and one zero, wherever floating-point numbers are in them."""
    kind = array.type
    if pa.types.is_floating(kind):
        nan = pa.scalar(float("nan"), kind)
        return pc.if_else(pc.is_nan(array), nan, pc.add(array, pa.scalar(0.0, kind)))
    if pa.types.is_struct(kind):
        parts = [normalized(array.field(n)) for n in range(kind.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=array.is_null())
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        own = array.buffers()[:2]
        return pa.Array.from_buffers(kind, len(array), own, array.null_count, array.offset, [normalized(array.values)])
    return array


# ---- order


def ranks(array: pa.Array) -> pa.Array:
    """By value, a number that is as great among the others as the value; null for null."""
    kind = array.type
    if pa.types.is_struct(kind):
        return _of_present(_ranks_of_structs(array), array)
    if pa.types.is_list(kind):
        return _of_present(_ranks_of_lists(array), array)
    if pa.types.is_floating(kind):
        array = _by_bits(normalized(array))
    elif pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    return _of_present(pc.rank(array, "ascending", tiebreaker="dense"), array)


def _of_present(ranks: pa.Array, array: pa.Array) -> pa.Array:
    return pc.if_else(array.is_valid(), ranks.cast(pa.int64()), pa.scalar(None, pa.int64()))


def _by_bits(numbers: pa.Array) -> pa.Array:
    """Integers in the order of floating-point numbers: their bits, of which those of negative ones are turned."""
    width = numbers.type.bit_width
    kind = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[width]
    bits, mask = numbers.view(kind), pa.scalar(2 ** (width - 1) - 1, kind)
    return pc.if_else(pc.less(bits, pa.scalar(0, kind)), pc.bit_wise_xor(bits, mask), bits)


def _ranks_of_structs(array: pa.Array) -> pa.Array:
    found = pa.array([0] * len(array), pa.int64())
    for n in range(array.type.num_fields):
        part = pc.fill_null(ranks(array.field(n)), 0)
        # As many ranks as there are values, so that the product of two numbers of values holds each pair.
        pairs = pc.add(pc.multiply(found, pa.scalar(len(array) + 1, pa.int64())), part)
        found = pc.rank(pairs, "ascending", tiebreaker="dense").cast(pa.int64())
    return found


def _ranks_of_lists(array: pa.Array) -> pa.Array:
    flat = pc.fill_null(ranks(array.flatten()), 0).to_pylist()
    ends = pc.cumulative_sum(_lengths(array)).to_pylist()
    rows = [tuple(flat[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    order = {row: n for n, row in enumerate(sorted(set(rows)), start=1)}
    return pa.array([order[row] for row in rows], pa.int64())


# ---- functions


def _sorted(signature: Signature) -> Compute:
    """The elements in ascending or descending order, equal ones as they were; nulls before or behind the others."""

    def compute(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        list, descending, nulls_last = arrays
        values, row = list.flatten(), _rows(list)
        rank = ranks(values)
        beyond = pa.scalar(len(values) + 1, pa.int64())
        ordered = pc.if_else(descending.take(row), pc.negate(rank), rank)
        ends = pc.if_else(nulls_last.take(row), beyond, pc.negate(beyond))
        keys = pa.RecordBatch.from_arrays([row, pc.coalesce(ordered, ends)], ["row", "rank"])
        order = pc.sort_indices(keys, [("row", "ascending"), ("rank", "ascending")])
        return _listed(values.take(order), pc.cumulative_sum(_lengths(list)), list, signature.arrow_result)

    return compute


def _removed(signature: Signature) -> Compute:
    """The elements that don't equal a value, and those that are null."""

    def compute(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        list, value = arrays
        values = list.flatten()
        found = ranks(pa.concat_arrays([values, value.cast(values.type)]))
        searched = found.slice(len(values)).take(_rows(list))
        kept = pc.fill_null(pc.not_equal(found.slice(0, len(values)), searched), True)
        counts = _from_zero(pc.cumulative_sum(kept.cast(pa.int64())))
        ends = counts.take(pc.cumulative_sum(_lengths(list)))
        return _listed(values.filter(kept), ends, list, signature.arrow_result)

    return compute


MOST_ELEMENTS = 2**31 - 1 - 15
"""How many elements Spark allows a list to have."""


def _inserted(signature: Signature) -> Compute:
    """The list with a value at a position, and nulls between them where the position is beyond an end."""

    def compute(arrays: Sequence[pa.Array], rows: int) -> pa.Array:
        list, position, value = arrays
        kind = signature.arrow_result
        values = list.flatten()
        pool = pa.concat_arrays(
            [each.cast(kind.value_type) for each in (values, value)] + [pa.nulls(1, kind.value_type)]
        )
        places: Places = []
        ends, first = [], 0
        for row, (length, at) in enumerate(zip(_lengths(list).to_pylist(), position.to_pylist(), strict=True)):
            if at is not None and list[row].is_valid:
                places += _with_place(range(first, first + length), len(values) + row, at, len(pool) - 1)
            first += length
            ends.append(len(places))
        absent = pc.or_(list.is_null(), position.is_null())
        offsets = _from_zero(pa.array(ends, pa.int32()))
        return pa.ListArray.from_arrays(offsets, pool.take(pa.array(places, pa.int64())), type=kind, mask=absent)

    return compute


Places = builtins.list[int]


def _with_place(elements: Sequence[int], new: int, at: int, null: int) -> Places:
    """The places of elements with a new one at a position, which counts from the end of the result where it is negative."""
    if at == 0:
        raise ValueError("[INVALID_INDEX_OF_ZERO] there is no position 0")
    gap = abs(at) - len(elements) - 1
    if gap + len(elements) + 1 > MOST_ELEMENTS:
        raise ValueError(f"[COLLECTION_SIZE_LIMIT_EXCEEDED] a list can't have {abs(at)} elements")
    if gap > 0:
        nulls = [null] * gap
        return [*elements, *nulls, new] if at > 0 else [new, *nulls, *elements]
    before = at - 1 if at > 0 else len(elements) + 1 + at
    return [*elements[:before], new, *elements[before:]]


def _rows(list: pa.Array) -> pa.Array:
    """The row of each element of `flatten`, which null lists have none of."""
    rows = pc.list_parent_indices(list)
    return rows.filter(list.is_valid().take(rows)) if list.null_count else rows


def _lengths(list: pa.Array) -> pa.Array:
    return pc.fill_null(pc.list_value_length(list), 0)


def _listed(values: pa.Array, ends: pa.Array, like: pa.Array, kind: pa.DataType) -> pa.Array:
    """Lists of the values up to each end, null where those of another array are."""
    return pa.ListArray.from_arrays(_from_zero(ends).cast(pa.int32()), values, type=kind, mask=like.is_null())


def _from_zero(numbers: pa.Array) -> pa.Array:
    return pa.concat_arrays([pa.array([0], numbers.type), numbers])


FUNCTIONS: Mapping[str, PythonFunction] = {
    "spark_array_insert": PythonFunction(_inserted),
    "spark_array_remove": PythonFunction(_removed),
    "spark_normalized": PythonFunction(over_arrays(normalized)),
    "spark_sort_elements": PythonFunction(_sorted),
}
