"""Jobs as data engineers write them: their rows in DataFusion are Spark's, or the reasons against a plan are on record.

`jobs/refused.yaml` has the reasons of each refused job, as `check` lists them: the Catalyst class, then why.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import slow
from job_record import EQUAL, JOBS, NEWER, RECORD, TOLERANCE
from pyspark.sql import SparkSession
from pyspark.sql.functions import expr
from releases import later
from rows import assert_same_rows

from substrait_spark import UnsupportedPlanError, check, df_to_substrait
from substrait_spark.catalyst.query_order import ordering


@pytest.fixture(scope="module")
def own(spark: SparkSession) -> SparkSession:
    """A session whose temporary views are nobody else's."""
    return spark.newSession()


STAGES = ["optimized", "analyzed"] if slow.asked() else ["optimized"]


def since_release(names: Iterable[str]) -> list[Any]:
    return [later(NEWER[name], name) if name in NEWER else name for name in names]


@pytest.mark.parametrize("name", since_release(EQUAL))
def test_rows(own: SparkSession, name: str) -> None:
    df = JOBS[name](own)
    assert_same_rows(df, ordered=bool(ordering(df).columns), tolerance=TOLERANCE, canonical=slow.asked(), stages=STAGES)


@pytest.mark.parametrize("name", RECORD["digits"])
def test_rows_with_texts_of_floats(own: SparkSession, name: str) -> None:
    """Spark's own last digits depend on the order in which it merges partitions."""
    df = JOBS[name](own)
    label, *numbers = df.columns
    assert_same_rows(
        df.select(label, *[expr(f"try_cast(`{column}` AS double) AS `{column}`") for column in numbers]),
        tolerance=TOLERANCE,
    )


@pytest.mark.parametrize("name", since_release(RECORD["refused"]))
def test_refusal(own: SparkSession, name: str) -> None:
    df = JOBS[name](own)
    problems = check(df, dialect="datafusion").problems
    assert sorted({f"{problem.catalyst_class}: {problem.reason}" for problem in problems}) == RECORD["refused"][name]
    assert all(problem.hint for problem in problems)
    with pytest.raises(UnsupportedPlanError):
        df_to_substrait(df, dialect="datafusion")
