"""Queries whose plans are the same bytes in a classic session and in one of Spark Connect.

They read TPC-H, TPC-DS and a few tables of other kinds: as tables, as views and as files.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
import slow
import tpc_data
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from substrait_spark import UnsupportedPlanError, df_to_substrait

Query = Callable[[], DataFrame]

STRUCTS = pa.array([{"u": 1, "v": "q"}, None])


def write_files(folder: Path) -> None:
    """Files to read: with partitions whose names are encoded, nested columns, and text."""
    for key in ("a", "b c", "ä"):
        partition = folder / "parts" / f"k={key}" / "n=1"
        partition.mkdir(parents=True)
        pq.write_table(pa.table({"x": [1, 2], "s": ["a", None], "st": STRUCTS}), partition / "f.parquet")
    pq.write_table(pa.table({"x": [1, 2]}), folder / "one.parquet")
    (folder / "text.csv").write_text("x,y\n1,2\n", encoding="utf-8")


def make_tables(spark: SparkSession, folder: Path) -> None:
    """The databases that the queries read: of TPC-H, twice (as tables and as views), of TPC-DS, and of odd names."""
    for benchmark in ("tpch", "tpcds"):
        database = f"connect_{benchmark}"
        spark.sql(f"CREATE DATABASE {database}")
        for file in sorted((folder / benchmark).glob("*.parquet")):
            spark.sql(f"CREATE TABLE {database}.{file.stem} USING parquet LOCATION '{file}'")
    spark.sql("CREATE DATABASE connect_views")
    for file in sorted((folder / "tpch").glob("*.parquet")):
        spark.sql(f"CREATE VIEW connect_views.{file.stem} AS SELECT * FROM connect_tpch.{file.stem}")
    spark.sql("CREATE DATABASE connect_forms")
    spark.sql("USE connect_forms")
    for statement in STATEMENTS:
        spark.sql(statement)


def drop_tables(spark: SparkSession) -> None:
    """Drop what `make_tables` has made."""
    spark.sql("USE default")
    for database in ("connect_tpch", "connect_tpcds", "connect_views", "connect_forms"):
        spark.sql(f"DROP DATABASE IF EXISTS {database} CASCADE")


NAMES_OF_TABLES_AND_COLUMNS = (8, 9)
"""Queries of TPC-H in which `nation` is a table and a column."""

STATEMENTS = (
    """CREATE TABLE types (
         a INT NOT NULL, b STRING COMMENT 'of b', c CHAR(5), d VARCHAR(3), e DECIMAL(10, 2) DEFAULT 3, f ARRAY<STRUCT<x: INT, y: STRING>>,
         g MAP<STRING, DATE>, h TIMESTAMP_NTZ, i BINARY, j INTERVAL DAY TO SECOND, p STRING, q INT
       ) USING parquet PARTITIONED BY (p, q)""",
    "CREATE TABLE Odd_Name (`A b` INT, `ä.ö` STRING) USING orc",
    "CREATE TABLE lines (x INT, y STRUCT<u: INT, v: INT>) USING json",
    "CREATE TABLE text_lines (x INT, y STRING) USING csv",
    "CREATE VIEW plain AS SELECT a + 1 AS x, upper(b) AS y, c FROM types WHERE a > 0",
    "CREATE VIEW renamed (`one`, two) COMMENT 'of views' AS SELECT x, y FROM plain",
    "CREATE VIEW of_views AS WITH types AS (SELECT x FROM plain) SELECT r.*, t.x FROM renamed r JOIN types t ON r.one = t.x",
    "CREATE VIEW qualified AS SELECT * FROM connect_tpch.nation",
)


def named(spark: SparkSession, folder: Path) -> Iterator[tuple[str, Query]]:
    """TPC-H over tables that the catalog names; with slow tests, over views of them, and TPC-DS, too."""
    places = [
        ("tpch", "connect_tpch"),
        *([("tpch", "connect_views"), ("tpcds", "connect_tpcds")] if slow.asked() else []),
    ]
    for benchmark, database in places:
        spark.sql(f"USE {database}")
        for number, text in tpc_data.queries(folder / benchmark).items():
            yield f"{database}.q{number}", lambda text=text: spark.sql(text)  # type: ignore[misc]


SETTINGS = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.PushDownPredicates",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
"""Settings that change what queries mean, or how they are planned."""

MEANT = (
    "SELECT a + q, a / q, cast(b AS INT), sum(a) OVER (PARTITION BY p) FROM types",
    "SELECT TIMESTAMP '2020-01-01 00:00:00', hour(timestamp_seconds(a)), to_timestamp(b), current_timezone() FROM types",
    "SELECT sum(a), avg(q), element_at(array(1, 2), a) FROM types WHERE a > 1 GROUP BY p, a",
    "SELECT x, y FROM plain JOIN (SELECT a FROM types) t ON x = a WHERE a > 3",
)


def set_otherwise(spark: SparkSession, folder: Path) -> Iterator[tuple[str, Query]]:
    """Queries under other settings than Spark's own; views keep those that they were made under."""
    spark.sql("USE connect_forms")
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    for number, text in enumerate(MEANT):
        yield f"set otherwise.{number}", lambda text=text: spark.sql(text)  # type: ignore[misc]
    spark.sql("USE connect_tpch")
    for number, text in list(tpc_data.queries(folder / "tpch").items())[:4]:
        yield f"set otherwise.q{number}", lambda text=text: spark.sql(text)  # type: ignore[misc]
    for key in SETTINGS:
        spark.conf.unset(key)


def of_files(spark: SparkSession, folder: Path) -> Iterator[tuple[str, Query]]:
    """TPC-H over frames of files, which the SQL text names."""
    frames = {file.stem: spark.read.parquet(str(file)) for file in sorted((folder / "tpch").glob("*.parquet"))}
    table = re.compile(rf"\b({'|'.join(frames)})\b")
    for number, text in tpc_data.queries(folder / "tpch").items():
        if number in NAMES_OF_TABLES_AND_COLUMNS:
            continue
        used = {name: frames[name] for name in set(table.findall(text))}
        with_frames = table.sub(r"{\1}", text)
        yield f"files.q{number}", lambda text=with_frames, used=used: spark.sql(text, **used)  # type: ignore[misc]


def forms(spark: SparkSession, folder: Path) -> Iterator[tuple[str, Query]]:
    """One query for each way in which a frame can be made, and each kind of name.

    Rows of a list are Spark's LogicalRDD in a classic session, and its LocalRelation in one of Connect, over which its optimizer
    computes: they are followed by nothing that it could compute.
    """
    spark.sql("USE connect_forms")
    spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")  # as Connect always takes rows of pandas
    parts, one, text = str(folder / "parts"), str(folder / "one.parquet"), str(folder / "text.csv")
    types = spark.table("types")
    days = pd.DataFrame({"d": [dt.datetime(2020, 1, 1), None], "n": [1.5, None], "s": ["a", None]})
    arrow = pa.table({"a": [1, None], "b": [[1, 2], None], "c": [{"x": 1}, None], "d": [Decimal("1.50"), None]})
    odd = Window.partitionBy("p").orderBy("a")
    yield from {
        "table": lambda: types,
        "table in full": lambda: spark.table("spark_catalog.connect_forms.types"),
        "table in another case": lambda: spark.sql("SELECT A, P FROM Connect_FORMS.TYPES"),
        "odd names": lambda: spark.sql("SELECT `A b` + 1, `ä.ö` FROM Odd_Name"),
        "nested fields of orc": lambda: types.select("a", "f.x", "g"),
        "nested fields of json": lambda: spark.table("lines").select("y.u"),
        "csv": lambda: spark.table("text_lines").where("x > 1"),
        "char": lambda: types.where("c = 'ab'").select("c", F.length("c"), "d"),
        "partition": lambda: types.where("p = 'x' AND q > 1 AND a IS NOT NULL").groupBy("p").count(),
        "view": lambda: spark.table("plain"),
        "view of views": lambda: spark.sql("SELECT * FROM of_views WHERE one > 1"),
        "view elsewhere": lambda: spark.table("qualified"),
        "names hidden by CTEs": lambda: spark.sql(
            "WITH types AS (SELECT 1 AS a), plain AS (SELECT a FROM types) SELECT * FROM plain"
        ),
        "name in a value": lambda: spark.sql("SELECT a FROM IDENTIFIER(:name)", args={"name": "types"}),
        "current names": lambda: spark.sql("SELECT current_catalog(), current_database(), a FROM types"),
        "arguments": lambda: spark.sql("SELECT * FROM plain WHERE x > :x AND y = :y", args={"x": 1, "y": "A"}),
        "arguments by position": lambda: spark.sql("SELECT a + ? FROM types WHERE b = ?", args=[1, "b"]),
        "frames in text": lambda: spark.sql(
            "SELECT * FROM {left} JOIN {right} USING (x)", left=spark.table("plain"), right=spark.read.parquet(one)
        ),
        "rows": lambda: spark.createDataFrame(
            [(1, 2.5, None, [1], {"a": 1}, (1, "x"))],
            "a INT, b DOUBLE, c STRING, d ARRAY<INT>, e MAP<STRING, INT>, f STRUCT<x: INT, y: STRING>",
        ),
        "rows of pandas": lambda: spark.createDataFrame(days),
        "rows of Arrow": lambda: spark.createDataFrame(arrow).where("a IS NOT NULL"),
        "rows and a table": lambda: spark.createDataFrame([(1,)], "a INT").join(types, "a", "left"),
        "range": lambda: spark.range(3).select(F.transform(F.sequence(F.lit(1), "id"), lambda x: x + F.col("id"))),
        "hint": lambda: types.hint("broadcast").join(spark.table("plain"), F.expr("a = x")).repartition(3).coalesce(1),
        "sets": lambda: (
            types.select("a")
            .union(spark.table("plain").select("x"))
            .intersect(spark.range(3))
            .exceptAll(spark.range(2))
            .distinct()
        ),
        "by name": lambda: types.select("a", "b").unionByName(
            spark.table("plain").select("y"), allowMissingColumns=True
        ),
        "lateral": lambda: spark.sql(
            "SELECT t.a, u.v FROM types t, LATERAL (SELECT count(*) AS v FROM lines l WHERE l.x = t.a) u"
        ),
        "lateral view": lambda: spark.sql("SELECT a, v.s.x FROM types LATERAL VIEW OUTER explode(f) v AS s"),
        "subqueries": lambda: spark.sql(
            "SELECT * FROM types WHERE a IN (SELECT x FROM plain) AND EXISTS (SELECT 1 FROM lines WHERE x = a) AND a > (SELECT max(x) FROM text_lines)"
        ),
        "window": lambda: (
            types.withColumn("r", F.row_number().over(odd)).withColumn("l", F.lag("a").over(odd)).where("r = 1")
        ),
        "pivot": lambda: types.groupBy("p").pivot("q", [1, 2]).agg(F.sum("a"), F.max("b")),
        "unpivot": lambda: types.unpivot("a", ["b", "p"], "name", "value"),
        "rollup": lambda: types.rollup("p", "q").agg(F.sum("a"), F.grouping_id()),
        "cube": lambda: types.cube("p", "q").count(),
        "sample": lambda: types.sample(0.5, 7),
        "sorted": lambda: types.orderBy(F.desc("a"), "b").limit(5).offset(2),
        "without duplicates": lambda: types.dropDuplicates(["p", "q"]),
        "missing values": lambda: types.na.fill({"b": "z"}).na.drop(subset=["p"]).replace("a", "b"),
        "described": lambda: types.select("a", "b").describe(),
        "renamed": lambda: types.withColumnsRenamed({"a": "A1"}).drop("f", "g").toDF(*"bcdefghijk"),
        "columns of frames": lambda: types.join(spark.table("plain"), types.a == F.col("x")).select(types.b, "y"),
        "struct updates": lambda: spark.table("lines").withColumn(
            "y", F.col("y").withField("w", F.lit(1)).dropFields("u")
        ),
        "table function": lambda: spark.sql("SELECT * FROM explode(array(1, 2)) t(x), LATERAL (SELECT x + 1 AS y)"),
        "files in folders": lambda: spark.read.parquet(parts),
        "nested fields of files": lambda: (
            spark.read.parquet(parts).where("k = 'b c' AND x > 1").select("x", "n", "st.u")
        ),
        "files by a pattern": lambda: spark.read.parquet(f"{parts}/*/*"),
        "files below a folder": lambda: spark.read.option("basePath", parts).parquet(f"{parts}/k=a"),
        "a file twice": lambda: spark.read.parquet(one, one),
        "a file by the format's default": lambda: spark.read.load(one).join(spark.read.parquet(parts), "x"),
        "text": lambda: spark.read.csv(text, header=True, inferSchema=True),
        "text of a schema": lambda: spark.read.schema("x INT, y STRING").option("header", "true").csv(text),
        "python function": lambda: spark.range(3).select(F.udf(lambda x: x)("id").alias("u")),
        "lines of JSON": lambda: spark.read.schema("x INT").json(text),
        "metrics": lambda: spark.range(3).observe("o", F.count("*").alias("n")),
    }.items()


def converted(spark: SparkSession, folder: Path) -> dict[str, bytes | str]:
    """The plans of all queries, as bytes, and of those without a plan, the reasons."""
    found: dict[str, bytes | str] = {}
    for queries in (named(spark, folder), set_otherwise(spark, folder), of_files(spark, folder), forms(spark, folder)):
        for name, query in queries:
            found[name] = plan_or_reasons(query)
    return found


def plan_or_reasons(query: Query) -> bytes | str:
    """The bytes of a query's plan, or why there is none."""
    try:
        return df_to_substrait(query()).SerializeToString(deterministic=True)
    except UnsupportedPlanError as error:
        return str(error)
