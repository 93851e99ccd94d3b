"""One table of edge values, in columns of every type, that the function cases run on."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

ROWS = 400

_INF, _NAN = float("inf"), float("nan")
_FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    0.1,
    1e-7,
    123456.789,
    1e10,
    -1e20,
    1.7976931348623157e308,
    5e-324,
    _INF,
    -_INF,
    _NAN,
]
_FLOAT32 = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 0.1, 1e10, 3.4028234663852886e38, 1e-45, _INF, -_INF, _NAN]
_STRINGS = [
    "",
    " ",
    "a",
    "A",
    "abc",
    "Abc def",
    "  abc ",
    "é",
    "straße",
    "日本語",
    "😀a",
    "e\u0301x",
    "a%b_c\\d",
    "a,b,,c",
    "12",
    "-7",
    "1.5",
    "1e3",
    "true",
    "2024-02-29",
    "2024-01-01 10:00:00",
    "\t x\n",
    "x" * 50,
    "\u0000",
    "NaN",
    "0x1A",
]
_TEXTS = [
    "aaaa",
    "aaa,aa,",
    "\u0130stanbul",
    "\u0391\u03a3 \u03c3\u03c2",
    "\u017f\u212aK",
    "x\r\ny\n",
    "l1\u2028l2\u0085",
    "\u06634",
    'O\'Neil "q"',
    "100%",
    "a_b",
    "a\\%b",
    "\\",
    "foo-bar baz",
    "2024-01-31T00:00",
    "k=v;a=b",
    "4142",
    "YWJj",
    "YW Jj\r\nZA",
    "%41%zz",
    "http://u:p@Ex.com:80/p/../q?k=v#r",
    '{"a":1}',
    "<a>1</a>",
    "\u01c6abc",
    "\u00a0x\u3000",
    "é" * 30,
    "$1 ${x}",
]
_JSON = [
    "{}",
    "[]",
    "null",
    '{"a": 1, "b": [{"x y": "p", "q": null}, null, {"x y": 2.50}], "c": {"d": "é😀"}}',
    '{"a": 1, "a": null, "a": "2", "b": {"a": [1, [2, {"a": 3}]]}} and more',
    '{"a": 12345678901, "b": [1, "x"], "m": {"k": 1e2}}',
    '{"a": "x\\u00e9\\n\\"\\/\\ud83d\\ude00", "b": "\\u0001"}',
    "{'a': 'it\\'s', 'b': []}",
    '{"a": 01}',
    '{"a": NaN, "b": "NaN"}',
    '{"a": "tab\there\x01"}',
    '{"b": 1, "a": {"x": tru}, "c": 2}',
    '{"a": 1,}',
    '{"a": 1',
    '{"a" 1}',
    '[1, 2.50, -0, 1E-7, "s", null, true, [3, [4]], {"a": [5, 6]}]',
    '[[{"a": 1}, {"a": [2, 3]}], [{"b": 4}], []]',
    '[{"a": {"b": 1}}, {"a": {"b": null}}, {"a": null}]',
    '[1.25, "1,234.5", 99999.995, null]',
    "[1,]",
    '"text"',
    '"text" 1',
    "12",
    "12a",
    "not json",
    "\u00a0{}",
    "[" * 1000 + "]" * 1000,
    "[" * 1001 + "]" * 1001,
    "[123456789012345678901234567890, 1e400, 0.1]",
]
_DATES = [
    date(1970, 1, 1),
    date(1969, 12, 31),
    date(2000, 2, 29),
    date(2024, 2, 29),
    date(2023, 3, 31),
    date(2024, 12, 31),
    date(2024, 1, 1),
    date(1582, 10, 4),
    date(1582, 10, 15),
    date(1500, 3, 1),
    date(1, 1, 1),
    date(9999, 12, 31),
    date(2024, 7, 6),
]
_TIMES = [
    datetime(1970, 1, 1),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2024, 2, 29, 12, 34, 56, 123456),
    datetime(2024, 3, 10, 10, 30),
    datetime(2024, 11, 3, 9, 30),
    datetime(2024, 11, 3, 8, 30),
    datetime(2000, 1, 1, 0, 0, 0, 1),
    datetime(1582, 10, 15),
    datetime(1500, 6, 1, 12),
    datetime(1677, 1, 1),
    datetime(2263, 1, 1),
    datetime(9999, 12, 30, 23, 59, 59, 999999),
    datetime(1, 1, 3),
]


def _integers(bits: int) -> list[int]:
    top = 2 ** (bits - 1)
    return [0, 1, -1, 2, 3, -3, 7, 10, 12, 31, 33, 64, 100, top - 1, -top, top // 2, -top + 1]


def _decimals(precision: int, scale: int) -> list[Decimal]:
    unscaled = [0, 1, -1, 5, 15, 25, -25, 49, 50, 51, 125, 1000, 12345, 10**precision - 1, -(10**precision) + 1]
    return [Decimal(f"{value}e{-scale}") for value in unscaled if abs(value) < 10**precision]


_UTC = timezone.utc
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "bool": (pa.bool_(), [True, False]),
    "i8": (pa.int8(), _integers(8)),
    "i16": (pa.int16(), _integers(16)),
    "i32": (pa.int32(), _integers(32)),
    "i64": (pa.int64(), _integers(64)),
    "f32": (pa.float32(), _FLOAT32),
    "f64": (pa.float64(), _FLOATS),
    "d5_2": (pa.decimal128(5, 2), _decimals(5, 2)),
    "d18_4": (pa.decimal128(18, 4), _decimals(18, 4)),
    "d38_0": (pa.decimal128(38, 0), _decimals(38, 0)),
    "d38_10": (pa.decimal128(38, 10), _decimals(38, 10)),
    "s": (pa.string(), _STRINGS),
    "bin": (pa.binary(), [b"", b"\x00", b"abc", b"\xff\xfe", "日本".encode(), b"a" * 40]),
    "dt": (pa.date32(), _DATES),
    "ts": (pa.timestamp("us", "UTC"), [value.replace(tzinfo=_UTC) for value in _TIMES]),
    "ntz": (pa.timestamp("us"), _TIMES),
    "pos": (pa.int32(), [-5, -3, -1, 0, 1, 2, 3, 5, 60]),
    "ai": (pa.list_(pa.int32()), [[], [1], [1, 2, 3], [3, 1, None, 2, 1], [None], [7, 7, -1]]),
    "as": (pa.list_(pa.string()), [[], ["a"], ["b", None, "a", "b"], ["", "é", "😀"], [None]]),
    "ad": (pa.list_(pa.float64()), [[], [1.0, _NAN, None, -0.0, 0.0], [_INF, -_INF], [_NAN, _NAN]]),
    "aa": (pa.list_(pa.list_(pa.int32())), [[], [[1, 2], [], [3]], [[1], None, [2, None]], [None]]),
    "m": (pa.map_(pa.string(), pa.int32()), [[], [("a", 1)], [("a", None), ("b", 2)], [("k", 3), ("", 0)]]),
    "st": (
        pa.struct([("x", pa.int32()), ("y", pa.string())]),
        [{"x": 1, "y": "a"}, {"x": None, "y": "b"}, {"x": 3, "y": None}, {"x": None, "y": None}],
    ),
    "t": (pa.string(), _TEXTS),
    "j": (pa.string(), _JSON),
}
"""Columns by name; those of two letters and more come twice, the second with `2` behind the name."""


def write(path: Path) -> None:
    """Write the table, the same each time: every value occurs, combinations are drawn at random."""
    generator = random.Random(20240229)
    columns: dict[str, pa.Array] = {}
    for name, type, values in _columns():
        drawn = [None, *values]
        drawn += generator.choices([None, *values, *values], k=ROWS - len(drawn))
        generator.shuffle(drawn)
        columns[name] = pa.array(drawn, type)
    # A day that Spark can still shift in any session time zone.
    columns["id"] = pa.array(range(ROWS), pa.int32())
    pq.write_table(pa.table(columns), path)


def write_nulls(path: Path) -> None:
    """Write a table of its columns with one row, of nulls but for the id: engines know the values of such a file before they read it."""
    nulls = {name: pa.nulls(1, type) for name, type, _ in _columns()}
    pq.write_table(pa.table({**nulls, "id": pa.array([0], pa.int32())}), path)


def _columns() -> Iterator[tuple[str, pa.DataType, list[Any]]]:
    for name, (type, values) in COLUMNS.items():
        yield name, type, values
        yield name + "2", type, values


@contextmanager
def in_spark(spark: SparkSession, folder: Path) -> Iterator[None]:
    """The table in a folder, as the view `grid` of a session."""
    path = folder / "grid.parquet"
    write(path)
    spark.read.parquet(str(path)).createOrReplaceTempView("grid")
    yield
    spark.catalog.dropTempView("grid")
