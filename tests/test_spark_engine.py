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

from substrait_spark import extensions
from substrait_spark.algebra import types
from substrait_spark.algebra.expression import AggregateFunction, Expression, FieldReference, Literal
from substrait_spark.algebra.relation import Aggregate, Cross, Project, Relation, VirtualTable, Window
from substrait_spark.engines import spark as spark_engine
from substrait_spark.errors import UnsupportedPlanError
from substrait_spark.plan import build

pytestmark = pytest.mark.filterwarnings("ignore")

ICU = "its regular expressions follow ICU, and Spark's are Java's"

NOT_RUN = {
    "bitwise_and:decimal": "Spark has no such function of decimals",
    "bitwise_or:decimal": "Spark has no such function of decimals",
    "bitwise_xor:decimal": "Spark has no such function of decimals",
    "power:i64": "Spark's power is one of doubles",
    **dict.fromkeys(
        (
            *("regexp_count_substring", "regexp_match_substring", "regexp_match_substring_all"),
            *("regexp_replace", "regexp_string_split", "regexp_strpos"),
        ),
        ICU,
    ),
}
"""Functions that are refused, maybe for a kind of type only, and why."""

REFUSED = {
    "on_domain_error:NONE": "the option has no such value",
    "on_division_by_zero:NAN": "the option of integers has no such value",
    "rounding:TRUNCATE": "Spark rounds to the nearest",
}
"""Options that are refused, and why."""

NAN_IS_NULL = "the option says NaN, and null is expected"
SWAPPED = "logb(x, b) is the logarithm of x to the base b, and the case has the base first"

WRONG = {
    "multiply(-13::i8, -10::i8) [overflow:SATURATE] = -128::i8": "the product is 130, whose nearest i8 is 127",
    "string_split('a b c d'::str, null::str?) = ['a b c d']::list?<str>": "a null argument gives null",
    "shift_left(301989888::i64, 8::i32) = 19791209299968::i64": "it is 77309411328",
}
"""Cases whose value the function's own text contradicts."""

WRONG_KINDS = {
    "[on_domain_error:NAN] = null::fp": NAN_IS_NULL,
    "[on_log_zero:NAN] = null::fp": NAN_IS_NULL,
    "logb(": SWAPPED,
    **dict.fromkeys(
        (
            "((-5.0), (-3.0), (-1.0), (1.0), (3.0), (5.0)) ",
            "((0.0), (100.0), (50.0), (25.0), (75.0)) ",
            *(
                f"((1.1), (2.2), (3.3), (4.4), (5.5)) {name}(SAMPLE::enum, col0::fp32) [rounding:TIE_TO_EVEN]"
                for name in ("std_dev", "variance")
            ),
        ),
        "the deviation from the mean is another: the first has 70 / 5 = 14 as its variance",
    ),
    **dict.fromkeys(
        ("extract(MILLISECOND", "extract(MICROSECOND"), "it is counted from the last full second or millisecond"
    ),
}
"""What such cases have in common where they are many."""


@pytest.mark.parametrize(
    "file", [file for file in specification.files() if not file.startswith("arithmetic_unsigned/")]
)
def test_specification(spark: SparkSession, file: str) -> None:
    cases = [case for case in specification.cases(file) if isinstance(case, Case) and not _is_wrong(case)]
    other = other_session(spark)
    run = [case for case in cases if not _is_refused(case)]
    found = [_run_all_the_same(case, other) for case in cases if _is_refused(case)]
    found += _differences([case for case in run if isinstance(case.expected, Literal)], other)
    found += [f"{case.text}\n    is no error" for case in run if case.expected == ERROR and not _raises(case, other)]
    assert not [line for line in found if line], "\n".join(line for line in found if line)


def _is_wrong(case: Case) -> bool:
    return case.text in WRONG or any(kind in case.text for kind in WRONG_KINDS)


def _is_refused(case: Case) -> bool:
    kinds = [argument.type.kind for argument in case.call.children()] if case.call is not None else []
    names = [case.function, *(f"{case.function}:{kind}" for kind in kinds)]
    return any(name in NOT_RUN for name in names) or any(option in case.text for option in REFUSED)


def _relation(cases: Sequence[Case]) -> Relation:
    """One row: of each case the value of the call, and the value that it should have; of a window function the column."""
    if isinstance(cases[0].relation, Window):
        return _listed(cases[0].relation, cases[0].expected)
    expected = [case.expected for case in cases if isinstance(case.expected, Literal)]
    calls = [case.call for case in cases if case.call is not None]
    columns: list[Expression] = [*calls, *expected]
    tables = [case.relation for case in cases if case.relation is not None]
    source = reduce(Cross, tables) if tables else VirtualTable([()], [], [])
    return Project(source, columns)


def _listed(window: Window, expected: Literal | str) -> Relation:
    """One row: the values of a window function as a list, and the list that they should be."""
    declaration = extensions.resolve("aggregate", "spark", "collect_list_respect_nulls", window.types)
    assert declaration is not None
    assert isinstance(expected, Literal)
    reference = FieldReference(0, window.types[0])
    return Project(Aggregate(window, [], [AggregateFunction(declaration, (reference,))]), [expected])


def _run(cases: Sequence[Case], spark: SparkSession) -> Any:
    relation = _relation(cases)
    plan = build(relation, [f"c{n}" for n in range(len(relation.types))])
    return rows(spark_table(spark_engine.execute(plan, spark)))


def _differences(cases: Sequence[Case], spark: SparkSession) -> list[str]:
    """What differs from the values that the cases state, case by case where all together don't run."""
    if not cases:
        return []
    windows = [case for case in cases if isinstance(case.relation, Window)]
    if windows and len(cases) > 1:
        return [line for case in cases for line in _differences([case], spark)]
    try:
        (row,) = _run(cases, spark)
    except Exception as error:  # noqa: BLE001 - whatever is raised is told of the case
        if len(cases) == 1:
            return [f"{cases[0].text}\n    raises {_told(error)}"]
        half = len(cases) // 2
        return _differences(cases[:half], spark) + _differences(cases[half:], spark)
    pairs = zip(cases, row[: len(cases)], row[len(cases) :], strict=True)
    return [f"{case.text}\n    gives {found!r}" for case, found, wanted in pairs if not _same(found, wanted)]


def _told(error: Exception) -> str:
    if isinstance(error, UnsupportedPlanError):
        return "; ".join(problem.reason for problem in error.problems)
    return str(error).splitlines()[0]


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


def _run_all_the_same(case: Case, spark: SparkSession) -> str:
    """What to say of a case that should be refused, and is not."""
    try:
        _run([case], spark)
    except UnsupportedPlanError:
        return ""
    return f"{case.text}\n    is run, though it is listed as one that is not"
