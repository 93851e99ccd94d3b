"""CAST between atomic types, in ANSI, TRY and LEGACY mode: Spark's rows, or a refusal that is written down here."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from rows import (
    assert_plan_raises,
    assert_same_outcome,
    assert_same_rows,
    canonical_rows,
    differences,
    lowered_rows,
    spark_table,
)

from substrait_spark import EngineError, check, df_to_substrait, explain
from substrait_spark.engines import datafusion

VALUES = {
    "boolean": "true false",
    "tinyint": "0 1 -1 127 -128",
    "smallint": "0 1 -1 128 32767 -32768",
    "int": "0 1 -1 128 32768 99999 2147483647 -2147483648",
    "bigint": "0 1 -1 300 2147483648 9007199254740993 9223372036854775807 -9223372036854775808",
    "float": "0 '-0.0' 1.5 -1.5 127.99 128 40000 3e9 1e-5 1e20 'NaN' 'Infinity'",
    "double": "0 '-0.0' 1.5 1.005 9.995 -2.5 127.99 128 3e9 123456.789 1e-5 'NaN' 'Infinity' '-Infinity'",
    "decimal(5,2)": "0 0.01 -0.01 127.99 128 -999.99 1.5 2.50",
    "decimal(18,4)": "0 0.0001 -1.5 12345678901234.5678 99999999999999.9999 300.5",
    "decimal(38,10)": "0 0.0000000001 -1.5 900719925474099.3123456789 9999999999999999999999999999.9999999999",
    "decimal(38,37)": "9.9999999999999999999999999999999999999 1",
    "string": "'' '1' '\\t12\\n' '-7' '+3' '1.5' '-1.9' '.5' '.' '1e3x' 'abc' 'true' 'T' 'no' '99999999999' 'Infinity' "
    "'-inf' 'nan' '1d' '7\\u0000' '7\\u007f' '\\u00a07' '128' '1.005' 'on' '1_000'",
    "binary": "X'' X'616263' X'C3A9'",
}
"""What is cast: SQL literals that are the values when they are cast to the type; a null comes with each."""

TARGETS = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "string", "binary"),
    *("decimal(5,2)", "decimal(18,4)", "decimal(38,10)", "decimal(3,3)"),
)

GREAT = {"float": "string decimal(38,10)", "double": "decimal(38,10)"}
REFUSED: dict[str, dict[str, str]] = {
    "ansi": GREAT,
    "try": GREAT,
    "legacy": {
        **GREAT,
        "decimal(38,10)": "tinyint smallint int bigint string",
        "decimal(38,37)": "string",
    },
}
"""What DataFusion has no exact cast for, by mode and source: the digits of great floating-point numbers depend on the
version of Java; in LEGACY mode, decimals wrap around in 64 bits, and are written with exponents."""

MODES = {"ansi": ("cast", "true"), "try": ("try_cast", "true"), "legacy": ("cast", "false")}


@contextmanager
def mode(spark: SparkSession, name: str) -> Iterator[str]:
    """The function that casts in a mode, with ANSI mode set as it needs."""
    function, ansi = MODES[name]
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        yield function
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A view for each source type, over a file, so that nothing is folded."""
    folder = tmp_path_factory.mktemp("casts")
    for type in VALUES:
        _view(spark, type, folder)


def _view(spark: SparkSession, type: str, folder: Path) -> None:
    values = [f"({n}, cast({value} AS {type}))" for n, value in enumerate([*VALUES[type].split(), "null"])]
    path = str(folder / name_of(type))
    spark.sql(f"SELECT * FROM VALUES {', '.join(values)} AS t(id, v)").coalesce(1).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView(name_of(type))


def name_of(type: str) -> str:
    return "casts_" + "".join(c if c.isalnum() else "_" for c in type)


def allowed(spark: SparkSession, source: str, function: str) -> list[str]:
    """The targets that Spark lets a type be cast to."""
    found = []
    for target in TARGETS:
        try:
            spark.sql(f"SELECT {function}(v AS {target}) FROM {name_of(source)}")
        except Exception:  # noqa: BLE001, S112 - Spark's analysis refuses the pair
            continue
        found.append(target)
    return found


def exported(spark: SparkSession, source: str, function: str, targets: list[str]) -> list[str]:
    """The targets for which the dialect's plan can be made."""
    query = f"SELECT {function}(v AS {{}}) FROM {name_of(source)}"
    return [target for target in targets if check(spark.sql(query.format(target)), dialect="datafusion")]


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("source", VALUES)
def test_cast(spark: SparkSession, tables: None, source: str, name: str) -> None:
    """Every cast of a type's edge values: those that don't fail, and one that does."""
    view = name_of(source)
    with mode(spark, name) as function:
        targets = allowed(spark, source, function)
        for target in targets:
            assert check(spark.sql(f"SELECT {function}(v AS {target}) FROM {view}")), "no canonical plan"
        taken = exported(spark, source, function, targets)
        assert taken
        assert set(targets) - set(taken) == set(REFUSED[name].get(source, "").split())
        if name == "ansi":
            # Rows that fail would fail the whole query: null takes their place.
            compare(spark, view, {f"CASE WHEN {_is_cast(t)} THEN cast(v AS {t}) END": t in taken for t in targets})
        else:
            casts = {f"{function}(v AS {t})": t for t in targets}
            compare(spark, view, {call: t in taken for call, t in casts.items()})
            compare(spark, view, {c: t in taken for call, t in casts.items() for c in comparisons(call, t)})
        for target in taken if name == "ansi" else ():
            failing = spark.sql(f"SELECT id FROM {view} WHERE NOT ({_is_cast(target)})")
            calls = [f"cast(v AS {target})", *comparisons(f"cast(v AS {target})", target)[:1]]
            for row, call in itertools.product(failing.limit(2).collect(), calls):
                assert_same_outcome(spark.sql(f"SELECT {call} AS r FROM {view} WHERE id = {row.id}"))


def _is_cast(target: str) -> str:
    return f"v IS NULL OR try_cast(v AS {target}) IS NOT NULL"


def comparisons(call: str, type: str) -> list[str]:
    """Comparisons with literals: engines compare what is cast instead, where they take the cast for harmless."""
    if type == "decimal(3,3)":
        return []  # Spark can't plan these for all sources: it looks for a literal of the source's type that is 1
    zero, one = (f"cast('{value}' AS {type})" for value in "01")
    return [f"{call} = {one}", f"{call} < {one}", f"{call} IN ({zero}, {one})", f"{call} IS NULL"]


def compare(spark: SparkSession, view: str, calls: dict[str, bool]) -> None:
    """Spark's values of calls are those of their canonical plans and, where so said, of their plans for DataFusion."""
    df = _of_calls(spark, view, calls)
    expected = spark_table(df)
    taken = [call for call, is_taken in calls.items() if is_taken]
    results = [(list(calls), canonical_rows(df))]
    if taken:
        results.append((taken, lowered_rows(_of_calls(spark, view, taken))))
    for of_calls, actual in results:
        for n, call in enumerate(of_calls):
            names = ["id", f"c{n}"]
            wanted = expected.select(["id", f"c{list(calls).index(call)}"]).rename_columns(names)
            found = differences(wanted, actual.select(names))
            assert not found, f"{call}: {found}"


def _of_calls(spark: SparkSession, view: str, calls: Iterable[str]) -> DataFrame:
    columns = ", ".join(f"{call} AS c{n}" for n, call in enumerate(calls))
    return spark.sql(f"SELECT id, {columns} FROM {view}")


@pytest.mark.parametrize("value", ["9223372036854775808D", "-9223372036854775808D"])
def test_the_ends_of_bigint(spark: SparkSession, tmp_path: Path, value: str) -> None:
    """Spark takes 2^63 for the greatest bigint, in every mode."""
    _written(spark, value, tmp_path)
    for name in MODES:
        with mode(spark, name) as function:
            assert_same_rows(spark.sql(f"SELECT {function}(v AS bigint) FROM casts_one"))


@pytest.mark.parametrize(
    "cast",
    [
        "1e20D AS string",
        "4.9e-324D AS string",
        "'0x1p3' AS double",
        "'0e40' AS decimal(10,2)",
        "'\u0663' AS decimal(10,2)",
        "X'FF' AS string",
    ],
)
def test_what_the_engine_cannot_write_or_read_raises(spark: SparkSession, tmp_path: Path, cast: str) -> None:
    """Never another value than Spark's."""
    value, target = cast.split(" AS ")
    _written(spark, value, tmp_path)
    for name in MODES:
        with mode(spark, name) as function:
            df = spark.sql(f"SELECT {function}(v AS {target}) AS r FROM casts_one")
            plan = df_to_substrait(df, dialect="datafusion")
            assert_plan_raises(plan)


OFFSETS = [
    "2024-01-02T03:04:05.006Z", "2024-06-30 23:30:00-05:00", "2024-2-9 1:02:03+05:45", " 1883-11-18 12:00:00.5Z ",
    "2024-01-02T03:04:05+17:59", "2024-01-02T25:04:05Z", "2024-02-30 00:00:00+01:00", "2024-01-02T03:04:05", None,
    "2024-01-02 03:04:05 Z", "2024-01-02 03:04:05 +0530", "2024-01-02 03:04:05-01", "2024-01-02 03:04:05.25+1:5 ",
    "2024-01-02 03:04:05.", "2024-01-02T3:4:5. ", "2024-01-02 03:04:05.Z", "2024-01-02 03:04:05. +01:00", "2024-01-02 03:04:60.",
    "2024-01-02T03:04:05UTC", "2024-01-02T03:04:05 GMT+9", "2024-01-02T03:04:05 UT-08:00",
]  # fmt: skip


def test_texts_with_an_offset_are_instants(spark: SparkSession) -> None:
    df = spark.createDataFrame([(text,) for text in OFFSETS], "v string")
    assert_same_rows(df.selectExpr("v", "try_cast(v AS timestamp) AS at", "try_to_timestamp(v) AS same"))
    assert_same_rows(df.selectExpr("v", "try_cast(v AS timestamp_ntz) AS at"))


EXPONENTS = [
    "1e3", "1E+3", "-1.5E2", "+.5e-1", "1.e2", "-.005e0", "12345e-4", "1.005e0", "99999999.994e0", "99999999.995e0", "9.9e7", "1e8",
    "0e5", "-0e-5", "0.00e37", "1e-400", "1e400", "1e-999999", "0.00000000001e12", "123456789012345678901234567890e-25",
    "4e-39", "5e-39", "99999999999999999999999999999999999999e0", "0.5e-38", "1e37", "1e38", " 1e3\n", "1" * 90 + "e-85",
    "0" * 100 + "7", "0." + "0" * 100 + "1", "1e", "e1", "1e1.5", "1 e3", "--1e3", "1e--3", "1e+-3", "", None,
]  # fmt: skip


def test_texts_with_an_exponent_are_decimals(spark: SparkSession, tmp_path: Path) -> None:
    texts = spark.createDataFrame([(text,) for text in EXPONENTS], "v string")
    texts.write.parquet(str(tmp_path / "texts"))
    df = spark.read.parquet(str(tmp_path / "texts"))
    types = ("decimal(10,2)", "decimal(38,0)", "decimal(38,10)", "decimal(38,38)", "decimal(3,3)")
    assert_same_rows(df.selectExpr("v", *(f"try_cast(v AS {type}) AS `{type}`" for type in types)))
    with mode(spark, "ansi"):
        read = df.where("try_cast(v AS decimal(10,2)) IS NOT NULL OR v IS NULL")
        assert assert_same_rows(read.selectExpr("v", "CAST(v AS decimal(10,2)) AS d")).rows.num_rows > 15
        for text in ("1e8", "1e1.5"):
            assert_same_outcome(df.where(f"v = '{text}'").selectExpr("CAST(v AS decimal(10,2)) AS d"))


def test_check_tells_what_raises(spark: SparkSession) -> None:
    df = spark.createDataFrame([("1", 2.0)], "s string, x double")
    found = check(df.selectExpr("try_cast(s AS timestamp) AS t", "CAST(x AS string) AS s"), dialect="datafusion")
    assert found
    assert set(found.unread) == {
        "a time in a zone by its region's name, without a date, or in a year of more than four digits",
        "digits that depend on the Java version",
    }
    assert "Where one of these occurs, it ends in an error, and Spark has a result:\n    " in str(found)
    assert not check(df.selectExpr("x + 1"), dialect="datafusion").unread
    assert not check(df.selectExpr("CAST(x AS string)")).unread


def _written(spark: SparkSession, value: str, folder: Path) -> None:
    """A view of one row with a value, over a file."""
    spark.sql(f"SELECT 0 AS id, {value} AS v").write.parquet(str(folder / "one"))
    spark.read.parquet(str(folder / "one")).createOrReplaceTempView("casts_one")


def test_texts_with_signs_and_long_years_are_dates(spark: SparkSession) -> None:
    texts = [
        "-0001-01-01",
        "-0044-2-29",
        " -0004 ",
        "-12345-2-3 x",
        "+12345-01-01",
        "--0001-01-01",
        "-2024-13-01",
        "-1",
        "123456-7-8",
        "12345678",
        "1" * 40,
        "1234567-8-9x",
        "1234567.5",
    ]
    df = spark.createDataFrame([(text,) for text in texts], "t string")
    assert_same_rows(df.selectExpr("t", "unix_date(try_cast(t AS date))"))


LISTS = """VALUES
  (1, array(1, NULL, -3), array('7', NULL, ''), array(array(1), NULL, array()), array(1.50BD, NULL), array(DATE'2024-02-29')),
  (2, array(), array(), array(), array(), array()), (3, NULL, NULL, NULL, NULL, NULL),
  (4, array(300), array('x'), array(array(NULL)), array(-0.00BD), array(NULL)) t(k, i, s, n, d, t)"""


@pytest.mark.parametrize("ansi", [True, False])
def test_lists_by_their_elements(spark: SparkSession, tmp_path: Path, ansi: bool) -> None:
    casts = ["CAST(i AS ARRAY<STRING>)", "CAST(i AS ARRAY<DOUBLE>)", "try_cast(i AS ARRAY<TINYINT>)"]
    casts += ["try_cast(s AS ARRAY<INT>)", "CAST(n AS ARRAY<ARRAY<BIGINT>>)", "CAST(d AS ARRAY<DECIMAL(20,5)>)"]
    casts += [f"CAST({column} AS STRING)" for column in "isndt"] + ["concat_ws(',', i)", "CAST(t AS ARRAY<TIMESTAMP>)"]
    spark.sql(f"SELECT * FROM {LISTS}").write.parquet(str(tmp_path / "lists"))
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", ansi)
    lists = session.read.parquet(str(tmp_path / "lists"))
    assert_same_rows(lists.selectExpr("k", *casts))
    narrowed = lists.selectExpr("k", "CAST(i AS ARRAY<TINYINT>) AS x")
    if ansi:
        with pytest.raises(EngineError, match="300"):
            datafusion.execute(df_to_substrait(narrowed, dialect="datafusion"))
    else:
        assert_same_rows(narrowed)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("cast(s AS int)", "whole_i32("),
        ("try_cast(s AS int)", "try_cast("),
        ("cast(id AS tinyint)", "wrap_i8("),
        ("try_cast(id AS tinyint)", "try_cast("),
        ("cast(f AS bigint)", "wrap_i64("),
        ("cast(d AS string)", "to_scientific("),
        ("try_cast(d AS string)", "cast("),
        ("cast(array(s) AS array<int>)", "whole_i32("),
        ("try_cast(array(s) AS array<int>)", "try_cast("),
        ("cast(array(d) AS string)", "to_scientific("),
        ("cast(array(t) AS string)", "'Asia/Tokyo'"),
        ("cast(named_struct('a', s, 'b', id) AS struct<a: int, b: string>)", "whole_i32("),
        ("cast(map(1, id) AS map<string, tinyint>)", "wrap_i8("),
    ],
)
def test_what_a_cast_means_without_ansi_mode_is_in_the_plan(spark: SparkSession, call: str, said: str) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", False)
    session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    columns = ["string(id) s", "double(id) f", "CAST(id AS decimal(20, 10)) d", "timestamp_seconds(id) t"]
    rows = session.range(3).selectExpr("id", *columns)
    assert said in explain(df_to_substrait(rows.selectExpr(f"{call} AS x")))


def test_keys_of_maps_that_no_function_casts_are_refused(spark: SparkSession) -> None:
    df = spark.sql("SELECT CAST(map(timestamp_seconds(id), 1) AS STRING) FROM range(2)")
    assert "no function casts the keys" in str(check(df))


@pytest.mark.parametrize("value", ["array(id)", "map(id, id)", "named_struct('a', id)"])
def test_collections_as_text_in_an_older_form_are_refused(spark: SparkSession, value: str) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.legacy.castComplexTypesToString.enabled", "true")
    df = session.sql(f"SELECT CAST({value} AS STRING) FROM range(2)")
    assert "gives collections another text" in str(check(df))
