"""The engine that runs canonical plans in Spark: what the specification's own cases say, and what it is asked not to do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import pytest
import specification_cases as specification
from pyspark.sql import SparkSession
from rows import Float, other_session, rows, spark_table
from specification_cases import ERROR, Case

from substrait_spark.algebra import types
from substrait_spark.algebra.expression import Expression, Literal
from substrait_spark.algebra.relation import Cross, Project, Relation, VirtualTable
from substrait_spark.engines import spark as spark_engine
from substrait_spark.errors import UnsupportedPlanError
from substrait_spark.plan import build

pytestmark = pytest.mark.filterwarnings("ignore")

NOT_RUN: dict[str, str] = {}
"""Functions that are refused, and why."""

WRONG: dict[str, str] = {}
"""Cases whose value the function's own text contradicts."""


@pytest.mark.parametrize("file", [file for file in specification.files() if not file.startswith("arithmetic_unsigned/")])
def test_specification(spark: SparkSession, file: str) -> None:
    cases = [case for case in specification.cases(file) if isinstance(case, Case) and case.text not in WRONG]
    other = other_session(spark)
    found = [_refusal(case, other) for case in cases if case.function in NOT_RUN]
    run = [case for case in cases if case.function not in NOT_RUN]
    failing = [case for case in run if case.expected == ERROR]
    valued = [case for case in run if isinstance(case.expected, Literal)]
    found += _differences(valued, other)
    found += [f"{case.text}\n    is no error" for case in failing if not _raises(case, other)]
    assert not [line for line in found if line], "\n".join(line for line in found if line)


def _relation(cases: Sequence[Case]) -> Relation:
    """One row: of each case the value of the call, and the value that it should have."""
    expected = [case.expected for case in cases if isinstance(case.expected, Literal)]
    calls = [case.call for case in cases if case.call is not None]
    columns: list[Expression] = [*calls, *expected]
    tables = [case.relation for case in cases if case.relation is not None]
    source = reduce(Cross, tables) if tables else VirtualTable([()], [], [])
    return Project(source, columns)


def _run(cases: Sequence[Case], spark: SparkSession) -> Any:
    relation = _relation(cases)
    plan = build(relation, [f"c{n}" for n in range(len(relation.types))])
    return rows(spark_table(spark_engine.execute(plan, spark)))


def _differences(cases: Sequence[Case], spark: SparkSession) -> list[str]:
    """What differs from the values that the cases state, case by case where all together don't run."""
    if not cases:
        return []
    try:
        (row,) = _run(cases, spark)
    except Exception as error:  # noqa: BLE001 - whatever is raised is told of the case
        if len(cases) == 1:
            return [f"{cases[0].text}\n    raises {str(error).splitlines()[0][:300]}"]
        half = len(cases) // 2
        return _differences(cases[:half], spark) + _differences(cases[half:], spark)
    pairs = zip(cases, row[: len(cases)], row[len(cases) :], strict=True)
    return [f"{case.text}\n    gives {found!r}" for case, found, wanted in pairs if not _same(found, wanted)]


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(found, Float) and isinstance(wanted, Float):
        a, b = float(found), float(wanted)
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-7)
    return bool(found == wanted)


def _raises(case: Case, spark: SparkSession) -> bool:
    try:
        _run([case._replace(expected=Literal(None, types.of("boolean")))], spark)
    except UnsupportedPlanError:
        raise
    except Exception:  # noqa: BLE001 - any error will do
        return True
    return False


def _refusal(case: Case, spark: SparkSession) -> str:
    try:
        _run([case], spark)
    except UnsupportedPlanError:
        return ""
    return f"{case.text}\n    is run, though {case.function} is listed as one that is not"
