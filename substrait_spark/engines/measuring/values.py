"""Edge values by type, in Catalyst's internal form, and tables of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from ...algebra import types
from ...algebra.types import Type
from ..arrow.values import array

_INF, _NAN = float("inf"), float("nan")

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 0.1, 1e10, _INF, -_INF, _NAN]
_DAY = 86_400_000_000
_MICROSECONDS = [
    0,
    -1,
    1_709_210_096_123_456,
    1_710_066_600_000_000,
    946_684_800_000_001,
    -12_219_292_800_000_000,
    253_402_127_999_999_999,
]
TEXTS = [
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
    "a%b_c\\d",
    "a,b,,c",
    "12",
    "-7",
    "1.5",
    "1e3",
    "true",
    "2024-02-29",
    "2024-01-01 10:00:00",
    "NaN",
    "aaaa",
]


def _integers(bits: int) -> list[int]:
    top = 2 ** (bits - 1)
    return [0, 1, -1, 2, 3, -3, 7, 10, 31, 64, top - 1, -top, top // 2, -top + 1]


def _decimals(precision: int) -> list[int]:
    digits = [0, 1, -1, 5, 15, 25, -25, 49, 50, 51, 125, 12345, 10**precision - 1, -(10**precision) + 1]
    return [value for value in digits if abs(value) < 10**precision]


_OF_KIND: dict[str, Sequence[Any]] = {
    "boolean": [True, False],
    **{f"i{bits}": _integers(bits) for bits in (8, 16, 32, 64)},
    "fp32": [*FLOATS, 1.401298464324817e-45, 3.4028234663852886e38],
    "fp64": [*FLOATS, 5e-324, 1.7976931348623157e308, -1e20, 123456.789],
    "string": TEXTS,
    "binary": [b"", b"\x00", b"abc", b"\xff\xfe", "日本".encode(), b"a" * 40],
    "date": [0, -1, 11016, 19782, 19447, 20088, -141427, -171590, -719162, 2932896],
    "precision_timestamp": _MICROSECONDS,
    "precision_timestamp_tz": _MICROSECONDS,
    "precision_time": [0, 1, 45_296_000_000, 86_399_999_999],
    "interval_year": [0, 1, -1, 12, 25, -13, 2**31 - 1],
    "interval_day": [0, 1, -1, _DAY, -_DAY - 1, 90_061_000_001],
}

POSITIONS = [-5, -3, -1, 0, 1, 2, 3, 5, 30]
"""Integers beside texts, lists and bytes, where they count characters and elements."""


def edges(type: Type) -> Sequence[Any]:
    """The values of a type to try, without null. Raises LookupError for a type that there are none of."""
    if type.kind == "decimal":
        return _decimals(type.parameters[0])
    if type.kind == "list":
        some = list(edges(type.parameters[0]))
        return [(), tuple(some[:1]), tuple(some[:3]), (some[1], None, some[0], some[1]), (None,), tuple(some[-3:])]
    if type.kind == "map":
        keys, values = (list(edges(part)) for part in type.parameters)
        return [((), ()), ((keys[0],), (values[0],)), (tuple(keys[:3]), (None, values[1], values[0]))]
    if type.kind == "struct":
        columns = [[*edges(part)][:3] for part in type.parameters]
        return [tuple(column[n] if n < len(column) else None for column in columns) for n in range(3)] + [
            tuple(None for _ in columns)
        ]
    return _OF_KIND[type.kind]


class Table(NamedTuple):
    """Rows to measure with: columns by name and type, values in Catalyst's internal form."""

    names: tuple[str, ...]
    schema: tuple[Type, ...]
    rows: tuple[tuple[Any, ...], ...]

    def only(self, positions: Sequence[int]) -> Table:
        """The table of some of its rows."""
        return self._replace(rows=tuple([self.rows[n] for n in positions]))

    def arrow(self) -> pa.Table:
        """The same rows as an Arrow table, whose schema says what is never null."""
        columns = [[row[n] for row in self.rows] for n in range(len(self.names))]
        arrays = [array(column, type) for column, type in zip(columns, self.schema, strict=True)]
        fields = [
            pa.field(name, values.type, type.nullable)
            for name, values, type in zip(self.names, arrays, self.schema, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def table(columns: Sequence[tuple[str, Type, Sequence[Any]]], seed: str, most: int = 40) -> Table:
    """Rows of columns' values behind a number `id`: all combinations, or as many drawn ones, the same each time.

    Each value of each column occurs, and null does.
    """
    generator = random.Random(seed)  # noqa: S311 - values to measure with
    count = 1
    for _, _, values in columns:
        count *= len(values) + 1
    drawn: list[tuple[Any, ...]] = []
    if count <= most:
        drawn = [()]
        for _, _, values in columns:
            drawn = [(*row, value) for row in drawn for value in (*values, None)]
    else:
        longest = max(len(values) + 1 for _, _, values in columns)
        by_column = []
        for n, (_, _, values) in enumerate(columns):
            size = max(most, longest)
            cycle = [*values, None] * (size // (len(values) + 1) + 1)
            cycle = cycle[:size]
            if n:
                generator.shuffle(cycle)
            by_column.append(cycle)
        drawn = list(zip(*by_column, strict=True))
    names = ("id", *[name for name, _, _ in columns])
    schema = (types.I32, *[types.nullable(type) for _, type, _ in columns])
    return Table(names, schema, tuple([(n, *row) for n, row in enumerate(drawn)]))


def field_names(name: str, type: Type) -> list[str]:
    """A column's name and those of the fields of structs in it, depth-first, as schemas of plans have them."""
    inner = types.parts(type)
    below = [
        each
        for n, part in enumerate(inner)
        for each in (field_names(f"f{n}", part) if type.kind == "struct" else field_names("", part)[1:])
    ]
    return [name, *below]
