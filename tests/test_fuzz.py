"""Random queries of fixed seeds, and those that once failed."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import pyarrow as pa
import pytest
import slow
from fuzz import function_forms, oracle, tables
from fuzz.queries import Query, queries
from fuzz.session import READING, TIME_ZONES
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from substrait.plan_pb2 import Plan

SEED = 2026
QUERIES = 100 if slow.asked() else 30
REFUSED = 0.4
"""How many of the queries may be refused: more would hide the library. It is one in a hundred, but Hypothesis varies some queries
again and again: so one that is refused may count for ten.
"""


class Regression(NamedTuple):
    """A query that once failed, with the settings it failed under."""

    ansi: bool
    time_zone: str
    sql: str


REGRESSIONS = (
    Regression(
        ansi=True,
        time_zone="America/Los_Angeles",
        sql="""SELECT sum(c3) AS s FROM many LEFT SEMI JOIN (SELECT c13 AS v FROM many) ON c12 = to_timestamp(
            date_format(v, 'dd/MMM/yyyy:HH:mm:ss') || if(true, ' -0730', ' +1800'), 'dd/MMM/yyyy:HH:mm:ss Z')""",
    ),
    Regression(
        ansi=True,
        time_zone="UTC",
        sql="SELECT concat('k', CAST(array_sort(array(c3, 2)) AS STRING)) AS v FROM few",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c0 FROM few WHERE 0Y IN (SELECT 1Y FROM (SELECT count(*) AS c FROM few))",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT DISTINCT 0Y AS zero FROM (SELECT c0, count(*) AS c FROM many GROUP BY ROLLUP(c0))",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT a.c1, b.c2 FROM many a JOIN many b ON a.c2 <=> b.c2 JOIN many c ON a.c0 = c.c0 WHERE a.c0",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c1 FROM few WHERE NOT EXISTS (SELECT 1 FROM (SELECT count(*) FROM many) WHERE if(true, NULL, 0S) = c2)",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c1 FROM few WHERE c1 IN (SELECT c1 FROM many) UNION ALL SELECT c1 FROM many",
    ),
    Regression(ansi=False, time_zone="UTC", sql="SELECT c4 ^ c4, (c4 ^ c3) ^ c4, c4 ^ (c3 ^ c4) FROM many"),
    Regression(ansi=False, time_zone="UTC", sql="SELECT c3 FROM many WHERE NOT (c3 IN (1, 2) AND c3 IN (3, 10))"),
    Regression(ansi=False, time_zone="UTC", sql="SELECT c9 IN ('a', 'b') AND c9 NOT IN ('a', 'b', 'c') FROM many"),
    Regression(ansi=False, time_zone="UTC", sql="SELECT (c3 = 1 OR c3 = 2) AND (c3 = 3 OR c3 = 10) FROM many"),
    Regression(ansi=False, time_zone="UTC", sql="SELECT count(*) OVER (ORDER BY c10 DESC, c1) FROM many"),
    Regression(ansi=False, time_zone="UTC", sql="SELECT c0 FROM many WHERE c5 IN (0F, greatest(0F, c5))"),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT * FROM (SELECT count(*) AS n FROM many) RIGHT JOIN (SELECT DISTINCT c0 FROM many) ON c0 "
        "ORDER BY n NULLS FIRST, c0 DESC LIMIT 1",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT a.c1, b.c1 AS d1, b.c2 FROM many a LEFT JOIN few b ON a.c2 < b.c2 AND b.c1 = 1Y "
        "ORDER BY d1 NULLS LAST, a.c1 DESC, b.c2",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT s, d1, count(*), row_number() OVER (PARTITION BY d1 ORDER BY s) FROM many a FULL JOIN "
        "(SELECT struct(1 AS x) AS s, c1 AS d1, c2 FROM few WHERE c1 > 0Y) b ON a.c2 < b.c2 GROUP BY s, d1",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT * FROM (SELECT m, count(*) FROM (SELECT bool_and(c0) AS m FROM many) GROUP BY m) "
        "WHERE NOT EXISTS (SELECT 1 FROM many WHERE c1 = 0Y)",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c0, explode(CASE WHEN c0 THEN c15 WHEN false THEN c15 END) FROM many WHERE c1 IN (SELECT c1 FROM many)",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c0, 0Y AS n FROM many WHERE c0 UNION ALL SELECT c0, CAST(NULL AS tinyint) FROM (SELECT DISTINCT c0 FROM many) "
        "ORDER BY c0 NULLS FIRST, n NULLS FIRST LIMIT 3",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c0 AS a, true AS b FROM many WHERE c0 UNION ALL SELECT a, a AND a FROM (SELECT DISTINCT c0 AS a FROM many) "
        "ORDER BY a NULLS FIRST, b DESC NULLS LAST",
    ),
    Regression(ansi=False, time_zone="UTC", sql="SELECT max(c1), (SELECT max(c2) FROM few) FROM many"),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT a.c15, a.c9, explode_outer(a.c14) FROM (SELECT 1 FROM few WHERE c0) RIGHT JOIN many a WHERE a.c0",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT true AS v FROM (SELECT DISTINCT c1 FROM many) WHERE array(1, 2) < transform(array(1, 2), x -> x - 3) "
        "UNION ALL SELECT DISTINCT c0 FROM many",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c1 FROM many WHERE array(1, 2) < transform(array(struct(1 AS x), struct(3 AS x)), s -> s.x)",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c0, c9 FROM many INTERSECT ALL SELECT c0, substring_index(c9, '', 1) FROM many",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c1, array(substring_index(c9, 'a', 1)), map(c1, substring_index(c9, 'b', 1)) FROM many WHERE c1 IS NOT NULL",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT aggregate(array(double('NaN')), 0.0D, (a, x) -> a + x, a -> round(a, 2)) FROM many",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT sort_array(collect_list(n)) FROM (SELECT dense_rank() OVER (PARTITION BY a ORDER BY a, b) AS n FROM "
        "(SELECT c2 AS a, c13 AS b FROM few UNION ALL SELECT c2, TIMESTAMP_NTZ'2024-11-03 01:30:00' FROM many))",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT a, explode_outer(array(1, 2)) FROM (SELECT 7S AS a, c6 AS b, 0S AS c FROM many "
        "UNION SELECT c2, -0.0D, c2 FROM few)",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT * FROM (SELECT 0Y AS v FROM few UNION ALL SELECT c1 FROM many WHERE c0) WHERE EXISTS (SELECT 1 FROM few WHERE v = 1Y)",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="WITH none AS (SELECT * FROM few LIMIT 0) SELECT 1Y AS v FROM none "
        "UNION ALL SELECT 2Y FROM many LEFT SEMI JOIN none USING (c1) UNION ALL SELECT 3Y FROM many RIGHT JOIN none USING (c1) "
        "UNION ALL SELECT 4Y FROM none a FULL JOIN none b USING (c1) UNION ALL SELECT 5Y FROM none LEFT ANTI JOIN few USING (c1) "
        "UNION ALL (SELECT 6Y FROM none EXCEPT SELECT c1 FROM many) UNION ALL (SELECT 7Y FROM many INTERSECT SELECT c1 FROM none) "
        "UNION ALL SELECT DISTINCT c1 FROM many",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT 1Y AS v FROM few a JOIN few b ON array(1, 2) < transform(array(1, 2), x -> x - 3) UNION ALL SELECT DISTINCT c1 FROM many",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT v, count(*) FROM (SELECT 0Y AS v FROM few UNION ALL SELECT DISTINCT c1 FROM many) WHERE v + 1 > 1 GROUP BY v",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT a.v, b.w FROM (SELECT 0Y AS v FROM few UNION SELECT c1 FROM many) a JOIN "
        "(SELECT 'x' AS k, c1 AS w FROM few UNION ALL SELECT 'y', c1 FROM many) b ON a.v = b.w AND b.k = 'y' WHERE a.v = 1Y OR a.v = 5Y",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT v, s.x FROM (SELECT 0Y AS v, c19 AS s FROM few UNION ALL SELECT DISTINCT c1, c19 FROM many) WHERE v > 1Y",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT v, row_number() OVER (PARTITION BY m ORDER BY v, m) FROM (SELECT v, min(v) OVER (PARTITION BY v ORDER BY v) AS m "
        "FROM (SELECT count(DISTINCT c0) AS v FROM many))",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c1 FROM many m WHERE c0 OR EXISTS (SELECT 1 FROM many n WHERE n.c0 AND CAST(n.c11 - n.c11 AS TINYINT) = m.c1)",
    ),
    Regression(
        ansi=True,
        time_zone="UTC",
        sql="SELECT DISTINCT a, make_timestamp(2024, 3, 10, abs(locate('', c9, 2) % 9 - 3) % 24, 30, 0) FROM "
        "(SELECT array_compact(array(1.5D, double('NaN'))) AS a, c9 FROM many UNION ALL SELECT array(1D), c9 FROM many)",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT v FROM (SELECT v, array(1, 2) FROM (SELECT c0 AS v, stack(2, c14, c14) FROM many) INTERSECT "
        "SELECT c0, array(CAST(NULL AS INT), CAST(NULL AS INT)) FROM many) UNION ALL SELECT c0 FROM many WHERE c0",
    ),
    Regression(
        ansi=True,
        time_zone="UTC",
        sql="SELECT transform(array(named_struct('x', 1, 'y', 'a')), x -> x).y FROM (SELECT explode(c14) FROM empty)",
    ),
    Regression(
        ansi=False,
        time_zone="America/Los_Angeles",
        sql="SELECT timestamp_seconds(c6) + INTERVAL '1' HOUR FROM many",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c0, c6 FROM many WHERE c0 AND c1 IN (SELECT 0Y FROM (SELECT DISTINCT c0 FROM many)) ORDER BY sqrt(c6), c0, c6",
    ),
    Regression(
        ansi=False,
        time_zone="Australia/Lord_Howe",
        sql="SELECT CAST(timestamp_seconds(c6) AS TIMESTAMP_NTZ) FROM many",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT date_trunc('HOUR', timestamp_micros(if(c3 IS NULL, NULL, -9223372036854775808))) FROM few",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT concat('k', CAST(transform(CAST(NULL AS ARRAY<STRING>), s -> 0) AS STRING)) AS v, count(*) FROM "
        "(SELECT c0, stack(2, c0, c0) FROM many) GROUP BY v",
    ),
    Regression(ansi=True, time_zone="UTC", sql="SELECT array(1, 2, 3)[if(c0, 1, NULL)] FROM many"),
    Regression(ansi=True, time_zone="UTC", sql="SELECT c4 - 1L, c3 - c4, -c4 FROM few WHERE c4 + c3 > 5"),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT count(*), count(m) FILTER (WHERE m) FROM (SELECT bool_and(c0) AS m FROM many)",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT max(n) FILTER (WHERE n < 0) FROM (SELECT n + 1 AS n FROM (SELECT count(*) AS n FROM many) WHERE n > 0)",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT array_contains(array(c19, named_struct('x', c3, 'y', c9)), c19), "
        "array_remove(array(c19, named_struct('x', c3, 'y', c9)), c19) FROM many",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT c6, rank() OVER (PARTITION BY c0, c6 ORDER BY c1) FROM many WHERE c6 = 0D",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT count(*) OVER (PARTITION BY c6, c2), rank() OVER (PARTITION BY c1 ORDER BY c6, c2) FROM many "
        "WHERE c6 = double('NaN') AND c0",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT * FROM (SELECT DISTINCT c1, c3 FROM many WHERE coalesce(c3, 7) = 7) ORDER BY coalesce(c3, 7), c1 LIMIT 3",
    ),
    Regression(
        ansi=True,
        time_zone="UTC",
        sql="SELECT array_contains(c14, transform(CAST(NULL AS array<int>), x -> x + 1)[0]), "
        "array_contains(array(array(c6)), transform(CAST(NULL AS array<double>), x -> x + 0.5D)) FROM many",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT DISTINCT c2 FROM (SELECT * FROM (SELECT c0, c1, c2 FROM many ORDER BY c0, c1, c2 LIMIT 5) "
        "ORDER BY c0, c1, c2 DESC NULLS LAST LIMIT 3 OFFSET 2)",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT a.c9, b.c1 FROM (SELECT c9, c1 FROM many ORDER BY c6, c1, c2, c3, c4 OFFSET 7) a JOIN few b ON a.c1 = b.c1",
    ),
    Regression(
        ansi=False,
        time_zone="UTC",
        sql="SELECT * FROM (SELECT count(*) AS n FROM many) JOIN (SELECT c0, c4 FROM many) ON n = try_mod(c4, 0L) WHERE c0",
    ),
)


@pytest.fixture(scope="module")
def fuzzed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A session that reads all values as they are, with the tables."""
    session = spark.newSession()
    for key, value in READING.items():
        session.conf.set(key, value)
    tables.create(session, tmp_path_factory.mktemp("fuzz"))
    function_forms.add(session)
    return session


@pytest.mark.parametrize("engine", slow.some(oracle.ENGINES, lambda name: name != "datafusion"))
@pytest.mark.parametrize("regression", REGRESSIONS, ids=lambda regression: regression.sql[:60])
def test_regression(fuzzed: SparkSession, regression: Regression, engine: str) -> None:
    oracle.settings(fuzzed, regression.ansi, regression.time_zone)
    outcome = oracle.outcome_of(oracle.Asked(lambda: fuzzed.sql(regression.sql)), oracle.ENGINES[engine])
    assert outcome.kind in (oracle.EQUAL, oracle.RAISED), outcome


class RefusedByOperations(Query):
    """A query that has a plan as SQL, and none by operations."""

    def sql(self) -> str:
        return "SELECT c3 + 1 AS v FROM few"

    def dataframe(self, spark: SparkSession) -> DataFrame:
        return spark.table("few").select(F.udf(str)("c3").alias("v"))


def test_a_query_is_refused_that_has_no_plan_by_operations(fuzzed: SparkSession) -> None:
    oracle.settings(fuzzed, ansi=False, time_zone="UTC")
    outcomes = oracle.judge(fuzzed, RefusedByOperations(), oracle.ENGINES)
    assert {name: outcome.kind for name, outcome in outcomes.items()} == dict.fromkeys(oracle.ENGINES, oracle.REFUSED)


@pytest.mark.parametrize(
    ("query", "outcome"),
    [
        ("SELECT id + 1 AS x FROM (SELECT * FROM range(9) ORDER BY id DESC LIMIT 7) WHERE id % 3 > 0", oracle.WRONG),
        ("SELECT explode(array(id, 0)) AS x FROM (SELECT * FROM range(9) ORDER BY id)", oracle.WRONG),
        ("SELECT x FROM (SELECT id, id AS x, 1 AS y FROM range(9)) ORDER BY y", oracle.EQUAL),
        ("SELECT DISTINCT id FROM (SELECT * FROM range(9) ORDER BY id)", oracle.EQUAL),
        ("SELECT id FROM (SELECT * FROM range(9) ORDER BY id) WHERE EXISTS (SELECT * FROM range(1))", oracle.EQUAL),
    ],
)
def test_the_order_of_rows_is_judged_where_there_is_one(fuzzed: SparkSession, query: str, outcome: str) -> None:
    def backwards(plan: Plan, spark: SparkSession) -> pa.Table:
        rows = oracle.ENGINES["datafusion"].rows(plan, spark)
        return rows.take(list(reversed(range(rows.num_rows))))

    asked = oracle.Asked(lambda: fuzzed.sql(query))
    engine = oracle.ENGINES["datafusion"]
    assert oracle.outcome_of(asked, engine).kind == oracle.EQUAL
    assert oracle.outcome_of(asked, engine._replace(rows=backwards)).kind == outcome


@pytest.mark.smoke
def test_random_queries(fuzzed: SparkSession) -> None:
    kinds: dict[str, Counter[str]] = {engine: Counter() for engine in oracle.ENGINES}

    @seed(SEED)
    @settings(max_examples=QUERIES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(query=queries(), ansi=st.booleans(), time_zone=st.sampled_from(TIME_ZONES))
    def check(query: Query, ansi: bool, time_zone: str) -> None:
        oracle.settings(fuzzed, ansi, time_zone)
        for engine, outcome in oracle.judge(fuzzed, query, oracle.ENGINES).items():
            kinds[engine][outcome.kind] += 1
            assert outcome.kind not in oracle.FAILURES, (engine, outcome)

    check()
    for engine, found in kinds.items():
        assert found[oracle.INVALID] == 0, "the generator makes queries that Spark can't analyse"
        assert found[oracle.LOUD] == 0, f"{engine} raises where Spark has rows"
        assert found[oracle.REFUSED] <= REFUSED * found.total(), (engine, dict(found))
