"""JSON in DataFusion: texts that are broken anywhere give the rows that Spark's parser gives."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from rows import assert_same_rows

SCALARS = (
    '1 -0 300 3000000000 123456789012345678901234567890 1.50 01 1. .5 - +1 NaN -INF Infinity true null tru nul1 "a" '
    '"" "é😀" "\\u00e9\\ud83d\\ude00" "\\n\\"" "\\x" "a\tb" "it\'s" "NaN" "1,234.5" \'s\''
).split(" ")
NAMES = ('"a"', '"b"', '"c"', '"a"', "'b'", '"x y"', '""', "a")
TYPES = (
    "a INT, b STRING, c STRUCT<a: INT, b: STRING>",
    "a TINYINT, b DECIMAL(9,2), c ARRAY<STRUCT<a: BIGINT, b: BOOLEAN>>",
    "a DOUBLE, b FLOAT, c MAP<STRING, SMALLINT>",
    "MAP<STRING, ARRAY<INT>>",
    "ARRAY<INT>",
    "ARRAY<MAP<STRING, STRING>>",
)
PATHS = (
    "$",
    "$.a",
    "$.b.a",
    "$['x y']",
    "$[0]",
    "$[1].a",
    "$[*]",
    "$[*].a",
    "$.a[*]",
    "$[*][*]",
    "$.c[0][*].a",
    "$.*",
    "$..a",
    " $",
)


def json_text(draw: random.Random, depth: int = 0) -> str:
    """A value, mostly JSON."""
    kind = draw.random()
    if depth > 2 or kind < 0.4:
        return draw.choice(SCALARS if draw.random() < 0.2 else (*SCALARS[:3], '"a"', "null", "true"))
    inside = [json_text(draw, depth + 1) for _ in range(draw.randint(0, 3))]
    if kind < 0.8:
        return (
            "{"
            + ", ".join(f"{draw.choice(NAMES[: 8 if draw.random() < 0.1 else 4])}:{value}" for value in inside)
            + "}"
        )
    return "[" + ",".join(inside) + "]"


def broken(draw: random.Random, text: str) -> str:
    """A text with a character more or less, or what is behind it."""
    at = draw.randrange(len(text) + 1)
    more = draw.choice("{}[]\",:'\\ 0ae.-\n\x01\u00a0")
    return draw.choice([text, text[:at] + text[at + 1 :], text[:at] + more + text[at:], text[:at], text + " x"])


@pytest.fixture(scope="module")
def texts(shared_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = tmp_path_factory.mktemp("json") / "texts.parquet"
    draw = random.Random(8259)
    rows = [None, "", " ", *(broken(draw, json_text(draw)) for _ in range(600))]
    pq.write_table(pa.table({"id": range(len(rows)), "t": rows}), path)
    return shared_session.read.parquet(str(path))


@pytest.mark.parametrize("type", TYPES)
def test_values(texts: DataFrame, type: str) -> None:
    options = "map('allowNumericLeadingZeros', 'true', 'allowUnquotedControlChars', 'true')"
    assert_same_rows(texts.selectExpr("id", f"from_json(t, '{type}') AS r", f"from_json(t, '{type}', {options}) AS s"))


def test_paths(texts: DataFrame) -> None:
    found = [f'get_json_object(t, "{path}") AS r{n}' for n, path in enumerate(PATHS)]
    assert_same_rows(texts.selectExpr("id", *found, "json_array_length(t) AS n", "json_object_keys(t) AS k"))


def test_fields(texts: DataFrame) -> None:
    assert_same_rows(texts.selectExpr("id", "json_tuple(t, 'a', 'b', 'x y')"))


def test_written_again(texts: DataFrame) -> None:
    read = texts.selectExpr("id", "from_json(t, 'a STRING, b ARRAY<INT>, c MAP<STRING, BOOLEAN>') AS r")
    assert_same_rows(read.selectExpr("id", "to_json(r) AS a", "to_json(r, map('ignoreNullFields', 'false')) AS b"))
