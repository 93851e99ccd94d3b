"""Functions over batches and groups of rows: mapInPandas, applyInPandas, cogroup and their like, with Spark's rows."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from releases import later, since
from test_user_functions import TABLE, assert_same, made

from substrait_spark import (
    EngineError,
    FunctionError,
    InvalidPlanError,
    UnsupportedPlanError,
    check,
    declare_function,
    df_to_substrait,
    explain,
    write_extension_file,
)
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.user_functions import spark_function as ways

# Spark's workers don't find this module.
cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]


@pytest.fixture
def edges(spark: SparkSession, tmp_path: Path) -> DataFrame:
    pq.write_table(TABLE, tmp_path / "edges.parquet")
    return spark.read.parquet(str(tmp_path / "edges.parquet"))


def pass_frames(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    yield from frames


def pass_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def pass_frame(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


def pass_table(table: pa.Table) -> pa.Table:
    return table


METHODS = [
    pytest.param(lambda df: df.mapInPandas(pass_frames, df.schema), pass_frames, id="mapInPandas"),
    pytest.param(lambda df: df.mapInArrow(pass_batches, df.schema), pass_batches, id="mapInArrow"),
    pytest.param(lambda df: df.groupBy("key").applyInPandas(pass_frame, df.schema), pass_frame, id="applyInPandas"),
    later("4.0", lambda df: df.groupBy("key").applyInArrow(pass_table, df.schema), pass_table, id="applyInArrow"),
]


@pytest.mark.parametrize(("call", "function"), METHODS)
def test_values_of_every_type_pass_through(
    edges: DataFrame, call: Callable[[DataFrame], DataFrame], function: Any
) -> None:
    assert_same(call(edges), [function])


def test_groups_are_sparks(spark: SparkSession) -> None:
    rows = [
        (None, 0.0, "a", 1), (None, -0.0, "a", 2), (1, float("nan"), None, 3), (1, float("nan"), None, 4),
        (1, None, "", 5), (2, 1.5, "", 6), (None, None, None, 7),
    ]  # fmt: skip
    df = spark.createDataFrame(rows, "id int, ratio double, text string, n int").coalesce(1)

    def described(key: tuple[Any, ...], frame: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"key": [str([*map(repr, key)])], "rows": [sorted(frame["n"].tolist())]})

    def gathered(frame: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"key": [",".join(frame.columns)], "rows": [sorted(frame["n"].tolist())]})

    schema = "key string, rows array<int>"
    for keys in (["id"], ["ratio"], ["text", "id"], [F.struct("id", "text")], [(F.col("id") + 1)], []):
        assert_same(df.groupBy(*keys).applyInPandas(described, schema), [described])
    assert_same(df.groupBy(F.col("ratio").isNull()).applyInPandas(gathered, schema), [gathered])
    empty = df.where("id > 7").groupBy().applyInPandas(gathered, schema)
    assert empty.count() == 0
    plan = df_to_substrait(empty, functions=[gathered], dialect="datafusion")
    assert datafusion.execute(plan, functions=[gathered]).num_rows == 0


def test_groups_larger_than_a_batch_come_whole(spark: SparkSession) -> None:
    def counted(frame: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"key": [frame["key"].iloc[0]], "rows": [len(frame)], "total": [frame["id"].sum()]})

    df = spark.range(25_000).withColumn("key", F.col("id") % 2)
    assert_same(df.groupBy("key").applyInPandas(counted, "key long, rows long, total long"), [counted])


def test_groups_of_two_inputs(spark: SparkSession) -> None:
    left = spark.createDataFrame([(1, "a"), (1, "b"), (2, None), (None, "n")], "id int, l string")
    right = spark.createDataFrame([(1, 1.5), (3, None), (None, 2.5), (None, 0.0)], "rid int, r double")

    def both(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"l": [len(one)], "r": [len(other)], "names": [",".join([*one.columns, *other.columns])]})

    def keyed(key: tuple[Any, ...], one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"l": [len(one)], "r": [len(other)], "names": [repr(key[0])]})

    schema = "l int, r int, names string"
    for function in (both, keyed):
        assert_same(left.groupBy("id").cogroup(right.groupBy("rid")).applyInPandas(function, schema), [function])
    df = left.groupBy(F.col("id") % 2).cogroup(right.groupBy(F.col("r").cast("int"))).applyInPandas(both, schema)
    assert_same(df.where("l > 0").select("names", "l"), [both])
    text = explain(df_to_substrait(df, functions=[both]))
    assert "ExtensionMulti substrait_spark.FlatMapCoGroups both(" in text
    assert " by [$0] and by [$3] " in text


@since("4.0", "applyInArrow")
def test_groups_in_arrow(spark: SparkSession) -> None:
    left = spark.createDataFrame([(1, "a"), (1, "b"), (None, "n")], "id int, l string")
    right = spark.createDataFrame([(1, 1.5), (3, None)], "id int, r double")

    def summed(key: tuple[Any, ...], table: pa.Table) -> pa.Table:
        return pa.table({"id": pa.array([key[0].as_py()], pa.int32()), "n": [table.num_rows]})

    def both(one: pa.Table, other: pa.Table) -> pa.Table:
        return pa.table({"id": pa.array([one.num_rows], pa.int32()), "n": [other.num_rows]})

    schema = "id int, n long"
    assert_same(left.groupBy("id").applyInArrow(summed, schema), [summed])
    assert_same(left.groupBy("id").cogroup(right.groupBy("id")).applyInArrow(both, schema), [both])


@since("4.2", "functions of iterators")
def test_groups_come_in_batches(spark: SparkSession) -> None:
    def batches(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield pd.DataFrame({"key": [frame["key"].iloc[0]], "n": [len(frame)]})

    def tables(key: tuple[pa.Scalar, ...], given: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in given:
            yield pa.RecordBatch.from_pydict({"key": [key[0].as_py()], "n": [batch.num_rows]})

    # What was taken out of this function's scope must be found in it.
    batches.__annotations__ = {"frames": Iterator[pd.DataFrame], "return": Iterator[pd.DataFrame]}
    tables.__annotations__ = {
        "key": tuple[pa.Scalar, ...], "given": Iterator[pa.RecordBatch], "return": Iterator[pa.RecordBatch],
    }  # fmt: skip
    groups = spark.range(25_000).withColumn("key", F.col("id") % 2).groupBy("key")
    df = groups.applyInPandas(batches, "key long, n long")
    assert 'method="applyInPandas of iterators"' in explain(df_to_substrait(df, functions=[batches]))
    assert_same(df, [batches])
    assert_same(groups.applyInArrow(tables, "key long, n long"), [tables])


def test_results_are_what_spark_makes_of_them(edges: DataFrame) -> None:
    def nested(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield pd.DataFrame(
                {
                    "late": frame["instant"],
                    "s": [{"a": 1, "b": [dt.date(2024, 1, 1), None]}] * len(frame),
                    "n": frame["integer"],
                    "more": 1,
                }
            )

    def by_position(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield frame[["long", "text"]].set_axis([0, 1], axis=1)

    def nothing(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        return iter(())

    def wider(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_arrays([batch["long"], batch["text"], batch["key"]], ["x", "y", "z"])

    df = edges.select("key", "integer", "long", "text", "instant")
    schema = "late timestamp, s struct<a: int, b: array<date>>, n int"
    made_of = df.mapInPandas(nested, schema)
    assert_same(made_of, [nested])
    assert_same(made_of.where("n > 0").select("s.b", F.col("s.a") + 1, F.hour("late")), [nested])
    assert_same(df.mapInPandas(by_position, "a long, b string"), [by_position])
    assert_same(df.mapInArrow(wider, "a long, b string"), [wider])
    plan = df_to_substrait(df.mapInPandas(nothing, "a long"), functions=[nothing], dialect="datafusion")
    assert datafusion.execute(plan, functions=[nothing]).num_rows == 0


WRONG: dict[str, Callable[[pd.DataFrame], Any]] = {
    "a missing column": lambda frame: frame[["key"]],
    "another column": lambda frame: frame.rename(columns={"text": "other"}),
    "text in a number": lambda frame: frame.assign(key="x"),
    "no frame": lambda frame: 5,
    "an exception": lambda frame: 1 // 0,
}


@pytest.mark.parametrize("way", WRONG)
def test_what_spark_raises_is_raised(edges: DataFrame, way: str) -> None:
    given = WRONG[way]

    def wrong(frame: pd.DataFrame) -> Any:
        return given(frame)

    assert_same(edges.select("key", "text").groupBy("key").applyInPandas(wrong, "key int, text string"), [wrong])


def test_an_exception_is_shown(edges: DataFrame) -> None:
    def failing(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield frame.assign(key=1 // (len(frame) - len(frame)))

    plan = df_to_substrait(
        edges.select("key").mapInPandas(failing, "key int"), functions=[failing], dialect="datafusion"
    )
    with pytest.raises(EngineError) as raised:
        datafusion.execute(plan, functions=[failing])
    text = str(raised.value)
    assert text.startswith("The function failing raised an exception.\nTraceback (most recent call last):\n")
    assert "yield frame.assign(key=1 // (len(frame) - len(frame)))" in text
    assert "pyspark" not in text
    required = edges.select("text").mapInPandas(pass_frames, "text string NOT NULL")
    plan = df_to_substrait(required, functions=[pass_frames], dialect="datafusion")
    with pytest.raises(EngineError, match="is declared to give no null in the column text, and gave one"):
        datafusion.execute(plan, functions=[pass_frames])


def test_relations_stand_wherever_others_do(edges: DataFrame) -> None:
    twice = made(ways.SCALAR_PANDAS, lambda n: n * 2, "long", "twice")

    def totals(frame: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"k": frame["key"].head(1), "total": [frame["short"].sum()]})

    given = [twice, totals, pass_frames]
    df = edges.select("key", F.coalesce("byte", F.lit(0)).alias("short"), "struct")
    by_key = df.where(twice("key") > 2).groupBy("key").applyInPandas(totals, "k int, total long")
    assert_same(by_key.select(twice("total").alias("t"), "k").where("t is not null"), given)
    assert_same(
        df.join(df.groupBy("key").applyInPandas(totals, "k int, total long"), F.col("key") == F.col("k")), given
    )
    assert_same(by_key.union(by_key).groupBy("k").agg(F.sum("total")), given)
    mapped = df.mapInPandas(pass_frames, df.schema).groupBy("key").applyInPandas(totals, "k int, total long")
    assert_same(mapped.orderBy(F.desc("total")).limit(1), given)
    assert_same(edges.where(F.col("key").isin([1])).select("key", F.explode("integers").alias("e")).mapInPandas(
        pass_frames, "key int, e int"), given)  # fmt: skip


def test_names_are_those_that_the_function_sees(spark: SparkSession) -> None:
    def named(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield pd.DataFrame({"names": [",".join(frame.columns)], "field": [min(frame["S"].iloc[0])]})

    df = spark.createDataFrame([(1, 2)], "id int, other int")
    shown = df.select("ID", F.struct(F.col("other").alias("In Ner")).alias("S"))
    assert_same(shown.mapInPandas(named, "names string, field string"), [named])


# ---- declarations


def test_what_is_not_declared_names_what_declares_it(edges: DataFrame) -> None:
    df = edges.select("key").mapInPandas(pass_frames, "key int")
    (problem,) = check(df.select((F.col("key") + 1).alias("next")))
    assert problem.reason.startswith("the Python function pass_frames runs in Spark only; it takes (i32?)")
    assert problem.hint.startswith("Let plans call it by its name: functions=[pass_frames], the function itself.")
    assert check(df, functions=[pass_frames], dialect="datafusion")


def test_another_function_of_the_name_is_refused(edges: DataFrame) -> None:
    limit = [1]

    def chosen(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield frame[frame["key"] > limit[0]]

    df = edges.select("key").mapInPandas(chosen, "key int")
    assert check(df, functions=[chosen])
    limit[0] = 2
    assert "another function chosen than the one that functions= has, or that one as it was before" in str(
        check(df, functions=[chosen])
    )
    other = declare_function(pass_frames, name="chosen")
    assert "another function chosen" in str(check(df, functions=[other]))


def test_the_schema_may_share_names_with_the_function(edges: DataFrame) -> None:
    from pyspark.sql.types import IntegerType, StringType, StructField, StructType

    def scored(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            frame["score"] = frame["key"] * 2
            yield frame[["text", "score"]]

    schema = StructType([StructField("text", StringType()), StructField("score", IntegerType())])
    given = edges.select("key", "text")
    for each in (schema, StructType([*given.select("text").schema.fields, schema.fields[1]]), "text string, score int"):
        assert check(given.mapInPandas(scored, each), functions=[scored])


def test_a_file_declares_what_is_called(edges: DataFrame, tmp_path: Path) -> None:
    df = edges.select("key", "text").groupBy("key").applyInPandas(pass_frame, "key int, text string")
    plan = df_to_substrait(df, functions=[declare_function(pass_frame, urn="extension:com.example:rows")])
    mine = [declare_function(pass_frame, urn="extension:com.example:rows")]
    (path,) = write_extension_file(tmp_path / "functions.yaml", plan, mine)
    assert "return: list<struct<i32?, string?>>" in path.read_text()
    assert df_to_substrait(df, functions=[path]).extensions == plan.extensions
    other = edges.select("key").groupBy("key").applyInPandas(pass_frame, "key int")
    assert "declares no aggregate function pass_frame that takes (i32?)" in str(check(other, functions=[path]))


def test_a_plan_runs_nothing_that_nobody_gave(edges: DataFrame) -> None:
    df = edges.select("key").mapInPandas(pass_frames, "key int")
    plan = df_to_substrait(df, functions=[pass_frames], dialect="datafusion")
    assert b"cloudpickle" not in plan.SerializeToString()
    with pytest.raises(InvalidPlanError, match="calls the function pass_frames of extension:pass_frames:functions"):
        datafusion.execute(plan)
    canonical = df_to_substrait(df, functions=[pass_frames])
    with pytest.raises(
        UnsupportedPlanError, match="the function pass_frames of extension:pass_frames:functions is not run in Spark"
    ):
        spark_engine.execute(canonical, edges.sparkSession)
    plan.relations[0].root.input.extension_single.detail.value = plan.relations[
        0
    ].root.input.extension_single.detail.value.replace(b"mapInPandas", b"mapInPandos")
    with pytest.raises(InvalidPlanError, match="there is no method 'mapInPandos'"):
        datafusion.execute(plan, functions=[pass_frames])


def test_barriers_are_refused(edges: DataFrame) -> None:
    df = edges.select("key").mapInPandas(pass_frames, "key int", barrier=True)
    assert "asks for tasks that start together" in str(check(df, functions=[pass_frames]))


def test_what_is_no_function_is_refused(edges: DataFrame) -> None:
    with pytest.raises(TypeError, match="those that mapInPandas and its like take"):
        check(edges, functions=[5])
    with pytest.raises(FunctionError, match="'<lambda>' can't be called in a plan"):
        check(edges, functions=[lambda frames: frames])
