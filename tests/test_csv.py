"""CSV: options in the read or refused, and typed columns as Spark's parser reads their text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from releases import since
from rows import assert_same_rows, canonical_rows, differences, plan_of, spark_table
from substrait.algebra_pb2 import ReadRel

from substrait_spark import InvalidPlanError, check
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import datafusion


def csv(spark: SparkSession, path: Path, text: str, schema: str, **options: Any) -> DataFrame:
    path.write_text(text, "utf-8")
    return spark.read.schema(schema).options(**options).csv(str(path))


def lacking(df: DataFrame) -> str:
    """What DataFusion lacks to read files that Spark can read again from the canonical plan."""
    assert check(df)
    return str(check(df, dialect="datafusion"))


@pytest.mark.smoke
def test_text(spark: SparkSession, tmp_path: Path) -> None:
    text = 'x,"quoted, too",é\n,"",z\na b ,"say \\"no\\""," "\n'
    df = csv(spark, tmp_path / "t.csv", text, "a string, b string, c string")
    (read,) = [message for message in messages(assert_same_rows(df).plan) if isinstance(message, ReadRel)]
    (item,) = read.local_files.items
    assert (item.text.field_delimiter, item.text.quote, item.text.escape) == (",", '"', "\\")
    assert item.text.header_lines_to_skip == 0
    assert_same_rows(df.select("c"))


@pytest.mark.parametrize("options", [{"sep": "|"}, {"delimiter": "|"}, {"sep": "|", "delimiter": "|"}])
def test_separators(spark: SparkSession, tmp_path: Path, options: dict[str, str]) -> None:
    assert_same_rows(csv(spark, tmp_path / "t.csv", "a|b,c\n1|2\n", "a string, b string", **options))


@pytest.mark.parametrize(
    "options", [{"sep": "\\t"}, {"sep": "\t"}, {"sep": "\t", "header": "TRUE", "quote": "'", "escape": "'"}]
)
def test_options_that_the_read_says(spark: SparkSession, tmp_path: Path, options: dict[str, str]) -> None:
    text = "a\tb\n1\t'x''y'\n" if "quote" in options else "a\tb\n1\tx\n"
    assert_same_rows(csv(spark, tmp_path / "t.csv", text, "a string, b string", **options))


NUMBERS = ["1", "-2", "+3", "007", "", "x", "1.5", " 4", "128", "99999999999999999999", "-128", "0x1", "1e2", "1_0"]
FLOATS = [
    "1.5",
    "-0.0",
    "",
    "x",
    "NaN",
    "nan",
    "Inf",
    "-Inf",
    "inf",
    "Infinity",
    "+Infinity",
    "1e400",
    ".5",
    "5.",
    "1d",
]
OF_OTHER_SCRIPTS = [
    "\u0661\u0662",
    "-1\u0662",
    "+\u0969",
    "\uff11\uff10\uff10",
    "9" + "\u0669" * 9,
    "\u00b2",
    "\U0001d7d9",
]
"""Digits that Java takes for digits; the last two it does not: a superscript, and one of two UTF-16 units."""

DATES = ["2024-01-02", "2024-1-2", "2024", "2024-02-30", "", "x", "0001-01-01", "2024-01-02 "]
LOCAL_TIMES = [
    *("2024-01-02 03:04:05", "2024-01-02T03:04:05.123456789", "2024-01-02", "2024-1", " 2024-01-02 3:4 ", "", "x"),
    *("2024-01-02 03:04:05Z", "2024-01-02 03:04:05+01:00", "2024-01-02 03:04:05 UTC", "03:04", "2024-01-02T"),
]

TEXTS = {
    **{type: [*NUMBERS, *OF_OTHER_SCRIPTS] for type in ("tinyint", "smallint", "int", "bigint")},
    "double": FLOATS,
    "float": FLOATS,
    "boolean": ["true", "FALSE", "True", "t", "yes", "1", "", " true"],
    "decimal(6,2)": [
        "1.5",
        "1,234.567",
        "-0.005",
        "99999",
        "x",
        "",
        " 1",
        "+1",
        "12.345",
        "\u0661.\u0665",
        "-\uff11\uff12",
        "1\u00b2",
    ],
    "date": DATES,
    "timestamp": ["2024-01-02 03:04:05", "2024-01-02", "2024-03-10 02:30:00", "", "x", "2024-01-02 03:04:05.123456"],
    "timestamp_ntz": LOCAL_TIMES,
}


@pytest.mark.parametrize("type", TEXTS)
def test_typed_columns(spark: SparkSession, tmp_path: Path, type: str) -> None:
    lines = [f'{n},"{text}"' if "," in text else f"{n},{text}" for n, text in enumerate(TEXTS[type])]
    df = csv(spark, tmp_path / "t.csv", "\n".join(lines) + "\n", f"n string, v {type}")
    assert_same_rows(df)
    assert plan_of(df)


REFUSED = {
    "charToEscapeQuoteEscaping": "!",
    "comment": "#",
    "emptyValue": "-",
    "encoding": "ISO-8859-1",
    "enforceSchema": "false",
    "ignoreLeadingWhiteSpace": "true",
    "ignoreTrailingWhiteSpace": "true",
    "lineSep": ";",
    "maxCharsPerColumn": "50",
    "maxColumns": "3",
    "mode": "DROPMALFORMED",
    "multiLine": "true",
    "nanValue": "?",
    "negativeInf": "?",
    "positiveInf": "?",
    "unescapedQuoteHandling": "RAISE_ERROR",
    "dateFormat": "dd.MM.yyyy",
}
"""Options that only Spark's own reader has."""


@pytest.mark.parametrize("option", REFUSED)
def test_options_that_are_refused(spark: SparkSession, tmp_path: Path, option: str) -> None:
    text = "a,2024-01-01,1\n"
    df = csv(spark, tmp_path / "t.csv", text, "a string, d date, f double", **{option: REFUSED[option]})
    (problem,) = check(df, dialect="datafusion").problems
    assert option.lower() in problem.reason
    assert "as Parquet" in problem.hint
    found = differences(spark_table(df), canonical_rows(df))
    assert not found, "\n".join(found)
    unknown = csv(spark, tmp_path / "u.csv", text, "a string", madeUp=1, **{option: REFUSED[option]})
    assert "madeup" in str(check(unknown))


WITHOUT_EFFECT = {
    "charToEscapeQuoteEscaping": "",
    "codec": "gzip",
    "columnPruning": "false",
    "comment": "",
    "compression": "none",
    "encoding": "UTF-8",
    "extension": "csv",
    "inputBufferSize": "128",
    "locale": "de",
    "maxColumns": "20480",
    "maxMalformedLogPerPartition": "3",
    "quoteAll": "true",
}


@pytest.mark.parametrize("option", WITHOUT_EFFECT)
def test_options_without_effect(spark: SparkSession, tmp_path: Path, option: str) -> None:
    text = 'a,2024-01-01,1\n"b\\\\",x,2.5\n"c\\"d",2024-1-1,\n'
    df = csv(spark, tmp_path / "t.csv", text, "a string, d date, f double", **{option: WITHOUT_EFFECT[option]})
    assert_same_rows(df)
    assert_same_rows(df.select("d"))


INVALID = {
    "compression": "hunter2",
    "encoding": "utf8",
    "escapeQuotes": "hunter2",
    "header": "hunter2",
    "inferSchema": "hunter2",
    "preferDate": "hunter2",
    "quote": "\U0001f600",
    "quoteAll": "hunter2",
}
"""Options that Spark raises on when it reads."""


@pytest.mark.parametrize("option", INVALID)
def test_options_that_spark_raises_on(spark: SparkSession, tmp_path: Path, option: str) -> None:
    df = csv(spark, tmp_path / "t.csv", "a,b\n", "a string, b string", **{option: INVALID[option]})
    assert option.lower() in str(check(df))


@pytest.mark.parametrize("option", ["charset", "encoding", "locale", "mode", "sep"])
def test_values_that_are_not_sparks_own_are_not_repeated(spark: SparkSession, tmp_path: Path, option: str) -> None:
    df = csv(spark, tmp_path / "t.csv", "1.5\n", "a decimal(3,1)", **{option: "hunter\\2"})
    assert "hunter" not in str(check(df))


def test_all_options_that_no_plan_has_are_named(spark: SparkSession, tmp_path: Path) -> None:
    told = str(check(csv(spark, tmp_path / "t.csv", "a\n", "a string", madeUp=1, neverHeard=2)))
    assert "madeup" in told
    assert "neverheard" in told


def test_locale_of_decimals(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    assert "locale" in lacking(csv(spark, path, "1e2\n", "a decimal(9,2)", locale="en"))
    assert_same_rows(csv(spark, path, "1,2.5\n", "a string, b decimal(9,2)", locale="en-US"))


def test_dates_in_a_format(spark: SparkSession, tmp_path: Path) -> None:
    signed = ["-0001-01-01", "+12345-01-01", "+00012345-01-01", "-00000044-01-01", "-0000-01-01", "+2024-01-01"]
    lines = "".join(f"{text},1\n" for text in [*DATES, "12345-01-01", "2024-01-02T00:00:00", *signed])
    df = csv(spark, tmp_path / "t.csv", lines, "d date, n int", dateFormat="yyyy-MM-dd")
    assert_same_rows(df.selectExpr("unix_date(d)", "n"))


@pytest.mark.parametrize("null", ["NA", "-1", " "])
def test_null_values(spark: SparkSession, tmp_path: Path, null: str) -> None:
    text = f'x,1,2024-01-02\n,,\n{null},{null},{null}\n"{null}",-1,x\n'
    df = csv(spark, tmp_path / "t.csv", text, "a string, b int, c date", nullValue=null)
    assert_same_rows(df)
    assert_same_rows(df.selectExpr("a = '' AS e", "b IS NULL"))
    with pytest.raises(InvalidPlanError, match="an empty field in quotes"):
        datafusion.execute(plan_of(csv(spark, tmp_path / "q.csv", 'x,""\n', "a string, b string", nullValue=null)))


@pytest.mark.parametrize("type", ["date", "timestamp", "timestamp_ntz"])
@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("spark.sql.legacy.timeParserPolicy", "LEGACY"),
        ("spark.sql.legacy.timeParserPolicy", "EXCEPTION"),
        ("spark.sql.legacy.csv.enableDateTimeParsingFallback", "false"),
    ],
)
def test_settings_of_dates_and_times(spark: SparkSession, tmp_path: Path, setting: str, value: str, type: str) -> None:
    session = spark.newSession()
    session.conf.set(setting, value)
    df = csv(session, tmp_path / "t.csv", "24-01-01,2024-13-01\n", f"a {type}, b string")
    assert f"{setting}={value}" in str(check(df))
    assert_same_rows(df.select("b"))


def test_more_that_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    both = csv(spark, path, "a,b;c\n", "a string, b string", sep=";", delimiter=",")
    assert "sep" in lacking(both)
    assert not differences(spark_table(both), canonical_rows(both))
    assert "as Spark does" in lacking(csv(spark, path, "a\n", "a int, _corrupt_record string"))
    renamed = csv(spark, path, "a,b\n", "a int, wrong string", columnNameOfCorruptRecord="wrong")
    assert "columnnameofcorruptrecord" in lacking(renamed)
    for ending in ("gz", "zst", "zstd"):
        assert "as Spark does" in lacking(csv(spark, tmp_path / f"t.csv.{ending}", "a", "a string"))
    assert "nullvalue" in lacking(csv(spark, path, '"a"||\n', "a string, b string", sep="||", nullValue="NA"))
    assert "sep" in lacking(csv(spark, path, "a\n", "a string", sep='|"'))
    assert check(csv(spark, path, "a,2024-01-01\n", "a string, d date", dateFormat="dd.MM.yyyy").select("a"))


@since("4.0", "binary values in CSV")
def test_binary_values_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    assert "binary" in str(check(csv(spark, tmp_path / "t.csv", "a\n", "a binary")))


def test_the_sessions_name_of_corrupt_records(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.columnNameOfCorruptRecord", "wrong")
    path = tmp_path / "t.csv"
    assert "columnnameofcorruptrecord" in lacking(csv(session, path, "a,b\n", "a int, wrong string"))
    assert check(csv(session, path, "a,b\n", "a int, _corrupt_record string"))
    right = csv(session, path, "a,b\n", "wrong int, right string", columnNameOfCorruptRecord="right")
    assert "columnnameofcorruptrecord" in lacking(right)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n", "line 1 has 1 fields where 2 are read"),
        ("a,b,c\n", "line 1 has 3 fields where 2 are read"),
        ("a,b\n\n", "line 2 is empty"),
        ('a,"b"c\n', "line 1 has text behind a field in quotes"),
        ('a,"b\nc"\n', "line 1 ends inside quotes"),
        ('a,"b""c"\n', "line 1 has a quote inside quotes that is not escaped"),
        ('a,"b\\c"\n', "line 1 has an escape before what needs none"),
    ],
)
def test_lines_that_engines_read_in_several_ways(spark: SparkSession, tmp_path: Path, text: str, message: str) -> None:
    plan = plan_of(csv(spark, tmp_path / "t.csv", text, "a string, b string"), "datafusion")
    with pytest.raises(InvalidPlanError, match=message):
        datafusion.execute(plan)


REFUSED_LINES: list[tuple[dict[str, str], str, str]] = [
    ({"header": "true"}, "\na,b\n1,2\n", "line 1 is empty"),
    ({"header": "true"}, " \t\na,b\n1,2\n", "line 1 is empty"),
    ({"escape": ""}, 'a,""\n', "line 1 has an empty field in quotes"),
    ({"escape": ""}, '"a\0",b\n', "line 1 has a NUL"),
    ({"quote": ""}, "x,y\na,\0x\n", "line 2 has a NUL"),
    ({"sep": "||"}, 'a||b"\n', "line 1 has a quote inside a field without quotes, and a separator of several"),
    ({"sep": "||"}, '"r||q"||z\n', "line 1 has a separator of several characters inside quotes"),
    ({"sep": "\U0001f600"}, '"\U0001f600"\U0001f600z\n', "line 1 has a separator of several characters inside quotes"),
    ({"escape": '"'}, '"",","\n', "line 1 has a separator at the start of quotes"),
    ({}, '"\\\\",","\n', "line 1 has a separator at the start of quotes"),
    ({}, "\ufeff\ufeffa,b\n", "starts with two byte-order marks"),
]
"""Lines that Spark reads otherwise than it looks, some only where not all columns are read."""


@pytest.mark.parametrize(("options", "text", "message"), REFUSED_LINES)
def test_lines_that_spark_reads_in_its_own_way(
    spark: SparkSession, tmp_path: Path, options: dict[str, str], text: str, message: str
) -> None:
    plan = plan_of(csv(spark, tmp_path / "t.csv", text, "a string, b string", **options), "datafusion")
    with pytest.raises(InvalidPlanError, match=message):
        datafusion.execute(plan)


READ_LINES: list[tuple[dict[str, str], str]] = [
    ({"escape": ""}, '"a,\\",b\nc,"d"\n'),
    ({"quote": "", "escape": ""}, '"a","b"\n\\,x\n'),
    ({"sep": "||"}, '"r|q"||z\nx|y||"||"\n'.replace('"||"', '"|"')),
    ({"escape": '"'}, '"","x,y"\n"a""",b\n"a"",""b",","\n'),
    ({}, '"\\\\","x,y"\n"","\\\\"\na,\0\n'),
    ({}, 'a,{"text":"The person\'s name"}\nb"",c\\\n a"b\\",c"\n "x",y"" z\n'),
    ({"header": "true"}, "\ufeffa,b\n1,2\n"),
    ({}, "\ufeffa,b\n\ufeff1,2\n"),
]


@pytest.mark.parametrize(("options", "text"), READ_LINES)
def test_lines_that_are_read(spark: SparkSession, tmp_path: Path, options: dict[str, str], text: str) -> None:
    df = csv(spark, tmp_path / "t.csv", text, "a string, b string", **options)
    for part in (df, df.select("a"), df.select("b"), df.groupBy().count()):
        assert_same_rows(part)


@pytest.mark.parametrize("sources", ["csv", ""])
def test_columns_of_the_text_that_are_not_read(spark: SparkSession, tmp_path: Path, sources: str) -> None:
    spark.conf.set("spark.sql.sources.useV1SourceList", sources)
    try:
        df = csv(spark, tmp_path / "t.csv", "1,x,2.5\n2,y,3.5\n", "a int, b string, c double")
        for part in (df, df.select("b"), df.select("c", "a"), df.where("a = 2").select("c"), df.groupBy().count()):
            assert_same_rows(part)
        for key in ("1", "2"):
            (tmp_path / "parts" / f"b={key}").mkdir(parents=True)
            (tmp_path / "parts" / f"b={key}" / "t.csv").write_text(f"a,b,c\nx,9,{key}\n")
        both = spark.read.csv(str(tmp_path / "parts"), header=True)
        for part in (both, both.select("c"), both.select("b"), both.where("b = 1").select("c")):
            assert_same_rows(part)
    finally:
        spark.conf.unset("spark.sql.sources.useV1SourceList")


def test_every_option_that_has_no_form_is_told(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2\n")
    options: dict[str, Any] = {"multiLine": True, "comment": "#", "dateFormat": "d/M/y", "mode": "FAILFAST"}
    (problem,) = check(spark.read.options(**options).schema("a int, d date").csv(str(tmp_path)), dialect="datafusion")
    assert problem.reason.endswith("reads no csv files with Spark's options comment, dateformat, mode, multiline")
    assert "as strings" not in problem.hint
    days = spark.read.options(dateFormat="d/M/y", header=True).schema("a int, d date").csv(str(tmp_path))
    (problem,) = check(days, dialect="datafusion")
    assert problem.reason.endswith("with Spark's option dateformat")
    assert "as strings" in problem.hint
    unknown = spark.read.options(comment="#", madeUp=1, another=2).schema("a int").csv(str(tmp_path))
    assert sorted(problem.reason.split()[2] for problem in check(unknown)) == ["another", "madeup"]


def test_what_the_hint_on_formats_says_works(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,13.02.2024\n2,\n")
    text = spark.read.schema("a int, d string").csv(str(tmp_path))
    assert_same_rows(text.withColumn("d", F.to_date("d", "dd.MM.yyyy")))
