"""TIME, which Spark has from 4.1 on, and of more than six digits from 4.3 on: its values, casts and functions, of any number of digits. DataFusion counts their nanoseconds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from releases import has, since
from rows import assert_canonical_rows, assert_raises, assert_same_rows, canonical, differences, plan_of, spark_table

from substrait_spark import EngineError, InvalidPlanError, check
from substrait_spark.engines import datafusion

pytestmark = since("4.1", "TIME")

ROWS = """
SELECT t, CAST(t AS TIME(3)) AS t3, CAST(t AS TIME(9)) AS t9, i, d, n, z, dt, s, u, p FROM VALUES
  (time'10:11:12.123456', 1, INTERVAL '1' HOUR, timestamp_ntz'2020-01-01 10:00:00.654321',
   timestamp'2020-01-01 10:00:00.654321', date'2020-01-01', '10:11', time'00:00:00', 'HH:mm'),
  (time'23:59:59.999999', 12, INTERVAL '-0.5' SECOND, timestamp_ntz'1900-01-01 00:00:00',
   timestamp'1582-01-01 10:00:00', date'-1000-03-10', ' 1:2:3.1234567891 PM', time'10:11:12.123456', 'hh a'),
  (time'00:00:00', 0, INTERVAL '0' SECOND, timestamp_ntz'1969-12-31 23:59:59.999999',
   timestamp'2020-03-08 10:00:00.000001', date'2020-03-08', '23:59:59.999999', time'02:30:00', 'HH:mm:ss.SSSSSS'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
AS (t, i, d, n, z, dt, s, u, p)
"""


@pytest.fixture(scope="module")
def times(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with the view `v` of a file, which has times of nine digits."""
    if not has("4.3"):
        pytest.skip("TIME of more than six digits came with Spark 4.3")
    with _view(spark, tmp_path_factory, "v", ROWS):
        yield spark


@contextmanager
def _view(spark: SparkSession, folders: pytest.TempPathFactory, name: str, rows: str) -> Iterator[None]:
    """A view of a file with the rows of a query, while the session has times."""
    path = str(folders.mktemp("times") / "rows")
    spark.conf.set("spark.sql.timeType.enabled", "true")
    spark.sql(rows).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView(name)
    yield
    spark.conf.unset("spark.sql.timeType.enabled")


SHORT_ROWS = """
SELECT *, CAST(t AS TIME(3)) AS t3, CAST(u AS TIME(0)) AS t0 FROM VALUES
  (time'10:11:12.123456', 1, INTERVAL '1' HOUR, date'2020-01-01', '10:11', time'00:00:00', 'HH:mm'),
  (time'23:59:59.999999', 12, INTERVAL '-0.5' SECOND, date'-1000-03-10', ' 1:2:3.123456 PM', time'10:11:12.123456', 'hh a'),
  (time'00:00:00', 0, INTERVAL '0' SECOND, date'2020-03-08', '23:59:59.999999', time'02:30:00', 'HH:mm:ss.SSSSSS'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL)
AS (t, i, d, dt, s, u, p)
"""


@pytest.fixture(scope="module")
def short_times(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with the view `w` of a file, whose times have six digits at most."""
    with _view(spark, tmp_path_factory, "w", SHORT_ROWS):
        yield spark


SHORT = [
    "hour(t), minute(t3), second(t0), extract(SECOND FROM t), extract(SECOND FROM t3)",
    "t - u, t3 - t, time_diff('HOUR', t, u), time_diff('MILLISECOND', t3, u), time_trunc('HOUR', t), time_trunc('SECOND', t3)",
    "make_time(i, i, 12.5), try_to_time(s), try_to_time(s, p), try_to_time(s, 'HH:mm')",
    "CAST(t AS STRING), CAST(t3 AS STRING), CAST(s AS TIME), TRY_CAST(p AS TIME), CAST(CAST(s AS TIME) AS TIME(3)), CAST(array(t) AS STRING)",
    "CAST(t AS TIME(3)), CAST(t3 AS TIME), CAST(t AS BIGINT), CAST(t AS INT), TRY_CAST(t AS TINYINT)",
    "CAST(t AS DECIMAL(20, 6)), CAST(t3 AS DECIMAL(9, 2)), TRY_CAST(t AS DECIMAL(5, 1))",
    "try_add(t, INTERVAL '1' HOUR), try_add(t, d)",
    "make_timestamp(dt, t), make_timestamp(dt, t3, 'Europe/Berlin'), make_timestamp_ntz(dt, t3), try_make_timestamp_ntz(dt, t)",
    "t = u, t3 < CAST(t AS TIME(3)), t <=> u, t IN (u, time'01:00:00'), greatest(t, u), coalesce(t, u), if(i = 1, t, u), nullif(t, u)",
    "hash(t), xxhash64(t0), array(t, u), struct(t, t3), map('a', t0), sort_array(array(u, t)), time'23:59:59.123456'",
    "lag(t) OVER (ORDER BY t), min(t) OVER (ORDER BY t3 ROWS 1 PRECEDING), row_number() OVER (PARTITION BY t0 ORDER BY u)",
    "explode(array(t, u))",
]
"""What there is since TIME came, with Spark 4.1."""

SHORT_QUERIES = [
    "SELECT min(t), max(t0), count(DISTINCT t), first(t3) FILTER (WHERE i = 1), max_by(t, i), min_by(i, t), mode(t, true), approx_count_distinct(t) FROM w",
    "SELECT sort_array(collect_list(t)), min(struct(t, i)) FROM w WHERE i > 0",
    "SELECT u, sum(i), count(t3) FROM w GROUP BY ROLLUP(u)",
    "SELECT a.t, b.u FROM w a LEFT JOIN w b ON a.t = b.u",
    "SELECT t FROM w INTERSECT SELECT u FROM w",
    "SELECT t3, t0 FROM w ORDER BY t3 NULLS LAST LIMIT 2",
    "SELECT * FROM w WHERE t BETWEEN time'10:00:00' AND time'12:00:00' OR t = (SELECT max(t) FROM w)",
]


ERRORS = ["t + INTERVAL '1' DAY", "make_time(i + 23, 0, 0)", "to_time(s, p)", "CAST(t AS TINYINT)", "time_trunc(p, t)"]


@pytest.mark.parametrize("expressions", SHORT)
@pytest.mark.parametrize("ansi", [True, False])
def test_expressions_of_six_digits(short_times: SparkSession, expressions: str, ansi: bool) -> None:
    _have_the_same_values(short_times, "w", expressions, ansi)


@pytest.mark.parametrize("query", SHORT_QUERIES)
def test_queries_of_six_digits(short_times: SparkSession, query: str) -> None:
    _has_the_same_rows(short_times.sql(query))


@pytest.mark.parametrize("expression", ERRORS)
def test_errors_of_six_digits(short_times: SparkSession, expression: str) -> None:
    _raise_alike(short_times.sql(f"SELECT {expression} FROM w"))


@pytest.mark.skipif(has("4.3"), reason="a text is cut to the digits of a TIME since Spark 4.3")
def test_texts_of_more_digits_are_refused(short_times: SparkSession) -> None:
    (problem,) = check(short_times.sql("SELECT CAST(s AS TIME(3)) FROM w"))
    assert "Spark before 4.3 keeps six digits" in problem.reason


EXPRESSIONS = [
    "hour(t), minute(t9), second(t3), extract(SECOND FROM t), extract(SECOND FROM t3)",
    "t - u, t3 - t, time_diff('HOUR', t, u), time_diff('millisecond', t3, u), time_trunc('HOUR', t), time_trunc('second', t3)",
    "time_to_seconds(t), time_to_millis(t3), time_to_micros(t3), make_time(i, i, 12.5), time_from_micros(i)",
    "time_from_seconds(i), time_from_seconds(CAST(i AS DECIMAL(5, 1)) / 3), time_from_seconds(CAST(i AS DOUBLE) / 3)",
    "time_from_millis(CAST(i AS TINYINT)), try_to_time(s), try_to_time(s, p), try_to_time(s, 'HH:mm')",
    "CAST(t AS STRING), CAST(t3 AS STRING), CAST(s AS TIME), CAST(s AS TIME(0)), CAST(s AS TIME(3))",
    "CAST(t AS TIME(3)), CAST(t3 AS TIME), CAST(t9 AS TIME(0)), CAST(t AS BIGINT), CAST(t AS INT), TRY_CAST(t AS TINYINT)",
    "CAST(t AS DECIMAL(20, 6)), CAST(t3 AS DECIMAL(9, 2)), TRY_CAST(t AS DECIMAL(5, 1))",
    "CAST(s AS TIME(9)), CAST(s AS TIME(7)), TRY_CAST(s AS TIME(8)), CAST(CAST(s AS TIME(9)) AS STRING), CAST(CAST(s AS TIME(9)) AS INT)",
    "time_to_micros(CAST(s AS TIME(9))), time_to_millis(CAST(s AS TIME(9))), time_to_seconds(CAST(s AS TIME(9)))",
    "date_format(CAST(s AS TIME(9)), 'HH:mm:ss.SSSSSSSSS'), extract(SECOND FROM CAST(s AS TIME(9))), extract(SECOND FROM t3)",
    "CAST(s AS TIME(9)) - t, t3 - CAST(s AS TIME(7)), time_diff('MICROSECOND', t, CAST(s AS TIME(9))), time_trunc('SECOND', t9)",
    "make_timestamp_ntz(dt, CAST(s AS TIME(9))), hour(t9), t9 = t, CAST(s AS TIME(9)) < t, CAST(CAST(s AS TIME(9)) AS TIME(3))",
    "try_add(t9, d), try_subtract(t9, d), t9 + INTERVAL '0' SECOND, to_json(struct(CAST(s AS TIME(9)) AS x))",
    "try_add(t, INTERVAL '1' HOUR), try_subtract(t3, INTERVAL '23:59:59.999' HOUR TO SECOND), try_add(t, d)",
    "CAST(n AS TIME), CAST(z AS TIME), CAST(n AS TIME(3)), CAST(z AS TIME(9))",
    "make_timestamp(dt, t), make_timestamp(dt, t3, 'Europe/Berlin'), make_timestamp_ntz(dt, t3), try_make_timestamp_ntz(dt, t)",
    "date_format(t, 'HH'), date_format(t3, 'SSSSSSSSS'), to_char(t, 'mm'), t = u, t3 < t, t9 <=> t, t IN (u, time'01:00:00')",
    "greatest(t, u), coalesce(t, u), if(i = 1, t, u), nullif(t, u), hash(t), xxhash64(t9)",
    "array(t, u), struct(t, t3), map('a', t9), sort_array(array(u, t)), CAST(array(t) AS STRING), CAST(array(s) AS array<time>)",
    "to_json(struct(t)), from_json(concat('{\"a\": \"', t, '\"}'), 'a time'), time'23:59:59.123456789', array(time'10:00:00', NULL)",
    "lag(t) OVER (ORDER BY t), min(t) OVER (ORDER BY t3 ROWS 1 PRECEDING), row_number() OVER (PARTITION BY t9 ORDER BY u)",
    "explode(array(t, u))",
]


@pytest.mark.parametrize("expressions", EXPRESSIONS)
@pytest.mark.parametrize("ansi", [True, False])
def test_expressions(times: SparkSession, expressions: str, ansi: bool) -> None:
    _have_the_same_values(times, "v", expressions, ansi)


def _raise_alike(df: DataFrame) -> None:
    assert_raises(df)
    assert_raises(canonical(df))


def _has_the_same_rows(df: DataFrame) -> None:
    assert_canonical_rows(df)
    assert_canonical_rows(df, "analyzed")
    if not _has_values_of_times(df):
        assert_same_rows(df, canonical=False)


LACKING = (
    "no type",
    "no such pattern",
    "in JSON",
    "needs a literal",
    "approx_top_k",
    "no collect_list",
    "approx_percentile",
)
"""What DataFusion, which counts times, says that it lacks: times in other values, and what else is not of times."""


def _each(expressions: str) -> list[str]:
    """The expressions of a list, one by one."""
    parts, depth = [""], 0
    for character in expressions:
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _has_values_of_times(df: DataFrame) -> bool:
    """Whether DataFusion can't run it, for a reason that is known."""
    reasons = [problem.reason for problem in check(df, dialect="datafusion").problems]
    assert all(any(part in reason for part in LACKING) for reason in reasons), reasons
    return bool(reasons)


def _have_the_same_values(spark: SparkSession, view: str, expressions: str, ansi: bool) -> None:
    """Without the row that some expressions fail at, and with it."""
    spark.conf.set("spark.sql.ansi.enabled", str(ansi).lower())
    try:
        for part in (expressions, *_each(expressions)):
            df = spark.sql(f"SELECT {part} FROM {view} WHERE i <> 12 OR i IS NULL")
            if part == expressions:
                assert_canonical_rows(df)
            elif not _has_values_of_times(df):
                assert_same_rows(df, canonical=False)
        failing = spark.sql(f"SELECT {expressions} FROM {view}")
        try:
            spark_table(failing)
        except EngineError:
            assert_raises(canonical(failing))
        else:
            assert_canonical_rows(failing)
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


QUERIES = [
    "SELECT min(t), max(t9), count(DISTINCT t), first(t3) FILTER (WHERE i = 1), max_by(t, i), min_by(i, t), mode(t, true), approx_count_distinct(t) FROM v",
    "SELECT sort_array(collect_list(t)), approx_percentile(t, 0.5), min(struct(t, i)), approx_top_k(t) FROM v WHERE i > 0",
    "SELECT t, count(*) FROM v GROUP BY t",
    "SELECT u, sum(i) FROM v GROUP BY ROLLUP(u)",
    "SELECT a.t, b.u FROM v a JOIN v b ON a.t = b.u",
    "SELECT a.t, b.u FROM v a LEFT JOIN v b ON a.t <=> b.t3",
    "SELECT t FROM v UNION SELECT u FROM v",
    "SELECT t FROM v INTERSECT SELECT u FROM v",
    "SELECT t9, t3 FROM v ORDER BY t9 NULLS LAST LIMIT 2",
    "SELECT * FROM v WHERE t BETWEEN time'10:00:00' AND time'12:00:00'",
    "SELECT * FROM v WHERE t = (SELECT max(t) FROM v)",
]


@pytest.mark.parametrize("query", QUERIES)
def test_queries(times: SparkSession, query: str) -> None:
    _has_the_same_rows(times.sql(query))


@pytest.mark.parametrize("expression", ERRORS)
def test_errors(times: SparkSession, expression: str) -> None:
    _raise_alike(times.sql(f"SELECT {expression} FROM v"))


def test_intervals_are_added(times: SparkSession) -> None:
    assert_canonical_rows(times.sql("SELECT t + d, t3 + d, t3 - INTERVAL '1' HOUR FROM v WHERE i = 1"))


def test_local_rows(times: SparkSession) -> None:
    assert_canonical_rows(times.createDataFrame([(dt.time(1, 2, 3, 4),), (None,)], "a time(6)"))


def test_types_keep_their_digits(times: SparkSession) -> None:
    plan = plan_of(times.sql("SELECT t, t3, t9 FROM v"))
    found = plan.relations[0].root.input.read.base_schema.struct.types
    assert [type.precision_time.precision for type in found if type.HasField("precision_time")] == [6, 3, 9, 6]


def test_the_current_time_is_that_of_the_context(times: SparkSession) -> None:
    plan = plan_of(times.sql("SELECT current_time(3), localtime()"), stage="analyzed")
    first, second = plan.relations[0].root.input.project.expressions
    assert first.cast.type.precision_time.precision == 3
    local = second.cast.input.scalar_function
    assert local.arguments[0].value.execution_context_variable.HasField("current_timestamp")


@pytest.mark.parametrize(
    "expression",
    [
        "median(t)",
        "CAST(t9 AS DECIMAL(20, 9))",
    ],
)
def test_what_is_refused(times: SparkSession, expression: str) -> None:
    (problem,) = check(times.sql(f"SELECT {expression} FROM v"))
    assert problem.hint


def test_times_in_other_values_are_none_of_datafusions(times: SparkSession) -> None:
    """What is made of their counts would be taken for numbers."""
    for expression in ("struct(t)", "CAST(array(s) AS array<time>)", "to_json(array(make_time(i, 0, 0)))"):
        problems = check(times.sql(f"SELECT {expression} FROM v"), dialect="datafusion").problems
        assert any("no type" in problem.reason or "in JSON" in problem.reason for problem in problems)


@pytest.fixture
def clock(times: SparkSession) -> Iterator[DataFrame]:
    """A table of the catalog's, with times and intervals."""
    times.sql("CREATE TABLE clock USING parquet AS SELECT t, t9, d, INTERVAL '5' MONTH * i AS m, i FROM v")
    yield times.table("clock")
    times.sql("DROP TABLE clock")


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_tables_of_arrow(clock: DataFrame, unit: str) -> None:
    """Times and intervals come as Arrow has them, of any unit that loses nothing."""
    df = clock.where("t > time'00:00:00' AND m IS NOT NULL").selectExpr("t", "t9", "d", "m", "time_to_micros(t) AS n")
    rows = spark_table(clock)
    others = {"t": pa.time64(unit), "d": pa.duration(unit)}
    typed = pa.schema([field.with_type(others.get(field.name, field.type)) for field in rows.schema])
    assert not differences(
        spark_table(df), datafusion.execute(plan_of(df, "datafusion"), tables={"clock": rows.cast(typed)})
    )


def test_tables_of_other_values(clock: DataFrame) -> None:
    """Neither numbers in the place of times, nor days in that of months, are taken for what they may mean."""
    plan, rows = plan_of(clock, "datafusion"), spark_table(clock)
    numbers = rows.set_column(0, "t", pa.array([1] * rows.num_rows))
    days = rows.set_column(3, "m", pa.array([(1, 2, 0)] * rows.num_rows, pa.month_day_nano_interval()))
    for table, reason in ((numbers, "holds int64"), (days, "holds days or nanoseconds")):
        with pytest.raises(InvalidPlanError, match=reason):
            datafusion.execute(plan, tables={"clock": table})
