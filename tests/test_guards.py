"""What may raise is evaluated only for the rows that reach it, as in Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from releases import later
from rows import assert_same_outcome, assert_same_rows, plan_of

from substrait_spark import df_to_substrait, explain
from substrait_spark.engines import datafusion

ROW = pa.schema([("i", pa.int32()), ("m", pa.int64()), ("l", pa.int64()), ("s", pa.string())])


@pytest.fixture(scope="module")
def guarded(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """Divisors of which some are zero, and texts of which some are no numbers."""
    folder = tmp_path_factory.mktemp("guards")
    rows = [(1, 0, 5, "a"), (2, 2, 7, "12"), (3, None, 1, None), (4, 0, None, "7")]
    frame = spark.createDataFrame(rows, "i int, m bigint, l bigint, s string")
    frame.coalesce(1).write.parquet(str(folder / "t"))
    spark.read.parquet(str(folder / "t")).createOrReplaceTempView("t")
    spark.conf.set("spark.sql.ansi.enabled", "true")
    return spark


@pytest.mark.parametrize(
    "query",
    [
        "SELECT i, CASE WHEN m = 0 THEN false ELSE l % m = 1 END AS b FROM t",
        "SELECT i, CASE WHEN m = 0 THEN false WHEN l % m = 1 THEN true ELSE l % m = 0 END AS b FROM t",
        "SELECT i, NOT CASE WHEN m = 0 THEN false ELSE l % m = 1 END AS b FROM t",
        "SELECT i, CASE WHEN m <> 0 THEN l % m = 1 END AS b FROM t",
        "SELECT CASE WHEN CASE WHEN m = 0 THEN false ELSE l / m > 1 END THEN 'a' ELSE 'b' END AS c FROM t",
        "SELECT CASE WHEN s RLIKE '^[0-9]+$' THEN CAST(s AS INT) > 8 ELSE false END AS b FROM t",
        "SELECT i, coalesce(nullif(m = 0, false), l % m > 0) AS b FROM t",
        "SELECT i, nvl2(nullif(m, 0), l % m > 0, false) AS b FROM t",
        "SELECT i, m <> 0 AND l % m > 0 AS b FROM t",
        "SELECT i FROM t WHERE CASE WHEN m = 0 THEN 0 ELSE l / m END > 1",
        "SELECT i FROM t WHERE if(m <> 0, l / m, 0) > 1",
        "SELECT i FROM t WHERE if(m = 0, NULL, l % m) IS NOT NULL",
        "SELECT i FROM t WHERE m = 0 OR l % m > 0",
        "SELECT a.i FROM t a JOIN t b ON a.i = b.i AND CASE WHEN a.m = 0 THEN false ELSE b.l / a.m > 1 END",
        "SELECT a.i FROM t a JOIN t b ON a.m <> 0 AND b.l / a.m > 1 AND a.i = b.i",
        "SELECT a.i FROM t a, t b WHERE a.i = b.i AND if(a.m = 0, 0, b.l / a.m) > 1",
        "SELECT count_if(CASE WHEN m = 0 THEN false ELSE l / m > 1 END) AS n FROM t",
        "SELECT sum(l) FILTER (WHERE CASE WHEN m = 0 THEN false ELSE l / m > 1 END) AS n FROM t",
        "SELECT i FROM t ORDER BY CASE WHEN m = 0 THEN false ELSE l / m > 1 END, i",
        "SELECT x, count(*) AS n FROM (SELECT CASE WHEN m = 0 THEN 0 ELSE l / m END AS x FROM t) GROUP BY x HAVING x > 0",
    ],
)
def test_guards(guarded: SparkSession, query: str) -> None:
    assert_same_rows(guarded.sql(query))


CONDITIONS = [
    *(
        f"a.i {equal} b.m AND {other}"
        for equal in ("=", "<=>")
        for other in (
            "CAST(b.s AS INT) > a.i",
            "a.l / b.m > 1",
            "a.l > 10 / b.m AND a.l + b.l > 0",
            "a.l / b.m > 1 AND CAST(b.s AS INT) > a.i",
        )
    ),
    "CASE WHEN a.i > 5 THEN CAST(b.s AS INT) ELSE a.i + b.i END > 6",
    "a.i < b.i AND a.i / if(b.m = 0, b.i, b.m) > 0.1",
    "coalesce(a.m, CAST(if(b.s = 'a', '9', b.s) AS INT)) > 1",
]
"""Of joins: some rows would raise, of which no pair is left by the keys, or by what guards them."""


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("type", ["INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"])
def test_guards_in_joins(guarded: SparkSession, type: str, condition: str) -> None:
    columns = "a.i, a.m" if type.startswith("LEFT ") else "a.i, a.m, b.i AS j"
    assert_same_rows(guarded.sql(f"SELECT {columns} FROM t a {type} JOIN t b ON {condition}"))


def test_keys_beside_conditions_that_may_raise(guarded: SparkSession) -> None:
    """They stay keys, or each row would be compared with each other."""
    df = guarded.sql("SELECT a.i, b.i AS j FROM t a LEFT JOIN t b ON a.i = b.i AND a.i * b.i > 5")
    assert "Join LEFT on and(equal($0:i, $1), " in explain(plan_of(df, "datafusion"))


@pytest.mark.parametrize(
    "call",
    [
        "element_at(transform(split(s, ','), x -> upper(x)), 3)",
        "transform(split(s, ','), x -> upper(x))[2]",
        "map_from_arrays(array('a', 'b'), map_values(map_from_entries(array(named_struct('k', 'a', 'v', 1), named_struct('k', s, 'v', 2)))))",
    ],
)
def test_batches_without_rows_raise_nothing(guarded: SparkSession, call: str) -> None:
    guarded.table("t").write.saveAsTable("guards", mode="overwrite")
    plan = df_to_substrait(guarded.sql(f"SELECT {call} FROM guards"), dialect="datafusion", reads="tables")
    guarded.sql("DROP TABLE guards")
    row = pa.record_batch({"i": [1], "m": [0], "l": [0], "s": ["a,b,c"]}, schema=ROW)
    batches = [row.slice(1), row, row.slice(1)]
    assert datafusion.execute(plan, tables={"guards": pa.Table.from_batches(batches)}).num_rows == 1


def test_a_guarded_column_in_a_filter(guarded: SparkSession) -> None:
    ratio = F.when(F.col("m") != 0, F.col("l") / F.col("m")).otherwise(0)
    assert_same_rows(guarded.table("t").withColumn("ratio", ratio).filter("ratio > 1"))


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT i, v FROM t UNPIVOT (v FOR day IN (m AS `2020-01-01`, l AS `2021-01-01`)) WHERE to_date(day) > DATE'2020-06-01'",
        "SELECT i FROM (SELECT i, stack(2, 0, m, 2, l) AS (k, v) FROM t) WHERE k <> 0 AND 10 / k > 1",
        "SELECT k, sum(v) AS s FROM (SELECT stack(2, 2, m, 1, l) AS (k, v) FROM t) GROUP BY k HAVING 10 / k > 1",
        "SELECT i, n FROM (SELECT i, stack(2, '7', m, '1.5', l) AS (n, v) FROM t) WHERE n + 1D > 3",
        "SELECT n, count(*) AS c FROM (SELECT '8' AS n, i FROM t) GROUP BY ROLLUP (n, i) HAVING CAST(n AS double) > 1",
    ],
)
def test_filters_on_constants_of_unions(guarded: SparkSession, query: str, ansi: str) -> None:
    guarded.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        assert_same_rows(guarded.sql(query))
    finally:
        guarded.conf.set("spark.sql.ansi.enabled", "true")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT i, CASE WHEN m = 0 THEN l % m = 1 ELSE false END AS b FROM t",
        "SELECT i, coalesce(nullif(m = 2, true), l % m > 0) AS b FROM t WHERE i IN (2, 3)",
        "SELECT i FROM t WHERE if(m = 0, l / m, 0) > 1",
    ],
)
def test_what_no_guard_keeps_from_raising(guarded: SparkSession, query: str) -> None:
    assert_same_outcome(guarded.sql(query))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT DISTINCT m, CAST(NULL AS timestamp) AS a, CAST(NULL AS timestamp_ntz) AS b FROM t",
        "SELECT DISTINCT CAST(NULL AS timestamp) AS a, CAST(NULL AS timestamp_ntz) AS b FROM t",
        "SELECT if(m > 0, {instant}, NULL) AS a, if(m > 0, {timestamp}, NULL) AS b FROM t",
        "SELECT string(if(m > 0, {timestamp}, NULL)) AS a, string(if(m > 0, {instant}, NULL)) AS b FROM t",
        "SELECT max(if(m > 0, {instant}, NULL)) AS a, max(if(m > 0, {timestamp}, NULL)) AS b FROM t GROUP BY i % 2",
        "SELECT max({timestamp}) OVER () AS a, max({instant}) OVER () AS b FROM t",
        "SELECT lag({instant}, 1, {instant}) OVER w, lag({timestamp}, 1, {timestamp}) OVER w FROM t WINDOW w AS (ORDER BY i)",
    ],
)
def test_timestamps_and_instants_of_one_number(guarded: SparkSession, query: str) -> None:
    literals = {"instant": "TIMESTAMP '2020-01-01 00:00:00Z'", "timestamp": "TIMESTAMP_NTZ '2020-01-01 00:00:00'"}
    assert_same_rows(guarded.sql(query.format(**literals)))


@pytest.mark.parametrize(
    "query",
    [
        "SELECT i, d FROM days ORDER BY i, d LIMIT 2",
        "SELECT max(d) AS a, min(d) AS b FROM days",
        "SELECT d, max(i) AS m FROM days GROUP BY d ORDER BY d DESC LIMIT 2",
        "SELECT a.i, b.d FROM days a JOIN days b ON a.d = b.d",
        "SELECT a.i, b.d FROM days a LEFT JOIN days b ON a.d > b.d AND a.i = b.i",
    ],
)
def test_filters_that_the_engine_makes_while_it_runs(guarded: SparkSession, query: str) -> None:
    """Written out below the projections, filters on such days take more memory than there is."""
    zone = guarded.conf.get("spark.sql.session.timeZone")
    guarded.conf.set("spark.sql.session.timeZone", "Australia/Lord_Howe")
    try:
        days = "date_trunc('DAY', convert_timezone('UTC', 'America/Santiago', CAST(date'2024-04-04' + i AS timestamp_ntz)))"
        guarded.table("t").selectExpr("i", f"{days} AS d").createOrReplaceTempView("days")
        assert_same_rows(guarded.sql(query))
    finally:
        guarded.conf.set("spark.sql.session.timeZone", zone or "UTC")


@pytest.mark.parametrize(
    "condition",
    [
        "(m > 1) IS TRUE",
        "CASE WHEN m > 1 THEN l IS NULL ELSE false END",
        "NOT coalesce(m > 1, false)",
        "CAST(coalesce(m > 1, true) AS STRING)",
        "if(m > 1, 1, 2) = 1",
    ],
)
def test_conditions_in_unions(guarded: SparkSession, condition: str) -> None:
    """Which DataFusion's optimizer rewrites, and takes for null at times."""
    union = f"SELECT {condition} AS c, i FROM t UNION ALL SELECT {condition}, m FROM t"
    assert_same_rows(guarded.sql(f"SELECT DISTINCT c FROM ({union})"))
    assert_same_rows(
        guarded.sql(f"SELECT c, count(DISTINCT i) AS n FROM (SELECT c, i FROM ({union})) GROUP BY ROLLUP (c)")
    )


@pytest.mark.parametrize(
    "query",
    [
        "SELECT i FROM (SELECT DISTINCT i FROM t) ORDER BY i % 3 > 0, i",
        "SELECT s FROM (SELECT DISTINCT s FROM t) ORDER BY CASE WHEN length(s) > 1 THEN 0 ELSE 1 END, s",
        "SELECT m, count(*) AS c FROM t GROUP BY m HAVING count(*) % 2 > 0 ORDER BY -abs(m), m",
        "SELECT i, sum(l) OVER (PARTITION BY abs(m) > 0 ORDER BY length(s) > 1, i) AS x FROM t ORDER BY -length(s), i",
        later("4.0", "SELECT listagg(s, ',') WITHIN GROUP (ORDER BY length(s) > 1, s) FROM t"),
        later("4.0", "SELECT listagg(s, ',') WITHIN GROUP (ORDER BY -(l % m), s) FILTER (WHERE m <> 0) FROM t"),
        "SELECT i FROM t UNION ALL SELECT m FROM t ORDER BY i % 3 > 0, i",
        "SELECT id FROM range(9) WHERE id % 3 > 0 ORDER BY id % 3 > 0, id",
        "SELECT * FROM (SELECT * FROM (SELECT i, abs(m) AS m FROM t) ORDER BY -m, i) ORDER BY -m, i",
    ],
)
def test_keys_that_are_computed(guarded: SparkSession, query: str) -> None:
    assert_same_rows(guarded.sql(query), stages=["optimized", "analyzed"])


@pytest.mark.parametrize("key", ["array(x)", "named_struct('n', x)"])
def test_groups_by_nested_keys_in_several_batches(guarded: SparkSession, key: str) -> None:
    values = f"SELECT transform(array(1), x -> {key}) AS k, id * 7 % 29989 AS v FROM range(30000)"
    assert_same_rows(guarded.sql(f"SELECT DISTINCT k, v FROM ({values} UNION ALL {values})"))
