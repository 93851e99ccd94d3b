"""`compare` tells how a plan's rows differ from the query's: a plan that was changed is told with its rows."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from substrait.plan_pb2 import Plan

from substrait_spark import UnsupportedPlanError, UnsupportedSessionError, df_to_substrait
from substrait_spark.catalyst.query_order import Ordering
from substrait_spark.engines import Comparison, compare
from substrait_spark.engines.comparison.pairing import MOST_IN_A_CHAIN, close, unpaired
from substrait_spark.engines.comparison.rows import rows
from substrait_spark.engines.comparison.tables import compared
from substrait_spark.engines.result import without_columns
from substrait_spark.errors import EngineError, InvalidPlanError, PlanningError, SubstraitSparkError


@pytest.fixture
def query(spark: SparkSession) -> DataFrame:
    return spark.range(6).selectExpr("id", "id % 2 AS odd", "id / 3 AS third")


def lowered(df: DataFrame) -> Plan:
    return df_to_substrait(df, dialect="datafusion")


def told(df: DataFrame, other: DataFrame) -> list[str]:
    """What is told of a DataFrame and another one's plan."""
    found = compare(df, lowered(other))
    assert not found
    return str(found).splitlines()


# ---- the same


@pytest.mark.smoke
@pytest.mark.parametrize("engine", ["datafusion", "spark"])
def test_the_own_plan_has_the_same_rows(query: DataFrame, engine: str) -> None:
    found = compare(query.orderBy("odd"), engine=engine)
    assert found
    name = {"datafusion": "DataFusion", "spark": "the plan in Spark"}[engine]
    assert repr(found) == f"Spark and {name} have the same 6 rows, in the order of odd."
    assert (found.spark_rows, found.engine_rows, found.only_in_spark) == (6, 6, None)
    assert str(compare(query.where("id > 9"), engine=engine)).startswith(f"Neither Spark nor {name} has a row")


@pytest.mark.parametrize("engine", ["datafusion", "spark"])
def test_null_structs_of_fields_that_are_never_null(spark: SparkSession, engine: str) -> None:
    row = "IF(id = 1, NULL, named_struct('n', 1, 's', CAST(id AS STRING)))"
    df = spark.range(3).selectExpr(
        f"array({row}, NULL) AS l", f"map(1, {row}) AS m", f"array(array({row}), NULL) AS ll"
    )
    assert compare(df, engine=engine)


def test_intervals_in_spark(spark: SparkSession) -> None:
    df = spark.sql(
        "SELECT CASE WHEN id > 0 THEN INTERVAL '1-3' YEAR TO MONTH END AS m, INTERVAL '3' DAY AS d FROM range(2)"
    )
    assert compare(df, engine="spark")
    other = df.selectExpr("m", "-d AS d")
    assert "- (m: NULL, d: 3 days, 0:00:00)" in str(compare(df, df_to_substrait(other), engine="spark"))


def test_catalog_tables(spark: SparkSession) -> None:
    """They are read from their files, or are those that are given."""
    spark.range(3).write.mode("overwrite").saveAsTable("compared_ids")
    try:
        df = spark.table("compared_ids")
        assert compare(df)
        assert compare(df, engine="spark")
        given = {"compared_ids": pa.table({"id": [0, 1, 7]})}
        assert "+ (id: 7)" in str(compare(df, tables=given))
        found = compare(df, lowered(df))
        assert isinstance(found.engine_error, InvalidPlanError)
        assert "There is no table 'spark_catalog.default.compared_ids'" in str(found)
    finally:
        spark.sql("DROP TABLE compared_ids")


# ---- plans that were changed


@pytest.mark.smoke
def test_another_limit(query: DataFrame) -> None:
    assert told(query.orderBy("id").limit(3), query.orderBy("id").limit(4)) == [
        "Spark (-) and DataFusion (+) differ: 3 rows and 4 rows.",
        "Rows of one side alone: -0 and +1.",
        "+ (id: 3, odd: 1, third: 1.0)",
    ]


def test_another_literal(query: DataFrame) -> None:
    assert told(query.where("id < 2"), query.where("id < 2").selectExpr("id", "odd", "id / 3 + 1 AS third")) == [
        "Spark (-) and DataFusion (+) differ: each has 2 rows.",
        "Rows of one side alone: -2 and +2, which differ in third.",
        "- (id: 0, odd: 0, third: 0.0)",
        "- (id: 1, odd: 1, third: 0.3333333333333333)",
        "+ (id: 0, odd: 0, third: 1.0)",
        "+ (id: 1, odd: 1, third: 1.3333333333333333)",
    ]


def test_another_order(query: DataFrame) -> None:
    assert told(query.orderBy("odd", "id"), query.orderBy("id")) == [
        "Spark (-) and DataFusion (+) differ: each has 6 rows.",
        "The same rows in another order than that of odd, id: first, row 2 is",
        "- (odd: 0, id: 2)",
        "+ (odd: 1, id: 1)",
    ]
    assert compare(query, lowered(query.orderBy("third")))
    assert compare(query.orderBy("odd"), lowered(query.orderBy("odd", "third"))), "these tie"
    assert compare(query.sortWithinPartitions("odd"), lowered(query.orderBy("id"))), (
        "each partition has an order, and all have none"
    )


def test_other_columns(query: DataFrame) -> None:
    assert told(query, query.selectExpr("id", "odd AS even", "cast(third AS string) AS third"))[1:7] == [
        "Column 2 differs:",
        "- odd: int64",
        "+ even: int64",
        "Column 3 differs:",
        "- third: double",
        "+ third: string",
    ]
    same_values = told(query.select("id"), query.selectExpr("cast(id AS int) AS id"))
    assert same_values[1:] == ["Column 1 differs:", "- id: int64", "+ id: int32"]
    fewer = told(query.limit(1), query.limit(1).select("id", "odd"))
    assert fewer[1:3] == ["Column 3 differs:", "- third: double"]
    assert fewer[-2:] == ["- (id: 0, odd: 0, third: 0.0)", "+ (id: 0, odd: 0)"]


def test_one_row_more(query: DataFrame) -> None:
    """A row counts as often as it occurs; all differing rows are there, as Arrow."""
    df = query.select("odd")
    found = compare(df, lowered(df.unionAll(query.where("id = 3").select("odd"))))
    assert not found
    assert found.only_in_spark is None
    assert found.only_in_engine is not None
    assert found.only_in_engine.to_pydict() == {"odd": [1]}
    many = compare(query, lowered(query.where("id > 9")))
    assert str(many).endswith("\n- … and 1 more")
    assert many.only_in_spark is not None
    assert many.only_in_spark.num_rows == 6


def test_a_limit_whose_order_no_column_tells(query: DataFrame) -> None:
    df = query.orderBy("odd").select("id").limit(3)
    assert told(df, query.where("odd = 1").select("id"))[-1].startswith("The query takes some of its rows by an order")


# ---- errors


def test_errors_are_differences(spark: SparkSession, query: DataFrame) -> None:
    raising = query.selectExpr("cast(raise_error(concat('by the query ', id)) AS bigint) AS id")
    plan = lowered(query.selectExpr("cast(raise_error(concat('by the plan ', id)) AS bigint) AS id"))
    alone = compare(query.select("id"), plan)
    assert isinstance(alone.engine_error, EngineError)
    assert str(alone).startswith("Spark has 6 rows, and DataFusion raises.\n+ DataFusion failed: ")
    assert "by the plan" in str(alone)
    in_spark = compare(raising, lowered(query.select("id")))
    assert str(in_spark).startswith("Spark raises, and DataFusion has 6 rows.\n- Spark failed: ")
    assert "by the query" in str(in_spark)
    both = compare(raising, plan)
    assert str(both).startswith("Spark and DataFusion both raise: there are no rows to compare.\n- Spark failed")
    assert not any((alone, in_spark, both)), "no rows were compared"


def test_plans_that_an_engine_does_not_take(query: DataFrame) -> None:
    canonical = df_to_substrait(query.selectExpr("format_number(id, 2) AS id"))
    found = compare(query, canonical)
    assert isinstance(found.engine_error, PlanningError)
    assert "format_number" in str(found)


def test_what_cannot_be_compared(query: DataFrame) -> None:
    with pytest.raises(UnsupportedPlanError, match="SparkPartitionID"):
        compare(query.selectExpr("spark_partition_id()"))
    with pytest.raises(
        ValueError,
        match="engine must be 'acero' or 'datafusion' or 'datafusion-plain' or 'datafusion-with-catalyst' or 'isthmus' or 'isthmus-postgresql' or 'spark', not 'duckdb'",
    ):
        compare(query, engine="duckdb")
    for tolerance in (-0.1, 1.0, math.nan):
        with pytest.raises(ValueError, match="tolerance must be from 0 to below 1"):
            compare(query, tolerance=tolerance)

    class Remote:
        pass

    Remote.__module__ = "pyspark.sql.connect.dataframe"
    with pytest.raises(UnsupportedSessionError, match="Compare it in a classic session"):
        compare(Remote())  # type: ignore[arg-type]


# ---- floats


def floats(*rows: tuple[Any, ...]) -> pa.Table:
    return pa.table({f"x{n}": pa.array(column, pa.float64()) for n, column in enumerate(zip(*rows, strict=True))})


@pytest.mark.parametrize(
    "call",
    [
        "array(make_ym_interval(1, int(id)))",
        "CAST(X'FF' AS STRING)",
        "concat(CAST(id AS STRING), CAST(X'C0' AS STRING))",
    ],
)
def test_what_spark_cannot_hand_over(spark: SparkSession, call: str) -> None:
    df = spark.range(2).selectExpr(f"{call} AS c")
    with pytest.raises(SubstraitSparkError, match="Spark can't hand over these rows as Arrow"):
        compare(df, df_to_substrait(spark.range(2).select("id")), engine="spark")


def test_floats(spark: SparkSession) -> None:
    """By default within a billionth, so that zero's sign is no difference; without tolerance, each bit counts."""
    df = spark.sql("SELECT -0.0D AS x, double('NaN') AS n, array(0.3D) AS l")
    plan = lowered(spark.sql("SELECT 0.0D AS x, double('NaN') AS n, array(0.1D + 0.2D) AS l"))
    assert compare(df, plan)
    exact = compare(df, plan, tolerance=0)
    assert exact.differing == ("x", "l")
    assert "- (x: -0.0, n: nan, l: [0.3])" in str(exact)
    assert not compare(df, lowered(spark.sql("SELECT 0.0D AS x, double('NaN') AS n, array(0.31D) AS l")))


def test_rows_of_several_floats_pair_in_any_order() -> None:
    """The order by the first float isn't that of the second, once last digits differ."""
    a, b = 1.0, 1.0 + 1e-12
    left, right = floats((a, 5.0), (b, 3.0), (a, 9.0)), floats((b, 5.0), (a, 3.0), (b, 9.0))
    assert compared(left, right, tolerance=1e-9)
    assert not compared(left, right, tolerance=1e-14)
    found = compared(left, floats((b, 5.0), (a, 3.0), (b, 9.1)), tolerance=1e-9)
    assert (found.only_in_spark, found.only_in_engine) == (left.slice(2), floats((b, 9.1)))


def test_a_chain_of_near_floats() -> None:
    """An equal partner is left to another row where that makes room, and none is had twice."""
    left, right = floats((1.0,), (1.09,)), floats((1.0,), (0.91,))
    assert compared(left, right, tolerance=0.1)
    assert not compared(left, floats((1.0,), (0.8,)), tolerance=0.1)
    assert compared(floats((1.0,), (1.0,), (1.0,)), floats((1.0,), (1.05,)), tolerance=0.1).only_in_spark is not None


def test_special_floats_are_near_nothing_else() -> None:
    for a, b in itertools.permutations((math.nan, math.inf, -math.inf, 0.0, 1.0, None), 2):
        assert not compared(floats((a,)), floats((b,)), tolerance=0.5), (a, b)
        assert compared(floats((a,), (b,)), floats((b,), (a,)), tolerance=0.5)


def test_floats_in_maps_structs_and_lists() -> None:
    type = pa.struct([("m", pa.map_(pa.string(), pa.float32())), ("l", pa.list_(pa.float64()))])

    def nested(*values: float) -> pa.Table:
        return pa.table({"s": pa.array([{"m": [("a", 1.5), ("b", None)], "l": list(values)}, None], type)})

    assert compared(nested(0.3, math.nan), nested(0.1 + 0.2, math.nan), tolerance=1e-9)
    found = compared(nested(0.3), nested(0.4), tolerance=1e-9)
    assert "- (s: {m: {'a': 1.5, 'b': NULL}, l: [0.3]})" in str(found)


@pytest.mark.parametrize("seed", range(30))
def test_as_many_pairs_as_can_be(seed: int) -> None:
    """Against all ways to pair few rows: no more rows are told than must be, and partners are near."""
    draw = random.Random(seed)
    left, right = (
        rows(floats(*((draw.choice((1.0, 1.05, 1.1, 1.15, 2.0)), draw.choice((3.0, 3.2))) for _ in range(5))))
        for _ in range(2)
    )
    most = max(
        sum(close(a, b, 0.05) for a, b in zip(left, other, strict=True)) for other in itertools.permutations(right)
    )
    only_left, only_right = unpaired(left, right, 0.05)
    assert len(only_left) == len(only_right) == 5 - most


def test_long_chains_are_paired_as_they_are_sorted() -> None:
    many = 20 * MOST_IN_A_CHAIN
    left = floats(*((1.0 + n / many, float(n % 7)) for n in range(many)))
    right = floats(*(((1.0 + n / many) * (1 + 1e-5), float(n % 7)) for n in reversed(range(many))))
    assert compared(left, right, tolerance=1e-3)
    assert compared(left, right.slice(1), tolerance=1e-3).only_in_engine is None


# ---- what is shown


def test_values_are_shown_as_sql_has_them() -> None:
    cases = {
        "'fig\\n'": pa.array(["fig\n"]),
        "X'00FF'": pa.array([b"\x00\xff"]),
        "0001-01-01": pa.array([-719162], pa.int32()).cast(pa.date32()),
        "10000-01-01 00:00:00.000000": pa.array([253402300800000000], pa.int64()).cast(pa.timestamp("us")),
        "1.50": pa.array([1.5]).cast(pa.decimal128(5, 2)),
    }
    table = pa.table({f"c {n}": column for n, column in enumerate(cases.values())})
    shown = str(compared(table, table.slice(1)))
    for n, text in enumerate(cases):
        assert f'"c {n}": {text}' in shown
    long = pa.table({"x": ["a" * 1_000]})
    assert len(str(compared(long, long.slice(1)))) < 500


def test_in_notebooks() -> None:
    same = compared(floats((1.0,)), floats((1.0,)))
    assert "have the same 1 row" in same._repr_html_()
    other = compared(pa.table({"<b>": ["<i>"]}), pa.table({"<b>": ["<u>"]}))
    assert "<i>" not in other._repr_html_()
    assert "&lt;i&gt;" in other._repr_html_()
    assert other._repr_html_().count("<span style='background:") == 2


def test_no_columns() -> None:
    none = pa.table({"x": [1, 2, 3]}).select([])
    assert compared(none, none)
    found = compared(none, without_columns(2))
    assert isinstance(found, Comparison)
    assert (found.spark_rows, found.engine_rows) == (3, 2)
    assert "- ()" in str(found)


def test_ties_at_an_offset() -> None:
    left = pa.table({"k": [1, 1, 2], "x": ["a", "b", "c"]})
    other_first = pa.table({"k": [1, 1, 2], "x": ["a", "d", "c"]})
    assert not compared(left, other_first, order=Ordering((0,), limited=True))
    found = compared(left, other_first, order=Ordering((0,), skipping=True))
    assert str(found).endswith("2 rows that tie at the limit may differ.")


def test_importing_takes_no_arrow(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = "import sys; sys.modules['pyarrow'] = None; import substrait_spark.engines; from substrait_spark.engines import compare"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
