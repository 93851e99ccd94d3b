"""Text, JSON and binary files, and CSV that only Spark's own reader can say."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from rows import assert_raises, assert_same_rows, canonical, canonical_rows, differences, plan_of, spark_table
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from substrait_spark import DialectError, InvalidPlanError, SubstraitSparkError, UnsupportedPlanError, check, explain
from substrait_spark.algebra.extension_messages import SparkFiles, SparkOption
from substrait_spark.algebra.message_walk import messages
from substrait_spark.dialects import load
from substrait_spark.engines import datafusion, spark_files
from substrait_spark.engines import spark as spark_engine
from substrait_spark.testing import departures


def assert_canonical(df: DataFrame) -> None:
    """Spark has the same rows of a DataFrame and of its canonical plan."""
    expected = spark_table(df)
    assert expected.num_rows, "vacuous"
    found = differences(expected, canonical_rows(df))
    assert not found, "\n".join(found)


# ---- text

TEXTS = {
    "a.txt": b"one\ntwo\r\nthree\rfour\r\r\n\n  five \nno end",
    "b.txt": "\ufeffmark é😀\0\n\ufeffnot at the start\n".encode(),
    "c.txt": b"",
    "d.txt": b"\n",
    "e.txt": b"x\r",
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for name, content in TEXTS.items():
        (folder / name).write_bytes(content)
    (folder / "f.txt.gz").write_bytes(gzip.compress(b"packed\nlines\n"))
    (folder / "g.txt.bz2").write_bytes(bz2.compress(b"packed\nmore"))
    return folder


@pytest.mark.smoke
def test_lines(spark: SparkSession, texts: Path) -> None:
    df = spark.read.text(str(texts))
    plan = assert_same_rows(df).plan
    (read,) = [message for message in messages(plan) if isinstance(message, ReadRel)]
    assert all(item.HasField("extension") for item in read.local_files.items)
    assert "format substrait_spark.SparkFiles {format: 'text'}" in explain(plan)
    assert "SparkFiles" in str(check(df))
    assert_same_rows(df.groupBy().count())
    assert_same_rows(df.selectExpr("upper(value) AS u").where("u LIKE '%E'"))
    assert_same_rows(spark.read.schema("line string").text(str(texts / "a.txt")))


def test_lines_by_version_2(spark: SparkSession, texts: Path) -> None:
    spark.conf.set("spark.sql.sources.useV1SourceList", "")
    try:
        assert_same_rows(spark.read.text(str(texts)).where("length(value) > 3"))
        (texts.parent / "v2.json").write_text('{"a": 1, "b": "x"}\n{"a": 2}\n')
        assert_same_rows(spark.read.json(str(texts.parent / "v2.json")).where("a > 0"))
        (texts.parent / "v2.csv").write_text("1,x,2\n#,y,3\n2,z,w\n")
        rows = spark.read.options(comment="#", mode="DROPMALFORMED").schema("a int, b string, c int")
        for columns in ("*", "b", "c", "count(*)"):
            assert_canonical(rows.csv(str(texts.parent / "v2.csv")).selectExpr(columns))
    finally:
        spark.conf.unset("spark.sql.sources.useV1SourceList")


@pytest.mark.parametrize(
    "options", [{"wholetext": "TRUE"}, {"lineSep": "e"}, {"lineSep": "\r\n"}, {"lineSep": "\n", "wholetext": False}]
)
def test_text_options(spark: SparkSession, texts: Path, options: dict[str, Any]) -> None:
    assert_same_rows(spark.read.options(**options).text([str(texts / name) for name in ("a.txt", "b.txt", "e.txt")]))


def test_text_in_partitions(spark: SparkSession, tmp_path: Path) -> None:
    for key in ("k=1", "k=2"):
        (tmp_path / key).mkdir()
        (tmp_path / key / "lines").write_text(f"of {key}\nmore\n")
    assert_same_rows(spark.read.text(str(tmp_path)))
    assert_same_rows(spark.read.text(str(tmp_path)).groupBy("k").count())


def test_text_that_engines_read_otherwise(spark: SparkSession, tmp_path: Path) -> None:
    for name, content in {"latin": b"\xe9\n", "marks": b"\xef\xbb\xbf" * 2 + b"x\n", "t.gz": b"no gzip"}.items():
        (tmp_path / name).write_bytes(content)
        plan = plan_of(spark.read.text(str(tmp_path / name)), "datafusion")
        with pytest.raises(InvalidPlanError, match=r"UTF-8|marks|decompressed"):
            datafusion.execute(plan)
    (tmp_path / "plain").write_text("x\n")
    assert not check(spark.read.option("encoding", "UTF-16").text(str(tmp_path / "plain")))
    assert not check(spark.read.option("ignoreMissingFiles", "true").text(str(tmp_path / "plain")))


@pytest.mark.parametrize(
    ("suffix", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("deflate", zlib.compress)]
)
def test_compressed_text(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
    compress: Callable[[bytes], bytes],
) -> None:
    """A small file may hold more than fits in memory: no more is decompressed than is read."""
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(compress(b"line\n" * 200))
    df = spark.read.text(str(path))
    assert_same_rows(df)
    plan = plan_of(df, "datafusion")
    with monkeypatch.context() as patch:
        patch.setattr(spark_files, "TEXT", 999)
        with pytest.raises(InvalidPlanError, match="more than 999 bytes of text"):
            datafusion.execute(plan)
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(InvalidPlanError, match="can't be decompressed"):
        datafusion.execute(plan)


# ---- JSON

JSON = r"""
{"i": 1, "d": 1.5, "s": "a", "b": true, "l": [1, 2, null], "r": {"x": 1, "y": "z"}, "big": 9223372036854775807}

{"i": null, "d": -0.0, "s": "é😀\u00e9\n\"", "l": [], "r": {}, "more": {"not": ["read"]}}
{}
  {"d": 1e400, "s": 12, "b": false, "r": null, "i": -128}  
{"d": 0.1, "s": true, "r": {"y": null, "z": 1}, "d2": 5e-324}
{"d": 12345678901234567890, "S": "another column"}
{"d": 3, "s": ""}
"""  # fmt: skip # noqa: W291

SCHEMA = "i int, d double, s string, b boolean, l array<bigint>, r struct<y: string, x: smallint>, big bigint, S string, d2 double"


def json(spark: SparkSession, path: Path, text: str, schema: str = "", **options: Any) -> DataFrame:
    path.write_text(text, "utf-8")
    reader = spark.read.options(**options)
    return (reader.schema(schema) if schema else reader).json(str(path))


@pytest.mark.smoke
def test_json(spark: SparkSession, tmp_path: Path) -> None:
    df = json(spark, tmp_path / "t.json", f"{JSON} \t \n", SCHEMA.replace(", S string", ""))
    assert_same_rows(df)
    assert_same_rows(df.select("d"))
    assert_same_rows(df.groupBy("s").count())
    assert_same_rows(df.groupBy().count())
    inferred = json(spark, tmp_path / "u.json", '{"a": {"b": [1.5]}, "c": "x"}\n{"c": "y"}\n')
    assert_same_rows(inferred)


VALUES = {
    "tinyint": ["127", "-128", "0", "null"],
    "bigint": ["9223372036854775807", "-9223372036854775808"],
    "float": ["1.1", "-0.0", "3.4028235e38", "1e39", "0.1"],
    "double": ["0.1", "1e23", "9007199254740993", "1.7976931348623159e308", "123456789012345678901234567890", "1E2"],
    "decimal(5,2)": ["1", "1.005", "-1.005", "999.99", "0.001", "1e2", "12e-1"],
    "decimal(38,10)": ["1234567890123456789012345678.0123456789", "0.00000000005"],
    "string": ['"x"', '"\\u0000"', "1", "-5", "true", "12345678901234567890123"],
    "boolean": ["true", "false"],
    "binary": ['""', '"AA=="', '"/+8="'],
    "date": ['"2024-02-29"', '"0001-01-01"', '"9999-12-31"', '"1582-10-10"'],
    "timestamp": ['"2024-03-10T02:30:00.123Z"', '"1500-01-01T00:00:00-07:00"', '"2024-01-01T00:00:00.000001+05:30"'],
    "timestamp_ntz": ['"2024-03-10T02:30:00"', '"0001-01-01T00:00:00.5"'],
    "map<string,array<int>>": ["{}", '{"a": [1], "": null}', '{"b": []}'],
    "array<struct<x:int>>": ["[]", '[{"x": 1}, null, {}]'],
}


@pytest.mark.parametrize("type", VALUES)
def test_json_values(spark: SparkSession, tmp_path: Path, type: str) -> None:
    lines = [f'{{"n": {n}, "v": {value}}}' for n, value in enumerate(VALUES[type])]
    assert_same_rows(json(spark, tmp_path / "t.json", "\n".join(lines), f"n int, v {type}"))


DOUBTFUL = [
    ("int", '{"v": 1.0}'), ("int", '{"v": "1"}'), ("tinyint", '{"v": 128}'), ("int", '{"v": -0}'), ("string", '{"v": 1.0}'),
    ("string", '{"v": {"a": 1}}'), ("double", '{"v": "1"}'), ("double", '{"v": NaN}'), ("boolean", '{"v": 1}'),
    ("decimal(3,2)", '{"v": 12.5}'), ("decimal(3,2)", '{"v": 9.999}'), ("date", '{"v": "2024-2-1"}'), ("date", '{"v": "2024-02-30"}'),
    ("timestamp", '{"v": "2024-01-01T00:00:00"}'), ("timestamp_ntz", '{"v": "2024-01-01T00:00:00Z"}'), ("int", "{'v': 1}"),
    ("int", '{"v": 1} rest'), ("int", '[{"v": 1}]'), ("int", '{"v": 1, "v": 2}'), ("int", '{"v": 1'), ("string", '{"v": "\\ud800"}'),
    ("array<int>", '{"v": 1}'), ("struct<x:int>", '{"v": []}'), ("binary", '{"v": "A"}'), ("float", '{"v": 16777217}'), ("float", '{"v": 1e-300}'), ("int", "7"),
]  # fmt: skip


def test_json_that_engines_read_otherwise(spark: SparkSession, tmp_path: Path) -> None:
    for type, line in DOUBTFUL:
        df = json(spark, tmp_path / "t.json", f'{{"v": null}}\n{line}\n', f"v {type}")
        with pytest.raises(InvalidPlanError, match="line 2"):
            datafusion.execute(plan_of(df, "datafusion"))
        assert_canonical(df)


JSON_OPTIONS: list[dict[str, Any]] = [
    {"multiLine": True}, {"mode": "DROPMALFORMED"}, {"dateFormat": "dd.MM.yyyy"}, {"allowComments": True},
    {"allowUnquotedFieldNames": True}, {"allowSingleQuotes": False}, {"lineSep": ";"}, {"encoding": "UTF-8", "lineSep": "\n"},
    {"timestampFormat": "yyyy/MM/dd HH", "timeZone": "Asia/Tokyo"}, {"columnNameOfCorruptRecord": "bad"},
]  # fmt: skip


@pytest.mark.parametrize("options", JSON_OPTIONS, ids=str)
def test_json_options(spark: SparkSession, tmp_path: Path, options: dict[str, Any]) -> None:
    text = '{"v": 1, "day": "02.01.2024", "t": "2024/01/02 03"};\n{v: 2 /* a */}\n{\'v\': 3, "day": "2024-01-02"}\n{"v": "x"}\n'
    df = json(spark, tmp_path / "t.json", text, "v int, day date, t timestamp, bad string", **options)
    assert_canonical(df)
    (problem,) = check(df, dialect="datafusion")
    assert all(name.lower() in problem.reason for name in list(options)[:1])
    assert "Parquet" in problem.hint


def test_json_of_sessions(spark: SparkSession, tmp_path: Path) -> None:
    df = json(
        spark,
        tmp_path / "t.json",
        '{"t": "2024-01-01T00:00:00", "_corrupt_record": 5}\nnone\n',
        "t timestamp, _corrupt_record string, broken int",
    )
    assert_canonical(df)
    spark.conf.set("spark.sql.columnNameOfCorruptRecord", "broken_text")
    try:
        assert_canonical(spark.read.schema("broken_text string, t timestamp").json(str(tmp_path / "t.json")))
    finally:
        spark.conf.unset("spark.sql.columnNameOfCorruptRecord")
    for setting, value in {
        "spark.sql.legacy.timeParserPolicy": "LEGACY",
        "spark.sql.json.enablePartialResults": "false",
    }.items():
        before = spark.conf.get(setting)
        spark.conf.set(setting, value)
        try:
            assert setting in str(check(df))
        finally:
            spark.conf.set(setting, str(before))
    assert "madeup" in str(check(spark.read.schema("t string").option("madeUp", 1).json(str(tmp_path / "t.json"))))


# ---- binary files


def test_binary_files(spark: SparkSession, texts: Path) -> None:
    df = spark.read.format("binaryFile").load(str(texts))
    assert_same_rows(df)
    assert_same_rows(df.selectExpr("length(content) AS n", "length").where("length > 1"))
    assert_same_rows(df.groupBy().count())
    odd = texts.parent / "odd é names"
    odd.mkdir()
    (odd / "a b%20.bin").write_bytes(bytes(range(256)))
    assert_same_rows(spark.read.format("binaryFile").option("pathGlobFilter", "*.bin").load(str(odd)))


# ---- CSV that delimited text can't say

CSV = '# told,2\n a ,1\n#b,2\n c,x\n"d\n e",3\n"f",4,more\ng\n,03.02.2024\n -,5;\n'

CSV_OPTIONS: list[dict[str, Any]] = [
    {"ignoreLeadingWhiteSpace": True}, {"ignoreTrailingWhiteSpace": True}, {"comment": "#"}, {"multiLine": True},
    {"mode": "DROPMALFORMED"}, {"mode": "dropmalformed", "header": True}, {"emptyValue": "-"}, {"lineSep": ";"},
    {"nanValue": "-", "nullValue": "x"}, {"maxColumns": 5}, {"charToEscapeQuoteEscaping": "!"}, {"encoding": "ISO-8859-1"},
    {"unescapedQuoteHandling": "SKIP_VALUE"}, {"dateFormat": "dd.MM.yyyy"}, {"columnNameOfCorruptRecord": "bad"},
    {"mode": "DROPMALFORMED", "multiLine": True, "columnPruning": True}, {"mode": "DROPMALFORMED", "multiLine": True},
    {"mode": "DROPMALFORMED", "columnPruning": False}, {"mode": "FAILFAST", "comment": "#"}, {"nullValue": "x", "sep": "||"},
]  # fmt: skip


@pytest.mark.parametrize("options", CSV_OPTIONS, ids=str)
def test_csv_options(spark: SparkSession, tmp_path: Path, options: dict[str, Any]) -> None:
    (tmp_path / "t.csv").write_text("a,1\n" * 2 if options.get("mode") == "FAILFAST" else CSV)
    reader = spark.read.options(**options)
    df = reader.schema("s string, n int, bad string").csv(str(tmp_path / "t.csv"))
    days = reader.schema("s string, d date").csv(str(tmp_path / "t.csv"))
    two = reader.schema("s string, n int").csv(str(tmp_path / "t.csv"))
    one = days if "dateFormat" in options else two if "mode" in options else df
    for frame in (one, one.select("s"), one.groupBy("s").count()):
        assert_canonical(frame)
    problems = check(one, dialect="datafusion").problems
    assert problems
    assert "Parquet" in problems[0].hint


def test_csv_that_fails_fast(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,1\nb,x\n")
    df = spark.read.schema("s string, n int").option("mode", "FAILFAST").csv(str(tmp_path / "t.csv"))
    assert_raises(df)
    assert_raises(canonical(df))


def test_compressed_csv(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,1\nb,2\n"))
    assert_canonical(spark.read.schema("s string, n int").csv(str(tmp_path / "t.csv.gz")))


def test_columns_in_the_text_and_in_folders(spark: SparkSession, tmp_path: Path) -> None:
    for key in ("1", "2"):
        (tmp_path / f"b={key}").mkdir()
        (tmp_path / f"b={key}" / "t.csv").write_text(f"# of {key}\nx,9,{key}\n")
    df = spark.read.option("comment", "#").schema("a string, b int, c int").csv(str(tmp_path))
    for columns in ("*", "b", "c", "a"):
        assert_canonical(df.selectExpr(columns))


# ---- plans of others


def test_what_plans_may_not_name(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("x\n")
    plan = plan_of(spark.read.text(str(tmp_path / "t")))
    for changed, message in (
        (SparkFiles(format="jdbc"), "Spark's format 'jdbc'"),
        (SparkFiles(format="text", options=[SparkOption(name="path", value="/etc")]), "no option 'path'"),
    ):
        other = Plan.FromString(plan.SerializeToString())
        for read in messages(other):
            if isinstance(read, ReadRel):
                read.local_files.items[0].extension.Pack(changed)
        for run in (datafusion.execute, lambda made: spark_engine.execute(made, spark)):
            with pytest.raises((InvalidPlanError, UnsupportedPlanError), match=message):
                run(other)


def test_a_time_zone_that_there_is_not(spark: SparkSession, tmp_path: Path) -> None:
    df = json(spark, tmp_path / "t.json", '{"t": "2024-01-01T00:00:00"}\n', "t timestamp", timeZone="UTC")
    plan = plan_of(df)
    (read,) = [message for message in messages(plan) if isinstance(message, ReadRel)]
    format = SparkFiles(format="json", options=[SparkOption(name="timezone", value="evil/zone")])
    read.local_files.items[0].extension.Pack(format)
    with pytest.raises(InvalidPlanError, match="line 1 has a value in 't' that Spark may not read"):
        datafusion.execute(plan)
    with pytest.raises(SubstraitSparkError, match=r"INVALID_TIMEZONE|ZoneRulesException"):
        spark_engine.execute(plan, spark).collect()


def test_dialects_that_list_formats(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("x\n")
    df = spark.read.option("lineSep", ";").text(str(tmp_path / "t"))
    file = tmp_path / "dialect.yaml"
    head = "name: d\nsupported_types: [STRING]\nsupported_relations:\n  - {relation: READ"
    for listed, lacking in {
        "": "reads no text files with Spark's option linesep",
        ", metadata: {spark_files: {text: []}}": "reads no text files with Spark's option linesep",
        ", metadata: {spark_files: {text: [linesep]}}": "",
    }.items():
        file.write_text(f"{head}{listed}}}\n")
        assert (lacking in str(check(df, dialect=file))) if lacking else check(df, dialect=file)
        assert bool(departures(plan_of(df), load(file))) == bool(lacking)
    for wrong in ("{spark: {}}", "{spark_files: [text]}", "{spark_files: {text: linesep}}"):
        file.write_text(f"{head}, metadata: {wrong}}}\n")
        with pytest.raises(DialectError, match=r"metadata\.spark"):
            load(file)


def test_values_and_names_as_they_are_written(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("#\nTRUE,1\ntrue,2\nx,y\n")
    reader = spark.read.options(comment="#", nullValue="TRUE")
    assert_canonical(reader.schema("s string, n int").csv(str(tmp_path / "t.csv")))
    (tmp_path / "t.json").write_text('{"a": 1, "_corrupt_record": "mine"}\nbroken\n')
    schema = "a int, _corrupt_record string"
    for corrupt in ("other", "_corrupt_record"):
        assert_canonical(
            spark.read.option("columnNameOfCorruptRecord", corrupt).schema(schema).json(str(tmp_path / "t.json"))
        )
    spark.conf.set("spark.sql.columnNameOfCorruptRecord", "elsewhere")
    try:
        assert_canonical(spark.read.schema(schema).json(str(tmp_path / "t.json")))
    finally:
        spark.conf.unset("spark.sql.columnNameOfCorruptRecord")
