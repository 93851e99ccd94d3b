"""Sources other than files: catalog names, other systems, local rows; and that no secret of a source leaves the JVM."""

from __future__ import annotations

import datetime as dt
import decimal
import logging
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession
from releases import since
from rows import assert_same_rows, differences, plan_of, spark_table
from substrait.algebra_pb2 import ReadRel
from substrait.plan_pb2 import Plan

from substrait_spark import SubstraitSparkError, UnsupportedPlanError, check, df_to_substrait, explain
from substrait_spark.algebra.message_walk import messages
from substrait_spark.catalyst import reader
from substrait_spark.catalyst.failures import failure_text
from substrait_spark.catalyst.locations import uri
from substrait_spark.context import Context, Settings
from substrait_spark.conversion import emit_text
from substrait_spark.dialects.file import load
from substrait_spark.engines import datafusion
from substrait_spark.errors import Unsupported


def reads(plan: Plan) -> list[ReadRel]:
    return [message for message in messages(plan) if isinstance(message, ReadRel)]


# ---- catalog tables


@pytest.mark.parametrize("name", ["ünïcode", "with space", "UPPER"])
def test_names_of_tables(spark: SparkSession, name: str) -> None:
    try:
        spark.sql(f"CREATE TABLE `{name}` (a int) USING parquet")
    except Exception:  # noqa: BLE001 - this Spark's catalog allows fewer names
        pytest.skip("this Spark's catalog has no such names")
    try:
        (read,) = reads(plan_of(spark.table(f"`{name}`")))
        parts = list(read.named_table.names)
        assert parts[-1].lower() == name.lower()
        table = pa.table({"a": pa.array([1, None], pa.int32())})
        plan = plan_of(spark.table(f"`{name}`"), "datafusion")
        assert datafusion.execute(plan, tables={parts[-1]: table}).num_rows == 2
    finally:
        spark.sql(f"DROP TABLE `{name}`")


def test_views_of_tables_are_expanded(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE below (a int, b string) USING parquet")
    spark.sql("CREATE VIEW above AS SELECT b, a + 1 AS c FROM below WHERE a > 1")
    try:
        (read,) = reads(plan_of(spark.table("above")))
        assert read.named_table.names[-1] == "below"
        table = pa.table({"a": pa.array([1, 2, None], pa.int32()), "b": ["x", "y", "z"]})
        plan = plan_of(spark.table("above"), "datafusion")
        assert datafusion.execute(plan, tables={"below": table}).to_pylist() == [{"b": "y", "c": 3}]
    finally:
        spark.sql("DROP VIEW above")
        spark.sql("DROP TABLE below")


def test_hive_tables_go_by_name(spark: SparkSession) -> None:
    """A document as Spark with Hive writes it: HiveTableRelation has the catalog's entry and its columns."""
    document = """{"spark":"4.0.0","configuration":{},"streaming":false,"cached":false,"names":["a","p"],"output":[-1,-2],"root":2,
"classes":[["TableIdentifier","v","table","database","catalog"],
["CatalogTable","v","identifier","tableType","provider"],
["HiveTableRelation","p","tableMeta","dataCols","partitionCols","tableStats","prunedPartitions"]],
"types":[["integer"],["string"]],"columns":[1,"a",1,"",3,"p",2,""],
"nodes":[[0,"t","d","spark_catalog"],[1,0,"MANAGED","hive"],[2,1,[-1],[-2],null,null]]}"""
    context = Context(Settings(load(None), "auto", 10))
    plan = emit_text(context, lambda: document)
    assert plan is not None
    (read,) = reads(plan)
    assert list(read.named_table.names) == ["spark_catalog", "d", "t"]
    assert list(read.base_schema.names) == ["a", "p"]
    context = Context(Settings(load(None), "files", 10))
    assert emit_text(context, lambda: document) is None
    assert "can't be read as Hive does" in context.problems[0].reason


@pytest.fixture
def csv_table(spark: SparkSession) -> Iterator[str]:
    spark.sql("CREATE TABLE of_text (a string, b string) USING csv")
    spark.sql("INSERT INTO of_text SELECT /*+ COALESCE(1) */ * FROM VALUES ('a', 'b'), ('1', 'x'), ('2', NULL)")
    yield "of_text"
    spark.sql("DROP TABLE of_text")


OPTIONS_COUNT = since("4.0", "reads of a table with options of their own")

OPTIONS_OF_READS = {
    "header": {"header": "true"},
    "separator": {"sep": "b"},
    "files": {"pathGlobFilter": "*.nothing"},
    "time": {"modifiedAfter": "2050-06-01T13:00:00"},
    "several": {"ignoreCorruptFiles": "true", "NULLVALUE": "x"},
}


@OPTIONS_COUNT
@pytest.mark.parametrize("name", OPTIONS_OF_READS)
def test_options_that_a_name_does_not_tell_are_refused(spark: SparkSession, csv_table: str, name: str) -> None:
    options = OPTIONS_OF_READS[name]
    df = spark.read.options(**options).table(csv_table)
    for reads_by in ("auto", "tables"):
        (problem,) = check(df, reads=reads_by)
        assert f"with options ({', '.join(sorted(map(str.lower, options)))})" in problem.reason
        assert "reads='files'" in problem.hint
    (read,) = reads(plan_of(spark.table(csv_table)))
    assert read.HasField("named_table")


@OPTIONS_COUNT
def test_options_in_sql_are_refused(spark: SparkSession, csv_table: str) -> None:
    (problem,) = check(spark.sql(f"SELECT a FROM {csv_table} WITH ('header' = 'true')"))
    assert "with options (header)" in problem.reason


def test_the_options_of_a_read_count_where_its_files_are_read(spark: SparkSession, csv_table: str) -> None:
    df = spark.read.option("header", "true").table(csv_table)
    plan = df_to_substrait(df, reads="files", dialect="datafusion")
    rows = spark_table(df)
    assert rows.num_rows
    assert not differences(rows, datafusion.execute(plan))


def test_options_of_reads_that_choose_no_rows(spark: SparkSession, csv_table: str) -> None:
    (read,) = reads(plan_of(spark.read.option("mergeSchema", "true").table(csv_table)))
    assert read.HasField("named_table")


@OPTIONS_COUNT
def test_options_of_a_tables_own_are_its_names(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE of_header (a string) USING csv OPTIONS (HEADER 'true', sep ';')")
    try:
        (read,) = reads(plan_of(spark.table("of_header")))
        assert read.HasField("named_table")
        (problem,) = check(spark.read.option("quote", "'").table("of_header"))
        assert "(quote)" in problem.reason
    finally:
        spark.sql("DROP TABLE of_header")


# ---- Iceberg and Delta, by documents that were recorded with Iceberg 1.10 and Delta 4.0 on Spark 4.0


def recorded(name: str, **changes: str) -> tuple[Plan | None, Context]:
    """The plan of a recorded document, with some of its text changed."""
    text = (Path(__file__).parent / "documents" / f"{name}.json").read_text("utf-8")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    context = Context(Settings(load(None), "auto", 10))
    return emit_text(context, lambda: text), context


def test_iceberg_by_snapshot_with_its_filters() -> None:
    """SELECT k … WHERE p='a' AND k>0 AND d > date'2020-01-01' AND c < 3.5: p, by which the table is partitioned, and
    its filter are in the scan only."""
    plan, _ = recorded("iceberg")
    assert plan is not None
    (read,) = reads(plan)
    assert read.iceberg_table.direct.metadata_uri == "/data/db/t/metadata/v2.metadata.json"
    assert read.iceberg_table.direct.snapshot_id.isdigit()
    assert list(read.base_schema.names) == ["k", "p", "d", "ts", "c"]
    assert "equal($1:p, 'a')" in explain(plan)
    assert "lt($3:c, 3.50::decimal<5, 2>)" in explain(plan)
    changed, context = recorded("iceberg", EQ="NEVER_HEARD_OF")
    assert changed is None
    assert "NEVER_HEARD_OF" in context.problems[0].reason
    plan, _ = recorded("iceberg", LT="NOT_EQ")
    assert plan is not None
    assert "not(equal($3:c, 3.50::decimal<5, 2>))" in explain(plan)


def test_delta_by_the_files_of_its_snapshot() -> None:
    """A partitioned table after a DELETE that removed one of its files; read by path, WHERE p = 1."""
    plan, _ = recorded("delta")
    assert plan is not None
    assert sorted(item.uri_file.rsplit("/", 2)[1] for read in reads(plan) for item in read.local_files.items) == [
        "p=0",
        "p=0",
        "p=1",
    ]
    changed, context = recorded("delta", ParquetFileFormat="DeltaParquetFileFormat")
    assert changed is None
    assert "DeltaParquetFileFormat can't be read as Spark does" in context.problems[0].reason


def test_avro_is_refused() -> None:
    """Spark reads Avro by a package that its distribution lacks; the document names the class."""
    plan, context = recorded("delta", **{"execution.datasources.parquet.ParquetFileFormat": "avro.AvroFileFormat"})
    assert plan is None
    assert context.problems[0].reason == "files of AvroFileFormat can't be read as Spark does"
    assert "Save them as Parquet" in context.problems[0].hint


# ---- other systems


@pytest.fixture(scope="module")
def derby(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A JDBC URL that holds a password, of the database that Spark's distribution has in it."""
    path = tmp_path_factory.mktemp("derby") / "db"
    url = f"jdbc:derby:{path};create=true;user=planted_user;password=planted_in_url"
    driver = "org.apache.derby.jdbc.EmbeddedDriver"
    spark.range(3).withColumnRenamed("id", "A").write.jdbc(url, "T", properties={"driver": driver})
    return url


def test_jdbc_is_refused(spark: SparkSession, derby: str) -> None:
    df = spark.read.jdbc(derby, "T", properties={"password": "planted_password"})
    assert df.count() == 3
    (problem,) = check(df.where("A > 1"))
    assert problem.reason.startswith("a table of another database, by JDBC,")
    assert "planted" not in str(check(df))


@OPTIONS_COUNT
def test_tables_of_jdbc_go_by_name_without_options_of_the_read(spark: SparkSession, derby: str) -> None:
    driver = "org.apache.derby.jdbc.EmbeddedDriver"
    spark.sql(f"CREATE TABLE by_jdbc USING jdbc OPTIONS (url '{derby}', dbtable 'T', driver '{driver}')")
    try:
        # The first read, which Spark takes the options of.
        (problem,) = check(spark.read.option("sessionInitStatement", "VALUES 1").table("by_jdbc"))
        assert "with options (sessioninitstatement)" in problem.reason
        assert "planted" not in str(problem)
        spark.catalog.refreshTable("by_jdbc")
        (read,) = reads(plan_of(spark.table("by_jdbc")))
        assert read.named_table.names[-1] == "by_jdbc"
    finally:
        spark.sql("DROP TABLE by_jdbc")


def test_jdbc_catalogs_are_refused(spark: SparkSession, derby: str) -> None:
    session = spark.newSession()  # a session has its catalogs to its end
    prefix = "spark.sql.catalog.other"
    session.conf.set(prefix, "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    session.conf.set(f"{prefix}.url", derby)
    session.conf.set(f"{prefix}.driver", "org.apache.derby.jdbc.EmbeddedDriver")
    for query in (
        "SELECT * FROM other.PLANTED_USER.T WHERE A > 1",
        "SELECT max(A) FROM other.PLANTED_USER.T",
        "SELECT * FROM other.PLANTED_USER.T ORDER BY A LIMIT 1",
        "SELECT * FROM other.PLANTED_USER.T LIMIT 2",
    ):
        found = str(check(session.sql(query)))
        assert "by JDBC" in found
        assert "planted_in_url" not in found


def test_streams_and_sinks_are_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    assert "streaming" in str(check(stream))
    query = stream.writeStream.format("memory").queryName("sink").start()
    try:
        assert_same_rows(spark.table("sink").limit(0), empty=True)
    finally:
        query.stop()


# ---- local rows

MOMENT = dt.datetime(2024, 3, 10, 12, 30, 0, 123456)


def numpy_frame(spark: SparkSession) -> DataFrame:
    numpy = pytest.importorskip("numpy")
    return spark.createDataFrame(numpy.array([[1, 2], [3, 4]]))


def pandas_frame(spark: SparkSession) -> DataFrame:
    pandas = pytest.importorskip("pandas")
    return spark.createDataFrame(pandas.DataFrame({"a": [1, 2], "t": [MOMENT, None], "s": ["x", None]}))


LOCAL: dict[str, Any] = {
    "tuples": lambda spark: spark.createDataFrame([(1, "a"), (None, None)], "k int, s string"),
    "rows": lambda spark: spark.createDataFrame([Row(k=1, s=Row(x=1.5)), Row(k=2, s=None)]),
    "dicts": lambda spark: spark.createDataFrame([{"k": 1}, {"k": None}]),
    "scalars": lambda spark: spark.createDataFrame([MOMENT], "timestamp"),
    "decimals": lambda spark: spark.createDataFrame([(decimal.Decimal("1.50"),), (None,)], "d decimal(10,2)"),
    "nested": lambda spark: spark.createDataFrame(
        [([{"a": 1}], b"x"), (None, None)], "l array<map<string,int>>, b binary"
    ),
    "rdd": lambda spark: spark.sparkContext.parallelize([(1, 2), (3, 4)]).toDF(["a", "b"]),
    "numpy": numpy_frame,
    "pandas": pandas_frame,
    "checkpointed": lambda spark: spark.range(3).selectExpr("id * 2 AS a").localCheckpoint(),
    "cached": lambda spark: spark.range(3).selectExpr("id * 2 AS a").cache(),
    "namesakes": lambda spark: spark.createDataFrame([(1, 2)], ["a", "a"]),
}


@pytest.mark.parametrize("name", LOCAL)
def test_local_rows(spark: SparkSession, name: str) -> None:
    df = LOCAL[name](spark)
    assert_same_rows(df)
    df.unpersist()


def test_frames_without_rows_or_columns(spark: SparkSession) -> None:
    assert_same_rows(spark.createDataFrame([], "a int, s struct<x:int>"), empty=True)
    for rows in ([], [()] * 3):
        df = spark.createDataFrame(rows, "struct<>") if rows else spark.createDataFrame([], "a int").select()
        assert_same_rows(df.groupBy().count())


def test_unused_columns_of_local_rows_are_left_out(spark: SparkSession) -> None:
    df = spark.createDataFrame([(1, "a"), (2, "b")], "k int, unused string").where("k > 1").select("k")
    for read in reads(assert_same_rows(df).plan):
        assert list(read.base_schema.names) == ["k"]


# ---- secrets

SECRET = "planted-secret"

OPTIONS = {
    key: f"{SECRET}-{key}"
    for key in (
        *("password", "user", "url", "fs.s3a.access.key", "fs.s3a.secret.key", "fs.azure.account.key", "token"),
        *("dbtable", "query", "sfPassword", "credential", "sessionInitStatement", "madeup"),
    )
}


def test_no_secret_of_an_option_leaves_the_jvm(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    path = str(tmp_path / "t")
    spark.sql("SELECT '1' AS a, 2 AS b").write.parquet(path)
    (tmp_path / "c.csv").write_text("1,2\n")
    options = ", ".join(f"'{key}' '{value}'" for key, value in OPTIONS.items())
    spark.sql(f"CREATE TABLE kept (a string, b int) USING parquet OPTIONS ({options}) LOCATION '{path}'")
    frames = [
        spark.read.options(**OPTIONS).parquet(path),
        spark.read.options(**OPTIONS).schema("a int").json(path),
        spark.read.options(**OPTIONS).schema("a string, b int").csv(str(tmp_path / "c.csv")),
        spark.table("kept"),
        spark.table("kept").selectExpr("java_method('java.lang.Math', 'random') AS r"),
        spark.readStream.options(**OPTIONS).schema("a int").parquet(path),
    ]
    spark.conf.set("spark.sql.sources.useV1SourceList", "")
    try:
        frames += [
            spark.read.options(**OPTIONS).parquet(path),
            spark.read.options(**OPTIONS).schema("a int").json(path),
        ]
        shown = [everything(df, way) for df in frames for way in ("auto", "files", "tables")]
    finally:
        spark.conf.unset("spark.sql.sources.useV1SourceList")
        spark.sql("DROP TABLE kept")
    output = capfd.readouterr()
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("substrait")]
    for text in (*shown, *ours, output.out, output.err):
        assert SECRET not in text


def everything(df: DataFrame, way: str) -> str:
    """All that can be had of a DataFrame: the plan in all its forms, or its error, and the reader's document."""
    parts = [str(check(df, reads=way))]
    try:
        plan = df_to_substrait(df, reads=way)
        parts += [repr(plan.SerializeToString()), str(plan), explain(plan)]
    except UnsupportedPlanError as error:
        parts += [str(error), repr(error.problems), repr(error.__cause__)]
    try:
        parts.append(reader.read(df, Settings(load(None), way, 100)))
    except Unsupported as error:
        parts.append(str(error))
    return "\n".join(parts)


HIDING = """
s3n://AKIA:sec/ret@bucket/t
s3a://AKIA:sec+r/et%2F@bucket/t
https:/user:secret@host/t.parquet
https:///user:secret@host/t.parquet
https:user:secret@host/t
https://user%3Asecret%40host/t
https://user%3asecret@host/t
https://token%40host/t
https://user%253Asecret%2540host/t
HTTPS://user:secret@host/t
jar:https://user:secret@host/a.jar!/t
jar:https://token@host/a.jar!/t
har://hdfs-user:secret@host:8020/t
https://proxy/https://user:secret@host/t
https://proxy/fetch//token@host/t
https://proxy/https%3A//token@host/t
webhdfs://host/t%253Fdelegation=secret
https://host/t%252523access_token=secret
https://host/t&X-Amz-Signature=secret
https://host/t&sig=secret/part.parquet
abfss://user@secret@account/t
abfss://sv=1,sig=secret@account/t
wasbs://c:secret@account/t
oss://id:secret@bucket.endpoint/t
oss://id:secret:endpoint/t
file://user:secret@host/t
file://host/t%3Fsig=secret
file://host/t;jsessionid=secret
dbfs:/t%3Ftoken=secret
dbfs:/user:secret@host/t
http://[::1]:secret/t
http://user:secret@[::1]:80/t
ftp://user:secret@host:21/t
sftp://user;fingerprint=secret@host/t
https://host:80secret/t
s3a://bucket/t%3fX-Amz-Credential=secret
gs://bucket/t%3bGoogleAccessId=secret
s3a://bucket/t#secret
s3a://bucket/k=v&token=secret
unknown:token@host
""".split()
"""Credentials with too few or too many slashes, in URIs within URIs, encoded once or more, and without a question mark."""


@pytest.mark.parametrize(
    "location",
    [
        "s3a://AKIA:secret@bucket/t/p.parquet",
        "s3a://token@bucket/t/p.parquet",
        "abfss://container:secret@account/t",
        "https://account.blob.core.windows.net/c/f.parquet%3Fsv=1&sig=secret",
        "wasbs://c@account/f.parquet%3Fsig=secret",
        *(
            f"{scheme}://bucket/f.parquet{query}=secret"
            for scheme in ("s3a", "gs", "hdfs", "webhdfs", "https", "custom+x")
            for query in (
                "%3Fauth",
                "%3Fpwd",
                "%3Fcode",
                "%3Fjwt",
                "?sas",
                "%3fAuthorization",
                "%23access_token",
                ";jsessionid",
                "%3Bs",
            )
        ),
        "webhdfs://host/t%3Fdelegation=secret",
        *HIDING,
    ],
)
def test_paths_with_credentials_are_refused(location: str) -> None:
    with pytest.raises(Unsupported) as raised:
        uri(location)
    assert "secret" not in str(raised.value)
    assert "AKIA" not in str(raised.value)


@pytest.mark.parametrize(
    "location",
    """
    file:///a/b;c&d=e?x
    file:/user:name@host/t
    file:///data/a:b@c/t
    s3a://bucket/k=a&b/t
    s3a://bucket/k=1/m=2/t
    s3a://bucket/a@b/t
    s3a://bucket/t=12%3A30%3A00/x
    hdfs://[::1]:8020/t
    hdfs://nameservice/t
    hdfs://host:8020/t@1
    abfss://c-1@account.dfs.core.windows.net/t
    wasb://$root@account/t
    webhdfs://host:9870/t
    dbfs:/mnt/t
    viewfs://c/t
    s3a://bucket/a%2520b/t
    hdfs:///t/x
    s3a://bucket/time=12:30/t
    """.split(),
)
def test_paths_that_look_like_credentials_are_read(location: str) -> None:
    assert uri(location).endswith(location.partition(":")[2].lstrip("/"))


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("file:/a/b", "file:///a/b"),
        ("file:///a%20b/c%25d", "file:///a%20b/c%25d"),
        ("s3a://bucket/a=b/ä+c", "s3a://bucket/a=b/%C3%A4+c"),
        ("abfss://container@account.dfs.core.windows.net/t", "abfss://container@account.dfs.core.windows.net/t"),
        ("hdfs://host:8020/t/日本", "hdfs://host:8020/t/%E6%97%A5%E6%9C%AC"),
        ("file:/a;b/c%23d", "file:///a;b/c%23d"),
        ("gs://bucket/t", "gs://bucket/t"),
        ("file:/a%3Fb", "file:///a%3Fb"),
    ],
)
def test_locations_as_uris(location: str, expected: str) -> None:
    assert uri(location) == expected


SECRETS = (
    "Authorization: Bearer hidden",
    "fs.azure.account.key.a.dfs.core.windows.net=hidden",
    '{"password": "hidden"}',
    "SharedKey account:hidden",
    "Cookie: session=hidden",
    "scott/hidden@host",
    "hidden",
)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "name",
    ["IllegalArgumentException", "ArithmeticException", "NumberFormatException", "UnsupportedOperationException"],
)
def test_exceptions_of_others_are_told_by_their_class(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str, secret: str
) -> None:
    """Whatever a file system says when a table is listed, or the reader walks its plan."""
    jvm: Any = spark._jvm

    def failing(_: DataFrame) -> Any:
        jvm.scala.util.Failure(getattr(jvm.java.lang, name)(secret)).get()

    monkeypatch.setattr("substrait_spark.catalyst.reader._reader", failing)
    with pytest.raises(SubstraitSparkError) as raised:
        df_to_substrait(spark.range(3))
    error = raised.value
    assert f"java.lang.{name}" in str(error)
    assert "hidden" not in "".join(traceback.format_exception(error))
    assert error.__cause__ is None
    assert error.__context__ is None


def test_what_spark_says_of_names_is_repeated_and_what_it_says_of_values_is_not(spark: SparkSession) -> None:
    messages = []
    for sql in (
        "SELECT hidden FROM VALUES (1) t(a)",
        "SELECT CAST('hidden' AS INT)",
        "SELECT nosuchfunction(1)",
        "SELECT raise_error('hidden')",
    ):
        with pytest.raises((PySparkException, Py4JError)) as raised:  # the latter for raise_error in Spark 3.5
            spark.newSession().sql(sql).collect()
        messages.append(failure_text(raised.value))
    assert messages[0].startswith("[UNRESOLVED_COLUMN")
    assert messages[1] == "[CAST_INVALID_INPUT]"
    assert messages[2].startswith("[UNRESOLVED_ROUTINE]")
    assert "hidden" not in "".join(messages[1:])


def test_names_that_are_paths_are_not_repeated(spark: SparkSession) -> None:
    with pytest.raises(PySparkException) as raised:
        spark.sql("SELECT * FROM nosuchformat.`s3a://AKIA:hidden@bucket/t`").collect()
    assert "hidden" in str(raised.value)
    assert failure_text(raised.value).startswith("[")
    assert "hidden" not in failure_text(raised.value)
