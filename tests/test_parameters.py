"""Parameters that statements leave open: Spark's own rows for the same values, in both engines."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import slow
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType
from rows import differences, other_session, spark_table
from substrait.algebra_pb2 import DynamicParameter
from substrait.plan_pb2 import Plan

from substrait_spark import (
    EngineError,
    InvalidPlanError,
    SubstraitSparkError,
    UnsupportedPlanError,
    explain,
    lower,
    sql_to_substrait,
)
from substrait_spark.algebra import types
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.plan.parameters import names
from substrait_spark.testing import structural_problems

UTC = dt.timezone.utc

ROWS = """
(1, 'a', 1.0D, DATE'2024-02-29', 1.50, TIMESTAMP'2024-03-10 02:30:00', X'00FF'),
(1, 'a', -0.0D, DATE'1600-01-01', 99999999.99, TIMESTAMP'1969-12-31 23:59:59.999999', X''),
(2, NULL, double('NaN'), NULL, NULL, NULL, NULL), (NULL, '', NULL, DATE'9999-12-31', -1.50, TIMESTAMP'2024-11-03 01:30:00', X'01'),
(2147483647, 'ä%', double('infinity'), DATE'2024-03-01', 0.00, TIMESTAMP'2024-03-10 03:30:00', X'01'), (-2147483648, 'A', 4.0D, NULL, 0.01, NULL, NULL)
"""


@pytest.fixture(params=["ansi", "legacy"])
def session(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    """The session with a view `t`, in each mode."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", str(request.param == "ansi").lower())
    spark.sql(f"CREATE OR REPLACE TEMP VIEW t AS SELECT * FROM VALUES {ROWS} AS t(k, s, v, d, x, ts, b)")
    yield spark
    spark.conf.set("spark.sql.ansi.enabled", str(before))


def by_spark(spark: SparkSession, sql: str, types: Mapping[str, str], values: Mapping[str, Any]) -> pa.Table:
    """Spark's own rows for the values, in the types that are stated: its arguments say their types themselves."""
    typed = re.sub(r":(\w+)", lambda found: f"cast({found[0]} AS {types[found[1]]})", sql)
    return spark_table(spark.sql(typed, args={name: _argument(value) for name, value in values.items()}))


def _argument(value: Any) -> Any:
    """A value as py4j hands it over unchanged: dates and times as texts."""
    return value.isoformat(*[" "] * isinstance(value, dt.datetime)) if isinstance(value, dt.date) else F.lit(value)


QUERIES: dict[str, tuple[str, dict[str, str], list[dict[str, Any]]]] = {
    "comparisons": (
        "SELECT * FROM t WHERE d >= :since AND k = :k",
        {"since": "date", "k": "bigint"},
        [
            {"since": dt.date(1600, 1, 1), "k": 1},
            {"since": dt.date(2024, 3, 1), "k": 2147483647},
            {"since": None, "k": 1},
            {"since": dt.date(1, 1, 1), "k": None},
        ],
    ),
    "disjunction and lists": (
        "SELECT k, s FROM t WHERE s IN ('A', :s, :other) OR k NOT IN (1, :k) OR s <=> :s",
        {"s": "string", "other": "string", "k": "int"},
        [
            {"s": "a", "other": "", "k": 2},
            {"s": None, "other": "ä%", "k": None},
            {"s": "", "other": None, "k": -2147483648},
        ],
    ),
    "values of all types": (
        "SELECT k, :i AS i, :b AS b, :by AS y, :sh AS sh, :f AS f, :v AS v, :x AS x, :s AS s, :d AS d, :ts AS ts, :n AS n, :bin AS bin FROM t",
        {
            "i": "int", "b": "boolean", "by": "tinyint", "sh": "smallint", "f": "float", "v": "double", "x": "decimal(38,10)",
            "s": "string", "d": "date", "ts": "timestamp", "n": "timestamp_ntz", "bin": "binary",
        },
        [
            {
                "i": -(2**31), "b": True, "by": -128, "sh": 32767, "f": 0.1, "v": float("nan"), "x": Decimal("-1.0000000001"), "s": "a'b",
                "d": dt.date(9999, 12, 31), "ts": dt.datetime(2024, 3, 10, 10, 30, tzinfo=UTC), "n": dt.datetime(1, 1, 1, 0, 0, 0, 1),
                "bin": b"\x00\xff",
            },
            {
                "i": 0, "b": False, "by": 127, "sh": -32768, "f": -0.0, "v": -0.0, "x": Decimal(7), "s": "", "d": dt.date(1, 1, 1),
                "ts": dt.datetime(1969, 12, 31, 23, 59, 59, 999999, UTC), "n": dt.datetime(9999, 12, 31, 23, 59, 59, 999999), "bin": b"",
            },
            dict.fromkeys(["i", "b", "by", "sh", "f", "v", "x", "s", "d", "ts", "n", "bin"]),
        ],
    ),
    "arithmetic": (
        "SELECT k + :k AS sum, x * :x AS product, v / :v AS ratio, d + :n AS later, try_divide(k, :k) AS tried, x = :x AS same FROM t WHERE k < 10",
        {"k": "bigint", "x": "decimal(10,2)", "v": "double", "n": "int"},
        [{"k": 5, "x": Decimal("-0.05"), "v": 0.5, "n": -1}, {"k": None, "x": None, "v": None, "n": None}],
    ),
    "texts and times": (
        (
        "SELECT concat(s, :s) AS c, coalesce(s, :s, 'z') AS o, substring(s, :n) AS part, ts > :ts AS after, year(:d) AS y, "
        "CASE WHEN :s IS NULL THEN 'none' ELSE upper(:s) END AS shown FROM t WHERE :s <> s OR s IS NULL OR :s IS NULL"
        ),
        {"s": "string", "n": "int", "ts": "timestamp", "d": "date"},
        [
            {"s": "a", "n": 1, "ts": dt.datetime(2024, 3, 10, 10, 0, tzinfo=UTC), "d": dt.date(1999, 12, 31)},
            {"s": None, "n": None, "ts": None, "d": None},
        ],
    ),
    "groups": (
        (
        "SELECT coalesce(k, :k) + :k AS key, count(*) AS n, sum(v + :v) AS total, max(:s) AS s FROM t WHERE k < 9 OR k IS NULL "
        "GROUP BY coalesce(k, :k) + :k HAVING count(*) >= :least ORDER BY key"
        ),
        {"k": "int", "v": "double", "s": "string", "least": "bigint"},
        [{"k": 1, "v": 1.0, "s": "q", "least": 1}, {"k": None, "v": None, "s": None, "least": 1}],
    ),
    "joins": (
        "SELECT a.k, b.s FROM t a LEFT JOIN (SELECT coalesce(s, :s) AS s, k FROM t WHERE k >= :k) b ON a.k = b.k AND a.v > :v",
        {"s": "string", "k": "int", "v": "double"},
        [{"s": "none", "k": 1, "v": 0.5}, {"s": None, "k": None, "v": None}],
    ),
    "outer joins are kept": (
        "SELECT a.k, b.k AS other FROM t a LEFT JOIN t b ON a.k = b.k AND b.s = 'a' WHERE coalesce(b.s, :s) <> 'q'",
        {"s": "string"},
        [{"s": "z"}, {"s": None}],
    ),
    "subqueries": (
        (
        "WITH c AS (SELECT k AS n, s AS name, v AS w FROM t WHERE k <= :k) "
        "SELECT s, (SELECT max(w) FROM c WHERE w < :v) AS best FROM t "
        "WHERE EXISTS (SELECT 1 FROM c WHERE n = k OR :k IS NULL) OR k IN (SELECT n + :k FROM c WHERE n < 5)"
        ),
        {"k": "int", "v": "double"},
        [{"k": 2, "v": 3.0}, {"k": 1, "v": None}, {"k": None, "v": 3.0}],
    ),
    "windows and lambdas": (
        "SELECT k, row_number() OVER (PARTITION BY s = :s ORDER BY k, v, d) AS n, transform(array(k, :n), e -> e IS NULL OR e > :n) AS l FROM t",
        {"s": "string", "n": "int"},
        [{"s": "a", "n": 1}, {"s": None, "n": None}],
    ),
    "a constant query": ("SELECT :a + 1 AS b, :a IS NULL AS n", {"a": "int"}, [{"a": 1}, {"a": None}]),
}  # fmt: skip


OTHERWISE = ("windows and lambdas",)
"""Plans that are lowered to others of the same rows where they are read: in these, numbers of rows are columns before they are cast."""


@pytest.mark.parametrize("stage", slow.some(["optimized", "analyzed"], lambda stage: stage == "analyzed"))
@pytest.mark.parametrize("name", QUERIES)
def test_rows(session: SparkSession, name: str, stage: str) -> None:
    sql, types, cases = QUERIES[name]
    plan = sql_to_substrait(session, sql, parameters=types, stage=stage)
    lowered = lower(plan, "datafusion")
    direct = sql_to_substrait(session, sql, parameters=types, stage=stage, dialect="datafusion")
    assert lowered == direct or name in OTHERWISE
    seen = 0
    for values in cases:
        expected = by_spark(session, sql, types, values)
        seen += expected.num_rows
        in_spark = spark_engine.execute(plan, other_session(session), parameters=values)
        assert not differences(expected, spark_table(in_spark))
        for made in (lowered, direct):
            assert not differences(expected, datafusion.execute(made, parameters=values))
    assert seen


RAISING: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "overflow": ("SELECT k + :n AS sum FROM t WHERE k > 5", {"n": "int"}, {"n": 1}),
    "division": ("SELECT k div :n AS d FROM t", {"n": "int"}, {"n": 0}),
    "cast": ("SELECT k, cast(:s AS int) AS n FROM t", {"s": "string"}, {"s": "x"}),
}


@pytest.mark.parametrize("name", RAISING)
def test_what_raises(session: SparkSession, name: str) -> None:
    sql, types, values = RAISING[name]
    plan = sql_to_substrait(session, sql, parameters=types)
    lowered = lower(plan, "datafusion")
    if session.conf.get("spark.sql.ansi.enabled") == "false":
        expected = spark_table(session.sql(sql, args=values))
        assert not differences(expected, datafusion.execute(lowered, parameters=values))
        return
    with pytest.raises(EngineError):
        datafusion.execute(lowered, parameters=values)
    with pytest.raises(EngineError):
        spark_table(spark_engine.execute(plan, session, parameters=values))


def test_what_raises_for_no_row(session: SparkSession) -> None:
    sql = "SELECT k, CASE WHEN k > 5 THEN 1 div :n ELSE cast(:s AS int) END AS d FROM t WHERE k IN (1, 2) AND s = 'q' OR k IS NULL AND :n > 3"
    plan = sql_to_substrait(session, sql, parameters={"n": "int", "s": "string"})
    values = {"n": 0, "s": "x"}
    assert spark_table(session.sql(sql, args=values)).num_rows == 0
    assert datafusion.execute(lower(plan, "datafusion"), parameters=values).num_rows == 0
    assert spark_engine.execute(plan, session, parameters=values).count() == 0


def parameters_of(plan: Plan) -> dict[int, str]:
    """The types of the parameters that a plan uses, by number."""
    return {
        each.parameter_reference: str(each.type).split()[0]
        for each in messages(plan)
        if isinstance(each, DynamicParameter)
    }


def test_are_numbered_typed_and_named_in_order(session: SparkSession) -> None:
    types = {"b": "bigint not null", "unused": "string", "a": LongType()}
    plan = sql_to_substrait(session, "SELECT :a AS a, :b AS b", parameters=types)
    assert parameters_of(plan) == {1: "i64", 3: "i64"}
    assert names(plan) == {1: "b", 2: "unused", 3: "a"}
    assert not plan.parameter_bindings
    assert "project" in str(plan)
    assert "?3::i64?" in explain(plan)
    assert "?1::i64," in explain(plan) or "?1::i64]" in explain(plan)
    assert sql_to_substrait(session, "SELECT :a AS a, :b AS b", parameters=types) == plan


def test_values_are_bound_in_the_plan(session: SparkSession) -> None:
    sql = "SELECT k, x > :x AS more, :s AS s FROM t WHERE d < :d AND k <= :k"
    values = {"d": dt.date(2024, 3, 1), "k": 2, "x": Decimal("1.49"), "s": F.lit("tea")}
    plan = sql_to_substrait(session, sql, parameters=values)
    assert [each.parameter_anchor for each in plan.parameter_bindings] == [1, 2, 3, 4]
    expected = spark_table(session.sql(sql, args=values))
    assert expected.num_rows
    lowered = lower(plan, "datafusion")
    assert lowered.parameter_bindings == plan.parameter_bindings
    assert not differences(expected, datafusion.execute(lowered))
    assert not differences(expected, spark_table(spark_engine.execute(plan, session)))
    aliased = sql_to_substrait(session, sql, parameters=values, type_aliases=True)
    assert aliased.type_aliases, "vacuous: no type occurs twice"
    assert lower(aliased, "datafusion") == lowered
    others = {"k": 0, "s": "rye"}
    again = spark_table(session.sql(sql, args={**values, **others}))
    assert not differences(again, datafusion.execute(lowered, parameters=others))
    with pytest.raises(InvalidPlanError, match="The parameter k \\(i32\\) can't be bound: it may not be null"):
        datafusion.execute(lowered, parameters={"k": None})


NESTED: tuple[tuple[str, Any, str], ...] = (
    ("array<int>", [1, None, -(2**31)], "array(1, NULL, -2147483648)"),
    ("array<int>", [], "array()"),
    ("array<int>", None, "NULL"),
    ("array<array<string>>", [["a", None], [], None], "array(array('a', NULL), array(), NULL)"),
    ("map<string, double>", {"a": 0.5, "": None}, "map('a', 0.5D, '', NULL)"),
    ("map<string, double>", {}, "map()"),
    ("struct<a: date, b: array<decimal(5,2)>>", (dt.date(2024, 1, 1), [Decimal("1.5")]), "named_struct('a', DATE'2024-01-01', 'b', array(1.5BD))"),
    ("struct<a: int, b: string>", Row(a=None, b="x"), "named_struct('a', NULL, 'b', 'x')"),
)  # fmt: skip
"""Types, values of them, and the same in SQL."""


@pytest.mark.parametrize(("type", "value", "text"), NESTED)
def test_nested_values(session: SparkSession, type: str, value: Any, text: str) -> None:
    plan = sql_to_substrait(session, "SELECT k, :p AS p, :p IS NULL AS n FROM t", parameters={"p": type})
    written = f"CAST({text} AS {type})"
    expected = spark_table(session.sql(f"SELECT k, {written} AS p, {written} IS NULL AS n FROM t"))
    assert expected.num_rows
    in_spark = spark_engine.execute(plan, other_session(session), parameters={"p": value})
    assert not differences(expected, spark_table(in_spark))
    if type.startswith("struct"):
        with pytest.raises(UnsupportedPlanError, match="have no literals in DataFusion"):
            lower(plan, "datafusion")
    else:
        assert not differences(expected, datafusion.execute(lower(plan, "datafusion"), parameters={"p": value}))


def test_lists_and_maps_in_functions(session: SparkSession) -> None:
    sql = "SELECT k, array_contains(:l, k) AS c, exists(:l, e -> e > k) AS m, :m[s] AS v FROM t"
    plan = sql_to_substrait(session, sql, parameters={"l": "array<int>", "m": "map<string, int>"})
    written = sql.replace(":l", "array(1, 2, NULL)").replace(":m[s]", "map('a', 5, '', NULL)[s]")
    values = {"l": [1, 2, None], "m": {"a": 5, "": None}}
    expected = spark_table(session.sql(written))
    assert expected.num_rows
    assert not differences(expected, spark_table(spark_engine.execute(plan, other_session(session), parameters=values)))
    assert not differences(expected, datafusion.execute(lower(plan, "datafusion"), parameters=values))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({}, "The parameter k \\(i64\\?\\) has no value: give it as parameters={'k': …}"),
    "unknown": ({"k": 1, "d": None, "q": 2}, "The plan has no parameter 'q': it has k, d"),
    "text": ({"k": "1", "d": None}, "The parameter k \\(i64\\?\\) can't be bound: '1' \\(str\\) is no i64"),
    "large": ({"k": 2**63, "d": None}, "is no i64"),
    "boolean": ({"k": True, "d": None}, "is no i64"),
    "a time": ({"k": 1, "d": dt.datetime(2024, 1, 1)}, "is no date\\?: give a datetime.date"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_values_are_told(session: SparkSession, name: str) -> None:
    values, reason = WRONG[name]
    plan = sql_to_substrait(session, "SELECT :k + k AS k FROM t WHERE d > :d", parameters={"k": "bigint", "d": "date"})
    with pytest.raises(InvalidPlanError, match=reason):
        spark_engine.execute(plan, session, parameters=values)
    with pytest.raises(InvalidPlanError, match=reason):
        datafusion.execute(lower(plan, "datafusion"), parameters=values)


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("decimal(4,2)", Decimal(100)),
        ("decimal(4,2)", Decimal("0.001")),
        ("decimal(4,2)", Decimal("1e999999")),
        ("decimal(4,2)", Decimal("NaN")),
        ("timestamp", dt.datetime(2024, 1, 1)),
        ("timestamp_ntz", dt.datetime(2024, 1, 1, tzinfo=UTC)),
        ("binary", "text"),
        ("string", b"bytes"),
        ("boolean", 1),
        ("tinyint", 128),
        ("array<string>", [1]),
        ("array<int>", {1}),
        ("map<string, int>", {None: 1}),
        ("map<string, int>", [("a", 1)]),
        ("struct<a: int>", (1, 2)),
        ("double", 10**400),
    ],
)
def test_values_that_a_type_lacks(session: SparkSession, type: str, value: Any) -> None:
    plan = sql_to_substrait(session, "SELECT :p AS p", parameters={"p": type})
    with pytest.raises(InvalidPlanError, match="can't be bound"):
        spark_engine.execute(plan, session, parameters={"p": value})


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "no type": ("SELECT :k AS k, :z AS z", {"k": "int"}, "nothing says the type of :z"),
    "positions": ("SELECT ? AS k", {}, "it has parameters without names"),
    "a limit": ("SELECT * FROM t LIMIT :n", {"n": "int"}, "Spark itself can't plan it with :n open: .*LIMIT"),
    "a table": ("SELECT * FROM identifier(:name)", {"name": "string"}, "can't plan it with :name open"),
    "a place": ("SELECT k FROM t ORDER BY :n", {"n": "int"}, "Spark takes :n in ORDER BY or GROUP BY for the place of a column"),
    "a place below": ("SELECT * FROM (SELECT s, max(k) FROM t GROUP BY ROLLUP(:n)) LIMIT 1", {"n": 1}, "Spark takes :n in"),
    "a place in a subquery": ("SELECT (WITH c AS (SELECT k FROM t GROUP BY :n) SELECT max(k) FROM c)", {"n": 1}, "Spark takes :n in"),
    "a pivot": ("SELECT * FROM t PIVOT (sum(k) FOR s IN (:s))", {"s": "string"}, "can't plan it with :s open"),
    "a frame": ("SELECT sum(k) OVER (ORDER BY k ROWS :n PRECEDING) FROM t", {"n": "int"}, "can't plan it with :n open"),
    "a schema": ("SELECT from_json(s, :schema) AS j FROM t", {"schema": "string"}, "with :schema open"),
    "no statement": ("SELEC 1", {"n": "int"}, "Spark itself can't plan it: "),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(session: SparkSession, name: str) -> None:
    sql, types, reason = REFUSED[name]
    with pytest.raises(UnsupportedPlanError, match=reason):
        sql_to_substrait(session, sql, parameters=types)


def test_what_an_engine_must_know_is_refused_by_name(session: SparkSession) -> None:
    sql, types = "SELECT s, date_format(ts, :form) AS shown FROM t", {"form": "string"}
    plan = sql_to_substrait(session, sql, parameters=types)
    for form in ("yyyy-MM", None):
        expected = by_spark(session, sql, types, {"form": form})
        actual = spark_engine.execute(plan, other_session(session), parameters={"form": form})
        assert not differences(expected, spark_table(actual))
    with pytest.raises(UnsupportedPlanError, match=r"date_format.*needs a literal here"):
        lower(plan, "datafusion")


def test_units_of_time(session: SparkSession) -> None:
    sql, types = "SELECT s, date_trunc(:unit, ts) AS cut FROM t", {"unit": "string"}
    plan = sql_to_substrait(session, sql, parameters=types)
    lowered = lower(plan, "datafusion")
    for unit in ("month", "WEEK", None, "fortnight"):
        expected = by_spark(session, sql, types, {"unit": unit})
        in_spark = spark_engine.execute(plan, other_session(session), parameters={"unit": unit})
        assert not differences(expected, spark_table(in_spark))
        assert not differences(expected, datafusion.execute(lowered, parameters={"unit": unit}))


@pytest.mark.parametrize("type", ["interval day to second", "struct<a: int>"])
def test_types_without_literals_in_datafusion(session: SparkSession, type: str) -> None:
    plan = sql_to_substrait(session, "SELECT k, :p IS NULL AS missing FROM t", parameters={"p": type})
    with pytest.raises(UnsupportedPlanError, match="have no literals in DataFusion"):
        lower(plan, "datafusion")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("tea", r"its text is no type of Spark's; where it is a value, give it as pyspark.sql.functions.lit\(…\) \("),
        (None, "None says no type"),
        (object(), "Spark has no literal for a value of object"),
        (F.col, "Spark has no literal"),
    ],
)
def test_neither_type_nor_value(session: SparkSession, given: Any, reason: str) -> None:
    with pytest.raises(SubstraitSparkError, match=reason):
        sql_to_substrait(session, "SELECT 1 AS a", parameters={"p": given})


def test_partitions_are_all_listed(session: SparkSession, tmp_path: Any) -> None:
    path = str(tmp_path / "parted")
    session.sql("SELECT k, s, coalesce(k, 0) % 3 AS p FROM t").write.partitionBy("p").parquet(path)
    sql = f"SELECT k, s, p FROM parquet.`{path}` WHERE p = :p AND k <> :k"
    for version_one in ("parquet", ""):
        session.conf.set("spark.sql.sources.useV1SourceList", version_one)
        plan = sql_to_substrait(session, sql, parameters={"p": "int", "k": "int"})
        values = {"p": 2, "k": 5}
        expected = spark_table(session.sql(sql, args=values))
        assert expected.num_rows
        assert not differences(expected, spark_table(spark_engine.execute(plan, session, parameters=values)))
        assert not differences(expected, datafusion.execute(lower(plan, "datafusion"), parameters=values))
    session.conf.unset("spark.sql.sources.useV1SourceList")


def test_one_type_each_is_a_structural_rule(session: SparkSession) -> None:
    plan = sql_to_substrait(session, "SELECT :a AS a, :a + 1 AS b", parameters={"a": 7})
    assert not structural_problems(plan)
    plan.parameter_bindings.add(parameter_anchor=1).value.string = "seven"
    assert structural_problems(plan) == [
        "the parameter 1 is bound twice",
        "the parameter 1 is i32, and bound to string",
    ]
    *_, last = (each for each in messages(plan) if isinstance(each, DynamicParameter))
    last.type.CopyFrom(types.message(types.I64))
    assert any(f"the parameter 1 is {types.I64}, and i32 elsewhere" in problem for problem in structural_problems(plan))
