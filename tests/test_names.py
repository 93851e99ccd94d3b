"""Tables and columns whose names differ in case from those of a plan, as others' plans have them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import tpc_data
from pyspark.sql import SparkSession
from substrait.plan_pb2 import Plan

from substrait_spark import InvalidPlanError, UnsupportedPlanError, lower
from substrait_spark.algebra import types
from substrait_spark.engines import acero, datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.engines.comparison.tables import compared
from substrait_spark.engines.measuring.case import read
from substrait_spark.engines.measuring.values import Table
from substrait_spark.engines.names import found, table_name
from substrait_spark.engines.spark.rows import spark_rows
from substrait_spark.plan.message import build

ISTHMUS = sorted((Path(__file__).parent / "producers" / "isthmus").glob("q*.plan"))


def plan_of(*columns: str) -> Plan:
    """A plan of a table `UPPER` with these columns."""
    source = read("UPPER", Table(columns, tuple(types.of("i64") for _ in columns), ()))
    return build(source.select(range(len(columns))), columns)


def test_names_are_found() -> None:
    assert found("A", ["a", "b"]) == "a"
    assert found("A", ["a", "A"]) == "A"
    assert found("aB", ["ab", "AB"]) is None
    assert found("A", ["a"], wanted=["A", "a"]) is None
    assert found("c", ["a"]) is None
    assert table_name(["S", "T"], ["t"]) == "t"
    assert table_name(["S", "T"], ["s.t", "T"]) == "T"
    assert table_name(["S", "T"], ["s.t", "t"]) == "s.t"


ROWS = pa.table({"a": pa.array([1, None], pa.int64()), "B": pa.array([3, 4], pa.int64())})


@pytest.mark.parametrize("engine", [datafusion, acero])
@pytest.mark.parametrize("given", [ROWS, ds.dataset(ROWS)])
def test_one_column_that_differs_in_case(engine: object, given: object) -> None:
    name = "datafusion" if engine is datafusion else "acero"
    plan = lower(plan_of("A", "b"), name)
    assert engine.execute(plan, tables={"upper": given}).to_pydict() == {"A": [1, None], "b": [3, 4]}  # type: ignore[attr-defined]
    with pytest.raises(InvalidPlanError, match="exactly one column 'A'"):
        engine.execute(lower(plan_of("A", "a"), name), tables={"upper": pa.table({"a": [1]})})  # type: ignore[attr-defined]
    two = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["bb", "BB"])
    with pytest.raises(InvalidPlanError, match="exactly one column 'bB'"):
        engine.execute(lower(plan_of("bB"), name), tables={"upper": two})  # type: ignore[attr-defined]


@pytest.fixture
def case_sensitive(spark: SparkSession) -> Iterator[SparkSession]:
    spark.conf.set("spark.sql.caseSensitive", "true")
    yield spark
    spark.conf.unset("spark.sql.caseSensitive")


def test_spark_finds_columns_as_the_session_does(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, 2)], "a bigint, B bigint")
    found = spark_engine.execute(plan_of("A", "b"), spark, tables={"upper": rows})
    assert (found.columns, found.collect()) == (["A", "b"], [(1, 2)])
    with pytest.raises(UnsupportedPlanError, match="no column A"):
        spark_engine.execute(plan_of("A", "a"), spark, tables={"upper": rows})


def test_spark_finds_exact_names_where_case_tells(case_sensitive: SparkSession) -> None:
    rows = case_sensitive.createDataFrame([(1, 2)], "a bigint, A bigint")
    both = spark_engine.execute(plan_of("A", "a"), case_sensitive, tables={"UPPER": rows})
    assert both.collect() == [(2, 1)]
    with pytest.raises(UnsupportedPlanError, match="no column B"):
        spark_engine.execute(plan_of("B"), case_sensitive, tables={"UPPER": rows.select("a")})


TOLERANCE = {"q01": 0.1}
"""Isthmus gives averages as many digits as what is averaged has: of discounts, two. What else differs is less than a hundredth."""


def in_doubles(rows: pa.Table) -> pa.Table:
    """The rows with all numbers as doubles, since Isthmus gives sums, quotients and years other types than Spark."""
    numbers = (pa.types.is_decimal, pa.types.is_integer)
    kinds = [pa.float64() if any(each(field.type) for each in numbers) else field.type for field in rows.schema]
    return rows.cast(pa.schema([pa.field(name, kind) for name, kind in zip(rows.column_names, kinds, strict=True)]))


@pytest.mark.parametrize("path", ISTHMUS, ids=lambda path: path.stem)
def test_plans_of_isthmus(spark: SparkSession, tpch: Path, path: Path) -> None:
    """Its names are upper case, and the tables' lower case."""
    plan = Plan.FromString(path.read_bytes())
    expected = spark.sql(tpc_data.queries(tpch)[int(path.stem[1:])]).toArrow()
    tables = {file.stem: pq.read_table(file) for file in tpch.glob("*.parquet")}
    for rows in (
        spark_rows(spark_engine.execute(plan, spark)),
        datafusion.execute(lower(plan, "datafusion"), tables=tables),
    ):
        same = compared(
            in_doubles(expected),
            in_doubles(rows.rename_columns(expected.column_names)),
            tolerance=TOLERANCE.get(path.stem, 1e-2),
        )
        assert same, same
