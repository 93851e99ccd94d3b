"""Arrow's times, durations and intervals of months, and the integers that plans for DataFusion have in their place."""

from __future__ import annotations

import pyarrow as pa

from ...errors import InvalidPlanError


def count_type(type: pa.DataType) -> pa.DataType | None:
    """The Arrow type of the counts of a type's values; None for one whose values are none."""
    if pa.types.is_duration(type) or pa.types.is_time64(type):
        return pa.int64()
    return pa.int32() if pa.types.is_interval(type) else None


def counted_columns(table: pa.Table) -> pa.Table:
    """The table with counts in the place of values that are counted."""
    for n, field in enumerate(table.schema):
        if count_type(field.type) is not None:
            table = table.set_column(n, field.name, _counts(table.column(n)))
    return table


def _counts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return months(column) if pa.types.is_interval(column.type) else column.cast(pa.int64())


def months(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The numbers of months of intervals. Raises InvalidPlanError where one has days or less."""
    values = column.to_pylist()
    if any(value is not None and (value.days or value.nanoseconds) for value in values):
        raise InvalidPlanError("A column of months and years holds days or nanoseconds.")
    return pa.chunked_array([pa.array([None if value is None else value.months for value in values], pa.int32())])


def in_months(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The intervals of numbers of months."""
    values = [None if months is None else (months, 0, 0) for months in column.to_pylist()]
    return pa.chunked_array([pa.array(values, pa.month_day_nano_interval())])
