"""Statistics of Parquet files by which DataFusion reads other values than the files hold."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.parquet as pq

from ..arrow.inputs import used_of
from ..arrow.schema import Columns

WRITTEN_BY_SPARK = re.compile(r"parquet-mr version 1\.\d\d")
"""Spark's Parquet library, from the release on that counts nulls and gives columns with NaN no statistics; earlier ones leave NaN out."""


def mislead(metadata: pq.FileMetaData, columns: Columns) -> bool:
    """Whether DataFusion would take a used column for another, by the statistics in a file.

    Where nulls aren't counted, it takes it that there are none: https://github.com/apache/datafusion/issues/25239. And statistics leave
    NaN out, so that a column of one number and NaN is that number in all rows to it: https://github.com/apache/datafusion/pull/24804.
    """
    if WRITTEN_BY_SPARK.match(metadata.created_by or ""):  # which a file may lack
        return False
    places = {metadata.schema.column(n).path: n for n in range(metadata.num_columns)}
    used = [field for field in used_of(columns) if field.name in places]
    return any(_mislead(metadata, places[field.name], field.type) for field in used)


def _mislead(metadata: pq.FileMetaData, column: int, type: pa.DataType) -> bool:
    chunks = [metadata.row_group(n).column(column).statistics for n in range(metadata.num_row_groups)]
    if any(chunk is not None and not chunk.has_null_count for chunk in chunks):
        return True
    return pa.types.is_floating(type) and metadata.num_rows > 1 and _tell_one_value(chunks)


def _tell_one_value(chunks: list[pq.Statistics | None]) -> bool:
    bounds = set()
    for chunk in chunks:
        if chunk is None or not chunk.has_min_max or chunk.null_count:
            return False
        bounds |= {chunk.min, chunk.max}
    return len(bounds) == 1
