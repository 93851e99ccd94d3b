"""Rows that a caller hands over in Arrow's form, in the columns of a plan's read."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ...errors import InvalidPlanError
from .. import local_files
from ..names import found
from .counts import in_months
from .schema import Columns


def is_arrow(source: Any) -> bool:
    """Whether something hands over Arrow's rows, or is a frame of pandas."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__") or _is_pandas(source)


def _is_pandas(source: Any) -> bool:
    pandas: Any = sys.modules.get("pandas")
    return pandas is not None and isinstance(source, pandas.DataFrame)


def in_memory(source: Any) -> pa.Table:
    """The rows of what `is_arrow` knows."""
    if isinstance(source, pa.Table):
        return source
    if _is_pandas(source):
        return pa.Table.from_pandas(source, preserve_index=False)
    if hasattr(source, "__arrow_c_stream__"):
        return pa.table(source)
    return pa.Table.from_batches([pa.record_batch(source)])


def in_columns(table: pa.Table, wanted: Columns, shown: str) -> pa.Table:
    """The table's columns that the plan names, in its types; nulls where it uses none of a column's values."""
    columns: dict[str, pa.ChunkedArray] = {}
    for field in used_of(wanted):
        column = table[name_of(table.schema, field, wanted, shown, local_files.all_of_it_checked)]
        if field.name in wanted.required and column.null_count:
            raise holds_null(shown, field.name)
        try:
            is_months = pa.types.is_interval(field.type) and pa.types.is_integer(column.type)
            columns[field.name] = in_months(column) if is_months else column.cast(field.type)
        except pa.ArrowInvalid as error:
            raise InvalidPlanError(f"The table {shown}: the column {field.name!r}: {error}.") from None
    return local_files.table_of(wanted.schema, table.num_rows, columns)


def used_of(columns: Columns) -> list[pa.Field]:
    """The columns that the plan uses."""
    return [field for field in columns.schema if field.name in columns.used]


def name_of(
    schema: pa.Schema, field: pa.Field, wanted: Columns, shown: str, agree: Callable[[pa.DataType, pa.DataType], None]
) -> str:
    """The name of a column, or of the one that differs in case only, if it is of a type whose values the plan's type all has."""
    name = found(field.name, schema.names, wanted.schema.names)
    if name is None or schema.names.count(name) != 1:
        raise InvalidPlanError(f"The table {shown} doesn't have exactly one column {field.name!r}.")
    try:
        agree(field.type, local_files.stored_type(schema.field(name).type))
    except local_files.Mismatch as problem:
        raise InvalidPlanError(f"The table {shown}: the column {field.name!r} {problem}.") from None
    return name


def holds_null(shown: str, *names: str) -> InvalidPlanError:
    """The error for columns with null where the plan says that there is none."""
    return InvalidPlanError(
        f"The table {shown}: the column {' or '.join(map(repr, names))} holds null, which the plan rules out."
    )
