"""What a user of Spark Connect is told, and what changes on the server do: each answer by the name of its question.

`python connect_answers.py URL FOLDER OUTPUT` asks them in a session of the server at URL, after `connect_corpus` has converted
its queries; it then waits for a line of input, before which the server is to be ended, and asks once more.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import pickle
import re
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import connect_corpus
import pandas as pd  # type: ignore[import-untyped]
from connect_requests import Requests
from job_record import HERE, JOBS, TOLERANCE
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from substrait_spark import (
    SubstraitSparkError,
    check,
    declare_function,
    df_to_substrait,
    explain,
    expressions_to_substrait,
    sql_to_substrait,
    write_to_substrait,
)
from substrait_spark.connect import planner
from substrait_spark.engines import datafusion
from substrait_spark.engines.comparison.tables import compared

Answers = Iterator[tuple[str, str]]


def told(query: Callable[[], DataFrame]) -> str:
    """The text of a query's plan, or the error's."""
    try:
        return explain(df_to_substrait(query()))
    except SubstraitSparkError as error:
        return f"{type(error).__name__}: {error}"


def refused(spark: SparkSession, folder: Path) -> Answers:
    """What only the server knows."""
    spark.sql("CREATE OR REPLACE TEMP VIEW of_session AS SELECT a FROM types")
    spark.range(3).createOrReplaceGlobalTempView("of_application")
    large = pd.DataFrame({"a": range(300_000), "b": ["x" * 30] * 300_000})
    one = str(folder / "one.parquet")
    questions: dict[str, Callable[[], DataFrame]] = {
        "temporary view": lambda: spark.sql("SELECT * FROM of_session JOIN types USING (a)"),
        "global temporary view": lambda: spark.table("global_temp.of_application"),
        "pivot without values": lambda: spark.table("types").groupBy("p").pivot("q").count(),
        "transpose": lambda: spark.range(3).transpose(),
        "checkpoint": lambda: spark.range(3).localCheckpoint(),
        "rows on the server": lambda: spark.createDataFrame(large),
        "stream": lambda: spark.readStream.format("rate").load(),
        "source": lambda: spark.read.format("binaryFile").load(one),
        "files in SQL": lambda: spark.sql(f"SELECT * FROM parquet.`{one}`"),
        "user": lambda: spark.sql("SELECT current_user()"),
        "no table": lambda: spark.table("nowhere.nothing"),
        "no column": lambda: spark.table("types").select("nothing"),
        "tables as files": lambda: spark.table("other.APP.`A b`"),
    }
    for name, query in questions.items():
        yield name, told(query)
    double = F.udf(lambda x: x)
    both = check(spark.range(3).select(double("id").alias("u"), double(F.col("id") + 1).alias("v")))
    yield "python functions", str(both)
    yield "reads='files'", str(check(spark.table("other.APP.`A b`"), reads="files"))


def own_functions(spark: SparkSession) -> Answers:
    """Rows by users' own functions, which run here and not on the server."""

    def odd(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for frame in frames:
            yield frame[frame["id"] % 2 == 1]

    def counted(key: tuple[int], frame: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"k": [int(key[0])], "n": [len(frame)]})

    twice = declare_function(F.udf(lambda n: n * 2, "long"), name="twice")
    given = [twice, odd, counted]
    rows = spark.range(5)
    assert twice.spark is not None
    queries = {
        "an own function": rows.select(twice.spark.unwrapped("id").alias("t")).where("t > 4"),
        "an own function over batches": rows.mapInPandas(odd, "id long"),
        "an own function over groups": rows.groupBy(F.col("id") % 2)
        .applyInPandas(counted, "k long, n long")
        .orderBy("k"),
    }
    for name, query in queries.items():
        yield name, str(datafusion.collect(query, functions=given).to_pydict())
    other = declare_function(F.udf(lambda n: n * 3, "long"), name="thrice")
    yield "another function", str(check(queries["an own function"], functions=[other]))


def expressions(spark: SparkSession) -> Answers:
    """Expressions by themselves, over a table and a schema."""
    rows = spark.table("types")
    yield "an expression", explain(expressions_to_substrait(rows, {"r": rows["a"] + 1, "n": F.count("*")}))
    yield "an expression over a schema", explain(expressions_to_substrait("a int", {"r": "a > 1"}))
    try:
        expressions_to_substrait(rows, {"fine": "a", "r": F.row_number().over(Window.orderBy("a")), "none": "nothing"})
    except SubstraitSparkError as error:
        yield "no expressions", str(error)


def writers(spark: SparkSession) -> Answers:
    """What writers would save, for which the server is asked of the rows alone; and statements, which are the server's own."""
    rows = spark.table("types").select("a", "p")

    def saved(**said: Any) -> str:
        try:
            return explain(write_to_substrait(rows, **said))
        except SubstraitSparkError as error:
            return str(error)

    yield "a writer", saved(table="kept", mode="append", format="orc", partition_by="A")
    yield "nothing is written", str(spark.catalog.tableExists("kept"))
    yield "a writer without a file system", saved(path="/out/kept")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    yield "a writer over partitions", saved(path="file:/out/kept", mode="overwrite", partition_by="p")
    spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    try:
        sql_to_substrait(spark, "SELECT 1")
    except SubstraitSparkError as error:
        yield "a statement", str(error)


def asked(spark: SparkSession, requests: Requests) -> Answers:
    """How often the server is asked for a query over new tables, an empty one and a view among them, and for one over known tables."""
    for name in ("first", "second", "third"):
        spark.sql(f"CREATE TABLE {name} USING parquet AS SELECT id AS {name}, id AS a FROM range(3)")
    spark.sql("CREATE TABLE empty (a BIGINT, e CHAR(3) COMMENT 'of three') USING orc PARTITIONED BY (a)")
    spark.sql("CREATE VIEW seen AS SELECT a AS v, first FROM first")
    # Products that a query doesn't ask for by name are forbidden, also where the server is asked of several tables at once.
    spark.conf.set("spark.sql.crossJoin.enabled", "false")
    queries = {
        "changed settings": "SELECT 1",
        "a new table": "SELECT * FROM first",
        "new tables": "SELECT * FROM second JOIN third USING (a) JOIN empty USING (a) JOIN seen ON v = a",
        "known tables": "SELECT count(*) FROM second JOIN third USING (a) JOIN empty USING (a) JOIN seen ON v = a",
    }
    for name, text in queries.items():
        df = spark.sql(text)
        yield f"requests for {name}", f"asked {requests.during(lambda df=df: df_to_substrait(df))} times"  # type: ignore[misc]
    yield "new tables", explain(df_to_substrait(spark.sql(queries["new tables"])))
    spark.conf.unset("spark.sql.crossJoin.enabled")


def catalogs(spark: SparkSession) -> Answers:
    """A table of another catalog than Spark's own."""
    yield "another catalog", told(lambda: spark.sql("SELECT `A b` FROM other.APP.`A b` WHERE x > 1"))
    spark.catalog.setCurrentCatalog("other")
    spark.sql("USE other.APP")
    yield "current catalog", told(lambda: spark.sql("SELECT `A b`, current_catalog() FROM `A b` WHERE x > 1"))
    spark.sql("USE spark_catalog.connect_forms")


def changes(spark: SparkSession) -> Answers:
    """What the server's session knows now, and not what it knew before."""
    spark.sql("CREATE TABLE changing (a INT) USING parquet")
    yield "a table", told(lambda: spark.sql("SELECT * FROM changing"))
    spark.sql("CREATE TEMP VIEW changing AS SELECT 1 AS hidden")
    yield "hidden by a view", told(lambda: spark.sql("SELECT * FROM changing"))
    yield "not hidden by a view", told(lambda: spark.sql("SELECT * FROM connect_forms.changing"))
    spark.sql("DROP VIEW changing")
    yield "hidden no more", told(lambda: spark.sql("SELECT * FROM changing"))
    spark.sql("DROP TABLE changing")
    spark.sql("CREATE TABLE changing (a INT, b STRING) USING parquet")
    yield "made anew", told(lambda: spark.sql("SELECT * FROM changing"))
    spark.sql("DROP TABLE changing")
    yield "dropped", told(lambda: spark.table("changing"))
    spark.sql("CREATE VIEW view_of_types AS SELECT a FROM types")
    yield "a view", told(lambda: spark.table("view_of_types"))
    spark.sql("CREATE OR REPLACE VIEW view_of_types AS SELECT -a AS a FROM types")
    yield "the view replaced", told(lambda: spark.table("view_of_types"))
    for ansi in ("true", "false"):
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        yield f"ANSI {ansi}", told(lambda: spark.sql("SELECT a + q FROM types"))
    spark.conf.unset("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    yield "time zone", told(lambda: spark.sql("SELECT hour(timestamp_seconds(a)) FROM types"))
    spark.conf.unset("spark.sql.session.timeZone")
    spark.sql("USE connect_tpch")
    yield "another namespace", told(lambda: spark.sql("SELECT n_name, current_database() FROM nation"))
    yield "only the namespace", told(lambda: spark.sql("SELECT current_database()"))
    spark.sql("USE connect_forms")
    yield "only the namespace again", told(lambda: spark.sql("SELECT current_database()"))
    spark.sql("DROP VIEW view_of_types")


def jobs(spark: SparkSession) -> Answers:
    """The rows of each job's plan in DataFusion beside the server's own, or why there is no plan."""
    for name in HERE:
        try:
            df = JOBS[name](spark)
            actual = datafusion.execute(df_to_substrait(df, dialect="datafusion"))
        except SubstraitSparkError as error:
            yield f"job {name}", f"{type(error).__name__}: {error}"
        else:
            found = compared(df.toArrow(), actual, tolerance=TOLERANCE)
            yield f"job {name}", f"{actual.num_rows} rows" if found else str(found)


def threads(spark: SparkSession) -> Answers:
    """Conversions in several threads give the plans that they give one after another."""

    def plan(number: int) -> bytes:
        return bytes(df_to_substrait(spark.sql(f"SELECT a + {number} AS b FROM types")).SerializeToString())

    expected = [plan(number) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        yield "threads", str(list(pool.map(plan, range(8))) == expected)


def page(spark: SparkSession, url: str) -> Answers:
    """What the code of the page prints, with another address."""
    text = (Path(__file__).parent.parent / "docs" / "how-to" / "use-spark-connect.md").read_text(encoding="utf-8")
    for code, printed in re.findall(
        r"^```{.python .connect}\n(.*?)^```\n\n```\n(.*?)^```$", text, re.DOTALL | re.MULTILINE
    ):
        spark.sql("USE default")
        found = io.StringIO()
        with contextlib.redirect_stdout(found):
            exec(code.replace("sc://localhost:15002", url), {})  # noqa: S102
        yield "the page", found.getvalue()
        yield "the page says", printed


def ends(spark: Any) -> Answers:
    """The JVM that plans ends, and then the server does."""
    jvm = running()
    os.kill(jvm._process.pid, signal.SIGKILL)
    jvm._process.wait()
    spark.sql("USE connect_forms")
    yield "a new planner", told(lambda: spark.table("types").select("a"))
    spark.client.set_retry_policies([])
    sys.stdout.write("now\n")
    sys.stdout.flush()
    sys.stdin.readline()
    yield "no server", told(lambda: spark.table("types"))


def running() -> Any:
    """The JVM that plans."""
    return planner.PLANNER._jvm


def main(url: str, folder: str, output: str) -> None:
    logging.basicConfig(level=logging.INFO, filename=f"{output}.log")
    requests = Requests()
    spark = requests.session(url)
    connect_corpus.make_tables(spark, Path(folder))
    spark.sql("CREATE TABLE other.APP.`A b` (`A b` INT, x BIGINT)")
    converted = connect_corpus.converted(spark, Path(folder))
    spark.sql("USE connect_forms")
    answers: dict[str, str] = {}
    for found in (
        refused(spark, Path(folder)),
        expressions(spark),
        own_functions(spark),
        writers(spark),
        asked(spark, requests),
        catalogs(spark),
        changes(spark),
        jobs(spark),
        threads(spark),
        page(spark, url),
        ends(spark),
    ):
        answers.update(found)
    jvm = running()
    left = {"pid": jvm._process.pid, "folder": str(jvm._folder)}
    Path(output).write_bytes(pickle.dumps((converted, answers, left)))


if __name__ == "__main__":
    main(*sys.argv[1:])
