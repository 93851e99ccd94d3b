"""Calls of constants, which Spark's optimizer would compute: what may raise is computed only where Spark computes it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import pytest
import slow
from functions import examples
from fuzz import oracle
from pyspark.sql import SparkSession
from releases import later
from rows import assert_same_outcome, assert_same_rows, differences, spark_table

from substrait_spark import check, df_to_substrait
from substrait_spark.engines import spark as engine

RULES = "org.apache.spark.sql.catalyst.optimizer."
FOLDING = f"{RULES}ConstantFolding,{RULES}ConvertToLocalRelation"
"""Spark's rules that compute constants. Any session may exclude them, and other rules leave what fails to the run."""

EVERY = 12
"""Of the functions, each how many-th has its examples run."""

LEFT_OUT = {
    *("array_agg", "collect_list", "collect_set", "listagg", "mode", "string_agg"),
    *("curdate", "current_date", "current_time", "current_timestamp", "localtimestamp", "now", "unix_timestamp"),
}
"""Functions whose examples leave open which value, or in which order, and those that read the clock: a plan as written
reads it when it runs."""


@pytest.fixture(scope="module", params=["ansi", "legacy"])
def unfolded(spark: SparkSession, request: pytest.FixtureRequest) -> SparkSession:
    session = spark.newSession()
    session.conf.set("spark.sql.optimizer.excludedRules", FOLDING)
    session.conf.set("spark.sql.ansi.enabled", request.param == "ansi")
    return session


@pytest.mark.parametrize(
    "call",
    [
        "add_months('2016-08-31', 1)",
        "year('2016-07-30')",
        "to_date('2016-12-31', 'yyyy-MM-dd')",
        "to_timestamp('2016-12-31 00:12:00')",
        "nanvl(cast('NaN' AS double), 123)",
        "make_timestamp(2014, 12, 28, 6, 30, 45.887)",
        "1.1 < '1'",
        "decimal('7')",
        "boolean('true')",
        "cast(cast('300' AS int) AS smallint)",
        "cast(12.34BD AS decimal(3, 1))",
        "date_trunc('HOUR', '2015-03-05T09:32:05.359')",
        later("4.0", "is_valid_utf8(X'80')"),
        later("4.0", "is_valid_utf8(cast(NULL AS binary))"),
        later("4.0", "try_validate_utf8(X'61C262')"),
        "coalesce(1, cast('x' AS int))",
    ],
)
def test_values(unfolded: SparkSession, call: str) -> None:
    assert_same_rows(unfolded.sql(f"SELECT {call} AS r"))


@pytest.mark.parametrize(
    "call",
    [
        "cast('x' AS int)",
        "cast('x' AS date)",
        "cast('x' AS timestamp)",
        "cast('x' AS boolean)",
        "cast('x' AS decimal(3, 1))",
        "cast(X'FF' AS string)",
        "cast(1e30 AS int)",
        "cast(300 AS tinyint)",
        "cast(12345.67BD AS decimal(4, 2))",
        later("4.0", "2147483647 + 1"),
        "1 / 0",
        "make_date(2020, 13, 1)",
        "cast(raise_error('no') AS int)",
    ],
)
def test_what_fails_in_a_branch_that_no_row_takes(unfolded: SparkSession, call: str) -> None:
    assert_same_rows(unfolded.sql(f"SELECT id, CASE WHEN id > 100 THEN {call} END AS r FROM range(3)"))
    df = unfolded.sql(f"SELECT id FROM range(3) WHERE id < 2 OR (id > 100 AND {call} IS NULL)")
    assert_same_rows(df)


@pytest.mark.parametrize(
    "call", ["cast('x' AS int)", "cast('x' AS date)", "cast(1e30 AS int)", "cast(12345.67BD AS decimal(4, 2))", "1 / 0"]
)
def test_what_fails_where_rows_reach_it(unfolded: SparkSession, call: str) -> None:
    assert_same_outcome(unfolded.sql(f"SELECT {call} AS r"))
    assert_same_outcome(unfolded.sql(f"SELECT CASE WHEN id > 1 THEN {call} END AS r FROM range(3)"))


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("schema_of_json('[1]')", "what Spark finds in a constant text"),
        ("schema_of_csv('1,a')", "what Spark finds in a constant text"),
        later("4.0", "schema_of_xml('<p><a>1</a></p>')", "what Spark finds in a constant text"),
        ("version()", "which Spark runs the query"),
    ],
)
def test_what_only_spark_computes_is_refused(unfolded: SparkSession, call: str, why: str) -> None:
    (problem,) = check(unfolded.sql(f"SELECT {call}"))
    assert why in problem.reason
    assert problem.hint


@pytest.fixture(scope="module")
def asked(unfolded: SparkSession) -> dict[str, oracle.Asked]:
    """Spark's own examples of a sample of its functions, each of which Spark runs once."""
    found = {}
    for function in examples.functions(unfolded)[::EVERY]:
        for example in () if function.name in LEFT_OUT else function.examples:
            with suppress(*examples.REFUSED):
                found[example] = oracle.Asked(partial(unfolded.sql, example))
    return found


@pytest.mark.parametrize("engine", slow.some(oracle.ENGINES, lambda name: name != "datafusion"))
def test_examples(asked: dict[str, oracle.Asked], engine: str) -> None:
    found = {example: oracle.outcome_of(query, oracle.ENGINES[engine]) for example, query in asked.items()}
    kinds = [outcome.kind for outcome in found.values()]
    assert kinds.count(oracle.EQUAL) > len(kinds) / 3
    wrong = {e: o for e, o in found.items() if o.kind not in (oracle.EQUAL, oracle.RAISED, oracle.REFUSED)}
    assert not wrong


@pytest.mark.parametrize(
    "frame",
    [
        "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
        "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
        "RANGE BETWEEN 3 PRECEDING AND 1 FOLLOWING",
    ],
)
def test_bounds_of_frames(spark: SparkSession, unfolded: SparkSession, frame: str) -> None:
    """Spark runs no bound that is still to be computed, and here nothing computes it."""
    df = spark.sql(f"SELECT id, sum(id) OVER (ORDER BY id {frame}) AS s FROM range(9)")
    canonical = engine.execute(df_to_substrait(df), unfolded)
    assert not differences(spark_table(df), spark_table(canonical))
