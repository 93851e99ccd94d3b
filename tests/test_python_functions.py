"""Functions that Python computes in DataFusion: one name in a plan, whatever types it is called with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from substrait_spark import df_to_substrait
from substrait_spark.dialects import load
from substrait_spark.engines.arrow.function import Compute, PythonFunction, Signature, over_arrays
from substrait_spark.engines.datafusion import context, execute, python_functions
from substrait_spark.engines.datafusion.functions import by_value
from substrait_spark.errors import EngineError
from substrait_spark.extensions import registry

TABLE = pa.table(
    {
        "g": pa.array([1, 1, 2, 2, 2], pa.int32()),
        "i": pa.array([1, None, 3, 4, 5], pa.int32()),
        "l": pa.array([2, 2, None, 0, 7], pa.int64()),
        "s": pa.array(["b", "", None, "é", "a"]),
        "t": pa.array([{"x": 1, "y": "p"}, None, {"x": None, "y": "q"}, {"x": 4, "y": None}, {"x": 5, "y": "r"}]),
    }
)


@pytest.fixture
def rows(spark: SparkSession, tmp_path: Path) -> DataFrame:
    pq.write_table(TABLE, tmp_path / "rows.parquet")
    return spark.read.parquet(str(tmp_path / "rows.parquet"))


def computed(
    df: DataFrame, monkeypatch: pytest.MonkeyPatch, alias: str = "datafusion", **functions: PythonFunction
) -> dict[str, list[Any]]:
    """The rows of a plan in which Python computes some functions of an extension file, by their names."""
    monkeypatch.setattr(
        python_functions, "OWN", {(registry.urn(alias), name): function for name, function in functions.items()}
    )
    ctx = context()
    try:
        found: dict[str, list[Any]] = execute(df_to_substrait(df, dialect="datafusion"), ctx).to_pydict()
    finally:
        left = [name for name in (*ctx.udfs(), *ctx.udafs()) if name.startswith("python_function")]
        assert not left, "what was registered for a plan is there after it"
    return found


def test_each_signature_is_registered(rows: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Signature] = []

    def largest(signature: Signature) -> Compute:
        seen.append(signature)
        return lambda arrays, count: pc.max_element_wise(*arrays, skip_nulls=True)

    df = rows.selectExpr("greatest(i, g) AS a", "greatest(s, 'b') AS b", "greatest(i, 4) AS c", "greatest(g, i) AS d")
    found = computed(df, monkeypatch, greatest=PythonFunction(largest))
    assert found == {
        "a": [1, 1, 3, 4, 5],
        "b": ["b", "b", "b", "é", "b"],
        "c": [4, 4, 4, 4, 5],
        "d": [1, 1, 3, 4, 5],
    }
    assert sorted(str(signature.arrow_result) for signature in seen) == ["int32", "string"]


def test_calls_in_calls_filters_and_subqueries(rows: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    rows.createOrReplaceTempView("rows_of_python_functions")
    df = rows.sparkSession.sql(
        "SELECT upper(concat(upper(s), 'x')) AS a FROM rows_of_python_functions WHERE upper(s) > '' AND EXISTS "
        "(SELECT 1 FROM rows_of_python_functions u WHERE upper(u.s) = 'B')"
    )
    twice = PythonFunction(over_arrays(lambda text: pc.binary_join_element_wise(pc.utf8_upper(text), "!", "")))
    found = computed(df, monkeypatch, alias="string", upper=twice)
    assert found == {"a": []}
    alone = computed(rows.selectExpr("upper(concat(upper(s), 'x')) AS a"), monkeypatch, alias="string", upper=twice)
    assert alone == {"a": ["B!X!", "!X!", None, "É!X!", "A!X!"]}


def test_an_aggregate_gets_the_rows_of_each_group(rows: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    def middle(signature: Signature) -> Compute:
        assert [str(kind) for kind in signature.arrow_arguments] == ["int64"]
        return lambda arrays, count: f"{count}: {sorted(v for v in arrays[0].to_pylist() if v is not None)}"

    grouped = rows.groupBy("g").agg({"l": "bit_xor"}).toDF("g", "x")
    numbers = PythonFunction(lambda signature: lambda arrays, count: pc.sum(arrays[0]).cast(signature.arrow_result))
    assert _sorted(computed(grouped, monkeypatch, alias="spark", bit_xor=numbers)) == [(1, 4), (2, 7)]
    everything = rows.where("g > 5").selectExpr("bit_xor(l) AS x")
    assert computed(everything, monkeypatch, alias="spark", bit_xor=numbers) == {"x": [None]}
    with pytest.raises(EngineError, match="The function bit_xor raised an exception"):
        computed(grouped, monkeypatch, alias="spark", bit_xor=PythonFunction(middle))


def _sorted(found: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return sorted(zip(*found.values(), strict=True))


def test_structs_are_known_by_their_names(rows: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[pa.DataType] = []

    def first(signature: Signature) -> Compute:
        seen.append(signature.arrow_arguments[0])
        return lambda arrays, count: arrays[0]

    same = PythonFunction(first, field_names=("x", "y"))
    found = computed(rows.selectExpr("coalesce(t, named_struct('x', 0L, 'y', s)) AS a"), monkeypatch, coalesce=same)
    assert found == {"a": [{"x": 0, "y": ""} if row is None else row for row in TABLE["t"].to_pylist()]}
    assert seen == [pa.struct([("x", pa.int64()), ("y", pa.string())])]


def test_what_is_raised_is_shown(rows: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(text: pa.Array) -> pa.Array:
        raise LookupError(f"no {text[0]}\nand more")

    df = rows.selectExpr("upper(s) AS a")
    with pytest.raises(EngineError) as raised:
        computed(df, monkeypatch, alias="string", upper=PythonFunction(over_arrays(failing)))
    assert str(raised.value).startswith("The function upper raised an exception.\nTraceback (most recent call last):\n")
    assert 'raise LookupError(f"no {text[0]}\\nand more")' in str(raised.value)
    assert str(raised.value).endswith("LookupError: no b\nand more")
    assert python_functions.__file__ not in str(raised.value)
    assert isinstance(raised.value.__cause__, LookupError)


def test_own_functions_are_declared_and_computed() -> None:
    declared = {
        function["name"]
        for alias in ("arrow", "catalyst")
        for kind in registry.KINDS.values()
        for function in registry.load(alias).get(kind) or ()
    }
    assert declared
    assert {name for _, name in python_functions.OWN} == declared
    assert {by_value.name_of(function) for function in by_value.FUNCTIONS} <= {f"arrow:{name}" for name in declared}


def test_own_functions_are_in_no_plan_for_other_programs() -> None:
    called = ("scalar", registry.urn("arrow"), "spark_rlike", "str_str", ())
    listed = [load(name).function(*called) is not None for name in ("datafusion", "datafusion-plain")]
    assert listed == [True, False]
