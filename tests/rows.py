"""Comparing the rows that Spark computes with those that an engine computes from our plan."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
import quick_spark
from fuzz.session import READING
from pyspark.sql import DataFrame, SparkSession
from substrait.plan_pb2 import Plan
from verdicts import COMPARED

from substrait_spark import EngineError, df_to_substrait
from substrait_spark.catalyst.query_order import Ordering, ordering
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.engines.comparison.tables import compared
from substrait_spark.engines.spark.rows import spark_rows

PERMISSIONS = ("spark.sql.timeType.enabled", "spark.sql.geospatial.enabled")
"""Settings that types are switched on by."""

SHOWN = 5
"""How many differing rows an assertion shows."""


class Same(NamedTuple):
    """What a comparison went over, for a test to look closer: the plan that ran, and the rows."""

    plan: Plan
    rows: pa.Table


def assert_same_rows(
    df: DataFrame,
    *,
    ordered: bool = False,
    tolerance: float | None = None,
    dialect: str = "datafusion",
    empty: bool | None = False,
    tables: dict[str, Any] | None = None,
    canonical: bool = True,
    stages: Sequence[str] = ("optimized",),
) -> Same:
    """Spark's rows of a DataFrame, the engine's rows of its plan, and Spark's of its canonical plan are the same.

    That holds for its plans of each of the `stages`; the one returned is the first's.

    Rows are compared as multisets; with `ordered`, the columns that the query orders by must also come in the same
    order (rows that tie on all of them may change places). Types are exact, decimals and timestamps too; NaN equals
    NaN, and -0.0 isn't 0.0. Floating-point numbers are equal, or within a relative `tolerance`. No rows at all is a
    failure, because it shows little, unless `empty`, where any row is one; None takes both. A test that says
    `canonical=False` says why.
    """
    plans = {stage: plan_of(df, dialect, stage) for stage in stages}
    expected = spark_table(df)
    order = ordering(df) if ordered else None
    assert order is None or order.columns, "the query's result isn't ordered by any of its columns"
    for stage, plan in plans.items():
        results = {"the engine": datafusion.execute(plan, tables=tables)}
        if canonical:
            results["the canonical plan in Spark"] = canonical_rows(df, stage)
        for name, actual in results.items():
            found = differences(expected, actual, tolerance=tolerance, order=order)
            assert not found, "\n".join([f"Spark (-) and {name} (+) differ ({stage}):", *found])
    assert empty is None or empty == (not expected.num_rows), "there are rows" if empty else "vacuous: there is no row"
    return Same(plans[stages[0]], expected)


def lowered_rows(df: DataFrame, dialect: str = "datafusion") -> pa.Table:
    """The rows of a DataFrame's plan for DataFusion."""
    return datafusion.execute(plan_of(df, dialect))


def canonical_rows(df: DataFrame, stage: str = "optimized") -> pa.Table:
    """The rows of a DataFrame's canonical plan, which Spark runs."""
    return spark_table(canonical(df, stage))


def canonical(df: DataFrame, stage: str = "optimized") -> DataFrame:
    """A DataFrame's canonical plan as a DataFrame of another session, whose settings say otherwise what expressions mean."""
    return spark_engine.execute(plan_of(df, stage=stage), _kept_session(df.sparkSession))


def assert_canonical_rows(df: DataFrame, stage: str = "optimized") -> None:
    """Spark's rows of a DataFrame, which are some, are those of its canonical plan, for what no other engine runs."""
    expected = spark_table(df)
    assert expected.num_rows, "vacuous: there is no row"
    assert not differences(expected, canonical_rows(df, stage))


def assert_canonical_outcome(df: DataFrame, stage: str = "optimized") -> None:
    """The same; where Spark raises, so does the canonical plan."""
    try:
        spark_table(df)
    except EngineError:
        assert_raises(canonical(df, stage))
    else:
        assert_canonical_rows(df, stage)


def other_session(spark: SparkSession) -> SparkSession:
    """A session of the same Spark whose settings say otherwise what Spark's expressions mean."""
    other = spark.newSession()
    for key, value in _other_settings(spark).items():
        other.conf.set(key, value)
    return other


def _kept_session(spark: SparkSession) -> SparkSession:
    """The same, kept for plans alone, which leave nothing in it: to make a session takes Spark as long as a small query."""
    key = (spark.sparkContext, *_other_settings(spark).items())
    if key not in _SESSIONS:
        _SESSIONS[key] = other_session(spark)
    # A table may have been made anew under the name of one that was read before.
    _SESSIONS[key]._jsparkSession.sessionState().catalog().invalidateAllCachedTables()
    return _SESSIONS[key]


_SESSIONS: dict[tuple[object, ...], SparkSession] = {}
"""By the Spark that they are of, and their settings."""


def _other_settings(spark: SparkSession) -> dict[str, str]:
    return {
        "spark.sql.ansi.enabled": str(spark.conf.get("spark.sql.ansi.enabled") != "true").lower(),
        "spark.sql.session.timeZone": "Asia/Kathmandu",
        "spark.sql.caseSensitive": "true",
        **{key: str(spark.conf.get(key)) for key in (*quick_spark.SETTINGS, *READING)},
        **{key: str(spark.conf.get(key, "false")) for key in PERMISSIONS},
    }


def assert_same_outcome(
    df: DataFrame, *, ordered: bool = False, tolerance: float | None = None, dialect: str = "datafusion"
) -> Same | None:
    """As `assert_same_rows`; but where Spark raises, so do both plans. None then."""
    try:
        df.collect()
    except Exception:  # noqa: BLE001 - whatever Spark raises is an outcome
        assert_engine_raises(df, dialect)
        return None
    return assert_same_rows(df, ordered=ordered, tolerance=tolerance, dialect=dialect)


def assert_engine_raises(df: DataFrame, dialect: str = "datafusion") -> None:
    """The DataFrame has plans, and the engine raises when it runs one, and Spark when it runs the canonical one."""
    assert_plan_raises(plan_of(df, dialect))
    assert_raises(canonical(df))


def assert_raises(df: DataFrame) -> None:
    """Spark raises when it runs a DataFrame."""
    try:
        result = spark_table(df)
    except Exception:  # noqa: BLE001 - whatever Spark raises
        COMPARED["raised"] += 1
        return
    COMPARED["different"] += 1
    pytest.fail(f"The canonical plan has {result.to_pylist()[:SHOWN]} in Spark")


def assert_plan_raises(plan: Plan) -> None:
    """The engine takes the plan, and raises when it runs it: PlanningError is none of these."""
    try:
        result = datafusion.execute(plan)
    except EngineError:
        COMPARED["raised"] += 1
        return
    COMPARED["different"] += 1
    pytest.fail(f"Spark raises, and the engine returned {result.to_pylist()[:SHOWN]}")


def plan_of(
    df: DataFrame, dialect: str | None = None, stage: str = "optimized", accept: Collection[str] = frozenset()
) -> Plan:
    """The plan of a DataFrame. That it keeps the structural rules is seen to wherever a test makes a plan (conftest.py)."""
    return df_to_substrait(df, dialect=dialect, stage=stage, accept=accept)


def spark_table(df: DataFrame) -> pa.Table:
    """Spark's rows."""
    return spark_rows(df)


def differences(
    expected: pa.Table, actual: pa.Table, *, tolerance: float | None = None, order: Ordering | None = None
) -> list[str]:
    """What differs between Spark's rows and an engine's; empty where they are the same."""
    found = compared(expected, actual, tolerance=tolerance, order=order)
    COMPARED["equal" if found else "different"] += 1
    return [] if found else str(found).splitlines()
