"""JSON in DataFusion: texts that are broken anywhere give the rows that Spark's parser gives."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from rows import assert_same_rows

from substrait_spark import EngineError, df_to_substrait
from substrait_spark.engines import datafusion
from substrait_spark.engines.arrow.functions.time_texts import FIELDS
from substrait_spark.engines.datafusion.functions.datetime_format import WRITTEN, WRITTEN_OFFSETS

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
    "ARRAY<STRUCT<a: STRING, b: STRING>>",
)
TIMES = (
    "2020-02-29|2020-02-30|2020-1-5|2020-01|2020|20200101|123|-123|99999999999|2020-01-01 10:30:45.123456789|2020-01-01T10:30:45Z|"
    "2020-01-01T10:30:45+01:00|2020-01-01T10:30:45.5-0130|2020-01-01T10:30:45GMT+01:00|2020-01-01T10:30|2020-01-01 10|2020-01-01T|"
    "2020-01-01 1:2:3 UTC|2020-01-01 1:2:3.UTC+5|2020-01-01 1:2:3 +18:00|2020-01-01 1:2:3 +18:01|2020-01-01 1:2:3 PST|"
    "2020-07-01 1:2:3America/New_York|2020-01-01 1:2:3 PM|2020-01-01 24:00:00| 2020-01-01 |0001-01-01|9999-12-31 23:59:59.999999|"
    "+12020-01-01|-0044-03-15|300000-01-01 00:00:00Z|2021-03-14 02:30:00|2021-11-07 01:30:00|2020-01-01x|GMT2020-01-01||"
    "26/08/2015|08/26/2015 3:04 PM|Aug 5, 2015|2015-08-26T01:02:03.004+0530|2020-01-01 00:00:00+5:3:3|2020-01-01 00:00:00 GMT0"
).split("|")
COUNTS = ("0", "-5", "1700000000", "1700000000000000", "92233720368547758070", "1.5", "true", "null", "{}", "[1]")
OF_TIMES = (
    "",
    ", map('timestampFormat', 'MM/dd/yyyy h:mm a', 'dateFormat', 'dd/MM/yyyy', 'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss')",
    ", map('timestampFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSXX\", 'dateFormat', 'yyyyMMdd', 'timeZone', 'Asia/Tokyo')",
    ", map('dateFormat', 'MMM d, yyyy', 'enableDateTimeParsingFallback', 'true')",
    ", map('enableDateTimeParsingFallback', 'false')",
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


def test_what_is_malformed(texts: DataFrame) -> None:
    types = "a INT, _corrupt_record STRING, c STRUCT<a: INT, _corrupt_record: STRING>, b DATE"
    named = "map('columnNameOfCorruptRecord', 'b')"
    read = (f"from_json(t, '{types}') AS r", f"from_json(t, 'c MAP<STRING, INT>, b STRING', {named}) AS s")
    assert_same_rows(texts.selectExpr("id", *read, f"from_json(t, 'a INT, b STRING', {named}).b AS b"))


def test_paths(texts: DataFrame) -> None:
    found = [f'get_json_object(t, "{path}") AS r{n}' for n, path in enumerate(PATHS)]
    assert_same_rows(texts.selectExpr("id", *found, "json_array_length(t) AS n", "json_object_keys(t) AS k"))


def test_fields(texts: DataFrame) -> None:
    assert_same_rows(texts.selectExpr("id", "json_tuple(t, 'a', 'b', 'x y')"))


def test_written_again(texts: DataFrame) -> None:
    read = texts.selectExpr("id", "from_json(t, 'a STRING, b ARRAY<INT>, c MAP<STRING, BOOLEAN>') AS r")
    assert_same_rows(read.selectExpr("id", "to_json(r) AS a", "to_json(r, map('ignoreNullFields', 'false')) AS b"))


@pytest.fixture(scope="module")
def times(shared_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = tmp_path_factory.mktemp("json") / "times.parquet"
    values = [*COUNTS, *map(json.dumps, TIMES)]
    rows = [f'{{"a":{value},"b":{value},"c":{value},"d":[{value}],"e":{{"x":{value}}}}}' for value in values]
    pq.write_table(pa.table({"id": range(len(rows)), "t": rows}), path)
    return shared_session.read.parquet(str(path))


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "-03:30"])
@pytest.mark.parametrize("options", OF_TIMES)
def test_times(spark: SparkSession, times: DataFrame, zone: str, options: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", zone)
    types = "a DATE, b TIMESTAMP, c TIMESTAMP_NTZ, d ARRAY<TIMESTAMP>, e MAP<STRING, DATE>"
    read = times.selectExpr("id", f"from_json(t, '{types}'{options}) AS r")
    assert_same_rows(read)
    later = "named_struct('a', r.a, 'b', greatest(r.b, TIMESTAMP'1950-01-01 00:00:00'), 'c', r.c, 'e', r.e)"
    assert_same_rows(read.selectExpr("id", f"to_json({later}{options}) AS w"))


def test_fields_are_written_that_plans_may_ask_for() -> None:
    assert set(FIELDS) == {*WRITTEN, *WRITTEN_OFFSETS, "XXXXX"}


@pytest.mark.parametrize("text", ["12:30", "T1:2:3", "2020-01-01 00:00:00 Mars/Crater", "-99999999"])
def test_what_is_not_known_raises(spark: SparkSession, text: str) -> None:
    """Spark would take the day of today, ask Java for a zone, or count days of the Julian calendar."""
    df = spark.createDataFrame([(f'{{"a":"{text}"}}',)], "t string")
    kind = "DATE" if text.startswith("-") else "TIMESTAMP"
    plan = df_to_substrait(df.selectExpr(f"from_json(t, 'a {kind}') AS r"), dialect="datafusion")
    with pytest.raises(EngineError, match="UNSUPPORTED_TEXT"):
        datafusion.execute(plan)
