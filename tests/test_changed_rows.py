"""Plans of UPDATE, DELETE and REPLACE WHERE: what a table has when they have run, by Spark and by their plans."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from changing_tables import add_catalog, fill, left_by
from merged_rows import matched_twice
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from row_changes import left_by as left_by_plan
from row_changes import query_of, replaced, root
from rows import differences, other_session, spark_table
from substrait.algebra_pb2 import WriteRel
from substrait.plan_pb2 import Plan

from substrait_spark import UnsupportedPlanError, declare_function, explain, lower, sql_to_substrait
from substrait_spark.engines import spark as spark_engine
from substrait_spark.testing import structural_problems

ROWS = """VALUES (1, 'a', 1.5D, named_struct('a', 1, 'b', 'x')), (1, 'a', 1.5D, named_struct('a', 1, 'b', 'x')),
    (2, NULL, double('NaN'), NULL), (NULL, '', 1e308D, named_struct('a', NULL, 'b', '')), (2147483647, 'b', NULL, NULL),
    (-3, 'a', 0.0D, named_struct('a', 3, 'b', NULL)) AS t(k, s, d, n)"""


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    """A session with the table `changing.t`, and the view `v`."""
    session = spark.newSession()
    add_catalog(session)
    session.sql("CREATE TABLE changing.t (k INT, s STRING DEFAULT 'x', d DOUBLE, n STRUCT<a: INT, b: STRING>)")
    fill(session, "t", session.sql(f"SELECT * FROM {ROWS}"))
    session.sql("CREATE TEMP VIEW v AS SELECT * FROM VALUES (1, 'a'), (2, NULL), (NULL, 'b'), (1, 'c') AS v(k, s)")
    return session


@pytest.fixture
def nothing_runs(session: SparkSession) -> Iterator[None]:
    tracker = session.sparkContext._jsc.sc().statusTracker()
    before = list(tracker.getJobIdsForGroup(None))
    yield
    assert list(tracker.getJobIdsForGroup(None)) == before


def rows(session: SparkSession, plan: Plan) -> Any:
    other = other_session(session)
    return spark_table(spark_engine.execute(plan, other, tables={"t": other.sql(f"SELECT * FROM {ROWS}")}))


UPDATES = (
    "UPDATE changing.t SET k = 5, s = DEFAULT WHERE s = 'a'",
    "UPDATE changing.t SET n.a = k, d = d * 2 WHERE d <= 1.5 OR d IS NULL",
    "UPDATE changing.t AS x SET k = (SELECT max(v.k) FROM v WHERE v.s = x.s)",
    "UPDATE changing.t SET k = -k, s = CASE WHEN k IN (SELECT k FROM v) THEN 'in' ELSE 'out' END WHERE k IN (SELECT k FROM v)",
    "UPDATE changing.t SET s = 'n' WHERE k NOT IN (SELECT k FROM v WHERE k IS NOT NULL)",
    "UPDATE changing.t SET s = 'n' WHERE k NOT IN (SELECT k FROM v)",
    "UPDATE changing.t SET s = 'n' WHERE EXISTS (SELECT * FROM v WHERE v.k = t.k AND v.s = t.s)",
    "UPDATE changing.t SET s = s || s || 'y', k = length(s || s) + length(s || s)",
)


@pytest.mark.parametrize("sql", UPDATES)
def test_updates(session: SparkSession, sql: str) -> None:
    plan = sql_to_substrait(session, sql)
    assert not structural_problems(plan)
    expected = spark_table(left_by(session, sql, "changing.t"))
    assert expected.num_rows == 6
    assert not differences(expected, rows(session, left_by_plan(plan)))


def test_updates_by_a_function_in_python(session: SparkSession) -> None:
    doubled = session.udf.register("doubled", F.udf(lambda n: None if n is None else n % 100 * 2, "int"))
    function = declare_function(doubled, name="doubled")
    sql = "UPDATE changing.t SET k = doubled(k - 1) WHERE doubled(k) < 4 OR k IS NULL"
    plan = left_by_plan(sql_to_substrait(session, sql, functions=[function]))
    expected = spark_table(left_by(session, sql, "changing.t"))
    other = other_session(session)
    tables = {"t": other.sql(f"SELECT * FROM {ROWS}")}
    again = spark_table(spark_engine.execute(plan, other, tables=tables, functions=[function]))
    assert not differences(expected, again)


DELETES = (
    "DELETE FROM changing.t WHERE k > 1",
    "DELETE FROM changing.t WHERE d = 'NaN' OR n.a IS NULL",
    "DELETE FROM changing.t AS x WHERE EXISTS (SELECT * FROM v WHERE v.k = x.k AND v.s = x.s)",
    "DELETE FROM changing.t WHERE k NOT IN (SELECT k FROM v WHERE k IS NOT NULL)",
    "DELETE FROM changing.t WHERE (k, s) IN (SELECT k, s FROM v)",
)


@pytest.mark.parametrize("sql", DELETES)
def test_deletes(session: SparkSession, sql: str) -> None:
    plan = sql_to_substrait(session, sql)
    assert not structural_problems(plan)
    assert root(plan).op == WriteRel.WRITE_OP_DELETE
    expected = spark_table(left_by(session, sql, "changing.t"))
    assert 0 < expected.num_rows < 6
    assert not differences(expected, rows(session, left_by_plan(plan)))


INSERT = "WHEN NOT MATCHED THEN INSERT (k, s, d) VALUES (x.k, x.s, x.k * 2)"

SOURCE = "(SELECT DISTINCT k, max(s) OVER (PARTITION BY k) AS s FROM v) x"

MERGES = (
    f"MERGE INTO changing.t USING {SOURCE} ON t.k = x.k WHEN MATCHED THEN UPDATE SET s = x.s, n.a = x.k + 1 {INSERT}",
    f"MERGE INTO changing.t USING {SOURCE} ON t.k <=> x.k WHEN MATCHED AND x.s = 'b' THEN DELETE WHEN MATCHED AND t.k > 1 THEN UPDATE SET d = -d",
    f"""MERGE INTO changing.t USING {SOURCE} ON t.k = x.k AND t.s = 'a' WHEN MATCHED AND t.n.a = 1 THEN UPDATE SET k = DEFAULT, s = DEFAULT
        WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND x.k = 2 THEN INSERT (k) VALUES (7) WHEN NOT MATCHED AND x.k IS NULL THEN INSERT (s) VALUES ('null')
        WHEN NOT MATCHED BY SOURCE AND d > 1 THEN DELETE WHEN NOT MATCHED BY SOURCE AND n IS NOT NULL THEN UPDATE SET s = upper(s) || 'z'""",
    f"MERGE INTO changing.t USING {SOURCE} ON false {INSERT} WHEN NOT MATCHED BY SOURCE THEN UPDATE SET s = 'left'",
    f"MERGE INTO changing.t USING {SOURCE} ON t.k = x.k {INSERT}",
    f"MERGE INTO changing.t USING {SOURCE} ON t.k = x.k WHEN NOT MATCHED AND x.s IS NULL THEN INSERT (k) VALUES (x.k) {INSERT}",
    "MERGE INTO changing.t USING v x ON t.k = x.k WHEN MATCHED THEN DELETE",
    "MERGE INTO changing.t USING v x ON t.k = x.k AND x.s <> 'c' WHEN MATCHED THEN UPDATE SET s = x.s || (SELECT max(s) FROM v)",
    """MERGE INTO changing.t USING (SELECT named_struct('b', 'y', 'a', 1) AS n, 2 AS d, * FROM v WHERE s IS NULL OR s = 'b') x
        ON t.k = x.k WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""",
)


@pytest.mark.parametrize("sql", MERGES)
def test_merges(session: SparkSession, sql: str) -> None:
    plan = sql_to_substrait(session, sql)
    assert not structural_problems(plan)
    assert not rows(session, matched_twice(plan)).num_rows
    expected = spark_table(left_by(session, sql, "changing.t"))
    assert expected.num_rows
    assert not differences(expected, rows(session, left_by_plan(plan)))
    assert differences(spark_table(session.table("changing.t")), expected), "the statement changes nothing"


@pytest.mark.parametrize("clause", ["UPDATE SET s = x.s", "DELETE WHEN MATCHED THEN UPDATE SET s = 'y'"])
def test_rows_that_are_matched_twice(session: SparkSession, clause: str) -> None:
    sql = f"MERGE INTO changing.t USING v x ON t.k = x.k WHEN MATCHED AND x.s = 'a' THEN {clause}"
    with pytest.raises(Exception, match="MERGE_CARDINALITY_VIOLATION"):
        left_by(session, sql, "changing.t").collect()
    assert rows(session, matched_twice(sql_to_substrait(session, sql))).num_rows == 2


@pytest.mark.usefixtures("nothing_runs")
def test_all_rows(session: SparkSession) -> None:
    plan = sql_to_substrait(session, "DELETE FROM changing.t")
    assert root(plan).input.WhichOneof("rel_type") == "read"
    plan = sql_to_substrait(session, "UPDATE changing.t SET k = NULL")
    assert root(plan).condition.literal.boolean


@pytest.mark.parametrize("stage", ["optimized", "analyzed"])
def test_replaced_rows(session: SparkSession, stage: str) -> None:
    condition = "k > 1 OR s <=> 'a' AND d < 2"
    plan = sql_to_substrait(
        session, f"INSERT INTO changing.t REPLACE WHERE {condition} SELECT k, s, k, NULL FROM v", stage=stage
    )
    assert not structural_problems(plan)
    expected = spark_table(session.sql(f"SELECT * FROM changing.t WHERE {condition}"))
    assert 0 < expected.num_rows < 6
    assert not differences(expected, rows(session, query_of(plan, replaced(root(plan)))))
    written = spark_table(
        session.sql("SELECT k, s, CAST(k AS DOUBLE) AS d, CAST(NULL AS STRUCT<a: INT, b: STRING>) AS n FROM v")
    )
    assert not differences(written, rows(session, query_of(plan, root(plan).input)))


@pytest.mark.usefixtures("nothing_runs")
def test_parameters(session: SparkSession) -> None:
    sql = "UPDATE changing.t SET k = :k WHERE s = :s"
    plan = sql_to_substrait(session, sql, parameters={"k": "int", "s": "string"})
    assert "Update changing.t set [$0:k = ?1::i32?] where equal($1:s, ?2::string?)" in explain(plan)
    sql = "INSERT INTO changing.t REPLACE WHERE k = :k SELECT k, s, k, NULL FROM v"
    plan = sql_to_substrait(session, sql, parameters={"k": "int"})
    assert replaced(root(plan)).filter.condition.scalar_function.arguments[1].value.HasField("dynamic_parameter")


@pytest.mark.parametrize("sql", [UPDATES[3], DELETES[2], MERGES[2]])
def test_options(session: SparkSession, sql: str) -> None:
    plan = sql_to_substrait(
        session, sql, detach=True, type_aliases=True, hints=True, provenance=True, share_subplans=True
    )
    assert not structural_problems(plan)


@pytest.mark.parametrize("sql", [UPDATES[3], DELETES[2], MERGES[2]])
def test_dialects(session: SparkSession, sql: str) -> None:
    with pytest.raises(
        UnsupportedPlanError,
        match=r"the dialect datafusion has no .*(WRITE relations|UPDATE relations|relation that merges rows)",
    ):
        sql_to_substrait(session, sql, dialect="datafusion")
    with pytest.raises(
        UnsupportedPlanError,
        match=r"the dialect datafusion has no .*(WRITE relations|UPDATE relations|relation that merges rows)",
    ):
        lower(sql_to_substrait(session, sql), "datafusion")


REFUSED = {
    "MERGE WITH SCHEMA EVOLUTION INTO changing.t USING v ON t.k = v.k WHEN MATCHED THEN DELETE": "schema evolution is in no plan",
    "MERGE INTO v USING changing.t ON t.k = v.k WHEN MATCHED THEN DELETE": "the source of its table can't change rows",
    "DELETE FROM changing.t WHERE rand() > 0.5": "INVALID_NON_DETERMINISTIC_EXPRESSIONS",
    "DELETE FROM changing.t WHERE k IN (SELECT k FROM changing.t)": "can't be read from a plan",
    "DELETE FROM v": "the source of its table can't change rows",
}


@pytest.mark.usefixtures("nothing_runs")
@pytest.mark.parametrize("sql", REFUSED)
def test_refused(session: SparkSession, sql: str) -> None:
    with pytest.raises(UnsupportedPlanError, match=REFUSED[sql]):
        sql_to_substrait(session, sql)


def test_no_dialect_says_what_is_replaced(session: SparkSession) -> None:
    with pytest.raises(UnsupportedPlanError, match="a dialect has no words for the rows that it replaces"):
        sql_to_substrait(
            session, "INSERT INTO changing.t REPLACE WHERE k = 1 SELECT k, s, k, NULL FROM v", dialect="datafusion"
        )
