"""Comparing two Arrow tables: Spark's rows, and an engine's."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pyarrow as pa

from ...catalyst.query_order import Ordering
from ...errors.quotation import identifier
from ..result import without_columns
from .cells import named_cells
from .order import decided, first_out_of_order
from .pairing import unpaired
from .result import ColumnDifference, Comparison, OutOfOrder
from .rows import Row, kind, rows


def compared(
    expected: pa.Table,
    actual: pa.Table,
    *,
    engine: str = "the engine",
    tolerance: float | None = None,
    order: Ordering | None = None,
) -> Comparison:
    """Spark's rows beside an engine's, as multisets; and, with an order, what they are ordered by in that order.

    Types are exact; NaN equals NaN. Floating-point numbers are equal, or within a relative `tolerance`; without one, -0.0
    isn't 0.0. Where types differ, values are compared all the same; with another number of columns, no rows are.
    """
    order = order or Ordering(())
    columns = _columns(expected.schema, actual.schema)
    counts = (expected.num_rows, actual.num_rows)
    names = tuple(expected.column_names[column] for column in order.columns)
    if expected.num_columns != actual.num_columns:
        return Comparison(engine, *counts, columns, _at(expected), _at(actual), ordered_by=names)
    left, right = rows(expected), rows(actual)
    only_left, only_right = unpaired(left, right, tolerance)
    misplaced = first_out_of_order(left, right, order, tolerance)
    tied = 0
    if (only_left or only_right) and misplaced is None and len(left) == len(right):
        only_left, only_right, tied = _without_ties(left, right, order, tolerance)
    is_different = bool(only_left or only_right)
    return Comparison(
        engine,
        *counts,
        columns,
        _at(expected, only_left),
        _at(actual, only_right),
        _differing([left[n] for n in only_left], [right[n] for n in only_right], expected.column_names, tolerance),
        None if is_different or misplaced is None else _out_of_order(misplaced, left, right, expected.schema, order),
        names,
        tied,
        ambiguous=is_different and (order.limited or order.skipping) and not order.complete,
    )


def _columns(expected: pa.Schema, actual: pa.Schema) -> tuple[ColumnDifference, ...]:
    pairs = enumerate(itertools.zip_longest(map(_column, expected), map(_column, actual), fillvalue=""))
    return tuple(ColumnDifference(n, left, right) for n, (left, right) in pairs if left != right)


def _column(field: pa.Field) -> str:
    return f"{identifier(field.name)}: {kind(field.type)}"


def _at(table: pa.Table, positions: Sequence[int] | None = None) -> pa.Table | None:
    """The rows at these positions, or all; None where that is no row."""
    count = table.num_rows if positions is None else len(positions)
    if not count or positions is None:
        return table if count else None
    return table.take(pa.array(positions, pa.int64())) if table.num_columns else without_columns(count)


def _without_ties(
    left: Sequence[Row], right: Sequence[Row], order: Ordering, tolerance: float | None
) -> tuple[list[int], list[int], int]:
    """As `unpaired`, of the rows that the order decides on; and how many it doesn't."""
    start, end = decided(left, order, tolerance)
    only_left, only_right = unpaired(left[start:end], right[start:end], tolerance)
    tied = len(left) - (end - start)
    return [start + n for n in only_left], [start + n for n in only_right], tied


def _differing(
    left: Sequence[Row], right: Sequence[Row], names: Sequence[str], tolerance: float | None
) -> tuple[str, ...]:
    """The columns whose values aren't the same on both sides, unless these are all."""
    differing = []
    for column, name in enumerate(names):
        in_left, in_right = ([(row[column],) for row in side] for side in (left, right))
        if any(unpaired(in_left, in_right, tolerance)):
            differing.append(name)
    return tuple(differing) if len(differing) < len(names) else ()


def _out_of_order(
    position: int, left: Sequence[Row], right: Sequence[Row], schema: pa.Schema, order: Ordering
) -> OutOfOrder:
    fields = [schema.field(column) for column in order.columns]
    keys = ([side[position][column] for column in order.columns] for side in (left, right))
    return OutOfOrder(position, *(named_cells(each, fields) for each in keys))
