"""What differs between the supported releases; and plans that Spark 4.3 made run in each, as far as it has their functions."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from releases import RELEASE
from rows import assert_same_rows, canonical_rows, differences, other_session, plan_of, spark_table
from substrait.plan_pb2 import Plan

from substrait_spark import UnsupportedPlanError, check
from substrait_spark.engines import spark as spark_engine

PLANS = Path(__file__).parent / "producers" / "spark"
"""The plan of each of the queries below (tests/producers/README.md)."""

SALES = """SELECT * FROM VALUES (1, 'tea', 3.50, DATE'2024-02-29', array(1, 2)), (2, 'rye', 12.25, DATE'2023-12-31', array(3)),
    (3, 'tea', CAST(NULL AS DECIMAL(4, 2)), DATE'2024-03-01', NULL), (4, NULL, 0.01, NULL, CAST(array() AS ARRAY<INT>))
    AS s (id, item, price, day, parts)"""
"""The table `sales`, which the plans read by name."""

QUERIES = {
    "groups": "SELECT item, count(*) AS n, sum(price) AS total, avg(price) AS mean, max(day) AS last FROM sales GROUP BY ROLLUP (item)",
    "windows": "SELECT id, rank() OVER (PARTITION BY item ORDER BY price DESC NULLS LAST) AS place, sum(price) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS two, lag(item) OVER (ORDER BY id) AS before FROM sales",
    "dates": "SELECT id, year(day) AS y, add_months(day, 1) AS next, datediff(DATE'2024-12-25', day) AS until, date_format(day, 'EEE d MMM') AS shown, trunc(day, 'MM') AS month, day + INTERVAL '1' DAY AS more FROM sales",
    "texts": "SELECT id, upper(item) AS u, concat_ws('-', item, id) AS c, lpad(item, 5, '*') AS l, regexp_replace(item, '[aeiou]', '_') AS r, item LIKE 't%' AS t, split(item, 'e') AS s, substring_index(item, 'e', 1) AS i FROM sales",
    "numbers": "SELECT id, try_divide(id, id - 1) AS d, price * 3 AS p, round(price, 1) AS r, pmod(-id, 3) AS m, CAST(price AS INT) AS c, try_cast(item AS INT) AS n, hash(id, item) AS h, id / 3 AS q FROM sales",
    "lists": "SELECT id, array_size(parts) AS n, transform(parts, x -> x * id) AS t, filter(parts, x -> x > 1) AS f, map(id, item) AS m, named_struct('a', id, 'b', parts) AS s, get(parts, 1) AS g FROM sales",
    "rows": "SELECT id, part, position FROM sales LATERAL VIEW OUTER posexplode(parts) p AS position, part",
    "joins": "SELECT a.id, b.id AS other FROM sales a LEFT JOIN sales b ON a.item = b.item AND a.id < b.id WHERE a.id NOT IN (SELECT max(id) FROM sales)",
}
"""Queries of functions that every supported Spark has."""

NEWER = {
    "addresses": ("SELECT id, try_url_decode(concat(item, '%20', '%')) AS a FROM sales", (4, 0)),
    "bytes": ("SELECT id, substring(CAST(item AS BINARY), -id, 2) AS b FROM sales", (4, 0)),
    "hyperbolics": ("SELECT id, asinh(id * 1e-10) AS s, acosh(1 + id) AS c FROM sales", (4, 2)),
    "overlays": ("SELECT id, overlay(item PLACING '_' FROM id FOR id) AS o FROM sales", (4, 2)),
    "places": ("SELECT id, regexp_instr(item, 'e') AS i FROM sales", (4, 0)),
    "sets": ("SELECT array_sort(collect_set(double(id % 2))) AS s FROM sales", (4, 2)),
    "sketches": ("SELECT theta_sketch_estimate(theta_sketch_agg(item)) AS items FROM sales", (4, 1)),
}
"""Queries of what came with a release, or means something else since, and this release."""


FORMS = {
    "a superclass's fields": "SELECT covar_pop(x, y) AS p, covar_samp(x, y) AS s FROM points",
    "timestampadd": "SELECT timestampadd(DAY, n, t) AS t FROM points",
    "array_append": "SELECT array_append(array(n), n + 1) AS a FROM points",
    "rounded doubles": "SELECT ceil(x) AS c, floor(x) AS f FROM points",
    "opposites": "SELECT -d AS o, abs(d) AS a FROM (SELECT CAST(-n * 1.5 AS DECIMAL(34, 1)) AS d FROM points)",
    "percentiles": "SELECT percentile(x, array(0.1, 0.25)) AS p, median(y) AS m FROM points",
}
"""Queries that Catalyst has other forms of, or computes otherwise, in some release."""

MENDED = {
    "collect_set(x)": (4, 2),  # before, with each NaN
    "CAST(t AS DECIMAL(20, 6))": (4, 1),  # before, by way of a double
    "regexp_instr(CAST(n AS STRING), '3')": (4, 0),  # before, counted in the units of UTF-16
    "substring(CAST(string(n) AS BINARY), CAST(-n AS INT), 1)": (4, 0),  # before, with other bytes for -2147483648
}
"""What has no plan before a release, since Spark computed something else."""


@pytest.fixture(scope="module")
def points(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A session with the view `points` of a file."""
    path = str(tmp_path_factory.mktemp("points") / "rows")
    spark.sql(
        "SELECT id AS n, IF(id = 3, double('NaN'), id / 7) AS x, 1 / (id + 1) AS y, timestamp_millis(id * 1001) AS t FROM range(6)"
    ).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("points")
    return spark


@pytest.mark.smoke
@pytest.mark.parametrize("form", FORMS)
def test_forms_of_every_release(points: SparkSession, form: str) -> None:
    assert_same_rows(points.sql(FORMS[form]))


@pytest.mark.smoke
@pytest.mark.parametrize("expression", MENDED)
def test_what_a_release_computes_otherwise(points: SparkSession, expression: str) -> None:
    df = points.sql(f"SELECT {expression} AS c FROM points WHERE NOT isnan(x)")
    if MENDED[expression] > RELEASE:
        (problem,) = check(df)
        assert problem.reason.startswith("before Spark 4.")
    else:
        assert plan_of(df)


@pytest.mark.parametrize("stage", ["analyzed", "optimized"])
def test_subqueries_over_the_rows_of_a_join(points: SparkSession, stage: str) -> None:
    """Before Spark 4.0, they end in an error inside of Spark."""
    exists = "EXISTS (SELECT 1 FROM points c WHERE c.n = b.n)"
    df = points.sql(f"SELECT a.n FROM points a FULL JOIN points b ON a.n = b.n AND {exists}")
    if RELEASE < (4, 0):
        (problem,) = check(df, stage=stage).problems
        assert problem.reason.startswith("before Spark 4.0, a subquery over the rows of a join")
    else:
        assert plan_of(df, stage=stage)


@pytest.mark.parametrize(
    "expression",
    [
        "-CAST(concat('-12345678901234567890123456789012345', n) AS DECIMAL(38, 0))",
        "initcap(concat('ǆ ß ', n))",
        "to_json(map('b', n, 'a', n), map('sortKeys', 'true'))",
    ],
)
def test_what_plans_of_a_release_say(points: SparkSession, expression: str) -> None:
    df = points.sql(f"SELECT {expression} AS c FROM points")
    assert not differences(spark_table(df), canonical_rows(df))


@pytest.mark.smoke
@pytest.mark.parametrize("name", QUERIES)
def test_plans_of_spark_4_3(spark: SparkSession, name: str) -> None:
    assert_rows(spark, name, QUERIES[name])


@pytest.mark.smoke
@pytest.mark.parametrize("name", NEWER)
def test_plans_of_newer_functions(spark: SparkSession, name: str) -> None:
    query, since = NEWER[name]
    if since <= RELEASE:
        assert_rows(spark, name, query)
    else:
        with pytest.raises(UnsupportedPlanError):
            execute(spark, name)


def execute(spark: SparkSession, name: str) -> DataFrame:
    plan = Plan.FromString((PLANS / f"{name}.plan").read_bytes())
    return spark_engine.execute(plan, other_session(spark), tables={"sales": spark.sql(SALES)})


def assert_rows(spark: SparkSession, name: str, query: str) -> None:
    found = spark_table(execute(spark, name))
    wanted = spark_table(spark.sql(f"WITH sales AS ({SALES}) {query}"))
    assert found.column_names == wanted.column_names
    assert not (lines := differences(wanted, found)), "\n".join(lines)
    assert wanted.num_rows, "vacuous: there is no row"
