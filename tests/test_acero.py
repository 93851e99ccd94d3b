"""Acero, PyArrow's own engine: its rows of plans are Spark's, and what it lacks is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pyarrow.substrait
import pytest
from functions import cases, grid
from pyspark.sql import SparkSession

from substrait_spark import (
    EngineError,
    InvalidPlanError,
    PlanningError,
    UnsupportedPlanError,
    check,
    df_to_substrait,
    lower,
)
from substrait_spark.algebra import types
from substrait_spark.algebra.builder import CallBuilder, Traits
from substrait_spark.algebra.expression import FieldReference, IfThen, Literal
from substrait_spark.algebra.relation import Aggregate, Join, Project, Relation, VirtualTable
from substrait_spark.dialects import load
from substrait_spark.engines import acero, compare
from substrait_spark.engines.measuring.case import read
from substrait_spark.engines.measuring.values import Table
from substrait_spark.lowering.older_forms import written_for
from substrait_spark.plan.message import build


@pytest.fixture(scope="module")
def edges(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The table of edge values in Spark."""
    with grid.in_spark(spark, tmp_path_factory.mktemp("acero")):
        yield


JOINS = [
    "a.i32 = b.i32",
    "a.s = b.s AND a.i32 > 0",
    "a.i16 + 1 = b.i32 AND b.id > 3 AND a.bool",
    "a.i64 = b.i64 AND a.id < b.id",
    "a.i32 = b.i32 AND a.s = b.s",
    "a.id < b.id AND a.id < 4 AND b.id < 9",
    "b.dt = a.dt AND b.bool IS NULL",
    "a.f64 = b.f64",
    "a.i32 = b.i32 AND a.bool = b.bool AND b.s = a.s",
    "b.i64 = a.i64 AND a.i8 = b.i8 AND b.bool",
    "a.s = b.s AND a.bin = b.bin",
]


@pytest.mark.usefixtures("edges")
@pytest.mark.parametrize("kind", ["", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"])
def test_joins(spark: SparkSession, kind: str) -> None:
    planned = 0
    for condition in JOINS:
        columns = "a.id, a.s" if "LEFT S" in kind or "ANTI" in kind else "a.id, a.s, b.id AS other, b.dt"
        query = f"SELECT {columns} FROM grid a {kind} JOIN grid b ON {condition}"
        problems = check(spark.sql(query), dialect="acero").problems
        if kind and problems:
            assert all("joins on one equality only" in problem.reason for problem in problems)
            continue
        compared = compare(spark.sql(query), engine="acero")
        assert compared, f"{query}: {compared}"
        planned += 1
    assert planned == (len(JOINS) if not kind else 6)


QUERIES = [
    "SELECT count(*) FROM grid",
    "SELECT count(*) FROM grid WHERE i32 > 0",
    "SELECT count(*) FROM VALUES (1), (NULL), (2) AS t(x)",
    "SELECT 1 AS one FROM grid",
    "SELECT count(*) FROM (SELECT id FROM grid LIMIT 7) a CROSS JOIN (SELECT id FROM grid LIMIT 3) b",
    "SELECT ts FROM VALUES (TIMESTAMP'1969-12-31 23:59:59'), (NULL) AS t(ts) ORDER BY ts",
    "SELECT f64, count(*), sum(i32), min(f64), max(f64) FROM grid GROUP BY f64",
    "SELECT f64, count(*) FROM (SELECT f64 FROM grid UNION ALL SELECT -f64 FROM grid) GROUP BY f64",
    "SELECT count(DISTINCT f64) FROM (SELECT f64 FROM grid UNION ALL SELECT -f64 FROM grid)",
    "SELECT s, min(i32), max(i64), sum(d5_2), count(s), min(f32), max(f32) FROM grid GROUP BY s",
    "SELECT count(*), sum(i32), sum(d18_4), avg(f64), max(dt), min(ts) FROM grid WHERE id < 0",
    "SELECT id, f64 FROM grid ORDER BY f64 DESC NULLS LAST, id LIMIT 7",
    "SELECT id, f64 FROM grid ORDER BY f64 NULLS FIRST, id DESC LIMIT 9 OFFSET 3",
    "SELECT id, i32 % 3 AS r FROM grid ORDER BY i32 % 3, id",
    "SELECT i32 % 3 AS r, sum(i64 div 4), count(bool) FROM grid GROUP BY i32 % 3",
    "SELECT DISTINCT bool, dt FROM grid UNION ALL SELECT bool, dt FROM grid UNION SELECT true, date'2024-02-29'",
    "SELECT bool, dt, count(*) FROM grid GROUP BY ROLLUP (bool, dt)",
    "SELECT id FROM grid WHERE i32 > (SELECT max(i8) FROM grid)",
    "SELECT id, d5_2 * 2 AS twice FROM (SELECT id, d5_2 * 1.5BD AS d5_2 FROM grid) WHERE d5_2 > 1",
    "SELECT x, y + 1 FROM VALUES (1, 2.5BD), (NULL, NULL), (3, -0.5BD) AS t(x, y) WHERE x IS NOT NULL",
    "SELECT id, s LIKE '%a_c%', s LIKE '_', s NOT LIKE '日%語', s LIKE '%10|%%' ESCAPE '|' FROM grid",
    "SELECT id, substring(s, 2, 3), substring(s, 1, 0), substr(s, 5) FROM grid",
    "SELECT bool, avg(d18_4), avg(i32) FROM grid GROUP BY bool",
    "SELECT try_divide(d5_2, d18_4), d18_4 / 7.00BD, try_mod(d18_4, d5_2) FROM grid",
    "SELECT try_cast(d18_4 AS int), try_cast(d18_4 AS decimal(6, 1)), try_cast(d38_0 AS bigint) FROM grid",
    "SELECT extract(YEAR FROM dt) AS y, count(*) FROM grid GROUP BY 1",
    "SELECT bool, count(DISTINCT i32), count(DISTINCT i32) AS again FROM grid GROUP BY bool",
    "SELECT count(DISTINCT f64), sum(i32), count(*), avg(d5_2), count(DISTINCT f64) AS again FROM grid",
    "SELECT count(DISTINCT s), sum(i32), count(*), avg(d5_2) FROM grid WHERE id < 0",
    "SELECT bool, dt FROM grid WHERE id < 9 INTERSECT SELECT bool, dt FROM grid WHERE id > 4",
    "SELECT bool, s FROM grid WHERE id < 9 EXCEPT SELECT bool, s FROM grid WHERE id > 4",
    "SELECT i32 FROM grid INTERSECT SELECT i32 FROM grid WHERE bool INTERSECT SELECT i32 FROM grid WHERE NOT bool",
    "SELECT i32 FROM grid EXCEPT SELECT i32 FROM grid WHERE bool EXCEPT SELECT i32 FROM grid WHERE id < 3",
    "SELECT i32 FROM grid WHERE id < 0 EXCEPT SELECT i32 FROM grid",
    "SELECT bool, avg(d5_2), avg(d5_2 * 10BD) FROM grid GROUP BY bool",
    "SELECT avg(x) FROM VALUES (0.00125BD), (0.00124BD), (-99999.99999BD), (NULL) AS t(x)",
    "SELECT avg(x) FROM VALUES (CAST(NULL AS decimal(7, 2))) AS t(x)",
    "SELECT id, d38_0 * d5_2, d18_4 * d18_4 * d18_4 FROM grid WHERE d38_0 < 1000 AND d38_0 > -1000",
    "SELECT id, d38_0 * d18_4 FROM grid",
    "SELECT id, round(d18_4, 1), round(d5_2, 0), round(d38_0, 2), round(d18_4, -2), CAST(d38_10 AS decimal(38, 2)) FROM grid",
    "SELECT id, try_cast(i64 AS decimal(12, 2)), CAST(i32 AS decimal(11, 2)), try_cast(i8 AS decimal(2, 1)) FROM grid",
    "SELECT id, CAST(i64 AS decimal(15, 4)) FROM grid",
]


@pytest.mark.usefixtures("edges")
@pytest.mark.parametrize("query", QUERIES)
def test_queries(in_mode: SparkSession, query: str) -> None:
    compared = compare(in_mode.sql(query), engine="acero")
    assert compared or (compared.spark_error and compared.engine_error), compared


COMPUTED = re.compile(
    r"[%/]|div|p?mod|try_(divide|mod)|regexp_(count|extract|instr|replace|like)|conv|decode|encode|(from|to)_base32|hmac|(try_)?to_binary"
    r"|unbase64|jaro_winkler_similarity|luhn_check|mask|(try_)?parse_url|(try_)?url_decode|to_char|(try_)?to_number|hash|xxhash64|bround"
    r"|(from|to)_utc_timestamp|convert_timezone|bitmap_count"
)
"""Functions that Python computes, of some types at least."""

REFUSED = {"try_divide"}
"""Functions none of whose calls in the grid has a plan."""

CASES = [each for each in cases.load() if each.by_rows and each.canonical and COMPUTED.fullmatch(each.function)]


@pytest.mark.slow
@pytest.mark.usefixtures("edges")
@pytest.mark.parametrize("function", sorted({each.function for each in CASES}))
def test_functions_by_value(in_mode: SparkSession, function: str, request: pytest.FixtureRequest) -> None:
    mode = "ansi" if "ansi" in request.node.name else "legacy"
    calls = [each for each in CASES if each.function == function and each.mode == mode]
    planned = 0
    for each in calls:
        query = in_mode.sql(f"SELECT id, {each.call} AS r FROM grid")
        if check(query, dialect="acero"):
            compared = compare(query, engine="acero")
            assert compared or (each.raises and compared.spark_error and compared.engine_error), (
                f"{each.call}: {compared}"
            )
            planned += 1
    assert planned or not calls or function in REFUSED, f"no call of {function} has a plan"


@pytest.mark.parametrize("values", ["(9223372036854775807L), (1L)", f"({'9' * 38}BD), (1BD)"])
def test_a_sum_that_overflows_raises(spark: SparkSession, values: str) -> None:
    spark.conf.set("spark.sql.ansi.enabled", True)
    sums = df_to_substrait(spark.sql(f"SELECT sum(x) FROM VALUES {values} AS t(x)"), dialect="acero")
    spark.conf.unset("spark.sql.ansi.enabled")
    with pytest.raises(EngineError, match="Acero failed"):
        acero.execute(sums)


BUILDER = CallBuilder(Traits())

T = read("t", Table(("a", "b"), (types.I32, types.I32), ((1, 2), (3, 4))))


def raw(relation: Relation) -> pa.Table:
    """What PyArrow makes of a plan as it is."""
    plan = written_for(load("acero"), build(relation, [f"c{n}" for n in range(len(relation.types))]))
    tables = {"t": pa.table({"a": pa.array([1, 3], pa.int32()), "b": pa.array([2, 4], pa.int32())})}
    return pa.substrait.run_query(plan.SerializeToString(), table_provider=lambda names, _: tables[names[0]]).read_all()


def test_defects_are_there() -> None:
    """Once a release has mended one, its rewrite goes."""
    assert load("acero").defects.keys() == {*load("pyarrow").defects, "columns_of_semi_joins", "signed_zeros_in_keys"}
    equal = BUILDER.call("comparison:equal", FieldReference(0, types.I32), FieldReference(2, types.I32))
    with pytest.raises(pa.ArrowInvalid, match="attempted to rename schema"):
        raw(Join(T, T, "LEFT_SEMI", equal))
    zeros = Project(
        T,
        [
            IfThen(
                ((BUILDER.equal(FieldReference(0, types.I32), BUILDER.i32(1)), BUILDER.fp64(0.0)),), BUILDER.fp64(-0.0)
            )
        ],
    )
    assert raw(Aggregate(zeros, [FieldReference(2, types.FP64)], [])).num_rows == 2


def test_tables_of_all_kinds(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"n": pa.array([1, 2, None], pa.int64())})
    pq.write_table(rows, tmp_path / "t.parquet")
    spark.sql(f"CREATE TABLE acero_numbers USING parquet LOCATION '{tmp_path / 't.parquet'}'")
    plan = df_to_substrait(
        spark.sql("SELECT n + 1 AS m FROM acero_numbers WHERE n > 0"), dialect="acero", reads="tables"
    )
    for given in (rows, rows.to_reader(), ds.dataset(rows), tmp_path / "t.parquet"):
        assert acero.execute(plan, tables={"acero_numbers": given}).to_pydict() == {"m": [2, 3]}
    files = df_to_substrait(spark.table("acero_numbers"), dialect="acero", reads="files")
    assert acero.execute(files).num_rows == rows.num_rows
    with pytest.raises(InvalidPlanError, match="in none of the folders"):
        acero.execute(files, files_under=[])
    spark.sql("DROP TABLE acero_numbers")


def test_older_releases_are_refused(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = df_to_substrait(spark.sql("SELECT * FROM VALUES (1) AS t(x)"), dialect="acero")
    monkeypatch.setattr(pa, "__version__", "25.0.0")
    with pytest.raises(PlanningError, match="for PyArrow 26 and later, and this is 25"):
        acero.execute(plan)


def test_what_it_does_not_take_is_told(spark: SparkSession) -> None:
    numbers = spark.range(3)
    plan = df_to_substrait(numbers.selectExpr("id + 1 AS n"))
    with pytest.raises(TypeError, match=r"must be a pyarrow\.Table"):
        acero.execute(plan, tables={"t": 1})
    numbers.createOrReplaceTempView("ids")
    windows = df_to_substrait(spark.sql("SELECT row_number() OVER (ORDER BY id) AS n FROM ids"))
    with pytest.raises(PlanningError, match="only plans in the forms of its dialect"):
        acero.execute(windows)
    with pytest.raises(UnsupportedPlanError, match="the dialect acero has no"):
        df_to_substrait(spark.sql("SELECT row_number() OVER (ORDER BY id) AS n FROM ids"), dialect="acero")


ROWS = Table(("a", "b"), (types.of("i32"), types.of("string")), ())
GIVEN = pa.table({"a": pa.array([1, 1, 2, None], pa.int32()), "b": ["x", "y", None, "x"]})


def test_several_columns_whose_distinct_values_are_counted() -> None:
    """Spark's optimizer has queries of these in another form; plans of others have them as they are."""
    e = CallBuilder(Traits())
    a, b = (FieldReference(n, types.nullable(kind)) for n, kind in enumerate(ROWS.schema))
    measures = [
        e.aggregate("aggregate_generic:count", b, distinct=True),
        e.aggregate("aggregate_generic:count"),
        e.aggregate("aggregate_generic:count", a, distinct=True),
    ]
    plan = build(Aggregate(read("t", ROWS), [], measures), ["n", "rows", "m"])
    lowered = lower(plan, "acero")
    assert acero.execute(lowered, tables={"t": GIVEN}).to_pylist() == [{"n": 2, "rows": 4, "m": 2}]
    assert acero.execute(lowered, tables={"t": GIVEN.slice(0, 0)}).to_pylist() == [{"n": 0, "rows": 0, "m": 0}]
    grouped = build(Aggregate(read("t", ROWS), [a], [measures[0], measures[1]]), ["a", "n", "rows"])
    with pytest.raises(UnsupportedPlanError, match="no count:any of distinct values"):
        lower(grouped, "acero")


def test_rows_of_structs_that_a_plan_has_in_it() -> None:
    pair = types.of("struct", types.I32, types.I32)
    rows = VirtualTable([(Literal((1, 2), pair), Literal(3, types.I32))], ["s", "a", "b", "x"], [pair, types.I32])

    assert acero.execute(build(rows, ["s", "a", "b", "x"])).to_pylist() == [{"s": {"a": 1, "b": 2}, "x": 3}]
