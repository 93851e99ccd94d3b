"""Emission without a JVM: documents of Spark's, recorded, and the text of the plan of each, for all relations and families of functions.

`pytest tests/test_emission.py --record` writes both anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from functions import cases, grid
from functions.cases import Case
from pyspark.sql import SparkSession
from releases import RELEASE
from substrait.plan_pb2 import Plan

from substrait_spark import explain
from substrait_spark.catalyst import reader
from substrait_spark.context import Context, Settings
from substrait_spark.conversion import emit_text
from substrait_spark.dialects.file import load

FIXTURES = Path(__file__).parent / "emission"

RECORDED = (4, 3)
"""The release of Spark whose documents are recorded."""

RELATIONS = {
    "aggregate": "SELECT s, sum(i32), count(DISTINCT i8), max(f64) FILTER (WHERE bool) FROM grid GROUP BY s HAVING count(*) > 1",
    "cte": "WITH t AS (SELECT s, count(*) AS n FROM grid GROUP BY s) SELECT a.s, b.n FROM t a JOIN t b ON a.n = b.n",
    "distinct": "SELECT DISTINCT s, i32 FROM grid",
    "except_all": "SELECT s FROM grid EXCEPT ALL SELECT t FROM grid",
    "exists": "SELECT id FROM grid g WHERE EXISTS (SELECT 1 FROM grid h WHERE h.i32 = g.i8) OR i64 > 2",
    "explode": "SELECT id, place, e FROM grid LATERAL VIEW OUTER posexplode(ai) t AS place, e",
    "explode_of_map": "SELECT id, k, v FROM grid LATERAL VIEW explode(m) t AS k, v",
    "fetch": "SELECT id FROM grid ORDER BY s DESC NULLS LAST, id LIMIT 7 OFFSET 2",
    "filter": "SELECT id FROM grid WHERE (s LIKE 'a%' OR i32 IN (1, 2, 3, 4)) AND NOT coalesce(bool, false) AND f64 <=> 0.0D",
    "grouping_sets": "SELECT s, bool, grouping_id(), count(*) FROM grid GROUP BY GROUPING SETS ((s, bool), (s), ())",
    "in_subquery": "SELECT id, i32 IN (SELECT i8 FROM grid) AS x FROM grid WHERE i64 NOT IN (SELECT i16 FROM grid WHERE i16 > 0)",
    "intersect": "SELECT s FROM grid INTERSECT SELECT t FROM grid",
    "join_anti": "SELECT id FROM grid g LEFT ANTI JOIN (SELECT i32 AS k FROM grid) h ON g.i8 = h.k",
    "join_cross": "SELECT a.id, b.id FROM grid a CROSS JOIN grid b WHERE a.i32 < b.i32",
    "join_full": "SELECT a.id, b.s FROM grid a FULL JOIN grid b ON a.i32 = b.i8 AND a.s < b.t",
    "join_left": "SELECT a.id, b.s FROM grid a LEFT JOIN grid b ON a.i32 = b.i8",
    "join_semi": "SELECT id FROM grid g LEFT SEMI JOIN grid h ON g.i8 = h.i32",
    "lateral": "SELECT a.id, b.n FROM grid a, LATERAL (SELECT count(*) AS n FROM grid b WHERE b.i32 = a.i8) b",
    "local_rows": "SELECT k, s FROM VALUES (1, 'a', array(1.5D, NULL)), (2, NULL, array()) t(k, s, l) WHERE k > rand(1)",
    "no_rows": "SELECT id FROM grid WHERE false",
    "one_row": "SELECT rand(1) AS r",
    "range": "SELECT id * 2 AS twice FROM range(3, 12, 2)",
    "sample": "SELECT id FROM grid TABLESAMPLE (20 PERCENT) REPEATABLE (7)",
    "scalar_subquery": "SELECT id, (SELECT max(i32) FROM grid h WHERE h.s = g.s) AS x FROM grid g",
    "session_window": "SELECT session_window.start, count(*) FROM grid GROUP BY session_window(ntz, '5 minutes')",
    "sort": "SELECT id, s FROM grid ORDER BY upper(s), id DESC NULLS FIRST",
    "structs": "SELECT st, struct(i32, s) AS made, named_struct('a', id).a AS a FROM grid",
    "union": "SELECT i32 FROM grid UNION ALL SELECT i8 FROM grid",
    "unpivot": "SELECT * FROM (SELECT id, i32, i8 FROM grid) UNPIVOT (v FOR name IN (i32, i8))",
    "window": "SELECT id, rank() OVER (PARTITION BY s ORDER BY i32), sum(i32) OVER (PARTITION BY s ORDER BY id ROWS 2 PRECEDING) FROM grid",
    "recursion": (
        "WITH RECURSIVE r AS (SELECT id, s, 0 AS level FROM grid WHERE id < 2 UNION ALL SELECT g.id, r.s, level + 1 FROM grid g JOIN r ON "
        "g.id = r.id + 2 WHERE level < 3) SELECT s, max(level) AS deepest FROM r GROUP BY s"
    ),
    "window_filter": "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY s ORDER BY id) AS n FROM grid) WHERE n <= 2",
}
"""By name, a query for each relation and its variants."""

CALLS_A_QUERY = 30

LENGTH = re.compile(r"(?<=parquet length )\d+")
"""The length of a file hangs on the release of what has written it."""


def queries() -> dict[str, str]:
    """All queries by their names: those of relations, and the first call of each function of a family, as columns of a few."""
    first: dict[tuple[str, str], Case] = {}
    for case in cases.load():
        # Spark gives calls that draw random numbers another seed each time.
        repeats = case.family != "nondeterministic"
        if repeats and case.canonical and case.mode == "ansi" and case.source == cases.GRID:
            first.setdefault((case.family, case.function), case)
    together: dict[tuple[str, bool, str, str], list[Case]] = {}
    for case in first.values():
        # Spark numbers the arguments of several DISTINCT calls in another order each time.
        alone = case.call if "DISTINCT" in case.call else ""
        together.setdefault((case.family, case.aggregate, case.group_by, alone), []).append(case)
    made = {f"relation_{name}": query for name, query in RELATIONS.items()}
    for (family, *_), calls in together.items():
        for start in range(0, len(calls), CALLS_A_QUERY):
            part = calls[start : start + CALLS_A_QUERY]
            number = sum(name.startswith(f"{family}_") for name in made)
            made[f"{family}_{number}"] = part[0].query([case.call for case in part])
    return made


QUERIES = queries()


def emitted(document: str) -> Plan:
    context = Context(Settings(load(None)))
    plan = emit_text(context, lambda: document)
    assert plan is not None, context.problems
    return plan


@pytest.mark.parametrize("name", QUERIES)
def test_recorded_documents_become_recorded_plans(name: str) -> None:
    plan = emitted((FIXTURES / f"{name}.json").read_text("utf-8"))
    assert explain(plan) == (FIXTURES / f"{name}.txt").read_text("utf-8")


@pytest.mark.skipif(RELEASE[:2] != RECORDED, reason="the documents are another release's")
def test_documents_are_what_spark_gives(spark: SparkSession, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """A document says the same as when it was recorded, but for how the sizes of files are spelt."""
    path = tmp_path / "grid.parquet"
    grid.write(path)
    spark.read.parquet(str(path)).createOrReplaceTempView("grid")
    for name, query in QUERIES.items():
        document = reader.read(spark.sql(query), Settings(load(None))).replace(str(tmp_path), "/data")
        plan = explain(emitted(document))
        if pytestconfig.getoption("--record"):
            (FIXTURES / f"{name}.json").write_text(document.replace("],[", "],\n[") + "\n", "utf-8")
            (FIXTURES / f"{name}.txt").write_text(plan, "utf-8")
        recorded = (FIXTURES / f"{name}.txt").read_text("utf-8")
        assert LENGTH.sub("", plan) == LENGTH.sub("", recorded), f"{name}: {query}"


def test_nothing_else_is_recorded() -> None:
    assert {path.stem for path in FIXTURES.iterdir()} == set(QUERIES)
