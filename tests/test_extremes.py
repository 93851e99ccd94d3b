"""Queries of an extreme size, depth or naming: each becomes a plan, or its own clear refusal."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructField, StructType
from rows import assert_engine_raises, assert_plan_raises, assert_raises, assert_same_rows, plan_of
from substrait.plan_pb2 import Plan

from substrait_spark import InvalidPlanError, UnsupportedPlanError, check, df_to_substrait
from substrait_spark.engines import datafusion

DIALECTS = (None, "datafusion")


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A session whose optimizer does only what it must: what Spark needs for these queries is not what is tested."""
    path = str(tmp_path_factory.mktemp("extremes") / "t")
    spark.range(20).selectExpr("id", "id % 7 AS k", "string(id) AS s").coalesce(1).write.parquet(path)
    session = spark.newSession()
    session.conf.set("spark.sql.optimizer.excludedRules", ",".join(_excludable(session)))
    session.conf.set("spark.sql.ansi.enabled", "true")
    session.read.parquet(path).createOrReplaceTempView("t")
    return session


KEPT = ("CollapseProject", "ConstantFolding")
"""Rules that every plan of Spark's has gone through, and that cost little."""


def _excludable(session: SparkSession) -> list[str]:
    optimizer = session._jsparkSession.sessionState().optimizer()
    required = optimizer.nonExcludableRules().mkString("\n").splitlines()
    found = set()
    batches = optimizer.defaultBatches().iterator()
    while batches.hasNext():
        rules = batches.next().rules().iterator()
        while rules.hasNext():
            found.add(rules.next().ruleName())
    return sorted(name for name in found - set(required) if not name.endswith(KEPT))


def plans(df: DataFrame) -> list[Plan]:
    """The plans of a query in each dialect, as a reader of protobuf reads them; both keep the structural rules."""
    return [Plan.FromString(df_to_substrait(df, dialect=dialect).SerializeToString()) for dialect in DIALECTS]


def rows(df: DataFrame) -> list[tuple[object, ...]]:
    """DataFusion's rows, sorted. What they must be is plain, and Spark would take long for them."""
    _, plan = plans(df)
    return sorted(zip(*[column.to_pylist() for column in datafusion.execute(plan).columns], strict=True))


def refusal(df: DataFrame, dialects: Sequence[str | None] = DIALECTS) -> str:
    """Why a query is refused, in the same words by each dialect and way."""
    found = set()
    for dialect in dialects:
        with pytest.raises(UnsupportedPlanError) as raised:
            df_to_substrait(df, dialect=dialect)
        (problem,) = raised.value.problems
        assert problem == next(iter(check(df, dialect=dialect)))
        found.add(f"{problem.reason} {problem.hint}")
    (reason,) = found
    return reason


# ---- wide


@pytest.mark.slow
def test_a_filter_of_thousands_of_alternatives(session: SparkSession) -> None:
    terms = " OR ".join(f"id = {2 * n}L" for n in range(4_000))
    assert rows(session.sql(f"SELECT id FROM t WHERE {terms}")) == [(n,) for n in range(0, 20, 2)]


@pytest.mark.slow
def test_thousands_of_conditions(session: SparkSession) -> None:
    terms = " AND ".join(f"id <> {n}L" for n in range(4_000))
    assert len(plans(session.sql(f"SELECT id FROM t WHERE coalesce({terms}, false)"))) == 2


def test_a_filter_that_ends_the_stack_of_sparks_optimizer(session: SparkSession) -> None:
    df = session.sql("SELECT id FROM t WHERE " + " AND ".join(f"id <> {n}L" for n in range(3, 3000)))
    assert rows(df) == [(0,), (1,), (2,)]


@pytest.mark.slow
def test_a_list_of_tens_of_thousands(session: SparkSession) -> None:
    numbers = ",".join(f"{3 * n}L" for n in range(30_000))
    assert rows(session.sql(f"SELECT id FROM t WHERE id IN ({numbers})")) == [(n,) for n in range(0, 20, 3)]


@pytest.mark.slow
def test_thousands_of_columns(session: SparkSession) -> None:
    df = session.sql("SELECT " + ", ".join(f"id + {n}L AS c{n}" for n in range(4_000)) + " FROM t")
    for plan in plans(df):
        assert len(plan.relations[0].root.names) == 4_000


def test_a_table_of_ten_thousand_columns(session: SparkSession, tmp_path: Path) -> None:
    session.range(1).write.parquet(str(tmp_path / "wide"))
    schema = "id long, " + ", ".join(f"c{n} int" for n in range(10_000))
    df = session.read.schema(schema).parquet(str(tmp_path / "wide"))
    for plan in plans(df):
        assert len(plan.relations[0].root.names) == 10_001


@pytest.mark.slow
def test_a_thousand_unioned_frames(session: SparkSession) -> None:
    terms = [f"(SELECT id FROM t WHERE id > {n}L)" for n in range(1000)]
    while len(terms) > 1:  # Spark's own stack is too small for a chain
        terms = [f"({' UNION ALL '.join(terms[n : n + 2])})" for n in range(0, len(terms), 2)]
    assert rows(session.sql(terms[0])) == sorted((id,) for n in range(1000) for id in range(n + 1, 20))


def test_a_string_of_ten_megabytes(session: SparkSession) -> None:
    df = session.table("t").select(F.lit("x" * 10_000_000).alias("x"), "id").where("id = 7")
    assert rows(df) == [("x" * 10_000_000, 7)]


@pytest.mark.parametrize("digits", ["0." + "9" * 38, "-0." + "0" * 37 + "1"])
def test_a_decimal_of_38_fraction_digits(session: SparkSession, digits: str) -> None:
    assert_same_rows(session.sql(f"SELECT CAST('{digits}' AS DECIMAL(38,38)) AS d"))


PARTS = [
    "year(d)",
    "month(d)",
    "day(d)",
    "quarter(d)",
    "dayofweek(d)",
    "weekofyear(d)",
    "dayofyear(d)",
    "trunc(d, 'MM')",
]


@pytest.mark.parametrize("day", [95026237, -96465658])
def test_days_beyond_the_engines_calendar(session: SparkSession, tmp_path: Path, day: int) -> None:
    """Their parts raise, and are never null; what needs no calendar has a value."""
    inside = day - 1 if day > 0 else day + 400
    days = session.sql(f"SELECT date_from_unix_date(d) AS d FROM VALUES ({inside}), ({day}) t(d)")
    days.coalesce(1).write.parquet(str(tmp_path / "days"))
    both = session.read.parquet(str(tmp_path / "days"))
    assert_same_rows(both.selectExpr("unix_date(d)", "date_add(d, 1)", "next_day(d, 'MO')"))
    assert_same_rows(both.where(f"d = date_from_unix_date({inside})").selectExpr(*PARTS))
    for part in PARTS:
        assert_plan_raises(plan_of(both.where(f"d = date_from_unix_date({day})").selectExpr(part), "datafusion"))


@pytest.mark.parametrize(
    "difference",
    [
        "timestampdiff(MICROSECOND, n, TIMESTAMP_NTZ'2020-01-01 00:00:00')",
        "extract(DAY FROM TIMESTAMP_NTZ'2020-01-01 00:00:00' - n)",
    ],
)
def test_differences_of_times_beyond_64_bits(session: SparkSession, tmp_path: Path, difference: str) -> None:
    days = session.sql("SELECT timestamp_micros(d * 86400000000L) AS t FROM VALUES (-106751990L) v(d)")
    days.selectExpr("CAST(t AS TIMESTAMP_NTZ) AS n").write.parquet(str(tmp_path / "times"))
    df = session.read.parquet(str(tmp_path / "times")).selectExpr(difference)
    assert_raises(df)
    assert_engine_raises(df)


# ---- deep


def test_three_hundred_nested_cases(session: SparkSession) -> None:
    case = reduce(lambda rest, n: F.when(F.col("id") == n, n).otherwise(rest), range(300), F.lit(-1))
    assert rows(session.table("t").select(case.alias("x"))) == [(n,) for n in range(20)]


def test_two_hundred_columns_one_after_the_other(session: SparkSession) -> None:
    # Some hundreds overflow the stack of Spark's analyzer.
    df = reduce(lambda df, n: df.withColumn(f"c{n % 5}", F.col("id") + n), range(200), session.table("t"))
    assert rows(df)[-1][3:] == (214, 215, 216, 217, 218)


def test_a_join_of_sixty_tables(session: SparkSession) -> None:
    joins = " ".join(f"JOIN (SELECT id, k AS k{n} FROM t) USING (id)" for n in range(59))
    for dialect in DIALECTS:
        reason = refusal(session.sql(f"SELECT * FROM t {joins}"), [dialect])
        assert "messages deep, and Substrait readers stop at 100; the deepest are at" in reason
        assert "59 times Join / " in reason
        assert "Split the query" in reason


def test_a_join_of_forty_tables(session: SparkSession) -> None:
    joins = " ".join(f"JOIN (SELECT id, k AS k{n} FROM t) USING (id)" for n in range(39))
    assert len(rows(session.sql(f"SELECT * FROM t {joins}"))) == 20


@pytest.mark.parametrize("kind", ["INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"])
@pytest.mark.parametrize("condition", ["{a} = {b}", "a.k < b.k AND {a} > b.s", "{a} < b.s OR {b} = a.s"])
def test_conditions_of_joins_that_nest_deep(session: SparkSession, kind: str, condition: str) -> None:
    deep = {
        side: reduce(lambda text, n: f"concat(substr({text}, 2), {side}.s)", range(30), f"{side}.s") for side in "ab"
    }
    columns = "a.id, a.s" if kind.endswith(("SEMI", "ANTI")) else "a.id, a.s, b.id, b.s"
    df = session.sql(
        f"SELECT {columns} FROM t a {kind} JOIN (SELECT * FROM t WHERE id < 9) b ON {condition.format_map(deep)}"
    )
    assert_same_rows(df)


def test_the_condition_of_a_join_that_may_raise_stays_whole(session: SparkSession) -> None:
    deep = reduce(lambda text, n: f"{n} % ({text})", range(30), "a.k")
    df = session.sql(f"SELECT a.id FROM t a JOIN t b ON {deep} = b.k")
    assert "messages deep, and Substrait readers stop at 100" in refusal(df, [None])


@pytest.mark.parametrize(("depth", "fits"), [(30, True), (60, False)])
def test_nested_subqueries(session: SparkSession, depth: int, fits: bool) -> None:
    df = session.sql("SELECT k FROM t WHERE k > 0L")
    for _ in range(depth):
        df.createOrReplaceTempView("inner_query")
        df = session.sql("SELECT k FROM t WHERE k IN (SELECT k FROM inner_query)")
    if fits:
        assert_same_rows(df)
    else:
        assert "the deepest are at 60 times Join / " in refusal(df, [None])
        assert "the deepest are at 53 times Join / Aggregate / " in refusal(df, ["datafusion"])


def test_structs_nested_fifty_deep(session: SparkSession, tmp_path: Path) -> None:
    type = reduce(lambda inner, n: f"STRUCT<f{n}: {inner}>", range(50), "INT")
    session.range(1).write.parquet(str(tmp_path / "nested"))
    reason = refusal(session.read.schema(f"x {type}").parquet(str(tmp_path / "nested")))
    assert "messages deep, and Substrait readers stop at 100" in reason


# ---- names

NAMES = [
    "",
    " ",
    "a.b",
    "`",
    "a`b.`c`",
    '"',
    "'",
    "a b, c;{}()=",
    "x" * 10_000,
    "line\none\ttab\\",
    "é",
    "e\u0301",  # the same letter to a reader, another name
    "日本語",
    "😀",
    "\u202eright to left",
    "%s {} $1",
    "select",
    "*",
    "0",
    "Straße",
    "STRASSE",
]


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@pytest.fixture(scope="module")
def named(spark: SparkSession) -> DataFrame:
    """Local rows with columns of all these names."""
    schema = StructType([StructField(name, IntegerType()) for name in NAMES])
    return spark.createDataFrame([tuple(range(len(NAMES))), (None,) * len(NAMES)], schema)


def test_names_of_columns(named: DataFrame) -> None:
    assert list(assert_same_rows(named).plan.relations[0].root.names) == NAMES
    picked = named.select(*[named[quoted(name)] for name in reversed(NAMES)])
    assert list(assert_same_rows(picked).plan.relations[0].root.names) == NAMES[::-1]


def test_names_of_results(session: SparkSession) -> None:
    df = session.table("t").select(*[(F.col("id") + n).alias(name) for n, name in enumerate(NAMES)])
    assert list(assert_same_rows(df).plan.relations[0].root.names) == NAMES
    assert_same_rows(df.groupBy(quoted("a.b")).agg(F.max(quoted("")).alias("")))


def test_names_of_struct_fields(named: DataFrame) -> None:
    fields = [F.col(quoted(name)).alias(name) for name in NAMES if name]
    df = named.select(F.struct(*fields).alias("s"))
    assert [*assert_same_rows(df).plan.relations[0].root.names] == ["s", *NAMES[1:]]
    assert_same_rows(df.select(*[df["s"][name].alias(f"c{n}") for n, name in enumerate(NAMES) if name]))


def test_empty_names_of_struct_fields(named: DataFrame) -> None:
    df = named.select(F.struct(F.col("``").alias(""), F.col("select")).alias("s"))
    assert list(df_to_substrait(df).relations[0].root.names) == ["s", "", "select"]
    assert "a field of the struct has an empty name" in str(check(df, dialect="datafusion"))


def test_a_name_with_a_null_character(session: SparkSession, tmp_path: Path) -> None:
    """Arrow's interface ends names there, so that DataFusion would look for another column."""
    path = str(tmp_path / "null")
    session.sql("SELECT 1 AS `a\u0000b`, 2 AS a").write.parquet(path)
    _, plan = plans(session.read.parquet(path))
    assert list(plan.relations[0].root.names) == ["a\u0000b", "a"]
    with pytest.raises(InvalidPlanError, match="null character"):
        datafusion.execute(plan)


@pytest.mark.parametrize(
    "value",
    [
        "char(0)",
        "split(char(0), ',')",
        "struct(char(0) AS a, struct(id, array(char(0)) AS b) AS c)",
        "array(struct(char(0) AS a))",
    ],
)
def test_null_characters_in_constants_of_keys(spark: SparkSession, value: str) -> None:
    """DataFusion names what it computes by the text of it."""
    assert_same_rows(spark.range(5).selectExpr("id % 2 AS id").selectExpr("id", f"{value} AS v").distinct())


def test_names_in_files(session: SparkSession, named: DataFrame, tmp_path: Path) -> None:
    path = str(tmp_path / "named")
    named.write.parquet(path)
    df = session.read.parquet(path)
    assert_same_rows(df)
    assert_same_rows(df.select(quoted("a.b"), quoted("😀")))


@pytest.mark.parametrize("name", ["a.b", "`", '"', "日本語", "x" * 1000, "a b", "Straße"])
def test_names_of_views(session: SparkSession, name: str) -> None:
    session.table("t").createOrReplaceTempView(quoted(name))
    df = session.sql(f"SELECT {quoted(name)}.id FROM {quoted(name)} WHERE id < 3")
    assert rows(df) == [(0,), (1,), (2,)]


def test_a_name_twice(session: SparkSession) -> None:
    df = session.sql("SELECT id, id, k AS id, id + k AS ID FROM t")
    assert list(assert_same_rows(df).plan.relations[0].root.names) == ["id", "id", "id", "ID"]
    assert_same_rows(session.sql("SELECT a.*, b.* FROM t a JOIN t b ON a.id = b.k"))


def test_names_that_differ_in_case(spark: SparkSession, tmp_path: Path) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.caseSensitive", "true")
    path = str(tmp_path / "cased")
    session.sql("SELECT id AS a, id * 2 AS A, struct(id AS x, id * 3 AS X) AS s FROM range(3)").write.parquet(path)
    df = session.read.parquet(path)
    assert list(plans(df.select("A", "a"))[1].relations[0].root.names) == ["A", "a"]
    assert check(df.selectExpr("s.X", "s.x"))
    assert "two fields of the struct have the same name" in str(
        check(df.selectExpr("s.X", "s.x"), dialect="datafusion")
    )
    with pytest.raises(InvalidPlanError, match="the column 'a' is there several"):
        datafusion.execute(plans(df.select("A", "a"))[1])
    local = session.sql("SELECT a + 1 AS a, A + 1 AS A FROM VALUES (1, 10), (2, 20) AS t(a, A)")
    assert rows(local) == [(2, 11), (3, 21)]
