"""Ways in which producers go silently wrong: one test each. What can't be said exactly is refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window
from releases import later, since
from rows import assert_same_outcome, assert_same_rows, differences, plan_of, spark_table

from substrait_spark import UnsupportedPlanError, check, df_to_substrait
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import datafusion

ROWS = [(1, "a", 1.0, date(2024, 1, 1)), (2, "b", 2.0, date(2024, 1, 2)), (None, "c", None, None)]


@pytest.fixture(scope="module", autouse=True)
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Views t and u of the same few rows, in Parquet files."""
    root = tmp_path_factory.mktemp("pitfalls")
    df = spark.createDataFrame(ROWS, "k int, n string, v double, dt date")
    for name in ("t", "u"):
        df.write.parquet(str(root / name))
        spark.read.parquet(str(root / name)).createOrReplaceTempView(name)
    return root


@pytest.fixture(params=[True, False], ids=["ansi", "legacy"])
def ansi(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[bool]:
    spark.conf.set("spark.sql.ansi.enabled", str(request.param).lower())
    yield request.param
    spark.conf.unset("spark.sql.ansi.enabled")


def exact(df: DataFrame, tolerance: float | None = None) -> None:
    """The engine's outcome is Spark's."""
    assert_same_outcome(df, tolerance=tolerance)


def refused(df: DataFrame, *words: str, dialect: str | None = None) -> None:
    with pytest.raises(UnsupportedPlanError) as error:
        df_to_substrait(df, dialect=dialect)
    for word in words:
        assert word in str(error.value)


def kinds(df: DataFrame) -> list[str]:
    """The message names in the canonical plan."""
    return [message.DESCRIPTOR.name for message in messages(plan_of(df))]


# ---- silently wrong


@pytest.mark.parametrize(
    "call",
    ["k + 1", "try_add(k, 1)", "try_add(2147483647, k)", "k / 0", "try_divide(k, 0)", "round(v)", "round(-v - 0.5D)",
     "ln(v - 1)", "ln(-v)", "log10(v - 1)", "substr(n, -3)", "substr(n, 0)", "substr(concat(n, 'bcdef'), -10, 5)",
     "k % 0", "-7 % k", "k % -2", "sqrt(-v)", "concat(n, NULL, 'x')", "2147483647 + k", "-(k - 2147483648)"],
)  # fmt: skip
def test_s1_options(spark: SparkSession, ansi: bool, call: str) -> None:
    exact(spark.sql(f"SELECT {call} AS r FROM t"))


@pytest.mark.parametrize(
    "call",
    ["try_cast(n AS int)", "cast(n AS int)", "cast(k * 3000000000L AS int)", "cast(v AS int)", "cast(dt AS timestamp)",
     "cast(cast(dt AS timestamp) AS string)", "cast(v AS string)", "cast(v / 3 AS decimal(5, 2))", "cast(k AS byte)"],
)  # fmt: skip
def test_s2_cast_mode_and_zone(spark: SparkSession, ansi: bool, call: str) -> None:
    exact(spark.sql(f"SELECT {call} AS r FROM t"))


@pytest.mark.parametrize(
    "call", ["lag(n)", "lag(n, 1, 'x')", "lag(n, -1)", "lead(n, 2)", "lead(dt, 1)", "nth_value(n, 2)", "lag(n, 0)"]
)
def test_s3_lag_and_lead(spark: SparkSession, call: str) -> None:
    assert_same_rows(spark.sql(f"SELECT n, {call} OVER (ORDER BY n) AS r FROM t"))


def test_s3_ignore_nulls_is_not_lost(spark: SparkSession) -> None:
    exact(spark.sql("SELECT lag(v) IGNORE NULLS OVER (ORDER BY n DESC) AS r FROM t"))


def test_s4_first_value_is_positional(spark: SparkSession) -> None:
    assert_same_rows(spark.sql("SELECT n, first_value(n) OVER (ORDER BY n DESC) AS r FROM t"))
    exact(spark.sql("SELECT first(v) IGNORE NULLS AS r FROM t WHERE v IS NULL OR v = 1"))
    assert_same_rows(spark.table("t").dropDuplicates(["n"]))


def test_s5_count_of_several(spark: SparkSession) -> None:
    values = "VALUES (1, 'x'), (1, 'x'), (2, NULL), (NULL, 'y')"
    assert_same_rows(spark.sql(f"SELECT count(a, b) AS c FROM {values} x(a, b)"))
    exact(spark.sql(f"SELECT count(DISTINCT a, b) AS c FROM {values} x(a, b)"))


def test_s6_trim(spark: SparkSession) -> None:
    assert_same_rows(
        spark.sql("SELECT trim(concat(' \\ta ', n)) AS a, trim(BOTH 'x' FROM concat('xx', n)) AS b FROM t")
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k FROM t WHERE k > 5 OR NOT EXISTS (SELECT 1 FROM u WHERE t.k + 10 = u.k)",
        "SELECT k FROM t WHERE v > 5 OR EXISTS (SELECT 1 FROM u WHERE t.k = u.k + 1)",
        "SELECT k FROM t WHERE v > 5 OR EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.n <> t.n) OR k = 1",
        "SELECT k FROM t WHERE k = 1 OR k NOT IN (SELECT k FROM u WHERE k > 1)",
        "SELECT k FROM t WHERE k > 5 OR k NOT IN (SELECT k FROM u) OR n = 'a'",
        "SELECT k, k IN (SELECT k FROM u) AS r FROM t",
        "SELECT k, k NOT IN (SELECT k + 1 FROM u WHERE k IS NOT NULL) AS r FROM t",
        "SELECT a.k, b.k FROM t a JOIN t b ON a.n = b.n WHERE a.k = 2 OR EXISTS (SELECT 1 FROM u WHERE u.k = b.k)",
    ],
)
def test_s7_existence_join(spark: SparkSession, query: str) -> None:
    assert_same_rows(spark.sql(query))


@pytest.mark.parametrize("count", [9, 10, 11, 12])
@pytest.mark.parametrize("null", ["", ", NULL"])
def test_s8_in_lists(spark: SparkSession, count: int, null: str) -> None:
    days = ", ".join(f"DATE'2024-01-{day:02}'" for day in range(1, count + 1))
    numbers = ", ".join(f"{number}.50BD" for number in range(count))
    assert_same_rows(spark.sql(f"SELECT n, dt IN ({days}{null}) AS r FROM t"))
    assert_same_rows(spark.sql(f"SELECT n, cast(v - 0.5 AS decimal(10, 2)) IN ({numbers}{null}) AS r FROM t"))
    doubles = ", ".join([f"{number}.0D" for number in range(count - 2)] + ["double('NaN')", "-0.0D"])
    assert_same_rows(spark.sql(f"SELECT n, v - 1 IN ({doubles}{null}) AS r FROM t"))


def test_s10_local_rows_are_all_or_none(spark: SparkSession) -> None:
    df = spark.createDataFrame([(i,) for i in range(101)], "i int")
    assert_same_rows(df)
    with pytest.raises(UnsupportedPlanError, match="inline_limit"):
        df_to_substrait(df, inline_limit=100)
    assert check(df, inline_limit=101)


def test_s12_file_lengths_are_their_own(spark: SparkSession, tables: Path) -> None:
    spark.range(100).repartition(3).write.parquet(str(tables / "three"))
    plan = df_to_substrait(spark.read.parquet(str(tables / "three")))
    for item in plan.relations[0].root.input.read.local_files.items:
        assert item.length in (0, Path(item.uri_file.removeprefix("file://")).stat().st_size)


def test_s13_partition_values(spark: SparkSession, tables: Path) -> None:
    spark.table("t").withColumn("p", F.lit(7)).write.partitionBy("p").parquet(str(tables / "parts"))
    exact(spark.read.parquet(str(tables / "parts")).where("p = 7"))


def test_s14_sort_within_partitions_is_no_global_sort(spark: SparkSession) -> None:
    df = spark.range(8).repartition(2).sortWithinPartitions("id")
    assert "SortRel" not in kinds(df)
    assert_same_rows(df)


@pytest.mark.parametrize("pattern", ["'%50!%%' ESCAPE '!'", "'a%b!_' ESCAPE '!'", r"'%\\%%'", r"'\\_%'", "'_'", "'%'"])
def test_s15_like_escape(spark: SparkSession, pattern: str) -> None:
    values = "VALUES ('50%x'), ('50!x'), ('500'), ('a1b_'), ('_a'), ('a%'), ('') x(a)"
    exact(spark.sql(f"SELECT a, a LIKE {pattern} AS r FROM {values.replace(' x(a)', '')} AS x(a)"))


def test_s16_approximate_count_keeps_its_accuracy(spark: SparkSession) -> None:
    def declared(call: str) -> bytes:
        return df_to_substrait(spark.sql(f"SELECT {call} FROM t")).SerializeToString()

    assert declared("approx_count_distinct(n, 0.01)") != declared("approx_count_distinct(n, 0.2)")


@since("4.0", "listagg")
def test_s17_order_in_an_aggregate(spark: SparkSession) -> None:
    query = "SELECT listagg(n, ',') WITHIN GROUP (ORDER BY n {}) AS r FROM t"
    for direction in ("ASC", "DESC"):
        exact(spark.sql(query.format(direction)))
    plans = {df_to_substrait(spark.sql(query.format(way))).SerializeToString() for way in ("ASC", "DESC")}
    assert len(plans) == 2


def test_s18_writes_are_refused(spark: SparkSession) -> None:
    refused(spark.sql("CREATE OR REPLACE TEMP VIEW w AS SELECT 1"), "command")


def test_s19_names_are_not_split_on_dots(spark: SparkSession) -> None:
    spark.sql("DROP TABLE IF EXISTS `dotted_name`")
    spark.table("t").write.saveAsTable("dotted_name")
    plan = df_to_substrait(spark.table("dotted_name"))
    assert list(plan.relations[0].root.input.read.named_table.names) == ["spark_catalog", "default", "dotted_name"]
    spark.sql("DROP TABLE dotted_name")


# ---- hard failures


def test_h1_moving_rows_is_no_operation(spark: SparkSession) -> None:
    for df in (
        spark.table("t").repartition(3),
        spark.table("t").coalesce(1),
        spark.table("t").repartition(3, "k"),
        spark.table("t").repartitionByRange(2, "k"),
        spark.sql("SELECT /*+ REPARTITION(3) */ * FROM t"),
        spark.sql("SELECT /*+ REBALANCE */ * FROM t"),
        spark.table("t").hint("broadcast"),
    ):
        assert df_to_substrait(df) == df_to_substrait(spark.table("t"))


def test_h2_random_ctes_are_refused_for_the_random_number(spark: SparkSession) -> None:
    df = spark.sql("WITH c AS (SELECT k, rand() r FROM t) SELECT * FROM c a JOIN c b ON a.k = b.k")
    refused(df, "Rand", dialect="datafusion")


def test_h3_range(spark: SparkSession) -> None:
    assert_same_rows(spark.range(5))


def test_h4_cached_frames_export_their_query(spark: SparkSession) -> None:
    df = spark.table("t").where("k > 1")
    plain = df_to_substrait(df.select("n"))
    df.cache()
    try:
        assert df_to_substrait(df.select("n")) == plain
    finally:
        df.unpersist()


def test_h5_h7_h8_nodes_without_a_relation(spark: SparkSession) -> None:
    refused(spark.table("t").sample(fraction=0.5, seed=1), "Sample", dialect="datafusion")
    assert_same_rows(spark.sql("SELECT explode(split(n, ',')) FROM t"))
    shout = F.udf(lambda text: text and text.upper())
    refused(spark.table("t").select(shout("n")), "<lambda>", dialect="datafusion")


def test_h6_multisets(spark: SparkSession) -> None:
    a, b = spark.createDataFrame([(1,), (1,), (2,), (None,)], "a int"), spark.createDataFrame([(1,), (3,)], "a int")
    exact(a.exceptAll(b))
    exact(a.intersectAll(b))
    assert_same_rows(a.subtract(b))
    assert_same_rows(a.intersect(b))


def test_h9_pivot(spark: SparkSession) -> None:
    exact(spark.table("t").groupBy("k").pivot("n", ["a", "b"]).agg(F.sum("v")))


def test_h10_dynamic_pruning(spark: SparkSession, tables: Path) -> None:
    fact = spark.range(20).selectExpr("id", "id % 4 AS p")
    fact.write.partitionBy("p").parquet(str(tables / "fact"))
    small = spark.createDataFrame([(1, "x"), (2, "y")], "p int, name string")
    df = spark.read.parquet(str(tables / "fact")).join(small.where("name = 'x'"), "p")
    exact(df)


def test_h11_char_padding(spark: SparkSession) -> None:
    spark.sql("DROP TABLE IF EXISTS padded")
    spark.sql("CREATE TABLE padded (a CHAR(5), b VARCHAR(5)) USING parquet")
    spark.sql("INSERT INTO padded VALUES ('x', 'y'), ('abcde', NULL), (NULL, '')")
    try:
        df = spark.sql("SELECT a, length(a) AS l, b FROM padded WHERE a <> 'y'")
        expected = spark_table(df)
        assert expected.num_rows == 2
        plan = df_to_substrait(df, dialect="datafusion", reads="files")
        assert not differences(expected, datafusion.execute(plan))
    finally:
        spark.sql("DROP TABLE padded")


@pytest.mark.parametrize("query", ["SELECT * FROM t ORDER BY n LIMIT 2 OFFSET 1", "SELECT n FROM t LIMIT 0"])
def test_h16_limits(spark: SparkSession, query: str) -> None:
    assert_same_rows(spark.sql(query), empty=query.endswith("LIMIT 0"))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT if(k > 1, n, 'z') AS r FROM t",
        "SELECT nullif(n, 'a') AS r FROM t",
        "SELECT k, (SELECT count(*) FROM u WHERE u.k = t.k AND u.n > 'a') AS r FROM t",
    ],
)
def test_h18_if(spark: SparkSession, query: str) -> None:
    assert_same_rows(spark.sql(query))


def test_h19_float_keys(spark: SparkSession) -> None:
    nan = float("nan")
    a = spark.createDataFrame([(nan, 1), (0.0, 2), (-0.0, 3), (None, 4)], "v double, a int")
    b = spark.createDataFrame([(nan, 1), (-0.0, 2), (1.0, 3), (None, 4)], "v double, b int")
    assert_same_rows(a.join(b, "v").select("a", "b"))
    assert_same_rows(a.select("v").intersect(b.select("v")))
    assert_same_rows(a.select("v").subtract(b.select("v")), empty=True)


@pytest.mark.parametrize(
    "call",
    ["-k", "k div 2", "pmod(-k, 3)", "signum(v)", "greatest(k, 1)", "least(v, 1.5D, NULL)", "nanvl(v, 0.0D)", "isnan(v)",
     "length(n)", "n RLIKE '^[ab]'", "regexp_replace(n, 'a', 'x')", "replace(n, 'a', 'xy')", "concat_ws('-', n, 'x', NULL)",
     "substring_index(n, 'b', 1)", "date_sub(dt, k)",
     "datediff(dt, DATE'2020-02-29')", "add_months(dt, k)", "date_trunc('MONTH', dt)", "date_format(dt, 'yyyy-MM')",
     "to_date(concat('2024-01-0', k), 'yyyy-MM-dd')", "md5(n)", "log2(v)", "log(2, v)", "bround(v, 0)", "cbrt(v)", "~k"],
)  # fmt: skip
def test_h20_everyday_functions(spark: SparkSession, ansi: bool, call: str) -> None:
    assert check(spark.sql(f"SELECT {call} AS r FROM t"))
    exact(spark.sql(f"SELECT {call} AS r FROM t"), tolerance=1e-15)


def test_h20_intervals_made_of_numbers(spark: SparkSession, ansi: bool) -> None:
    exact(spark.sql("SELECT hour(timestamp'2024-03-10 12:00:00' + make_dt_interval(k)) AS r FROM t"))


@pytest.mark.parametrize(
    "call", ["dt + INTERVAL 1 MONTH", "dt - INTERVAL 1 MONTH", "dt + INTERVAL '1 2:00:00' DAY TO SECOND", "dt + 3"]
)
def test_h21_date_arithmetic(spark: SparkSession, call: str) -> None:
    exact(spark.sql(f"SELECT {call} AS r FROM t"))


def test_h24_extremes_of_text_and_booleans(spark: SparkSession) -> None:
    assert_same_rows(spark.sql("SELECT max(n) AS a, min(n) AS b, bool_and(k > 1) AS c, bool_or(k > 1) AS d FROM t"))


def test_h25_remainder_of_doubles(spark: SparkSession, ansi: bool) -> None:
    exact(spark.sql("SELECT v % 2.0D AS r FROM t"))


RANGE_FRAME = "SELECT n, count(*) OVER (ORDER BY {} PRECEDING AND CURRENT ROW) AS c FROM t"


@pytest.mark.parametrize(
    "bound", ["cast(k AS bigint) RANGE BETWEEN 1", later("4.0", "dt RANGE BETWEEN INTERVAL '1' DAY")]
)
def test_h26_range_frames(spark: SparkSession, bound: str) -> None:
    df = spark.sql(RANGE_FRAME.format(bound))
    assert check(df)
    exact(df)


@pytest.mark.parametrize(
    "frame",
    [
        "k RANGE BETWEEN 1 PRECEDING AND 0 FOLLOWING",
        "k DESC RANGE BETWEEN 0 FOLLOWING AND 0 FOLLOWING",
        later("4.0", "dt RANGE BETWEEN INTERVAL '0' DAY PRECEDING AND INTERVAL '1' DAY FOLLOWING"),
        "v RANGE BETWEEN UNBOUNDED PRECEDING AND 0.0D FOLLOWING",
    ],
)
def test_h26_range_frames_of_a_distance_of_zero(spark: SparkSession, frame: str) -> None:
    exact(spark.sql(f"SELECT n, count(*) OVER (ORDER BY {frame}) AS c FROM t"))


@pytest.mark.parametrize(("zone", "equal_days"), [("Etc/UTC", True), ("+05:30", True), ("Europe/Paris", False)])
def test_h26_days_of_instants(spark: SparkSession, zone: str, equal_days: bool) -> None:
    """Spark counts days in the session's time zone, where some may have 23 or 25 hours."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    rows = "('2024-03-30 12:00:00'), ('2024-03-31 12:00:00'), ('2024-03-31 13:00:00'), ('2024-04-01 12:30:00'), (NULL)"
    df = session.sql(
        "SELECT ts, count(*) OVER (ORDER BY ts RANGE BETWEEN INTERVAL 1 DAY PRECEDING AND CURRENT ROW) AS c "
        f"FROM (SELECT CAST(ts AS timestamp) AS ts FROM VALUES {rows} AS t(ts))"
    )
    if equal_days:
        exact(df)
    else:
        refused(df, "days in the session's time zone")


def test_h26_range_frames_of_floating_point_numbers_are_refused(spark: SparkSession) -> None:
    df = spark.sql(RANGE_FRAME.format("v RANGE BETWEEN 1.5"))
    assert check(df)
    refused(df, "no frames by range of floating-point numbers", dialect="datafusion")


def test_h28_decimal_sums_over_windows(spark: SparkSession) -> None:
    assert_same_rows(spark.sql("SELECT n, sum(cast(v AS decimal(8, 2))) OVER (PARTITION BY k > 1) AS s FROM t"))
    assert_same_rows(spark.sql("SELECT n, avg(cast(v AS decimal(8, 2))) OVER (ORDER BY n) AS s FROM t"))


@pytest.mark.parametrize("over", ["", "OVER (ORDER BY n)"])
@pytest.mark.parametrize("function", ["sum", "avg"])
def test_the_optimizer_leaves_out_casts_to_more_digits(spark: SparkSession, function: str, over: str) -> None:
    df = spark.sql(f"SELECT {function}(cast(cast(v AS decimal(5, 2)) AS decimal(8, 2))) {over} AS s FROM t")
    assert_same_rows(df)


def test_h30_every_problem_is_told(spark: SparkSession) -> None:
    report = check(spark.sql("SELECT input_file_block_start(), spark_partition_id() FROM t"))
    assert {problem.catalyst_class for problem in report} == {"InputFileBlockStart", "SparkPartitionID"}
    for problem in report:
        assert problem.path
        assert problem.sql
        assert problem.reason
        assert problem.hint


# ---- declared types


@pytest.mark.parametrize(
    "call",
    ["year(dt)", "avg(k)", "avg(cast(v AS decimal(8, 2)))", "sum(cast(v AS decimal(8, 2)))", "floor(v)", "ceil(v)",
     "round(cast(v AS decimal(8, 2)), 1)", "cast(v AS decimal(8, 2)) / cast(2 AS decimal(6, 3))", "row_number() OVER (ORDER BY n)"],
)  # fmt: skip
def test_t_declared_types_are_derived_and_cast_to_sparks(spark: SparkSession, call: str) -> None:
    assert_same_rows(spark.sql(f"SELECT {call} AS r FROM t"))


# ---- plan level


def test_m1_nan_sorts_last(spark: SparkSession) -> None:
    df = spark.createDataFrame([(float("nan"),), (1.0,), (None,), (float("inf"),)], "v double").orderBy("v")
    assert_same_rows(df, ordered=True)


def test_m2_time_zones(spark: SparkSession) -> None:
    df = spark.sql("SELECT hour(cast(dt AS timestamp)) AS h, cast(dt AS timestamp) AS ts FROM t")
    assert check(df)
    exact(df)


def test_m4_comparisons_come_from_one_extension(spark: SparkSession) -> None:
    plan = df_to_substrait(spark.sql("SELECT dt < DATE'2024-01-02' AS r FROM t"))
    assert [entry.extension_function.name for entry in plan.extensions] == ["lt:any_any"]


def test_m5_root_and_version(spark: SparkSession) -> None:
    plan = df_to_substrait(spark.table("t"))
    assert list(plan.relations[0].root.names) == ["k", "n", "v", "dt"]
    assert plan.version.minor_number == 106


def test_m6_m8_grouping_sets(spark: SparkSession) -> None:
    query = "SELECT k, n, count(*) AS c, grouping(k) AS g, grouping_id() AS i FROM t GROUP BY {}"
    for sets in ("ROLLUP(k, n)", "CUBE(k, n)", "GROUPING SETS ((k), (n), ())"):
        assert_same_rows(spark.sql(query.format(sets)))


def test_windows_over_aggregates(spark: SparkSession) -> None:
    rank = F.rank().over(Window.orderBy(F.desc("s")))
    assert_same_rows(spark.table("t").groupBy("n").agg(F.sum("k").alias("s")).withColumn("r", rank))
