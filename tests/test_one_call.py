"""From a DataFrame to its rows in one call, and what plans read and are held to."""

from __future__ import annotations

import gc
import io
import json
import math
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import nbclient
import nbformat
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from releases import since
from rows import differences, spark_table
from substrait.algebra_pb2 import ReadRel
from substrait.type_pb2 import Type

from substrait_spark import (
    CollectedInSparkWarning,
    EngineError,
    InvalidPlanError,
    UnsupportedPlanError,
    df_to_substrait,
)
from substrait_spark.algebra.message_walk import messages
from substrait_spark.engines import datafusion, progress
from substrait_spark.engines.datafusion import session

NAN = float("nan")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that temporary ones are made in."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def assert_collected(df: DataFrame, **arguments: Any) -> pa.Table:
    """DataFusion has Spark's rows, and nothing was collected in Spark."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", CollectedInSparkWarning)
        rows = datafusion.collect(df, "spark", **arguments)
    expected = spark_table(df)
    assert expected.num_rows, "vacuous"
    assert not (found := differences(expected, rows)), "\n".join(found)
    return rows


# ---- where rows come from


@pytest.mark.parametrize("format", ["parquet", "csv", "json", "orc"])
def test_catalog_tables(spark: SparkSession, format: str) -> None:
    spark.sql("DROP TABLE IF EXISTS kept")
    rows = spark.range(20).selectExpr("id", "id % 3 AS k", "IF(id = 4, null, concat('n', id)) AS name")
    rows.write.partitionBy("k").format(format).saveAsTable("kept")
    try:
        assert_collected(spark.table("kept").where("id > 2").groupBy("k").agg(F.max("name"), F.count("*")))
    finally:
        spark.sql("DROP TABLE kept")


def test_a_notebook_job(spark: SparkSession, tmp_path: Path) -> None:
    """JSON lines, a window, a regular expression and a vector of floats."""
    events = tmp_path / "events.json"
    lines = [
        f'{{"user": "u{n % 5}", "path": "/item/{n % 7}?q={n}", "at": {n * 37 % 100}, "vector": [{n}.5, -0.0, {n % 3}]}}'
        for n in range(200)
    ]
    events.write_text("\n".join(lines), "utf-8")
    schema = "user string, path string, at bigint, vector array<float>"
    df = (
        spark.read.schema(schema)
        .json(str(events))
        .selectExpr(
            "user",
            "regexp_extract(path, '/item/([0-9]+)', 1) AS item",
            "row_number() OVER (PARTITION BY user ORDER BY at, path) AS place",
            "aggregate(vector, CAST(0 AS DOUBLE), (sum, x) -> sum + x * x) AS length",
            "transform(vector, x -> x * 2) AS twice",
        )
    )
    assert assert_collected(df.where("place <= 3")).num_rows == 15


def test_local_rows_of_any_number(spark: SparkSession, temporary: Path) -> None:
    points = spark.createDataFrame(
        [(n, f"n{n % 7}", None if n % 11 == 0 else n / 7) for n in range(25_000)], "n int, k string, x double"
    )
    assert_collected(points.groupBy("k").agg(F.count("x"), F.min("n")))
    assert_collected(points.limit(3))
    assert_collected(points.join(points.select("n", F.col("k").alias("other")), "n").where("n % 1000 = 1"))
    assert not list(temporary.iterdir()), "a folder of local rows is left"


def test_the_same_query_again(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    df = spark.range(5).selectExpr("id * 7 AS seven")
    datafusion.collect(df)
    monkeypatch.setattr("substrait_spark.conversion.emit_document", None)
    assert datafusion.collect(df)["seven"].to_pylist() == [0, 7, 14, 21, 28]


# ---- what is refused


def test_otherwise_spark(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        times = spark.range(3).selectExpr(
            "timestamp_seconds(id) AS t", "array(timestamp_seconds(id)) AS l", "1.50BD AS d"
        )
        refused = times.coalesce(1).withColumn("p", F.spark_partition_id())
        with pytest.raises(UnsupportedPlanError, match="SparkPartitionID"):
            datafusion.collect(refused)
        with pytest.warns(CollectedInSparkWarning) as told:
            rows = datafusion.collect(refused, "spark")
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
    assert len(told) == 1
    assert "SparkPartitionID has no Substrait form" in str(told[0].message)
    assert told[0].filename == __file__
    assert rows["p"].to_pylist() == [0, 0, 0]
    assert rows.drop_columns("p").schema.equals(datafusion.collect(times).schema)
    with pytest.raises(ValueError, match="otherwise must be None or 'spark', not 'duckdb'"):
        datafusion.collect(times, "duckdb")


def test_otherwise_spark_while_it_runs(spark: SparkSession) -> None:
    """What DataFusion alone raises for, Spark computes, and what both raise for is an error."""
    percentile = spark.range(9).selectExpr("approx_percentile(id, 0.5, 2) AS p")
    with pytest.raises(EngineError, match="UNSUPPORTED_COUNT"):
        datafusion.collect(percentile)
    with pytest.warns(CollectedInSparkWarning, match="UNSUPPORTED_COUNT"):
        rows = datafusion.collect(percentile, "spark")
    assert rows.to_pylist() == [row.asDict() for row in percentile.collect()]
    with pytest.warns(CollectedInSparkWarning), pytest.raises(EngineError, match=r"Spark failed: \[DIVIDE_BY_ZERO"):
        datafusion.collect(spark.range(2).selectExpr("1 DIV id"), "spark")


def test_show(spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    df = spark.range(30).selectExpr("id", "concat('n', id) AS name")
    datafusion.show(df, 2)
    assert capsys.readouterr().out == "id  name\n--  ----\n 0  n0\n 1  n1\n(only the first 2 rows)\n"
    datafusion.show(df.where("id > 28"))
    assert capsys.readouterr().out == "id  name\n--  ----\n29  n29\n(1 row)\n"


# ---- streams


def test_streams_are_read_as_they_are_asked_for(spark: SparkSession) -> None:
    df = spark.range(10_000_000).selectExpr("id", "CAST(id AS STRING) AS s")
    reader = datafusion.stream(df)
    before = pa.total_allocated_bytes()
    counts = []
    for batch in reader:
        counts.append(batch.num_rows)
        assert batch.schema == reader.schema
        assert pa.total_allocated_bytes() - before < 50_000_000
    assert sum(counts) == 10_000_000
    assert len(counts) > 100


def test_streams_of_plans(spark: SparkSession) -> None:
    plan = df_to_substrait(spark.range(4).selectExpr("struct(id AS a) AS s"), dialect="datafusion")
    assert datafusion.stream(plan).read_all().equals(datafusion.execute(plan))
    nothing = df_to_substrait(spark.range(7).select(), dialect="datafusion")
    assert sum(batch.num_rows for batch in datafusion.stream(nothing)) == 7
    assert datafusion.execute(nothing).num_rows == 7
    with pytest.raises(TypeError, match="otherwise is for a DataFrame"):
        datafusion.stream(plan, otherwise="spark")
    with pytest.raises(TypeError, match="tables is for a plan"):
        datafusion.stream(spark.range(3), tables={"t": "t.parquet"})


def test_what_a_stream_leaves(spark: SparkSession, temporary: Path) -> None:
    df = spark.createDataFrame([(n,) for n in range(20_000)], "n int")
    reader = datafusion.stream(df)
    assert len(list(temporary.iterdir())) == 1
    assert sum(batch.num_rows for batch in reader) == 20_000
    assert not list(temporary.iterdir())
    for batches in (0, 1):
        left = datafusion.stream(df)
        for _ in range(batches):
            left.read_next_batch()
        del left
        gc.collect()
        assert not list(temporary.iterdir())
    with pytest.raises(UnsupportedPlanError):
        datafusion.stream(df.select(F.spark_partition_id()))
    assert not list(temporary.iterdir())


def test_a_stream_that_fails(spark: SparkSession) -> None:
    df = spark.range(100_000).selectExpr("100 DIV (id - 99999) AS q")
    reader = datafusion.stream(df)
    with pytest.raises(EngineError, match="zero"):
        reader.read_all()
    with pytest.warns(CollectedInSparkWarning):
        rows = datafusion.stream(spark.range(3).select(F.spark_partition_id()), otherwise="spark").read_all()
    assert rows.num_rows == 3


# ---- tables that are given


GIVEN = pa.table(
    {
        "n": pa.array([1, 2, None, 4], pa.int32()),
        "x": pa.array([1.0, NAN, 3.0, None], pa.float64()),
        "s": pa.array(["a", "", "é", None]),
    }
)


class _Array:
    """A record batch of some other library's."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return GIVEN.combine_chunks().to_batches()[0].__arrow_c_array__(requested_schema)


def _dataset(folder: Path) -> pads.Dataset:
    pq.write_table(GIVEN, folder / "given.parquet")
    return pads.dataset(folder / "given.parquet")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "table": lambda _: GIVEN,
    "batch": lambda _: GIVEN.combine_chunks().to_batches()[0],
    "stream": lambda _: GIVEN.to_reader(),
    "array": lambda _: _Array(),
    "polars": lambda _: pl.from_arrow(GIVEN),
    "duckdb": lambda _: duckdb.from_arrow(GIVEN),
    "dataset": _dataset,
    "frame": lambda _: session.context().from_arrow(GIVEN),
    "path": lambda folder: str(_dataset(folder).files[0]),
}


@pytest.fixture(scope="module")
def wanted(spark: SparkSession) -> Iterator[DataFrame]:
    """A query that reads a table twice, in several ways; NaN is greater than 2."""
    spark.sql("CREATE TABLE given (n INT, x DOUBLE, s STRING, unused DATE) USING parquet")
    yield spark.sql(
        "SELECT a.n, a.x, a.s FROM given a WHERE a.x > 2 OR a.n IN (SELECT n FROM given WHERE n > 3 AND s IS NULL)"
    )
    spark.sql("DROP TABLE given")


@pytest.mark.parametrize("kind", SOURCES)
def test_tables_of_other_libraries(wanted: DataFrame, kind: str, tmp_path: Path) -> None:
    plan = df_to_substrait(wanted, dialect="datafusion")
    rows = datafusion.execute(plan, tables={"given": SOURCES[kind](tmp_path)})
    expected = pa.table({"n": pa.array([2, None, 4], pa.int32()), "x": [NAN, 3.0, None], "s": ["", "é", None]})
    assert not differences(expected, rows)


def test_pandas(wanted: DataFrame) -> None:
    """NaN of pandas is null; its index is no column, and nanoseconds are taken where they are whole microseconds."""
    plan = df_to_substrait(wanted, dialect="datafusion")
    frame = pd.DataFrame({"n": pd.array([5, 6], "Int32"), "x": [2.5, math.nan], "s": ["a", None]}, index=["x", "y"])
    assert datafusion.execute(plan, tables={"given": frame}).to_pylist() == [
        {"n": 5, "x": 2.5, "s": "a"},
        {"n": 6, "x": None, "s": None},
    ]
    spark = wanted.sparkSession
    spark.sql("CREATE TABLE moments (t TIMESTAMP_NTZ) USING parquet")
    try:
        moments = df_to_substrait(spark.table("moments"), dialect="datafusion")
        fine = pd.DataFrame({"t": pd.to_datetime(["2024-01-02 03:04:05.123456"]).as_unit("ns")})
        assert datafusion.execute(moments, tables={"moments": fine})["t"].cast(pa.int64()).to_pylist() == [
            1704164645123456
        ]
        finer = pd.DataFrame({"t": pd.to_datetime(["2024-01-02 03:04:05.123456789"]).as_unit("ns")})
        with pytest.raises(InvalidPlanError, match="would lose data"):
            datafusion.execute(moments, tables={"moments": finer})
    finally:
        spark.sql("DROP TABLE moments")


def test_a_table_provider(wanted: DataFrame) -> None:
    plan = df_to_substrait(wanted, dialect="datafusion")
    ctx = session.context()
    provider = ctx.from_arrow(GIVEN).into_view()
    assert datafusion.execute(plan, ctx, tables={"given": provider}).num_rows == 3


def test_what_is_no_table(wanted: DataFrame, tmp_path: Path) -> None:
    plan = df_to_substrait(wanted, dialect="datafusion")
    for wrong in (GIVEN.drop_columns("x"), GIVEN.set_column(1, "x", pa.array(list("abcd")))):
        pq.write_table(wrong, tmp_path / "wrong.parquet")
        for source in (wrong, pads.dataset(tmp_path / "wrong.parquet"), pl.from_arrow(wrong)):
            with pytest.raises(InvalidPlanError, match="The table given"):
                datafusion.execute(plan, tables={"given": source})
    with pytest.raises(TypeError, match=r"The table 'given' must be a pyarrow\.Table, .* not list"):
        datafusion.execute(plan, tables={"given": [1]})


def test_nulls_that_a_plan_rules_out(wanted: DataFrame, tmp_path: Path) -> None:
    plan = df_to_substrait(wanted, dialect="datafusion")
    for read in messages(plan):
        if isinstance(read, ReadRel):
            read.base_schema.struct.types[0].i32.nullability = Type.NULLABILITY_REQUIRED
    for source in (GIVEN, _dataset(tmp_path)):
        with pytest.raises(InvalidPlanError, match="'n' holds null, which the plan rules out"):
            datafusion.execute(plan, tables={"given": source})
    whole = GIVEN.filter(pads.field("n").is_valid())
    assert datafusion.execute(plan, tables={"given": pl.from_arrow(whole)}).num_rows == 2


# ---- memory


@pytest.fixture(scope="module")
def large(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """100 MB of rows, in no order."""
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    ctx = session.context()
    ctx.sql(
        "SELECT value * 7919 % 2000000 AS k, value AS v, repeat('x', 24) || CAST(value AS VARCHAR) AS s FROM range(2000000)"
    ).write_parquet(str(path))
    assert pq.read_table(path).nbytes > 100_000_000
    return spark.read.parquet(str(path))


LIMIT = "20M"


@pytest.mark.parametrize("kind", ["aggregate", "sort"])
def test_a_fifth_of_the_memory(large: DataFrame, kind: str, tmp_path: Path) -> None:
    df = large.groupBy("k").agg(F.max("s").alias("s")) if kind == "aggregate" else large.orderBy("k").select("k", "s")
    ctx = datafusion.context(memory_limit=LIMIT, spill_folder=tmp_path / "spilled")
    keys, last = set(), -1
    for batch in datafusion.stream(df, ctx):
        keys.update(found := batch["k"].to_pylist())
        if kind == "sort":
            assert last <= found[0]
            assert found == sorted(found)
            last = found[-1]
    assert len(keys) == 2_000_000
    assert (tmp_path / "spilled").is_dir()


@pytest.mark.parametrize("limit", [LIMIT, "40M"])
def test_a_join_larger_than_memory(large: DataFrame, limit: str) -> None:
    """It ends right, or in one sentence."""
    other = large.select(F.col("v").alias("k"), F.col("s").alias("t"))
    df = large.join(other, "k").where("s <> t OR k >= 0").select("k", "v", "s", "t")
    ctx = datafusion.context(memory_limit=limit)
    rows, error = 0, None
    try:
        for batch in datafusion.stream(df, ctx):
            keys, values, texts = (batch[name].to_pylist() for name in ("k", "v", "t"))
            assert all(value * 7919 % 2_000_000 == key for key, value in zip(keys, values, strict=True))
            assert all(text == f"{'x' * 24}{key}" for key, text in zip(keys, texts, strict=True))
            rows += batch.num_rows
    except EngineError as raised:
        error = str(raised)
    if error is None:
        assert rows == 2_000_000
    else:
        assert error.startswith("DataFusion failed: The query needs more memory than the memory_limit of its context")
    # What was set to spill is set back.
    assert (
        "HashJoin"
        in ctx.sql("SELECT 1 FROM (SELECT 1 AS a) JOIN range(9) ON a = value").execution_plan().display_indent()
    )


@pytest.fixture(scope="module")
def pairs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Two tables of several files each, and of few distinct keys."""
    for name, size in (("left_pairs", 3000), ("right_pairs", 2000)):
        folder = tmp_path_factory.mktemp(name)
        for n in range(10):
            values = range(n, size, 10)
            texts = [f"{'x' * 60}{(value * 7919) % 1000:04}" for value in values]
            pq.write_table(pa.table({"v": values, "s": texts, "k": [v % 400 for v in values]}), folder / f"{n}.parquet")
        spark.read.parquet(str(folder)).createOrReplaceTempView(name)


@pytest.mark.parametrize("limit", [8_000_000, 2_000_000, 1_000_000])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT l.v AS a, r.v AS b FROM left_pairs l {join} right_pairs r ON l.v > r.v + 2700 AND l.s < r.s",
        "SELECT l.k AS a, r.k AS b FROM left_pairs l {join} right_pairs r ON l.k = r.k AND l.v > r.v",
    ],
)
@pytest.mark.parametrize("join", ["JOIN", "LEFT JOIN", "FULL JOIN"])
@pytest.mark.usefixtures("pairs")
def test_joins_by_other_conditions_in_little_memory(spark: SparkSession, query: str, join: str, limit: int) -> None:
    """They end right, or in one sentence."""
    df, error = spark.sql(query.format(join=join)), None
    try:
        rows = datafusion.collect(df, ctx=datafusion.context(memory_limit=limit))
    except EngineError as raised:
        error = str(raised)
    if error is not None:
        assert limit < 8_000_000
        assert error.startswith("DataFusion failed: The query needs more memory than the memory_limit of its context")
    else:
        expected = sorted(repr(tuple(row)) for row in df.collect())
        assert sorted(repr(tuple(row.values())) for row in rows.to_pylist()) == expected


def test_joins_by_nan_in_little_memory(spark: SparkSession, tmp_path: Path) -> None:
    for name, size in (("left", 60_000), ("right", 40_000)):
        (tmp_path / name).mkdir()
        for part in range(4):
            numbers = range(part, size, 4)
            keys = [math.nan if n % 7 == 0 else float(n % 4000) for n in numbers]
            pq.write_table(pa.table({"v": numbers, "k": keys}), tmp_path / name / f"{part}.parquet")
    left, right = (spark.read.parquet(str(tmp_path / name)) for name in ("left", "right"))
    df = left.join(right, "k", "left_anti")
    for limit in range(1_300_000, 1_800_001, 100_000):
        with pytest.raises(EngineError, match="The query needs more memory than the memory_limit of its context"):
            datafusion.collect(df, ctx=datafusion.context(memory_limit=limit))
    assert len(datafusion.collect(df, ctx=datafusion.context(memory_limit=4_000_000))) == df.count()


@since("4.0", "createDataFrame of Arrow tables")
@pytest.mark.usefixtures("pairs")
def test_results_go_back_into_spark(spark: SparkSession) -> None:
    df = spark.sql("SELECT v FROM left_pairs l LEFT SEMI JOIN right_pairs r ON l.v > r.v + 2980")
    result = datafusion.collect(df)
    assert all(batch.num_rows for batch in result.to_batches())
    assert sorted(spark.createDataFrame(result).collect()) == sorted(df.collect()) != []


def test_settings_of_memory(spark: SparkSession, tmp_path: Path) -> None:
    for wrong in ("many", 0, -5, "2 GB", True):
        with pytest.raises(ValueError, match="memory_limit must be a number of bytes"):
            datafusion.context(memory_limit=wrong)
    with pytest.raises(TypeError, match="spill_folder must be the path of a folder, not int"):
        datafusion.context(spill_folder=7)  # type: ignore[arg-type]
    small = datafusion.context(memory_limit=50_000)
    with pytest.warns(CollectedInSparkWarning, match="more memory than the memory_limit"):
        rows = datafusion.collect(spark.range(500_000).orderBy(F.desc("id")), "spark", ctx=small)
    assert rows["id"][0].as_py() == 499_999


# ---- progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _slow(shown: bool | None) -> Iterator[None]:
    """A run of a tenth of a second in two parts."""
    told = progress.Progress(shown)
    for rows in (3, 1_000):
        with told.waiting():
            time.sleep(0.08)
        told.add(rows)
        yield
    told.end()


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.02)
    monkeypatch.setattr(progress, "PACE", 0.02)
    for stream, shown, tells in (
        (_Terminal(), None, True),
        (_Terminal(), False, False),
        (io.StringIO(), None, False),
        (io.StringIO(), True, True),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        list(_slow(shown))
        text = stream.getvalue()
        assert ("3 rows, 0.1 s\r" in text) == tells
        assert text.endswith("1,003 rows, 0.2 s\r\x1b[K\r") == tells
        assert bool(text) == tells
    monkeypatch.setattr(sys, "stderr", None)
    list(_slow(None))


def test_progress_of_a_short_run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream := _Terminal())
    assert datafusion.collect(spark.range(5)).num_rows == 5
    assert not stream.getvalue()


CELL = """
import time
from substrait_spark.engines import progress
progress.PATIENCE = progress.PACE = 0.05
told = progress.Progress(None)
for rows in (3, 1000):
    with told.waiting():
        time.sleep(0.2)
    told.add(rows)
told.end()
"""


@pytest.mark.slow
def test_progress_in_a_notebook() -> None:
    cell: Any = {
        "cell_type": "code",
        "id": "run",
        "metadata": {},
        "source": CELL,
        "outputs": [],
        "execution_count": None,
    }
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
    notebook: Any = nbformat.reads(text, 4)  # type: ignore[no-untyped-call]
    nbclient.NotebookClient(notebook, timeout=60).execute()
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "display_data"
    assert output.data["text/plain"] == "1,003 rows, 0.4 s"
