"""Computes the rows of Generate relations with Arrow, for engines that lack the relation."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .result import plain


def generated(table: pa.Table, detail: Any) -> pa.Table:
    """The rows of a Generate relation whose input is all columns but the last, and whose `rows` are the last.

    The columns are those of the input, then the generated ones, called `c0`, `c1`, …
    """
    table = plain(table)
    lists = table.column(table.num_columns - 1).combine_chunks()
    lengths = pc.fill_null(pc.list_value_length(lists).cast(pa.int64()), 0)
    ends = pc.cumulative_sum(lengths)
    starts = pc.subtract(ends, lengths)
    elements = pc.list_flatten(lists)
    # Below a null list there may be elements, which are none of its.
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    parents = pc.list_parent_indices(pa.LargeListArray.from_arrays(offsets, elements))
    positions = pc.subtract(pa.array(range(len(parents)), pa.int64()), starts.take(parents)).cast(pa.int32())
    if detail.outer:
        empty = pc.indices_nonzero(pc.equal(lengths, 0)).cast(pa.int64())
        parents = pa.concat_arrays([parents, empty])
        elements = pa.concat_arrays([elements, pa.nulls(len(empty), elements.type)])
        positions = pa.concat_arrays([positions, pa.nulls(len(empty), positions.type)])
        order = pc.array_sort_indices(parents)
        parents, elements, positions = parents.take(order), elements.take(order), positions.take(order)
    columns: list[Any] = [column.take(parents) for column in table.columns[:-1]]
    columns += [positions] if detail.with_position else []
    columns += [elements] if detail.whole_elements else elements.flatten()
    return pa.table(columns, names=[f"c{n}" for n in range(len(columns))])
