"""Literals: exactly the value that Spark holds, in the plan's messages and in the engine's rows."""

from __future__ import annotations

import datetime as dt
import math
import struct
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from rows import assert_same_rows, plan_of
from substrait.algebra_pb2 import Expression

from substrait_spark import check
from substrait_spark.algebra.message_walk import messages

Literal = Expression.Literal


def literal_of(df: DataFrame) -> Literal:
    """The one literal of a query of one column."""
    return next(message for message in messages(plan_of(df)) if isinstance(message, Literal))


def decimal_of(literal: Literal) -> Decimal:
    unscaled = int.from_bytes(literal.decimal.value, "little", signed=True)
    digits = tuple(map(int, str(abs(unscaled))))
    return Decimal((int(unscaled < 0), digits, -literal.decimal.scale))


@pytest.mark.parametrize(
    ("sql", "field", "value"),
    [
        ("true", "boolean", True),
        ("-128Y", "i8", -128),
        ("-32768S", "i16", -32768),
        ("-2147483648", "i32", -(2**31)),
        ("9223372036854775807L", "i64", 2**63 - 1),
        ("float('inf')", "fp32", math.inf),
        ("-1.7976931348623157E308D", "fp64", -1.7976931348623157e308),
        ("4.9E-324D", "fp64", 5e-324),
        ("''", "string", ""),
        ("date'0001-01-01'", "date", (dt.date(1, 1, 1) - dt.date(1970, 1, 1)).days),
        ("date'1582-10-10'", "date", (dt.date(1582, 10, 10) - dt.date(1970, 1, 1)).days),
        ("date'9999-12-31'", "date", (dt.date(9999, 12, 31) - dt.date(1970, 1, 1)).days),
        ("X''", "binary", b""),
    ],
)
@pytest.mark.smoke
def test_values(spark: SparkSession, sql: str, field: str, value: object) -> None:
    df = spark.sql(f"SELECT {sql} AS x")
    literal = literal_of(df)
    assert literal.WhichOneof("literal_type") == field
    assert getattr(literal, field) == value
    assert not literal.nullable
    assert_same_rows(df)


@pytest.mark.parametrize("value", ["-0.0", "0.0", "NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize(("type", "field", "layout"), [("double", "fp64", "<d"), ("float", "fp32", "<f")])
def test_floating_point(spark: SparkSession, value: str, type: str, field: str, layout: str) -> None:
    df = spark.sql(f"SELECT {type}('{value}') AS x")
    assert struct.pack(layout, getattr(literal_of(df), field)) == struct.pack(layout, float(value))
    assert_same_rows(df)


@pytest.mark.parametrize(
    ("value", "type"),
    [
        ("99999999999999999999999999999999999999", "decimal(38,0)"),
        ("-99999999999999999999999999999999999999", "decimal(38,0)"),
        ("-0.00000000000000000000000000000000000001", "decimal(38,38)"),
        ("123456789012345678.90", "decimal(20,2)"),
        ("-1.5", "decimal(2,1)"),
        ("0.00", "decimal(3,2)"),
    ],
)
def test_decimals(spark: SparkSession, value: str, type: str) -> None:
    df = spark.sql(f"SELECT CAST('{value}' AS {type}) AS x")
    literal = literal_of(df)
    assert decimal_of(literal) == Decimal(value)
    assert f"decimal({literal.decimal.precision},{literal.decimal.scale})" == type
    assert len(literal.decimal.value) == 16
    assert_same_rows(df)


TIMESTAMPS = [
    "1970-01-01 00:00:00.000000",
    "2024-02-29 23:59:59.123456",
    "1969-12-31 23:59:59.999999",
    "0001-01-01 00:00:00.000000",
    "9999-12-31 23:59:59.999999",
    "1582-10-10 12:00:00.000001",
]


def microseconds(text: str) -> int:
    since = dt.datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f") - dt.datetime(1970, 1, 1)  # noqa: DTZ007
    return since // dt.timedelta(microseconds=1)


@pytest.mark.parametrize("text", TIMESTAMPS)
def test_timestamps(spark: SparkSession, text: str) -> None:
    local = spark.sql(f"SELECT timestamp_ntz'{text}' AS x")
    assert literal_of(local).precision_timestamp.value == microseconds(text)
    assert literal_of(local).precision_timestamp.precision == 6
    assert_same_rows(local)
    instant = spark.sql(f"SELECT timestamp'{text} UTC' AS x")
    assert literal_of(instant).precision_timestamp_tz.value == microseconds(text)
    if "9999" not in text and "0001" not in text:  # Python's own dates end there
        assert_same_rows(instant)


@pytest.mark.parametrize(
    "text", ["a\0b", "quote' \" ` \\", "😀 ä \u2028 \uffff", "\x01\x1f\x7f", "\\u0041", "%_", "\r\n\t", "\ud7ff\ue000"]
)
@pytest.mark.smoke
def test_strings(spark: SparkSession, text: str) -> None:
    df = spark.createDataFrame([(text,)], "x string")
    assert literal_of(df).string == text
    assert_same_rows(df)
    codes = ", ".join(f"decode(X'{character.encode().hex()}', 'UTF-8')" for character in text)
    computed = spark.sql(f"SELECT concat({codes}) AS x")
    assert literal_of(computed).string == text
    assert_same_rows(computed)


def test_unpaired_surrogates_are_what_spark_makes_of_them(spark: SparkSession) -> None:
    df = spark.sql(r"SELECT 'a\uD83Db' AS x")
    assert literal_of(df).string == "a?b"
    assert_same_rows(df)


def test_strings_that_are_no_utf8_are_refused(spark: SparkSession) -> None:
    (problem,) = check(spark.sql("SELECT CAST(X'61FF' AS STRING) AS x"))
    assert "bytes that are no UTF-8" in problem.reason
    (problem,) = check(spark.sql("SELECT array('ok', CAST(X'80' AS STRING)) AS x"))
    assert "BINARY" in problem.hint


def test_binary_of_every_byte(spark: SparkSession) -> None:
    everything = bytes(range(256))
    df = spark.sql(f"SELECT X'{everything.hex()}' AS x")
    assert literal_of(df).binary == everything
    assert_same_rows(df)


@pytest.mark.parametrize(
    ("sql", "years", "months"),
    [
        ("INTERVAL '1-2' YEAR TO MONTH", 1, 2),
        ("INTERVAL '-1-2' YEAR TO MONTH", -1, -2),
        ("INTERVAL '3' YEAR", 3, 0),
        ("INTERVAL '-5' MONTH", 0, -5),
        ("INTERVAL '178956970-7' YEAR TO MONTH", 178956970, 7),
        ("INTERVAL '-178956970-8' YEAR TO MONTH", -178956970, -8),
    ],
)
def test_intervals_of_months(spark: SparkSession, sql: str, years: int, months: int) -> None:
    interval = literal_of(spark.sql(f"SELECT {sql} AS x")).interval_year_to_month
    assert (interval.years, interval.months) == (years, months)


@pytest.mark.parametrize(
    ("sql", "days", "seconds", "subseconds"),
    [
        ("INTERVAL '1 02:03:04.000001' DAY TO SECOND", 1, 7384, 1),
        ("INTERVAL '-1 02:03:04.123456' DAY TO SECOND", -1, -7384, -123456),
        ("INTERVAL '3' DAY", 3, 0, 0),
        ("INTERVAL '100' HOUR", 4, 14400, 0),
        ("INTERVAL '-0.000001' SECOND", 0, 0, -1),
        ("INTERVAL '106751991 04:00:54.775807' DAY TO SECOND", 106751991, 14454, 775807),
        ("INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND", -106751991, -14454, -775808),
    ],
)
def test_intervals_of_days(spark: SparkSession, sql: str, days: int, seconds: int, subseconds: int) -> None:
    df = spark.sql(f"SELECT {sql} AS x")
    interval = literal_of(df).interval_day_to_second
    assert (interval.days, interval.seconds, interval.subseconds) == (days, seconds, subseconds)
    assert interval.precision == 6
    assert_same_rows(df)  # DataFusion would read them as days and milliseconds, so they are counted


NESTED = [
    "array(1, NULL, 3)",
    "array(array('a'), CAST(NULL AS array<string>), CAST(array() AS array<string>))",
    "CAST(array() AS array<int>)",
    "map('b', 1, 'a', NULL)",
    "CAST(map() AS map<string,int>)",
    "map(1, map('x', array(1.5BD, NULL)))",
    "named_struct('a', 1, 'b', named_struct('c', array(1, NULL), 'd', 'x'))",
    "array(named_struct('a', 1, 'b', 'x'), CAST(NULL AS struct<a:int,b:string>))",
    "CAST(NULL AS struct<a:int,b:array<string>>)",
    "named_struct('d', date'1500-01-01', 't', timestamp'2024-01-01 00:00:00', 'y', X'00FF', 'n', double('NaN'))",
    "array(1.5BD, -99.99BD)",
    "array(double('NaN'), -0.0D, NULL)",
    "array(true, NULL)",
]


@pytest.mark.parametrize("sql", NESTED)
def test_nested(spark: SparkSession, sql: str) -> None:
    assert_same_rows(spark.sql(f"SELECT {sql} AS x"))
    assert_same_rows(spark.sql(f"SELECT * FROM VALUES ({sql}, 1), ({sql}, NULL) t(x, n)"))


def test_maps_keep_the_order_of_their_keys(spark: SparkSession) -> None:
    keys = [pair.key.string for pair in literal_of(spark.sql("SELECT map('b', 1, 'a', 2, 'c', 3) AS x")).map.key_values]
    assert keys == ["b", "a", "c"]


def test_empty_nested_literals_carry_their_type(spark: SparkSession) -> None:
    empty = literal_of(spark.sql("SELECT CAST(array() AS array<decimal(5,2)>) AS x"))
    assert empty.empty_list.type.decimal.precision == 5
    empty = literal_of(spark.sql("SELECT CAST(map() AS map<int,string>) AS x"))
    assert empty.empty_map.value.HasField("string")


@pytest.mark.parametrize(
    "type", ["int", "decimal(38,5)", "timestamp", "array<int>", "map<string,int>", "struct<a:int>"]
)
def test_typed_nulls(spark: SparkSession, type: str) -> None:
    df = spark.sql(f"SELECT CAST(NULL AS {type}) AS x")
    assert literal_of(df).WhichOneof("literal_type") == "null"
    assert_same_rows(df)


def test_values_of_python(spark: SparkSession) -> None:
    rows: list[tuple[Any, ...]] = [
        (1, "a", 1.5, Decimal("1.50"), dt.date(1, 1, 1), b"\x00\xff", [1, None], {"k": None}, (1, None)),
        (None, None, math.nan, None, None, None, None, None, None),
        (-1, "", -0.0, Decimal("-99999.99"), dt.date(9999, 12, 31), b"", [], {}, (None, "z")),
    ]
    schema = (
        "i int, s string, f double, c decimal(7,2), d date, b binary, l array<int>, m map<string,int>, "
        "r struct<x:int,y:string>"
    )
    assert_same_rows(spark.createDataFrame(rows, schema))


def test_in_lists_over_ten_literals_mean_what_the_column_means(spark: SparkSession) -> None:
    dates = ", ".join(f"date'2024-01-{day:02}'" for day in range(1, 14))
    df = spark.sql(
        f"SELECT d, d IN ({dates}) AS among, d NOT IN ({dates}, NULL) AS apart FROM VALUES "
        "(date'2024-01-05'), (date'2023-01-05'), (NULL) t(d)"
    )
    assert_same_rows(df)


@pytest.mark.parametrize(
    ("type", "make"),
    [
        ("int", "{}"),
        ("bigint", "{}L"),
        ("double", "{}.5D"),
        ("decimal(10,2)", "{}.25BD"),
        ("string", "'{}'"),
        ("timestamp", "timestamp'2024-01-01 00:00:{:02}'"),
        ("timestamp_ntz", "timestamp_ntz'2024-01-01 00:00:{:02}'"),
        ("binary", "X'{:02x}'"),
        ("date", "date'2024-01-{:02}'"),
        ("boolean", "{} > 3"),
    ],
)
@pytest.mark.parametrize("count", [10, 11])
def test_in_lists_of_every_type(spark: SparkSession, type: str, make: str, count: int) -> None:
    listed = ", ".join(make.format(n) for n in range(1, count + 1))
    values = ", ".join(f"(CAST({make.format(n)} AS {type}))" for n in (1, 7, 11, 12, 13))
    assert_same_rows(spark.sql(f"SELECT x, x IN ({listed}, NULL) AS i FROM VALUES {values}, (NULL) t(x)"))
