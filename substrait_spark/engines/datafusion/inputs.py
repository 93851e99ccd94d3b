"""The rows of a plan's named tables, of whatever a caller gives for them, as DataFusion's frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
from datafusion import DataFrame, Expr, SessionContext, functions, lit
from datafusion.catalog import Table

from ...errors import InvalidPlanError, kind_of
from .. import local_files
from ..arrow.counts import count_type, counted_columns
from ..arrow.inputs import holds_null, in_columns, in_memory, is_arrow, name_of, used_of
from ..arrow.schema import Columns
from ..names import table_name
from . import lakes
from .parquet import ParquetReader, column_named, in_order
from .unfiltered import unfiltered

ALLOWED = (
    "a pyarrow.Table, a path, what hands over Arrow's stream or array (`__arrow_c_stream__`, `__arrow_c_array__`), as frames of "
    "polars and pandas and relations of DuckDB do, a pyarrow.dataset.Dataset, a table provider or frame of DataFusion, "
    "or a table of pyiceberg or deltalake"
)


def require_tables(tables: Mapping[str, Any]) -> None:
    """Raises TypeError where something is given for a table that no rows can be had of."""
    for name, source in tables.items():
        if not (lakes.is_table(source) or _is_lazy(source) or isinstance(source, str | Path) or is_arrow(source)):
            raise TypeError(f"The table {name!r} must be {ALLOWED}, not {kind_of(source)}.")


class Inputs:
    """What was given for named tables: streams, which can be read once, are read when the first read of a plan needs them."""

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self.tables = tables
        self._rows: dict[str, pa.Table] = {}

    def name_of(self, parts: Sequence[str]) -> str | None:
        """By which name a table was given; None where it wasn't."""
        return table_name(parts, self.tables)

    def frames(self, name: str, columns: Columns, parquet: ParquetReader) -> list[DataFrame]:
        """All rows of a table, in the columns of a read."""
        source, ctx = self.tables[name], parquet.ctx
        if (rows := lakes.given(source, columns)) is not None:
            return [_in_frame(ctx, in_columns(rows, columns, name))]
        if isinstance(source, str | Path):
            return parquet.table(Path(source), columns)
        if _is_lazy(source):
            return [_selected(unfiltered(ctx, source), columns, name)]
        if name not in self._rows:
            self._rows[name] = in_memory(source)
        return [_in_frame(ctx, in_columns(self._rows[name], columns, name))]


# ---- rows in memory


def _in_frame(ctx: SessionContext, table: pa.Table) -> DataFrame:
    table = counted_columns(table)
    return ctx.create_dataframe([table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]])


# ---- rows that are elsewhere


def counted(frame: DataFrame) -> DataFrame:
    """The frame with counts in the place of values that are counted. Raises InvalidPlanError for intervals of months."""
    counts = [count_type(field.type) for field in frame.schema()]
    if not any(counts):
        return frame
    if pa.int32() in counts:
        raise InvalidPlanError("Columns of months and years are read from Arrow tables and Parquet files alone.")
    return frame.select(
        *(
            column_named(field.name)
            if count is None
            else functions.arrow_cast(column_named(field.name), "Int64").alias(field.name)
            for field, count in zip(frame.schema(), counts, strict=True)
        )
    )


def _is_lazy(source: Any) -> bool:
    provides = hasattr(source, "__datafusion_table_provider__")
    return provides or isinstance(source, pads.Dataset | DataFrame | Table)


def _selected(frame: DataFrame, columns: Columns, shown: str) -> DataFrame:
    schema = frame.schema()
    used = {field.name: name_of(schema, field, columns, shown, local_files.all_of_it) for field in used_of(columns)}
    required = [column_named(used[name]).is_null() for name in sorted(columns.required & used.keys())]
    if required and frame.filter(reduce(Expr.__or__, required)).limit(1).count():
        raise holds_null(shown, *sorted(columns.required & used.keys()))
    if not columns.schema.names:
        return frame.select(lit(None).alias("rows"))
    return frame.select(*in_order({name: column_named(column) for name, column in used.items()}, columns.schema))
