"""The tables that random queries read: few rows, every type, nasty values, many duplicates."""

from __future__ import annotations

import random
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

_NAN, _INF = float("nan"), float("inf")
_UTC = timezone.utc
_DAYS = [date(1970, 1, 1), date(2024, 2, 29), date(2023, 12, 31), date(1582, 10, 15), date(1, 1, 2), date(9999, 12, 30)]
_TIMES = [
    datetime(1970, 1, 1),
    datetime(2024, 2, 29, 23, 59, 59, 999999),
    datetime(2024, 3, 10, 10, 30),
    datetime(2024, 11, 3, 9, 30),
    datetime(1969, 12, 31, 23, 59, 59, 1),
    datetime(2000, 1, 1, 12),
]

COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "boolean": (pa.bool_(), [True, False]),
    "tinyint": (pa.int8(), [0, 1, -1, 5, 127, -128]),
    "smallint": (pa.int16(), [0, 1, -1, 300, 32767, -32768]),
    "int": (pa.int32(), [0, 1, 2, 3, -1, 10, 2**31 - 1, -(2**31)]),
    "bigint": (pa.int64(), [0, 1, 2, -1, -5, 10**12, 2**63 - 1, -(2**63)]),
    "float": (pa.float32(), [0.0, -0.0, 1.5, -2.25, _NAN, _INF, -_INF, 3.4028234663852886e38, 1e-45]),
    "double": (pa.float64(), [0.0, -0.0, 1.5, -2.25, 0.1, _NAN, _INF, -_INF, 1.7976931348623157e308, 5e-324]),
    "decimal(10,2)": (
        pa.decimal128(10, 2),
        [Decimal(text) for text in ("0.00", "1.50", "-1.50", "0.01", "2.25", "99999999.99", "-99999999.99")],
    ),
    "decimal(20,4)": (
        pa.decimal128(20, 4),
        [Decimal(text) for text in ("0.0000", "1.5000", "-0.0001", "123.4567", "9999999999999999.9999")],
    ),
    "string": (
        pa.string(),
        ["", " ", "a", "A", "abc", "b", "é", "日本", "😀", " a ", "12", "-7", "a,b,c", "2024-02-29"],
    ),
    "binary": (pa.binary(), [b"", b"a", b"\x00\xff", "é".encode()]),
    "date": (pa.date32(), _DAYS),
    "timestamp": (pa.timestamp("us", "UTC"), [value.replace(tzinfo=_UTC) for value in _TIMES]),
    "timestamp_ntz": (pa.timestamp("us"), _TIMES),
    "array<int>": (pa.list_(pa.int32()), [[], [1], [1, None, 2], [None], [3, 3, -1]]),
    "array<string>": (pa.list_(pa.string()), [[], ["a"], ["b", None, ""], ["é", "a"]]),
    "array<double>": (pa.list_(pa.float64()), [[], [1.5, None], [_NAN, 0.0, -0.0], [-_INF, 2.0]]),
    "array<array<int>>": (pa.list_(pa.list_(pa.int32())), [[], [[1, 2], []], [[None], None], [[3]]]),
    "map<string,int>": (pa.map_(pa.string(), pa.int32()), [[], [("a", 1)], [("a", None), ("b", 2)]]),
    "struct<x:int,y:string>": (
        pa.struct([("x", pa.int32()), ("y", pa.string())]),
        [{"x": 1, "y": "a"}, {"x": None, "y": "b"}, {"x": 2, "y": None}],
    ),
}
"""Spark's types, and the values that their columns hold beside null."""

FILES = {"empty": [0], "few": [1, 1, 1, 1, 1, 1, 1, 2], "many": [8, 8, 8, 8, 8]}
"""The tables, and how many rows each of their files has: of one row, each column is constant in its file.

Their columns are called `c0`, `c1`, … in the order of `COLUMNS`.
"""


def create(spark: SparkSession, directory: Path) -> None:
    """Write the tables, the same each time, and make them temporary views."""
    generator = random.Random(1582)
    for name, files in FILES.items():
        columns = {
            f"c{n}": pa.array(_values(generator, name, sum(files), values), type)
            for n, (type, values) in enumerate(COLUMNS.values())
        }
        path = directory / f"{name}.parquet"
        path.mkdir()
        rows = pa.table(columns)
        first = 0
        for number in files:
            pq.write_table(rows.slice(first, number), path / f"{first}.parquet")
            first += number
        spark.read.parquet(str(path)).createOrReplaceTempView(name)


def _values(generator: random.Random, name: str, size: int, values: list[Any]) -> list[Any]:
    """The values of a column: in the first file of `few` a null, and in its last one of two floats NaN.

    DataFusion skips files by bounds that nulls don't have, and statistics, which leave NaN out, say that such a column is constant.
    """
    chosen = generator.choices([None, *values, *values], k=size)
    if name == "few":
        chosen[0] = None
        if _NAN in values:
            chosen[-2:] = [_NAN, 1.5]
    return chosen
