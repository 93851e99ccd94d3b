"""The engine that runs canonical plans in Spark: what the specification's own cases say, and what it is asked not to do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import specification_cases as specification
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from releases import later
from rows import canonical_rows, differences, other_session, plan_of, spark_table
from specification_cases import ERROR, Case

from substrait_spark.algebra import types
from substrait_spark.algebra.builder import CallBuilder, Traits
from substrait_spark.algebra.expression import AggregateFunction, Expression, FieldReference, Literal, ScalarFunction
from substrait_spark.algebra.relation import (
    ALL_ROWS,
    Aggregate,
    Cross,
    Fetch,
    Filter,
    NamedTable,
    Project,
    Relation,
    VirtualTable,
    Window,
)
from substrait_spark.engines import spark as spark_engine
from substrait_spark.engines.comparison.rows import Float, rows
from substrait_spark.engines.spark.functions import RULES
from substrait_spark.errors import UnsupportedPlanError
from substrait_spark.extensions import registry
from substrait_spark.extensions.registry import Declaration
from substrait_spark.plan.message import build

pytestmark = pytest.mark.filterwarnings("ignore")

# ---- what it does with a session


@pytest.fixture
def numbers(spark: SparkSession) -> DataFrame:
    rows = [(1, "one", 0.5), (2147483647, "most", math.nan), (None, None, None)]
    return spark.createDataFrame(rows, "n int, s string, d double")


def test_it_starts_no_job_and_leaves_nothing(spark: SparkSession, numbers: DataFrame) -> None:
    plan = plan_of(numbers.groupBy("s").agg(F.count("n")).where("s LIKE 'o%'"))
    before, jobs = _traces(spark), _jobs(spark)
    df = spark_engine.execute(plan, spark)
    assert _jobs(spark) == jobs
    assert _traces(spark) == before
    assert df.sparkSession is spark
    assert [tuple(row) for row in df.withColumn("more", F.lit(1)).collect()] == [("one", 1, 1)]


def test_it_lists_many_files_without_a_job(spark: SparkSession, tmp_path: Path) -> None:
    """More than Spark lists by itself: that would be a job."""
    spark.range(0, 40, 1, 40).write.parquet(str(tmp_path / "t"))
    plan = plan_of(spark.read.parquet(str(tmp_path / "t")))
    assert len(plan.relations[0].root.input.read.local_files.items) > 32
    jobs = _jobs(spark)
    found = spark_engine.execute(plan, spark)
    assert _jobs(spark) == jobs
    assert _collected(found) == {(n,) for n in range(40)}


def _traces(spark: SparkSession) -> tuple[object, ...]:
    settings = sorted((row.key, row.value) for row in spark.sql("SET").collect())
    return settings, spark.catalog.listTables()


def _jobs(spark: SparkSession) -> int:
    return int(spark.sparkContext._jsc.sc().dagScheduler().nextJobId())


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_modes_side_by_side_whatever_the_session_says(spark: SparkSession, numbers: DataFrame, ansi: str) -> None:
    """One column is null where it overflows, one wraps around, and one raises."""
    lenient = plan_of(numbers.selectExpr("try_add(n, 1) AS t", "try_cast(s AS int) AS c"))
    strict = plan_of(numbers.selectExpr("try_add(n, 1) AS t", "n + 1 AS a"))
    other = spark.newSession()
    other.conf.set("spark.sql.ansi.enabled", ansi)
    assert _collected(spark_engine.execute(lenient, other)) == {(2, None), (None, None)}
    df = spark_engine.execute(strict, other)
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        df.collect()


def test_the_time_zone_is_the_plans(spark: SparkSession) -> None:
    df = spark.sql("SELECT CAST(TIMESTAMP'2024-07-01 12:00:00' + make_dt_interval(0, id) AS STRING) AS t FROM range(2)")
    assert not differences(spark_table(df), canonical_rows(df))


def test_several_threads(spark: SparkSession, numbers: DataFrame) -> None:
    plans = [plan_of(numbers.selectExpr(f"n - {index} AS n")) for index in range(8)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda plan: spark_engine.execute(plan, spark).collect(), plans))
    assert [rows[0].n for rows in found] == [1 - index for index in range(8)]


def test_tables(spark: SparkSession, numbers: DataFrame) -> None:
    """A table that the session doesn't know is given; what is no table of these columns is refused."""
    schema = [types.of("i32"), types.of("string")]
    plan = build(Filter(NamedTable(["db", "t"], ["n", "s"], schema), Literal(True, types.BOOLEAN)), ["number", "text"])
    for name in ("t", "db.t"):
        found = spark_engine.execute(plan, spark, tables={name: numbers})
        assert found.columns == ["number", "text"]
        assert found.count() == 3
    with pytest.raises(TypeError, match="must be a PySpark DataFrame, not list"):
        spark_engine.execute(plan, spark, tables={"t": [1]})  # type: ignore[dict-item]
    with pytest.raises(UnsupportedPlanError, match="the column s of the table db\\.t is double"):
        spark_engine.execute(plan, spark, tables={"t": numbers.selectExpr("n", "d AS s")})
    with pytest.raises(UnsupportedPlanError, match="there is no table db\\.t"):
        spark_engine.execute(plan, spark)


def test_a_table_read_twice(spark: SparkSession, numbers: DataFrame) -> None:
    """Columns of the two are not confused."""
    table = NamedTable(["t"], ["n", "s", "d"], [types.of("i32"), types.of("string"), types.of("fp64")])
    plan = build(Cross(table, table).select([0, 4]), ["n", "s"])
    found = spark_engine.execute(plan, spark, tables={"t": numbers.where("n = 1 OR n IS NULL")})
    assert _collected(found) == {(1, None), (1, "one"), (None, None), (None, "one")}


def _collected(df: DataFrame) -> set[tuple[Any, ...]]:
    return {tuple(row) for row in df.collect()}


def test_a_count_that_no_rows_reach_takes_all(spark: SparkSession) -> None:
    rows = VirtualTable([(Literal(n, types.I64),) for n in range(3)], ["n"], [types.I64])
    for count, expected in ((ALL_ROWS, [1, 2]), (1, [1]), (None, [1, 2])):
        plan = build(Fetch(rows, 1, count), ["n"])
        assert [row.n for row in spark_engine.execute(plan, spark).collect()] == expected


def test_every_obstacle_is_told(spark: SparkSession) -> None:
    argument = Literal(1, types.I32)
    unknown = Declaration("x", "extension:org.example:f", "f", "i32", types.of("i32"))
    other = Declaration("x", "extension:org.example:f", "g", "i32", types.of("i32"))
    calls = [ScalarFunction(declaration, (argument,)) for declaration in (unknown, other)]
    plan = build(Project(VirtualTable([()], [], []), calls), ["a", "b"])
    with pytest.raises(UnsupportedPlanError) as refused:
        spark_engine.execute(plan, spark)
    assert [problem.catalyst_class for problem in refused.value.problems] == ["f:i32", "g:i32"]
    assert {problem.path for problem in refused.value.problems} == {"Project"}


OWN_NOT_RUN = {
    "spark:json_tuple": "Spark has it as a generator only",
    "spark:split_truncating": "a setting that Spark reads as it runs makes split this one",
}
"""Functions of ours that are refused, and why."""


def test_every_function_of_ours_is_run_or_refused_by_name() -> None:
    ours = {
        f"{alias}:{function['name']}"
        for alias, kind in itertools.product(registry.OWN, registry.KINDS.values())
        for function in registry.load(alias).get(kind) or ()
    }
    run = {name for name in RULES if name.partition(":")[0] in registry.OWN}
    assert run == ours - OWN_NOT_RUN.keys()


# ---- functions that the specification has no cases for

e = CallBuilder(Traits())


def text(value: str) -> Literal:
    return Literal(value, types.STRING)


def i64(value: int) -> Literal:
    return Literal(value, types.I64)


MOMENT = Literal(1_072_915_445_000_000, types.of("precision_timestamp", 6, nullable=False))  # 2004-01-01 00:04:05

CALLS: list[tuple[Expression, Any]] = [
    (e.call("string:count_substring", text("aaaa"), text("aa")), 2),
    (e.call("string:replace_slice", text("hello"), i64(2), i64(3), text("_")), "h_o"),
    (e.call("string:replace_slice", text("hello"), i64(2), i64(0), text("_")), "h_ello"),
    (e.call("string:replace_slice", text("hello"), i64(6), i64(1), text("_")), None),
    (e.call("string:replace_slice", text("hello"), i64(2), i64(-1), text("_")), None),
    (e.call("string:replace_slice", text("hello"), i64(4), i64(2**40), text("_")), "hel_"),
    (e.call("string:capitalize", text("éa B")), "Éa B"),
    (e.call("string:swapcase", text("éA1 b")), "Éa1 B"),
    (e.call("string:center", text("ab"), e.i32(5), text("*"), padding="RIGHT"), "*ab**"),
    (e.call("string:center", text("ab"), e.i32(5), text("*"), padding="LEFT"), "**ab*"),
    (e.call("string:center", text("abc"), e.i32(2), text("*")), "abc"),
    (
        e.call("datetime:strftime", MOMENT, text("%F %T %y %e %j %I %p %b %A 100%%")),
        "2004-01-01 00:04:05 04  1 001 12 AM Jan Thursday 100%",
    ),
    (e.call("datetime:strftime", Literal(None, MOMENT.type), text("x")), None),
    (e.call("string:regexp_strpos", text("🦊ab"), text("b"), i64(1), i64(1)), 3),
    (e.call("string:regexp_strpos", text("abc"), text("x"), i64(1), i64(1)), 0),
    (e.call("string:regexp_match_substring", text("abc"), text("x")), None),
    (e.call("string:regexp_match_substring", text("x\u0663"), text(r"\d")), "\u0663"),
    (e.call("string:regexp_match_substring", text("a\x0bb"), text("a.")), None),
    (e.call("string:regexp_match_substring", text("a\x0bb"), text("a.b"), dotall="DOTALL_ENABLED"), "a\x0bb"),
    (e.call("string:regexp_match_substring", text("ab\r\n"), text("b$")), "b"),
    (e.call("string:regexp_match_substring", text("AB"), text("b"), case_sensitivity="CASE_INSENSITIVE_ASCII"), "B"),
    (e.call("string:regexp_replace", text("a1"), text("(a)"), text(r"\1$0")), "a$01"),
]
"""Calls and what they give."""


def test_functions_without_cases(spark: SparkSession) -> None:
    calls = [call for call, _ in CALLS]
    plan = build(Project(VirtualTable([()], [], []), calls), [f"c{n}" for n in range(len(calls))])
    (row,) = spark_engine.execute(plan, other_session(spark)).collect()
    assert list(row) == [value for _, value in CALLS]


@pytest.mark.parametrize(
    "pattern", [r"\bx", "[a[b]]", "[a&&b]", r"\h", "a{", r"\p{Latin}", "(?i)a", r"\Qa\E", "[", "(?#x)"]
)
def test_patterns_that_may_be_read_differently(spark: SparkSession, pattern: str) -> None:
    call = e.call("string:regexp_count_substring", text("x"), text(pattern))
    with pytest.raises(UnsupportedPlanError, match="ICU and Java may read"):
        spark_engine.execute(build(Project(VirtualTable([()], [], []), [call]), ["n"]), spark)


def test_product(spark: SparkSession) -> None:
    numbers = VirtualTable([(Literal(value, types.FP64),) for value in (2.0, 3.5)], ["x"], [types.FP64])
    measure = e.aggregate("arithmetic:product", FieldReference(0, types.FP64))
    for rows_, wanted in ((numbers, 7.0), (Filter(numbers, Literal(False, types.BOOLEAN)), 1.0)):
        plan = build(Aggregate(rows_, [], [measure]), ["p"])
        assert _collected(spark_engine.execute(plan, spark)) == {(wanted,)}


# ---- the specification's own cases

NOT_RUN = {
    "bitwise_and:decimal": "Spark has no such function of decimals",
    "bitwise_or:decimal": "Spark has no such function of decimals",
    "bitwise_xor:decimal": "Spark has no such function of decimals",
    "power:i64": "Spark's power is one of doubles",
}
"""Functions that are refused, maybe for a kind of type only, and why."""

FIRST_ONLY = "without an occurrence, or with 0, all are replaced, and not only the first"

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
    **dict.fromkeys(
        (
            "('abcabcabc'::str, '[bc]'::str, 'dd'",
            "('a bcdef'::str, '\\S'::str, ','",
            "(' abcdef'::str, '\\w'::str, '1'",
        ),
        FIRST_ONLY,
    ),
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


LOSING_DIGITS = ("arithmetic/acosh", "arithmetic/asinh")
"""Functions that lose digits before Spark 4.2, where their plans are refused."""


@pytest.mark.parametrize(
    "file",
    [
        later("4.2", file) if file in LOSING_DIGITS else file
        for file in specification.files()
        if not file.startswith("arithmetic_unsigned/")
    ],
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
    declaration = registry.resolve("aggregate", "spark", "collect_list_respect_nulls", window.types)
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
