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

from substrait_spark import InvalidPlanError, UnsupportedPlanError, df_to_substrait, lower
from substrait_spark.algebra import types
from substrait_spark.algebra.relation import NamedTable
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


@pytest.fixture(params=["file", "folder"])
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The path of a table of one file, or of several whose columns differ in case among themselves."""
    if request.param == "file":
        pq.write_table(ROWS, tmp_path / "rows.parquet")
        return tmp_path / "rows.parquet"
    pq.write_table(ROWS.slice(0, 1), tmp_path / "1.parquet")
    pq.write_table(ROWS.slice(1).rename_columns(["A", "b"]), tmp_path / "2.parquet")
    return tmp_path


@pytest.mark.parametrize("engine", [datafusion, acero])
def test_columns_of_files_that_differ_in_case(engine: object, stored: Path) -> None:
    """Of a table that is given by its path: what the plan itself names files for is read with exact names."""
    name = "datafusion" if engine is datafusion else "acero"
    read = engine.execute(lower(plan_of("A", "b"), name), tables={"upper": stored})  # type: ignore[attr-defined]
    assert sorted(read.to_pylist(), key=lambda row: row["b"]) == [{"A": 1, "b": 3}, {"A": None, "b": 4}]
    with pytest.raises(InvalidPlanError, match=r"names must be the same|lacks the column 'A'"):
        engine.execute(lower(plan_of("A", "a"), name), tables={"upper": stored})  # type: ignore[attr-defined]
    with pytest.raises(InvalidPlanError, match="lacks the column 'c'"):
        engine.execute(lower(plan_of("A", "c"), name), tables={"upper": stored})  # type: ignore[attr-defined]


def test_columns_in_the_names_of_folders_that_differ_in_case(tmp_path: Path) -> None:
    for value in (1, 2):
        (tmp_path / f"A={value}").mkdir()
        pq.write_table(pa.table({"B": pa.array([value + 2], pa.int64())}), tmp_path / f"A={value}" / "rows.parquet")
    read = datafusion.execute(lower(plan_of("a", "b"), "datafusion"), tables={"upper": tmp_path})
    assert sorted(read.to_pylist(), key=lambda row: row["b"]) == [{"a": 1, "b": 3}, {"a": 2, "b": 4}]


NESTED = pa.table({"s": pa.array([{"x": 1, "Y": 2}], pa.struct([("x", pa.int64()), ("Y", pa.int64())]))})
OF_STRUCTS = Table(("s",), (types.of("struct", types.of("i64"), types.of("i64")),), ())


@pytest.mark.parametrize("by", ["rows", "dataset", "path"])
def test_fields_of_structs_have_exact_names(by: str, tmp_path: Path) -> None:
    """No other field stands for one that isn't there: nothing is null, or taken by its place."""
    pq.write_table(NESTED, tmp_path / "rows.parquet")
    given = {"rows": NESTED, "dataset": ds.dataset(NESTED), "path": tmp_path / "rows.parquet"}[by]
    source = NamedTable(["T"], ["s", "x", "y"], OF_STRUCTS.schema)
    plan = lower(build(source, ["s", "x", "y"]), "datafusion")
    with pytest.raises(InvalidPlanError, match="is called 'Y' there"):
        datafusion.execute(plan, tables={"t": given})


@pytest.mark.parametrize("sensitive", [False, True])
@pytest.mark.parametrize("schema", ["A bigint, s struct<x bigint, y bigint>", "a bigint, s struct<x bigint, Y bigint>"])
def test_files_that_a_plan_names(spark: SparkSession, tmp_path: Path, schema: str, sensitive: bool) -> None:
    """Whether a name finds one of another case hangs on the session, of which a plan says nothing: where none is the same, it isn't read."""
    pq.write_table(NESTED.append_column("a", pa.array([7], pa.int64())), tmp_path / "rows.parquet")
    spark.conf.set("spark.sql.caseSensitive", str(sensitive).lower())
    try:
        df = spark.read.schema(schema).parquet(str(tmp_path))
        expected = df.collect()
        again = spark_engine.execute(df_to_substrait(df), spark).collect()
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert again == expected
    exact = schema.startswith("a")
    if exact:
        assert datafusion.execute(df_to_substrait(df, dialect="datafusion")).to_pylist() == [
            {"a": 7, "s": {"x": 1, "Y": 2}}
        ]
    else:
        with pytest.raises(InvalidPlanError, match=r"is called '[aY]' there; names must be the same"):
            datafusion.execute(df_to_substrait(df, dialect="datafusion"))


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
