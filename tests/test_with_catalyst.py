"""DataFusion with Catalyst for what it lacks: Spark's rows of expressions and aggregates that DataFusion alone refuses."""

from __future__ import annotations

import inspect
import itertools
import subprocess
import sys
import threading
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml
from functions import cases, grid
from functions.cases import Case
from pyspark.sql import SparkSession
from releases import RELEASE
from rows import assert_plan_raises, assert_same_rows, differences, plan_of, spark_table

from substrait_spark import EngineError, InvalidPlanError, UnsupportedPlanError, check, df_to_substrait
from substrait_spark.algebra import types
from substrait_spark.algebra.relation import NamedTable
from substrait_spark.catalyst.versions import release
from substrait_spark.engines import datafusion
from substrait_spark.engines.arrow.functions import FAMILIES
from substrait_spark.engines.datafusion.dataframe import EVERY_VALUE
from substrait_spark.extensions import registry
from substrait_spark.plan.message import build
from substrait_spark.plan.unread_values import UNREAD

DIALECT = "datafusion-with-catalyst"

LACKING = [
    case
    for case in cases.load()
    if not case.runs_in_datafusion and not case.repeats and case.canonical and release(case.since) <= RELEASE
]
"""The cases of the grid that DataFusion alone has no plan for."""

TAKEN = [case for case in LACKING if case.with_catalyst == "equal"]

TOGETHER = 15
"""How many calls run as one query."""


def together(case: Case) -> tuple[str, bool]:
    """What cases of one query have in common: beside DISTINCT aggregates, Spark takes rows in another order."""
    return str(case.batch), "DISTINCT" in case.call


def batches() -> Iterator[list[Case]]:
    """Cases that run as columns of one query, and those by themselves in which Spark raises."""
    raising = [case for case in TAKEN if case.batch is None]
    yield from ([case] for case in raising)
    others = sorted((case for case in TAKEN if case.batch), key=together)
    for _, group in itertools.groupby(others, key=together):
        members = list(group)
        yield from (members[start : start + TOGETHER] for start in range(0, len(members), TOGETHER))


@pytest.fixture(scope="module", autouse=True)
def edges(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Iterator[None]:
    with grid.in_spark(spark, tmp_path_factory.mktemp("grid")):
        yield


@pytest.fixture(scope="module")
def rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A view `t` of texts that are XML, JSON and numbers, and of lists; in a file, so that Spark evaluates nothing when it plans."""
    path = str(tmp_path_factory.mktemp("rows") / "rows.parquet")
    spark.sql(
        "SELECT * FROM VALUES (1, '<a><b>x</b></a>', '{\"a\": 1, \"b\": [1, 2]}', array(3, 1, 2)), (2, NULL, '[1]', array()), "
        "(3, '<a><b>1</b><b>2</b></a>', '{\"a\": {\"b\": null}}', NULL), (4, '', '', array(NULL, 7)), (5, '<a/>', 'null', array(5)) "
        "t(i, x, j, l)"
    ).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("t")
    yield spark
    spark.catalog.dropTempView("t")


@pytest.mark.parametrize("batch", [*batches()], ids=lambda batch: batch[0].id)
def test_grid(spark: SparkSession, batch: list[Case]) -> None:
    """What DataFusion refuses has Spark's rows, and raises where Spark does."""
    case = batch[0]
    spark.conf.set("spark.sql.ansi.enabled", str(case.mode == "ansi").lower())
    try:
        df = spark.sql(case.query([each.call for each in batch]))
        plan = plan_of(df, DIALECT)
        try:
            expected = spark_table(df)
        except EngineError:
            assert_plan_raises(plan)
            return
        assert expected.num_rows, "no row was compared"
        assert not differences(expected, datafusion.execute(plan), tolerance=case.tolerance)
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.parametrize(
    "case", [case for case in LACKING if case.with_catalyst == "refused"], ids=lambda case: case.id
)
def test_refused(spark: SparkSession, case: Case) -> None:
    """What hangs on chance, or gives what doesn't get through Arrow, is refused with Catalyst too."""
    spark.conf.set("spark.sql.ansi.enabled", str(case.mode == "ansi").lower())
    try:
        with pytest.raises(UnsupportedPlanError):
            df_to_substrait(spark.sql(case.query()), dialect=DIALECT)
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


QUERIES = {
    "in conditions": "SELECT i, xpath(x, 'a/b/text()') AS r FROM t WHERE xpath_int(x, 'count(a/b)') > 0 OR i = 2",
    "under a condition": "SELECT i, CASE WHEN x <> '' THEN xpath_string(x, 'a/b') END AS r FROM t",
    "one in the other": "SELECT variant_get(parse_json(nullif(j, '')), '$.a', 'string') AS a FROM t",
    "as an argument": "SELECT upper(xpath_string(nullif(x, ''), 'a/b')) AS a FROM t",
    "lambdas over columns": "SELECT aggregate(l, i, (a, e) -> a * 2 + e * i, a -> a + i) AS a FROM t",
    "in lambdas": "SELECT transform(l, e -> xpath_string(concat('<a>', e, i, '</a>'), 'a')) AS a FROM t",
    "comparators": "SELECT array_sort(l, (a, b) -> CASE WHEN a < b THEN 1 WHEN a > b THEN -1 ELSE 0 END) AS a FROM t",
    "structs": "SELECT i, from_csv(concat(i, ',x'), 'a INT, b STRING') AS s FROM t",
    "fields of structs": "SELECT i, histogram_numeric(i, 5)[0].y AS y FROM t GROUP BY i",
    "subqueries": "SELECT to_csv(named_struct('a', (SELECT max(i) FROM t), 'b', x)) AS c FROM t",
    "correlated subqueries": (
        "SELECT i, (SELECT max(xpath_string(nullif(b.x, ''), 'a/b')) FROM t b WHERE b.i = a.i) AS m FROM t a"
    ),
    "joins": "SELECT a.i FROM t a JOIN t b ON xpath_string(nullif(a.x, ''), 'a/b') = xpath_string(nullif(b.x, ''), 'a/b[1]')",
    "keys": "SELECT xpath_string(nullif(x, ''), 'a/b') AS k, count(*) AS n FROM t GROUP BY 1",
    "order": "SELECT i FROM t ORDER BY xpath_string(nullif(x, ''), 'a/b') DESC, i",
    "windows": "SELECT i, sum(size(sentences(x))) OVER (PARTITION BY i % 2 ORDER BY i) AS s FROM t",
    "intervals": "SELECT i, make_dt_interval(i, i, i, i * 1.5) > INTERVAL '1' DAY AS a, make_ym_interval(i, 1) AS b FROM t",
    "sketches": "SELECT hll_sketch_estimate(hll_sketch_agg(x)) AS a, theta_sketch_estimate(theta_sketch_agg(i)) AS b FROM t",
    "sketches by keys": "SELECT i % 2 AS k, kll_sketch_to_string_bigint(kll_sketch_agg_bigint(i)) AS s FROM t GROUP BY 1",
    "groups without a row": "SELECT i, approx_top_k(i) FILTER (WHERE i > 2) AS a FROM t GROUP BY i",
    "no row at all": "SELECT approx_top_k(x) AS a, hll_sketch_estimate(hll_sketch_agg(x)) AS h FROM t WHERE i > 9",
    "lists as results": "SELECT i, histogram_numeric(i, 5) AS h FROM t GROUP BY i",
    "aggregates of variants": "SELECT i, schema_of_variant_agg(parse_json(nullif(j, ''))) AS v FROM t GROUP BY i",
    "aggregates of intervals": "SELECT percentile(INTERVAL '1' MONTH * i, 0.5) AS a, mode(INTERVAL '1' DAY * (i % 2)) AS b FROM t",
    "distinct values": "SELECT covar_pop(DISTINCT i % 2, i % 3) AS c, count(DISTINCT map(i % 2, 1)) AS n FROM t",
}


@pytest.mark.skipif(RELEASE < (4, 1), reason="some of the functions came with Spark 4.1")
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_queries(rows: SparkSession, query: str) -> None:
    assert_same_rows(rows.sql(query), dialect=DIALECT)


def test_only_the_rows_that_are_asked_for_are_evaluated(rows: SparkSession) -> None:
    """What would raise for a row stands behind a condition that keeps it from that row; without the condition, both raise."""
    guarded = "SELECT i, CASE WHEN j LIKE '{%' THEN to_json(from_json(j, 'a STRING', map('mode', 'FAILFAST'))) END AS r FROM t"
    assert_same_rows(rows.sql(guarded), dialect=DIALECT)
    raising = "SELECT xpath_string(concat('<', x), 'a/b') AS r FROM t WHERE i = 4"
    assert_plan_raises(plan_of(rows.sql(raising), DIALECT))


def test_many_rows_in_several_threads(spark: SparkSession) -> None:
    df = spark.range(30_000, numPartitions=4).selectExpr("id", "xpath_long(concat('<a>', id, '</a>'), 'a') + 1 AS next")
    table = datafusion.collect(df)
    assert [row["next"] - row["id"] for row in table.to_pylist()] == [1] * 30_000


def test_collect_uses_it(rows: SparkSession) -> None:
    """In a notebook nobody names a dialect; another thread of Python's has no active session."""
    df = rows.sql("SELECT i, xpath_string(nullif(x, ''), 'a/b') AS r FROM t ORDER BY i")
    found = []
    thread = threading.Thread(target=lambda: found.append(datafusion.collect(df)))
    thread.start()
    thread.join()
    assert found[0].column("r").to_pylist() == [row.r for row in df.collect()]


def test_a_process_without_spark_says_so(rows: SparkSession, tmp_path: Path) -> None:
    plan = df_to_substrait(rows.range(3).selectExpr("xpath_int(concat('<a>', id, '</a>'), 'a') AS a"), dialect=DIALECT)
    (tmp_path / "plan").write_bytes(plan.SerializeToString())
    script = (
        "import sys; from substrait.plan_pb2 import Plan; from substrait_spark.engines import datafusion\n"
        "datafusion.execute(Plan.FromString(open(sys.argv[1], 'rb').read()))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "plan")], capture_output=True, text=True, check=False
    )
    assert ran.returncode
    assert "InvalidPlanError" in ran.stderr
    assert "no classic Spark session in this process" in ran.stderr


def test_plans_for_datafusion_alone_stay_as_they_were(rows: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match="no function xpath"):
        df_to_substrait(rows.sql("SELECT xpath_string(x, 'a/b') AS r FROM t"), dialect="datafusion")


def test_all_obstacles_are_named(rows: SparkSession) -> None:
    """What doesn't get through Arrow is refused by name, each of them."""
    query = "SELECT parse_json(concat('[', i, ']')) AS v, rand() AS r, xpath_string(x, 'a') AS s FROM t"
    with pytest.raises(UnsupportedPlanError) as refused:
        df_to_substrait(rows.sql(query), dialect=DIALECT)
    reasons = [problem.reason for problem in refused.value.problems]
    assert len(reasons) == 2
    assert "parse_json" in reasons[0]
    assert "random" in reasons[1]


def test_a_field_of_an_outer_column_is_refused_for_what_it_is(rows: SparkSession) -> None:
    """The engine has columns for Catalyst, or nobody has."""
    rows.sql("SELECT named_struct('k', i) AS s FROM t").createOrReplaceTempView("nested")
    df = rows.sql("SELECT (SELECT count(*) FROM t WHERE t.i = nested.s.k) AS n FROM nested")
    (problem,) = check(df, dialect=DIALECT, stage="analyzed")
    assert "only whole columns can be referred to" in problem.reason


def test_a_plan_that_none_can_read_is_refused(rows: SparkSession) -> None:
    plan = df_to_substrait(rows.range(3).selectExpr("xpath_int(concat('<a>', id, '</a>'), 'a') AS a"), dialect=DIALECT)
    for expression in plan.relations[0].root.input.project.expressions:
        expression.scalar_function.arguments[0].value.literal.binary = b"no plan"
    with pytest.raises(InvalidPlanError, match="catalyst_evaluate can't be run here"):
        datafusion.execute(plan)


def test_nothing_else_is_read_than_the_arguments(rows: SparkSession, tmp_path: Path) -> None:
    """A plan of others, which may read no file, doesn't have Catalyst read one in its place."""
    rows.range(3).write.parquet(str(tmp_path / "secret"))
    plan = df_to_substrait(rows.range(3).selectExpr("xpath_int(concat('<a>', id, '</a>'), 'a') AS a"), dialect=DIALECT)
    (expression,) = plan.relations[0].root.input.project.expressions
    file = df_to_substrait(rows.read.parquet(str(tmp_path / "secret")))
    table = build(NamedTable(["secret"], ["id"], [types.I64]), ["id"])
    for other in (file, table):
        expression.scalar_function.arguments[0].value.literal.binary = other.SerializeToString()
        with pytest.raises(InvalidPlanError, match="over its arguments, and nothing else"):
            datafusion.execute(plan, files_under=[])


ARROW = {name for name in sys.modules if name.startswith("substrait_spark.engines.arrow.functions.")}

ODD = [
    ("2024-01-02 03:04:05 Europe/Paris", "0x1p3", 1e25, "ab😀b", '{"a": 1e30}'),
    ("2024-01-02 12:34:56.", "1e3", 1.5, "x", '{"a": 2}'),
    ("12:34", "12", -0.0, "", "bad"),
    (None, None, None, None, None),
]
"""Values for some of which forms of DataFusion's have no answer, and some that they read."""

FOR_EVERY_VALUE = [
    "SELECT i, try_cast(s AS TIMESTAMP) > TIMESTAMP'2024-01-01' AS r FROM odd",
    "SELECT try_cast(n AS DOUBLE) AS d, try_cast(n AS DECIMAL(10, 2)) AS r FROM odd",
    "SELECT format_number(x, 2) AS a, printf('%.2f', x) AS b, CAST(x AS STRING) AS c FROM odd WHERE i > 0",
    "SELECT regexp_instr(t, 'b') AS a, regexp_extract_all(t, '(?<=b)(.)', 1) AS b, t RLIKE t AS c FROM odd",
    "SELECT get_json_object(j, '$.a') AS a, to_json(from_json(j, 'a DOUBLE, b STRING')) AS b FROM odd",
    "SELECT parse_url(concat('http://[fe80::1%25eth', i, ']/p'), 'HOST') AS r FROM odd",
    "SELECT transform(array(s), s -> try_cast(s AS TIMESTAMP)) AS r FROM odd",
    "SELECT sum(length(CAST(x AS STRING))) AS n, max(try_cast(s AS TIMESTAMP)) AS t FROM odd GROUP BY i % 2",
    "SELECT convert_timezone(concat('Europe/', i), 'UTC', TIMESTAMP_NTZ'0001-01-01 00:00:00') AS r FROM odd WHERE i = 9",
]


@pytest.fixture(scope="module")
def odd(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    rows = [(i, *values) for i, values in enumerate(ODD)]
    folder = str(tmp_path_factory.mktemp("odd") / "rows")
    spark.createDataFrame(rows, "i INT, s STRING, n STRING, x DOUBLE, t STRING, j STRING").coalesce(1).write.parquet(
        folder
    )
    spark.read.parquet(folder).createOrReplaceTempView("odd")
    return spark


@pytest.mark.parametrize("query", FOR_EVERY_VALUE)
def test_collect_answers_for_every_value(odd: SparkSession, query: str) -> None:
    """Where a form has no answer for a value, Catalyst evaluates the expression for all rows."""
    df = odd.sql(query)
    assert differences(spark_table(df), datafusion.collect(df)) == []


def test_an_error_of_a_form_stays_where_catalyst_can_not_help(odd: SparkSession) -> None:
    with pytest.raises(EngineError, match="UNSUPPORTED_COUNT"):
        datafusion.collect(odd.sql("SELECT approx_percentile(x, 0.5, 2) AS r FROM odd"))


def test_what_spark_raises_is_raised_in_its_words(odd: SparkSession) -> None:
    """The text of the first row has no answer; with Catalyst's, that of the third is what Spark fails at."""
    times = odd.sql("SELECT CAST(if(i = 0, s, j) AS TIMESTAMP) AS t FROM odd WHERE i IN (0, 2)")
    with pytest.raises(EngineError, match="CAST_INVALID_INPUT") as raised:
        datafusion.collect(times)
    assert "'bad'" in str(raised.value)


def test_no_function_is_left_that_may_have_no_answer() -> None:
    """What the dialect for every value leaves out is what the extension file says this of."""
    file = registry.load("arrow")
    unread = {f["name"] for f in file["scalar_functions"] if (f.get("metadata") or {}).get("unread")}
    left_out = yaml.safe_load(EVERY_VALUE.read_text())["metadata"]["without"]["functions"]
    names = {f["name"] for f in file["scalar_functions"]}
    assert {name for name in names if any(fnmatchcase(f"arrow:{name}", each) for each in left_out)} == unread
    for family in FAMILIES:
        modules = {sys.modules[m] for each in vars(family).values() if (m := getattr(each, "__module__", "")) in ARROW}
        may_raise = any(UNREAD in inspect.getsource(module) for module in (family, *modules))
        assert may_raise == bool(unread & set(family.FUNCTIONS)), family.__name__


DEEP = [
    "SELECT transform(array(t, timestampadd(DAY, 40, t)), x -> date_trunc('week', date_trunc('quarter', x))) AS r FROM times",
    (
        "SELECT i FROM times WHERE months_between(date_trunc('week', t), date_trunc('quarter', t)) > 0.5 "
        "ORDER BY date_trunc('quarter', date_trunc('week', t)) DESC, i"
    ),
]
"""Times of a zone with daylight-saving time, whose forms nest so deep that no reader takes the plan."""


@pytest.mark.parametrize("query", DEEP)
def test_catalyst_evaluates_what_nests_too_deep(spark: SparkSession, query: str) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/Los_Angeles")
    times = spark.range(40, numPartitions=1).selectExpr("id AS i", "timestamp_seconds(id * 1234567 + 0.25) AS t")
    times.createOrReplaceTempView("times")
    try:
        df = spark.sql(query)
        with pytest.raises(UnsupportedPlanError, match="messages deep"):
            df_to_substrait(df, dialect="datafusion")
        assert_same_rows(df, dialect=DIALECT)
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
