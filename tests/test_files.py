"""Files: Parquet and ORC, plain and partitioned, with every path and length as it is, or refused by name."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType
from releases import since
from rows import assert_same_rows, plan_of
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from substrait_spark import InvalidPlanError, check, df_to_substrait
from substrait_spark.algebra.message_walk import messages
from substrait_spark.command_line import spark_query
from substrait_spark.engines import datafusion


def reads(plan: Plan) -> list[ReadRel]:
    return [message for message in messages(plan) if isinstance(message, ReadRel)]


def files(plan: Plan) -> list[Any]:
    return [item for read in reads(plan) for item in read.local_files.items]


def columns(read: ReadRel) -> list[str]:
    """The names of a read's output columns, of reads without structs."""
    names = list(read.base_schema.names)
    return [names[n] for n in read.common.emit.output_mapping] if read.common.HasField("emit") else names


# ---- partitioned layouts

KEYS = """VALUES
  (1, 'a b', date'2024-01-01', 1.50BD, 'x'), (2, 'c/d', NULL, 2.25BD, 'y'), (3, NULL, date'1500-02-03', NULL, 'z'),
  (4, 'é%+=#', date'2024-01-01', -1.5BD, NULL), (5, 'a b', date'2024-01-01', 1.50BD, 'v') t(k, p, d, c, v)"""


@pytest.fixture(scope="module")
def parts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("files") / "parts")
    spark.sql(f"SELECT * FROM {KEYS}").write.partitionBy("p", "d", "c").parquet(path)
    return path


def partitioned(spark: SparkSession, path: str) -> DataFrame:
    return spark.read.schema("k int, v string, p string, d date, c decimal(4,2)").parquet(path)


@pytest.mark.smoke
def test_partitions(spark: SparkSession, parts: str) -> None:
    df = partitioned(spark, parts)
    assert_same_rows(df)
    assert_same_rows(df.where("d = date'2024-01-01'").select("c", "k", "d"))
    assert_same_rows(df.groupBy("p").count())
    assert_same_rows(df.where("p IS NULL OR c < 0").select("c", "p"))
    assert_same_rows(spark.read.parquet(parts))  # types that Spark infers


@pytest.mark.parametrize(
    "expression",
    [
        "exists(array(v), x -> x = 'a')",
        "transform(array(v, p), x -> if(x > 'a', x, 'z'))",
        "filter(array(v, p), x -> x IN ('a', 'x'))",
        "array_contains(transform(array(v, p), x -> upper(x)), 'A')",
    ],
)
def test_lambdas_over_text(spark: SparkSession, parts: str, expression: str) -> None:
    assert_same_rows(partitioned(spark, parts).selectExpr("k", f"{expression} AS e"))


def test_partitions_that_no_column_needs_are_one_read(spark: SparkSession, parts: str) -> None:
    (read,) = reads(assert_same_rows(partitioned(spark, parts).select("v")).plan)
    assert len(read.local_files.items) == len(list(Path(parts).rglob("*.parquet")))


def test_pruned_partitions(spark: SparkSession) -> None:
    spark.sql(f"SELECT * FROM {KEYS}").write.mode("overwrite").partitionBy("p").saveAsTable("pruned")
    try:
        df = spark.table("pruned").where("p = 'a b'")
        plan = df_to_substrait(df, reads="files", dialect="datafusion")
        assert {"p=a%20b" in item.uri_file for item in files(plan)} == {True}
        assert any(
            message.WhichOneof("rel_type") == "filter" for message in messages(plan) if hasattr(message, "filter")
        )
        assert sorted(datafusion.execute(plan)["k"].to_pylist()) == [1, 5]
        location = Path(str(spark.conf.get("spark.sql.warehouse.dir")).removeprefix("file:")) / "pruned"
        assert_same_rows(df, tables={"pruned": str(location)})
        assert_same_rows(spark.table("pruned"), tables={"pruned": location})
    finally:
        spark.sql("DROP TABLE pruned")


def test_a_partition_column_in_the_files_too(spark: SparkSession, tmp_path: Path) -> None:
    for value in (1, 2):
        spark.sql(f"SELECT 9 AS p, {value} AS k").write.parquet(str(tmp_path / "t" / f"p={value}"))
    df = spark.read.parquet(str(tmp_path / "t"))
    assert sorted(row.p for row in df.collect()) == [1, 2]
    assert_same_rows(df)


def test_too_many_partitions(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("substrait_spark.rel.files.BRANCHES", 2)
    spark.range(3).selectExpr("id", "id AS p").write.partitionBy("p").parquet(str(tmp_path / "t"))
    df = spark.read.parquet(str(tmp_path / "t"))
    assert "it reads 3 partitions" in str(check(df))
    assert check(df.select("id"))


def test_bucketed_tables_are_plain_ones(spark: SparkSession) -> None:
    spark.range(20).write.mode("overwrite").bucketBy(3, "id").saveAsTable("bucketed")
    try:
        plan = df_to_substrait(spark.table("bucketed").where("id = 7"), reads="files", dialect="datafusion")
        assert datafusion.execute(plan)["id"].to_pylist() == [7]
    finally:
        spark.sql("DROP TABLE bucketed")


@since("4.0", "CLUSTER BY of tables")
def test_clustered_tables_are_plain_ones(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE clustered USING parquet CLUSTER BY (k) AS SELECT id AS k, id % 3 AS v FROM range(20)")
    try:
        plan = df_to_substrait(spark.table("clustered").where("k = 7"), reads="files", dialect="datafusion")
        assert datafusion.execute(plan).to_pylist() == [{"k": 7, "v": 1}]
    finally:
        spark.sql("DROP TABLE clustered")


def test_empty_folders(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    assert_same_rows(spark.read.schema("a int, b string").parquet(str(tmp_path / "nothing")), empty=True)


# ---- paths


@pytest.mark.parametrize(
    "name", ["a b", "a%20b", "a#b", "a+b", "ä", "a=b", "it's", "a;b", "a&b", "a[b]", "a\u0308", "a\tb"]
)
def test_paths_survive(spark: SparkSession, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    spark.range(3).repartition(1).write.parquet(str(path))
    pattern = str(path).replace("[", "?").replace("]", "?")
    df = spark.read.parquet(pattern)
    (item,) = files(assert_same_rows(df).plan)
    assert item.uri_file.startswith("file:///")
    assert item.uri_file.isascii()
    (file,) = path.glob("*.parquet")
    assert item.length == file.stat().st_size


def test_long_listings_become_patterns(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "many"
    spark.range(40).repartition(4).write.parquet(str(path))
    df = spark.read.parquet(str(path))
    for list_files in (4, None):
        assert len(files(df_to_substrait(df, list_files=list_files))) == 4
    plan = df_to_substrait(df, list_files=3, dialect="datafusion")
    (item,) = files(plan)
    assert item.uri_path_glob == f"file://{path}/*.parquet"
    assert sorted(datafusion.execute(plan)["id"].to_pylist()) == list(range(40))
    # Of less than a folder, or beside what Spark skips, there is no pattern.
    some = [str(file) for file in sorted(path.glob("*.parquet"))[:3]]
    assert len(files(df_to_substrait(spark.read.parquet(*some), list_files=1))) == 3
    (path / "_hidden.parquet").touch()
    assert len(files(df_to_substrait(spark.read.parquet(str(path)), list_files=3))) == 4


@pytest.mark.parametrize("value", [-1, True, "5", 1.5])
def test_list_files_is_a_number_of_files(spark: SparkSession, value: Any) -> None:
    with pytest.raises(ValueError, match="list_files must be None or a number of files"):
        df_to_substrait(spark.range(1), list_files=value)


# ---- columns


def test_unused_columns_are_not_read(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    spark.sql("SELECT 1 AS a, 2 AS b, 'x' AS c, array(INTERVAL '1' DAY) AS i").write.parquet(path)
    df = spark.read.parquet(path)
    (read,) = reads(assert_same_rows(df.where("b > 0").select("a")).plan)
    assert columns(read) == ["a", "b"]
    assert "i" not in read.base_schema.names  # DataFusion has no such columns
    assert not check(df, dialect="datafusion")
    df.createOrReplaceTempView("unused")
    for query in (
        "SELECT a FROM unused UNION ALL SELECT b FROM unused",
        "SELECT a, (SELECT max(b) FROM unused) AS m FROM unused",
        "SELECT l.a, l.c FROM unused l LEFT JOIN unused r ON l.a = r.b",
        "SELECT c, sum(a) FROM unused GROUP BY c",
        "SELECT a FROM unused WHERE b IN (SELECT b FROM unused)",
        "SELECT a, explode(array(a, b)) FROM unused",
        "SELECT DISTINCT c FROM unused ORDER BY c LIMIT 1",
        "SELECT count(*) FROM unused",
    ):
        assert_same_rows(spark.sql(query))


def test_schemas_narrower_wider_and_in_another_order(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    spark.sql("SELECT 1 AS a, 'x' AS b, named_struct('x', 1, 'y', 'q') AS s").write.parquet(path)
    for schema in (
        "b string, a int",
        "z double, a int",
        "s struct<y:string>",
        "s struct<z:int,y:string,x:int>, b string",
    ):
        assert_same_rows(spark.read.schema(schema).parquet(path))
    assert_same_rows(spark.read.parquet(path).select("s.y"))


def test_merged_schemas(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("SELECT 1 AS a, 'x' AS b").write.parquet(str(tmp_path / "t" / "n=1"))
    spark.sql("SELECT 2 AS a, 1.5D AS c").write.parquet(str(tmp_path / "t" / "n=2"))
    assert_same_rows(spark.read.option("mergeSchema", "true").parquet(str(tmp_path / "t")))


NAMED = {
    "each row's file": lambda df: df.select("k", "_metadata.file_path", "_metadata.file_name", "_metadata.file_size"),
    "the function": lambda df: df.where("k > 1").select("k", "p", F.input_file_name().alias("file")).where("k < 5"),
    "no other column": lambda df: df.select(F.input_file_name()),
    "grouped": lambda df: df.groupBy(F.input_file_name().alias("file"), "_metadata.file_size").agg(F.sum("k")),
    "filtered": lambda df: df.where("_metadata.file_name LIKE '%0%' AND d IS NULL").select("k", "_metadata.file_name"),
    "passed on": lambda df: df.withColumn("x", df.k + 1).where("x > 2").select("x", "_metadata.file_name"),
    "above a join": lambda df: df.join(df.sparkSession.range(3), df.k == F.col("id")).select(
        "k", "_metadata.file_path"
    ),
    "in one input of a union": lambda df: df.select("k", F.input_file_name()).union(df.select("k", "v")),
    "no file": lambda df: df.where("k > 99 AND d = date'1900-01-01'").select("k", "_metadata.file_name"),
}
"""Queries that ask for the files of their rows."""


@pytest.mark.parametrize("query", NAMED)
def test_names_and_sizes_of_files(spark: SparkSession, parts: str, query: str) -> None:
    df = NAMED[query](partitioned(spark, parts))
    assert_same_rows(df, empty=query == "no file", stages=["optimized", "analyzed"])


def test_names_of_text_files(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "csv é;x%20")
    spark.range(4).selectExpr("id", "'x' AS s").write.csv(path)
    assert_same_rows(spark.read.schema("id int, s string").csv(path).select("*", F.input_file_name()))
    spark.range(4).write.json(path, mode="overwrite")
    assert_same_rows(spark.read.schema("id int").json(path).select("id", "_metadata.file_path"))


def test_names_of_files_of_version_two_sources(spark: SparkSession, parts: str) -> None:
    spark.conf.set("spark.sql.sources.useV1SourceList", "")
    try:
        assert_same_rows(partitioned(spark, parts).select("k", F.input_file_name()))
    finally:
        spark.conf.unset("spark.sql.sources.useV1SourceList")


def test_what_else_is_asked_of_files_is_refused(spark: SparkSession, parts: str) -> None:
    df = partitioned(spark, parts)
    whole, time = df.select("_metadata"), df.select("_metadata.file_modification_time", "_metadata.file_name")
    for query in (whole, time, df.groupBy("_metadata").count()):
        assert "Use no more of it than _metadata.file_path" in str(check(query))
    for query in (df.orderBy("k"), df.limit(2), df.distinct(), df.join(df.sparkSession.range(2))):
        assert "right above the read of the files" in str(check(query.select(F.input_file_name())))
    assert "names a folder with a pattern" in str(check(df.select("_metadata.file_name"), list_files=0))


def test_the_cache_tells_no_names_of_files(spark: SparkSession, parts: str) -> None:
    df = partitioned(spark, parts).cache()
    try:
        for stage in ("optimized", "analyzed"):
            assert "InputFileName" in str(check(df.select(F.input_file_name()), stage=stage))
    finally:
        df.unpersist()
    assert check(df.select(F.input_file_name()))


def test_names_of_a_table_s_files(spark: SparkSession) -> None:
    spark.range(2).write.saveAsTable("with_metadata")
    try:
        for column in ("_metadata.file_name", "input_file_name()"):
            df = spark.table("with_metadata").selectExpr("id", column)
            assert "Use reads='files'" in str(check(df))
            rows = datafusion.execute(df_to_substrait(df, reads="files", dialect="datafusion"))
            assert sorted(map(tuple, df.collect())) == sorted(zip(*rows.to_pydict().values(), strict=True))
        assert check(spark.table("with_metadata"))
    finally:
        spark.sql("DROP TABLE with_metadata")


def test_defaults_of_added_columns_are_refused_in_files(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE added (a int) USING parquet")
    try:
        spark.sql("INSERT INTO added VALUES (1)")
        spark.sql("ALTER TABLE added ADD COLUMN b int DEFAULT 7")
        df = spark.table("added")
        assert check(df)
        assert "files from before the column b was added lack its default value" in str(check(df, reads="files"))
        assert check(df.select("a"), reads="files")
        (folder,) = {Path(file.removeprefix("file:")).parent for file in df.inputFiles()}
        with pytest.raises(InvalidPlanError, match="lacks the column 'b', and only Spark's catalog knows"):
            datafusion.execute(plan_of(df, "datafusion"), tables={"added": folder})
        assert_same_rows(df.select("a"), tables={"added": folder})
    finally:
        spark.sql("DROP TABLE added")


@pytest.mark.parametrize("option", ["datetimeRebaseMode", "int96RebaseMode"])
def test_rebased_calendars_are_refused(spark: SparkSession, parts: str, option: str) -> None:
    df = spark.read.option(option, "LEGACY").parquet(parts)
    assert f"the option {option.lower()}=LEGACY changes what is read" in str(check(df))


@pytest.mark.parametrize(
    ("setting", "mode", "refused"),
    [
        ("datetime", "LEGACY", True),
        ("int96", "LEGACY", True),
        ("datetime", "EXCEPTION", False),
        ("int96", "CORRECTED", False),
    ],
)
def test_sessions_that_rebase_calendars(
    spark: SparkSession, tmp_path: Path, setting: str, mode: str, refused: bool
) -> None:
    path = str(tmp_path / "dates")
    spark.sql("SELECT 1 AS k, array(named_struct('d', DATE'2024-01-01')) AS a").write.parquet(path)
    session = spark.newSession()
    session.conf.set(f"spark.sql.parquet.{setting}RebaseModeInRead", mode)
    df = session.read.parquet(path)
    if refused:
        assert f"{setting}RebaseModeInRead=LEGACY changes what is read" in str(check(df))
    else:
        assert_same_rows(df)
    assert_same_rows(df.select("k"))
    assert_same_rows(
        session.read.option("datetimeRebaseMode", "CORRECTED").option("int96RebaseMode", "CORRECTED").parquet(path)
    )


def test_sessions_that_shift_times_or_find_columns_by_number(spark: SparkSession, tmp_path: Path) -> None:
    times, numbered = str(tmp_path / "times.parquet"), str(tmp_path / "numbered.parquet")
    pq.write_table(pa.table({"t": pa.array([10**15], pa.timestamp("us"))}), times, use_deprecated_int96_timestamps=True)
    fields = [pa.field(name, pa.int64(), metadata={"PARQUET:field_id": n}) for name, n in (("x", "7"), ("y", "8"))]
    pq.write_table(pa.table({"x": [1, 2], "y": [3, 4]}, schema=pa.schema(fields)), numbered)
    schema = StructType([StructField("x", LongType(), True, {"parquet.field.id": 8})])
    session = spark.newSession()
    assert_same_rows(session.read.parquet(times))
    session.conf.set("spark.sql.parquet.int96TimestampConversion", "true")
    session.conf.set("spark.sql.parquet.fieldId.read.enabled", "true")
    assert "int96TimestampConversion=true changes what is read" in str(check(session.read.parquet(times)))
    assert "fieldId.read.enabled=true changes what is read" in str(check(session.read.schema(schema).parquet(numbered)))
    assert_same_rows(session.read.parquet(numbered))


def test_files_named_twice_are_read_twice(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    spark.range(3).repartition(2).write.parquet(path)
    df = spark.read.parquet(path, path)
    assert_same_rows(df)
    assert len(files(df_to_substrait(df, list_files=0))) == 4


def test_partitions_of_zeros_and_of_too_many_digits(spark: SparkSession, tmp_path: Path) -> None:
    zeros, digits = str(tmp_path / "zeros"), tmp_path / "digits"
    spark.sql("SELECT explode(array(-0.0D, 0.0D)) AS p, 1 AS x").write.partitionBy("p").parquet(zeros)
    assert_same_rows(spark.read.parquet(zeros))
    spark.range(1).write.parquet(str(digits / "p=99999999999999999999"))
    df = spark.read.schema("id long, p decimal(10,3)").parquet(str(digits))
    assert "its value has more than 10 digits" in str(check(df))


def test_partitions_of_binary_values(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "b=ab").mkdir()
    spark.range(2).write.parquet(str(tmp_path / "b=cd"))
    df = spark.read.schema("id long, b binary").parquet(str(tmp_path))
    try:
        df.collect()
    except Exception:  # noqa: BLE001 - Spark 4 refuses it
        assert "binary" in str(check(df)).lower()
    else:
        assert_same_rows(df)


@since("4.0", "the source `xml`")
def test_xml_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "t.xml").write_text("<rows><row><a>1</a></row></rows>")
    df = spark.read.format("xml").option("rowTag", "row").schema("a int").load(str(tmp_path / "t.xml"))
    (problem,) = check(df)
    assert problem.reason == "files of XmlFileFormat can't be read as Spark does"
    assert "Save them as Parquet" in problem.hint


def test_statistics_of_the_catalog(spark: SparkSession) -> None:
    spark.range(10).write.mode("overwrite").saveAsTable("analyzed")
    try:
        spark.sql("ANALYZE TABLE analyzed COMPUTE STATISTICS")
        (read,) = reads(plan_of(spark.table("analyzed")))
        assert read.common.hint.stats.row_count == 10
        assert read.common.hint.stats.record_size > 0
    finally:
        spark.sql("DROP TABLE analyzed")


# ---- other formats


@pytest.mark.smoke
def test_orc(spark: SparkSession, tmp_path: Path) -> None:
    rows = "VALUES (1, 'a', 1.5D, 2.25BD, date'2024-01-01', array(1, NULL)), (NULL, '', NULL, NULL, NULL, NULL)"
    spark.sql(f"SELECT * FROM {rows} t(i, s, d, c, t, l)").write.orc(str(tmp_path / "t"))
    plan = assert_same_rows(spark.read.orc(str(tmp_path / "t"))).plan
    assert {item.WhichOneof("file_format") for item in files(plan)} == {"orc"}
    for value, message in (("timestamp'2024-01-01'", "time zone"), ("date'1500-01-01'", "Julian calendar")):
        path = str(tmp_path / message)
        spark.sql(f"SELECT {value} AS t").write.orc(path)
        with pytest.raises(InvalidPlanError, match=message):
            datafusion.execute(plan_of(spark.read.orc(path), "datafusion"))


def test_orc_of_before_a_column_of_times(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    spark.sql("SELECT id, date'2024-02-29' AS d FROM range(3)").write.orc(path)
    assert_same_rows(spark.read.schema("t timestamp, id bigint, d date").orc(path))


def test_orc_of_partition_columns_alone_and_by_position(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    spark.sql("SELECT id, id % 2 AS p FROM range(5)").write.partitionBy("p").orc(path)
    assert_same_rows(spark.read.schema("p int").orc(path).groupBy().count())
    session = spark.newSession()
    session.conf.set("orc.force.positional.evolution", "true")
    assert "files of OrcFileFormat by position" in str(check(session.read.orc(path)))
    by_option = spark.read.option("orc.force.positional.evolution", "true").orc(path)
    assert "the option orc.force.positional.evolution=true" in str(check(by_option))


def test_files_of_version_2_sources(spark: SparkSession, parts: str) -> None:
    spark.conf.set("spark.sql.sources.useV1SourceList", "")
    spark.conf.set("spark.sql.parquet.aggregatePushdown", "true")
    try:
        df = spark.read.parquet(parts)
        assert_same_rows(df)
        kept = df.where("p = 'a b' AND k > 1").select("k", "c")
        assert {"p=a%20b" in item.uri_file for item in files(assert_same_rows(kept).plan)} == {True}
        assert "only Spark knows what the source was asked for" in str(check(df.selectExpr("max(k)")))
    finally:
        spark.conf.unset("spark.sql.sources.useV1SourceList")
        spark.conf.unset("spark.sql.parquet.aggregatePushdown")


# ---- Parquet that others wrote

WRITTEN: dict[str, tuple[pa.Array, dict[str, Any]]] = {
    "nulls alone": (pa.nulls(3), {}),
    "nulls inside": (pa.array([{"a": 1, "n": None}, None], pa.struct([("a", pa.int32()), ("n", pa.null())])), {}),
    "milliseconds": (pa.array([0, 1, -(10**12), None], pa.timestamp("ms", "UTC")), {}),
    "int96": (pa.array([0, 10**15, None], pa.timestamp("us")), {"use_deprecated_int96_timestamps": True}),
    "dictionary": (pa.array(["a", None, "a"]).dictionary_encode(), {}),
    "large string": (pa.array(["a", None], pa.large_string()), {}),
    "large binary": (pa.array([b"a", None], pa.large_binary()), {}),
    "fixed binary": (pa.array([b"ab", None], pa.binary(2)), {}),
    "decimal in int32": (
        pa.array([decimal.Decimal("1.5"), None], pa.decimal128(5, 2)),
        {"store_decimal_as_integer": True},
    ),
    "decimal": (pa.array([decimal.Decimal("1.5"), None], pa.decimal128(30, 2)), {}),
    "unsigned 8": (pa.array([0, 255, None], pa.uint8()), {}),
    "unsigned 16": (pa.array([0, 65535, None], pa.uint16()), {}),
    "unsigned 32": (pa.array([0, 2**32 - 1, None], pa.uint32()), {}),
    "unsigned 64": (pa.array([0, 2**64 - 1, None], pa.uint64()), {}),
    "date64": (pa.array([dt.date(2024, 1, 1), None], pa.date64()), {}),
    "nested nulls": (pa.array([[{"x": None}, None], None, []], pa.list_(pa.struct([("x", pa.int32())]))), {}),
    "maps": (pa.array([[("a", None)], None, []], pa.map_(pa.string(), pa.int64())), {}),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_parquet_of_other_writers(spark: SparkSession, tmp_path: Path, name: str) -> None:
    array, options = WRITTEN[name]
    pq.write_table(pa.table({"c": array}), tmp_path / "t.parquet", **options)
    assert_same_rows(spark.read.parquet(str(tmp_path / "t.parquet")))


NAN = float("nan")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT x FROM t WHERE x + 0 > 50",  # Spark compares columns themselves with statistics, too
        "SELECT max(x), max(k), count(*) FROM t WHERE k > 0",
        "SELECT k, max(x) FROM t GROUP BY k ORDER BY 2 DESC LIMIT 2",
        "SELECT count(*) FROM t JOIN (VALUES (double('NaN'), 'a')) v(y, s) ON x = y AND t.s = v.s",
        "SELECT * FROM t",
    ],
)
@pytest.mark.parametrize("files", [1, 9])
def test_constant_columns_with_nan(spark: SparkSession, tmp_path: Path, query: str, files: int) -> None:
    for n in range(files):
        times = pa.array([0, n], pa.timestamp("us"))
        columns = {"k": [n, 1], "x": [1.0, NAN if n == files - 1 else 1.0], "s": ["a", "a"], "t": times}
        pq.write_table(pa.table(columns), tmp_path / f"{n}.parquet", use_deprecated_int96_timestamps=True)
    spark.read.parquet(str(tmp_path)).createOrReplaceTempView("t")
    assert_same_rows(spark.sql(query), ordered="ORDER BY" in query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(a), count(*) FROM t",
        "SELECT k FROM t WHERE a IS NULL",
        "SELECT a FROM t ORDER BY a NULLS FIRST LIMIT 2",
        "SELECT t.k FROM t JOIN t u ON t.a <=> u.a",
    ],
)
def test_files_that_count_no_nulls(spark: SparkSession, tmp_path: Path, query: str) -> None:
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1, None, None, None, 5], "k": [1, 2, 3, 4, 5]}), file)
    # In the statistics, the number of nulls, 3, becomes one of distinct values.
    file.write_bytes(file.read_bytes().replace(b"\x16\x06\x28\x08", b"\x26\x06\x18\x08"))
    assert not pq.read_metadata(file).row_group(0).column(0).statistics.has_null_count
    spark.read.parquet(str(file)).createOrReplaceTempView("t")
    assert_same_rows(spark.sql(query))


@pytest.mark.parametrize(
    "calls",
    [
        "min(p), max(q)",
        "min(p), max(p)",
        "max(q), min(p + 1)",
        "max(q), max(p) FILTER (WHERE q < 3)",
        "bool_and(p > 0), max(q)",
        "max(q), max(struct(p, s))",
        "min(s), max(q), min(p)",
    ],
)
def test_totals_over_files_that_begin_with_nulls(spark: SparkSession, tmp_path: Path, calls: str) -> None:
    for n in range(12):
        last = n == 11
        columns = {
            "p": pa.array([1 if last else None], pa.int64()),
            "q": [2 if last else 3],
            "s": ["" if last else "a"],
        }
        pq.write_table(pa.table(columns), tmp_path / f"{n:02}.parquet")
    spark.read.parquet(str(tmp_path)).createOrReplaceTempView("t")
    assert_same_rows(spark.sql(f"SELECT {calls} FROM t"))
    assert_same_rows(
        spark.sql(f"SELECT * FROM (SELECT {calls} FROM t WHERE q > 0) CROSS JOIN (SELECT min(s), max(q) FROM t)")
    )


@pytest.mark.parametrize(
    ("column", "array", "schema", "message"),
    [
        ("C", pa.array([1]), "c bigint", "is called 'C' there"),
        ("c", pa.array([0], pa.timestamp("ns", "UTC")), "c timestamp", "holds timestamp.ns"),
        ("c", pa.array([0], pa.timestamp("us")), "c timestamp", "holds timestamp.us"),
        ("c", pa.array([2**40]), "c int", "holds int64, and the plan reads it as int32"),
        ("c", pa.array(["1"]), "c int", "holds string"),
        ("c", pa.array([1.5]), "c float", "holds double"),
        ("c", pa.array([{"X": 1}]), "c struct<x:bigint>", "is called 'X' there"),
        ("c", pa.array([{"y": 1}]), "c struct<x:bigint>", "without any of the fields"),
        ("c", pa.array([decimal.Decimal("1.55")]), "c decimal(3,1)", "holds decimal"),
    ],
)
def test_columns_that_spark_reads_otherwise(
    spark: SparkSession, tmp_path: Path, column: str, array: pa.Array, schema: str, message: str
) -> None:
    pq.write_table(pa.table({column: array}), tmp_path / "t.parquet")
    plan = plan_of(spark.read.schema(schema).parquet(str(tmp_path / "t.parquet")), "datafusion")
    with pytest.raises(InvalidPlanError, match=message):
        datafusion.execute(plan)


def test_wider_types_than_the_file(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table({"a": pa.array([1, None], pa.int8()), "b": pa.array([1.5, None], pa.float32())})
    pq.write_table(table, tmp_path / "t.parquet")
    df = spark.read.schema("a int, b float, missing string").parquet(str(tmp_path / "t.parquet"))
    assert_same_rows(df)


def test_a_file_that_went_missing(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).repartition(1).write.parquet(str(tmp_path / "t"))
    plan = plan_of(spark.read.parquet(str(tmp_path / "t")), "datafusion")
    (file,) = (tmp_path / "t").glob("*.parquet")
    file.unlink()
    with pytest.raises(InvalidPlanError, match="There is no file"):
        datafusion.execute(plan)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"a": [1]}, "exactly one column 'b'"),
        ({"a": [1], "b": [1]}, "'b' holds int64"),
    ],
)
def test_tables_that_are_not_what_the_plan_says(spark: SparkSession, table: dict[str, Any], message: str) -> None:
    spark.sql("CREATE TABLE given (a bigint, b string) USING parquet")
    try:
        plan = plan_of(spark.table("given"), "datafusion")
    finally:
        spark.sql("DROP TABLE given")
    with pytest.raises(InvalidPlanError, match=message):
        datafusion.execute(plan, tables={"given": pa.table(table)})
    with pytest.raises(InvalidPlanError, match="There is no table"):
        datafusion.execute(plan)
    good = pa.table({"b": pa.array(["x"]).dictionary_encode(), "a": [1]})
    assert datafusion.execute(plan, tables={"given": good}).to_pylist() == [{"a": 1, "b": "x"}]


def test_columns_that_the_plan_does_not_use_may_be_anything(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), path)
    df = spark.read.schema("a long, b int").parquet(path)
    assert_same_rows(df.select("a"))
    with pytest.raises(InvalidPlanError, match="'b' holds string"):
        datafusion.execute(plan_of(df, "datafusion"))


def test_structs_of_times_with_and_without_a_zone(spark: SparkSession, tmp_path: Path) -> None:
    with_zone, without = "TIMESTAMP'2024-01-01 01:02:03'", "TIMESTAMP_NTZ'2024-01-01 01:02:03'"
    row = f"named_struct('n', {without}, 't', {with_zone}) AS s, map({without}, array({with_zone})) AS m, 1 AS k"
    spark.sql(f"SELECT {row}").write.parquet(str(tmp_path / "t"))
    assert_same_rows(spark.read.parquet(str(tmp_path / "t")))


def test_tables_by_the_last_part_of_their_name(spark: SparkSession) -> None:
    spark.sql("CREATE DATABASE other")
    try:
        spark.sql("CREATE TABLE other.twice USING parquet AS SELECT 1 AS a")
        spark.sql("CREATE TABLE twice USING parquet AS SELECT 2 AS a")
        df = spark.table("twice").union(spark.table("other.twice"))
        one, two = (pa.table({"a": pa.array([n], pa.int8())}) for n in (1, 2))
        with pytest.raises(InvalidPlanError, match="give each by its full name"):
            datafusion.execute(plan_of(df, "datafusion"), tables={"twice": two})
        assert_same_rows(df, tables={"twice": two, "spark_catalog.other.twice": one})
        with pytest.raises(TypeError, match=r"must be a pyarrow\.Table, a path, .* not list"):
            datafusion.execute(plan_of(spark.table("twice"), "datafusion"), tables={"twice": [2]})
    finally:
        spark.sql("DROP TABLE IF EXISTS twice")
        spark.sql("DROP DATABASE other CASCADE")


def test_tables_in_folders(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql('CREATE TABLE folders (`a"b` int, p int) USING parquet PARTITIONED BY (p)')
    try:
        assert_same_rows(spark.table("folders"), tables={"folders": tmp_path}, empty=True)
        spark.sql("INSERT INTO folders VALUES (1, 2), (3, 4)")
        df = spark.table("folders")
        (folder,) = {Path(file.removeprefix("file:")).parent.parent for file in df.inputFiles()}
        assert_same_rows(df, tables={"folders": folder})
        before = datafusion.execute(plan_of(df, "datafusion"), tables={"folders": folder})
        (folder / "p=2").rename(folder / "P=2")
        after = datafusion.execute(plan_of(df, "datafusion"), tables={"folders": folder})
        assert before.sort_by("p") == after.sort_by("p")
    finally:
        spark.sql("DROP TABLE folders")


@pytest.mark.parametrize("format", ["parquet", "orc", "csv"])
def test_rows_without_columns(spark: SparkSession, tmp_path: Path, format: str) -> None:
    path = str(tmp_path / format)
    spark.range(5).selectExpr("CAST(id AS STRING) AS id").write.format(format).save(path)
    found = assert_same_rows(spark.read.schema("id string").format(format).load(path).drop("id"))
    assert (found.rows.num_rows, found.rows.num_columns) == (5, 0)


@pytest.mark.parametrize(
    ("log", "table", "read", "format"),
    [
        ("_delta_log/00000000000000000000.json", "", "", "Delta"),
        ("_delta_log/00000000000000000000.json", "", "p=1", "Delta"),
        ("_delta_log/00000000000000000000.json", "", "p=1/part.parquet", "Delta"),
        (".hoodie/hoodie.properties", "", "", "Hudi"),
        ("metadata/v1.metadata.json", "data", "data", "Iceberg"),
        ("metadata/v1.metadata.json", "data", "data/p=1", "Iceberg"),
    ],
)
def test_files_of_tables_are_refused(
    spark: SparkSession, tmp_path: Path, log: str, table: str, read: str, format: str
) -> None:
    folder = tmp_path / "a.table"
    (folder / table / "p=1").mkdir(parents=True)
    pq.write_table(pa.table({"x": [1]}), folder / table / "p=1" / "part.parquet")
    assert_same_rows(spark.read.parquet(str(folder / read)))
    (folder / log).parent.mkdir()
    (folder / log).touch()
    (problem,) = check(spark.read.parquet(str(folder / read))).problems
    assert f"belong to a table of {format}" in problem.reason
    spark.sql("CREATE TABLE given (x bigint) USING parquet")
    try:
        plan = plan_of(spark.table("given"), "datafusion")
    finally:
        spark.sql("DROP TABLE given")
    # The folder of a Delta table is read as one, where its reader is installed.
    refusal = "takes the package deltalake" if (format, read) == ("Delta", "") else f"belongs to a table of {format}"
    with pytest.raises(InvalidPlanError, match=refusal):
        datafusion.execute(plan, tables={"given": folder / read})
    with pytest.raises(click.ClickException, match=f"belongs to a table of {format}"):
        spark_query.table(spark, "given", str(folder / read))


def test_folders_with_the_names_of_logs_are_plain_ones(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("metadata", "data"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"x": [1]}), tmp_path / name / "part.parquet")
    (tmp_path / "data" / "inner").mkdir()
    (tmp_path / "_delta_log").mkdir()
    assert_same_rows(spark.read.parquet(str(tmp_path / "data")))
