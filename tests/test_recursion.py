"""WITH RECURSIVE: the rows that Spark has, in DataFusion and as a canonical plan, and the errors by which Spark ends it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from releases import since
from rows import assert_same_rows, differences, spark_table
from substrait.algebra_pb2 import ReadRel, Rel
from substrait.type_pb2 import Type

from substrait_spark import EngineError, InvalidPlanError, UnsupportedPlanError, df_to_substrait, explain, lower
from substrait_spark.algebra.extension_messages import PreviousRows, unpacked
from substrait_spark.algebra.message_walk import messages_of
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.testing import structural_problems

pytestmark = since("4.1", "WITH RECURSIVE")

LEVELS = "spark.sql.cteRecursionLevelLimit"
ROWS = "spark.sql.cteRecursionRowLimit"

COUNT = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {}) SELECT * FROM r"

COMPANY = """
    (1, NULL, 'ceo', 0.0D), (2, 1, 'cto', -0.0D), (3, 1, NULL, double('NaN')), (4, 2, '', NULL), (5, 4, 'int', 1e300D), (5, 4, 'int', 1e300D),
    (6, 9, 'nobody', 1.0D)
"""

QUERIES = {
    "a hierarchy with paths": """
        WITH RECURSIVE h AS (
            SELECT id, name, 0 AS level, CAST(name AS STRING) AS path FROM emp WHERE boss IS NULL
            UNION ALL SELECT e.id, e.name, h.level + 1, concat_ws('/', h.path, e.name) FROM emp e JOIN h ON e.boss = h.id
        ) SELECT * FROM h""",
    "lists that grow": """
        WITH RECURSIVE h(id, way) AS (
            SELECT id, array(id) FROM emp WHERE boss IS NULL
            UNION ALL SELECT e.id, array_append(way, e.id) FROM h JOIN emp e ON e.boss = h.id WHERE NOT array_contains(way, e.id)
        ) SELECT id, way, size(way) AS n FROM h""",
    "doubles": "WITH RECURSIVE r(n, x) AS (SELECT id, x FROM emp UNION ALL SELECT n + 5, x * 1e10D FROM r WHERE n < 12) SELECT * FROM r",
    "dates": "WITH RECURSIVE d(d) AS (SELECT DATE'2024-02-27' UNION ALL SELECT date_add(d, 1) FROM d WHERE d < DATE'2024-03-02') SELECT * FROM d",
    "decimals, aggregated above": """
        WITH RECURSIVE fib(n, a, b) AS (
            SELECT 1, CAST(0 AS DECIMAL(38, 0)), CAST(1 AS DECIMAL(38, 0))
            UNION ALL SELECT n + 1, b, CAST(a + b AS DECIMAL(38, 0)) FROM fib WHERE n < 60
        ) SELECT sum(a) AS s, max(b) AS m FROM fib""",
    "nulls in the step alone": "WITH RECURSIVE r(n, s) AS (SELECT 1, 'a' UNION ALL SELECT n + 1, CAST(NULL AS STRING) FROM r WHERE n < 3) SELECT * FROM r WHERE s IS NULL OR n = 1",
    "maps of what may be null": "WITH RECURSIVE r(n, m) AS (SELECT 1, map('a', 1) UNION ALL SELECT n + 1, map('b', nullif(n, 2)) FROM r WHERE n < 4) SELECT * FROM r",
    "the rows before, twice": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT a.n + 1 FROM r a JOIN r b ON a.n = b.n WHERE a.n < 4) SELECT * FROM r",
    "one over another": """
        WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3),
        s(m) AS (SELECT n FROM r UNION ALL SELECT m * 10 FROM s WHERE m < 100) SELECT * FROM s""",
    "one in the step of another": """
        WITH RECURSIVE s(m) AS (SELECT 1 UNION ALL SELECT m + k FROM s, (
            WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT max(n) AS k FROM r
        ) WHERE m < 20) SELECT * FROM s""",
    "in a subquery": """
        SELECT id, (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT max(n) FROM r) AS n FROM emp""",
    "a subquery in the step": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n IN (SELECT id FROM emp)) SELECT * FROM r",
    "several rows of one in the step": """
        WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + k FROM r LATERAL VIEW explode(array(n, 10)) t AS k WHERE n < 12)
        SELECT n, count(*) AS c FROM r GROUP BY n""",
    "used twice": """
        WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4)
        SELECT a.n, b.n AS m FROM r a JOIN r b ON a.n = b.n + 1""",
    "without an end but for LIMIT": "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r LIMIT 5",
    "fewer levels than a limit asks": "WITH RECURSIVE r(n) MAX RECURSION LEVEL 3 AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r LIMIT 3",
    "as many levels as there may be": COUNT.format(100),
}


@pytest.fixture(scope="module", autouse=True)
def _emp(spark: SparkSession) -> None:
    spark.sql(f"SELECT * FROM VALUES {COMPANY} AS t(id, boss, name, x)").createOrReplaceTempView("emp")


@contextmanager
def settings(spark: SparkSession, **values: str) -> Iterator[None]:
    for name, value in values.items():
        spark.conf.set({"levels": LEVELS, "rows": ROWS, "ansi": "spark.sql.ansi.enabled"}[name], value)
    try:
        yield
    finally:
        for name in (LEVELS, ROWS, "spark.sql.ansi.enabled"):
            spark.conf.unset(name)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_rows(spark: SparkSession, query: str) -> None:
    df = spark.sql(query)
    assert_same_rows(df, stages=("optimized", "analyzed") if "LIMIT" not in query else ("optimized",))
    plan = df_to_substrait(df)
    assert structural_problems(plan) == []
    assert lower(plan, "datafusion") == df_to_substrait(df, dialect="datafusion")
    assert plan == df_to_substrait(spark.sql(query))


def test_no_rows(spark: SparkSession) -> None:
    df = spark.sql(
        "WITH RECURSIVE r(n) AS (SELECT id FROM emp WHERE id > 99 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r"
    )
    assert_same_rows(df, empty=True)


def test_what_overflows_without_an_error(spark: SparkSession) -> None:
    with settings(spark, ansi="false"):
        assert_same_rows(
            spark.sql("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n * 1000 FROM r WHERE n <> 0) SELECT * FROM r")
        )


ENDS = [
    ({}, COUNT.format(101), "RECURSION_LEVEL_LIMIT_EXCEEDED"),
    ({}, COUNT.format(9).replace("r(n) AS", "r(n) MAX RECURSION LEVEL 3 AS"), "RECURSION_LEVEL_LIMIT_EXCEEDED"),
    (
        {},
        COUNT.format(9).replace("r(n) AS", "r(n) MAX RECURSION LEVEL 3 AS") + " LIMIT 4",
        "RECURSION_LEVEL_LIMIT_EXCEEDED",
    ),
    ({"levels": "3"}, COUNT.format(4), "RECURSION_LEVEL_LIMIT_EXCEEDED"),
    ({"levels": "3"}, COUNT.format(3), None),
    ({"levels": "0"}, COUNT.format(1), "RECURSION_LEVEL_LIMIT_EXCEEDED"),
    ({"levels": "-1"}, COUNT.format(120), None),
    ({"rows": "5"}, COUNT.format(5), "RECURSION_ROW_LIMIT_EXCEEDED"),
    ({"rows": "5"}, COUNT.format(4), None),
    ({"rows": "5"}, COUNT.format(9) + " LIMIT 7", None),
    ({"rows": "-1"}, COUNT.format(9), None),
]


@pytest.mark.parametrize(("limits", "query", "error"), ENDS)
def test_it_ends_where_spark_ends_it(
    spark: SparkSession, limits: dict[str, str], query: str, error: str | None
) -> None:
    with settings(spark, **limits):
        df = spark.sql(query)
        plans = df_to_substrait(df, dialect="datafusion"), df_to_substrait(df)
        if error is None:
            expected = spark_table(df)
            assert differences(expected, datafusion.execute(plans[0])) == []
            assert differences(expected, spark_table(spark_engine.execute(plans[1], spark))) == []
            return
        with pytest.raises(EngineError, match=error):
            spark_table(df)
        with pytest.raises(EngineError, match=error):
            datafusion.execute(plans[0])
        with pytest.raises(EngineError, match=error):
            spark_table(spark_engine.execute(plans[1], spark))


def test_the_session_that_runs_it_must_end_it_alike(spark: SparkSession) -> None:
    plan = df_to_substrait(spark.sql(COUNT.format(3)))
    with (
        settings(spark, rows="7"),
        pytest.raises(UnsupportedPlanError, match=f"Set {ROWS} to 1000000"),
    ):
        spark_engine.execute(plan, spark)


def test_values_that_are_drawn_anew_at_each_level_are_refused(spark: SparkSession) -> None:
    query = (
        "WITH RECURSIVE r(n, x) AS (SELECT 1, 0.5D UNION ALL SELECT n + 1, rand(1) FROM r WHERE n < 3) SELECT * FROM r"
    )
    with pytest.raises(UnsupportedPlanError, match="its step draws values"):
        df_to_substrait(spark.sql(query))


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (
            "SELECT 1, named_struct('a', 1) UNION ALL SELECT n + 1, named_struct('a', n) FROM r WHERE n < 3",
            "structs by the names",
        ),
        (
            "SELECT 1, INTERVAL '1' DAY UNION ALL SELECT n + 1, v FROM r WHERE n < 3",
            "in no rows that a query is repeated over",
        ),
    ],
)
def test_what_datafusion_has_in_other_forms_runs_in_spark_alone(spark: SparkSession, query: str, reason: str) -> None:
    df = spark.sql(f"WITH RECURSIVE r(n, v) AS ({query}) SELECT * FROM r")
    assert spark_engine.execute(df_to_substrait(df), spark).collect() == df.collect()
    with pytest.raises(UnsupportedPlanError, match=reason):
        df_to_substrait(df, dialect="datafusion")


def test_a_stream_is_read_once_for_all_levels(spark: SparkSession) -> None:
    query = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT p.next FROM r JOIN pairs p ON p.n = r.n) SELECT * FROM r"
    pairs = pa.table({"n": pa.array([1, 2, 3], pa.int32()), "next": pa.array([2, 3, 4], pa.int32())})
    spark.sql("CREATE TABLE pairs (n INT, next INT) USING parquet")
    try:
        plan = df_to_substrait(spark.sql(query), dialect="datafusion", reads="tables")
    finally:
        spark.sql("DROP TABLE pairs")
    stream = pa.RecordBatchReader.from_batches(pairs.schema, pairs.to_batches())
    assert datafusion.execute(plan, tables={"pairs": stream})["n"].to_pylist() == [1, 2, 3, 4]


def test_it_is_shown(spark: SparkSession) -> None:
    text = explain(df_to_substrait(spark.sql(COUNT.format(5))))
    assert "ExtensionMulti substrait_spark.Recursion {level_limit: 100, row_limit: 1000000, limit: -1}" in text
    assert "extension_table substrait_spark.PreviousRows {}" in text


def test_a_plan_of_others_whose_rows_do_not_fit(spark: SparkSession) -> None:
    """Previous rows that may be null where their schema says they aren't, and such of no recursion."""
    plan = df_to_substrait(
        spark.sql(
            "WITH RECURSIVE r(n) AS (SELECT boss FROM emp UNION ALL SELECT n + 9 FROM r WHERE n < 9) SELECT * FROM r"
        )
    )
    (read,) = [each for each in messages_of(plan, ReadRel) if each.HasField("extension_table")]
    assert isinstance(PreviousRows.FromString(read.extension_table.detail.value), PreviousRows)
    kind = read.base_schema.struct.types[0].i32
    kind.nullability = Type.NULLABILITY_REQUIRED
    with pytest.raises(UnsupportedPlanError, match="its step is over rows of other types"):
        lower(plan, "datafusion")
    kind.nullability = Type.NULLABILITY_NULLABLE
    (recursion,) = [each for each in messages_of(plan, Rel) if each.HasField("extension_multi")]
    assert unpacked(recursion.extension_multi.detail) is not None
    step = recursion.extension_multi.inputs[1]
    recursion.CopyFrom(Rel.FromString(step.SerializeToString()))
    with pytest.raises(UnsupportedPlanError, match="previous rows of no recursion"):
        lower(plan, "datafusion")
    with pytest.raises(InvalidPlanError, match="previous rows of no recursion"):
        datafusion.execute(plan)
    plan.ClearField("expected_type_urls")
    with pytest.raises(InvalidPlanError, match=r"Tables of the type \S+PreviousRows are not read"):
        datafusion.execute(plan)
