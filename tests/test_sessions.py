"""Sessions: many threads, several sessions, stopped and restarted ones; and a clear sentence for what is no query."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow as pa
import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import pandas_udf
from releases import since
from rows import assert_same_rows, plan_of

import substrait_spark
from substrait_spark import (
    FunctionError,
    Report,
    SubstraitSparkError,
    UnsupportedPlanError,
    UnsupportedSessionError,
    check,
    df_to_substrait,
    explain,
    expressions_to_substrait,
    sql_to_substrait,
    write_to_substrait,
)
from substrait_spark.engines import spark as spark_engine


@pytest.fixture(scope="module", autouse=True)
def _table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = str(tmp_path_factory.mktemp("sessions") / "t")
    spark.sql("SELECT * FROM VALUES (1, 'a'), (2, 'b'), (NULL, NULL) t(k, s)").write.parquet(path)
    spark.read.parquet(path).createOrReplaceGlobalTempView("t")


@pytest.fixture
def df(spark: SparkSession) -> DataFrame:
    return spark.table("global_temp.t")


# ---- threads and sessions


def test_threads(spark: SparkSession) -> None:
    def query(number: int) -> DataFrame:
        return spark.sql(f"SELECT k + {number} AS c{number}, s FROM global_temp.t WHERE k <> {number % 3}")

    expected = [df_to_substrait(query(number)) for number in range(32)]
    with ThreadPoolExecutor(16) as pool:
        converted = list(pool.map(lambda number: df_to_substrait(query(number)), [*range(32)] * 2))
        reports = list(pool.map(lambda n: check(query(n).withColumn("x", F.spark_partition_id())), range(16)))
    assert converted == expected * 2
    assert all(len(report) == 1 for report in reports)


def test_settings_are_the_frames_own(spark: SparkSession) -> None:
    ansi, legacy = spark.newSession(), spark.newSession()
    for session, mode in ((ansi, "true"), (legacy, "false")):
        session.conf.set("spark.sql.ansi.enabled", mode)
    query = "SELECT CAST(s AS BOOLEAN) AS b FROM global_temp.t"
    frames = [session.sql(query) for session in (ansi, legacy, ansi, legacy)]
    plans = [df_to_substrait(frame) for frame in frames]
    assert plans[0] == plans[2]
    assert plans[1] == plans[3]
    casts = [plan.relations[0].root.input.project.expressions[0].cast for plan in plans[:2]]
    assert [cast.failure_behavior for cast in casts] == [
        cast.FAILURE_BEHAVIOR_THROW_EXCEPTION for cast in casts[:1]
    ] + [cast.FAILURE_BEHAVIOR_RETURN_NULL for cast in casts[1:]]


def test_time_zones_are_the_frames_own(spark: SparkSession) -> None:
    tokyo, paris = spark.newSession(), spark.newSession()
    tokyo.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    paris.conf.set("spark.sql.session.timeZone", "Europe/Paris")
    frames = [session.sql("SELECT timestamp'2024-01-01 00:00:00' AS x") for session in (tokyo, paris)]
    first, second = (df_to_substrait(frame).relations[0].root.input.project.expressions[0].literal for frame in frames)
    assert second.precision_timestamp_tz.value - first.precision_timestamp_tz.value == 8 * 3600 * 1_000_000


def test_settings_interleaved_in_threads(spark: SparkSession) -> None:
    settings = [
        {"spark.sql.ansi.enabled": ansi, "spark.sql.session.timeZone": zone, "spark.sql.caseSensitive": case}
        for ansi in ("true", "false")
        for zone in ("Asia/Tokyo", "Europe/Paris")
        for case in ("true", "false")
    ]
    sessions = [spark.newSession() for _ in settings]
    for session, values in zip(sessions, settings, strict=True):
        for key, value in values.items():
            session.conf.set(key, value)
    query = "SELECT CAST(s AS INT) + k AS i, k AS I, TIMESTAMP'2024-01-01 00:00:00' AS t FROM global_temp.t"

    def plan(number: int) -> bytes:
        frame = sessions[number].sql(query)
        # Only where case counts is there one column I.
        return df_to_substrait(frame.select("t", "i", "I") if number % 2 == 0 else frame).SerializeToString()

    alone = [plan(number) for number in range(8)]
    assert len(set(alone)) == 8
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(plan, [*range(8)] * 3)) == alone * 3


def test_a_frame_keeps_the_mode_it_was_built_in(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "true")
    frame = session.sql("SELECT CAST(s AS INT) AS i FROM global_temp.t")
    expected = df_to_substrait(frame)
    session.conf.set("spark.sql.ansi.enabled", "false")
    assert df_to_substrait(frame) == expected


def test_the_active_session_stays(spark: SparkSession) -> None:
    other = spark.newSession()
    before = SparkSession.getActiveSession()
    df_to_substrait(other.range(3))
    after = SparkSession.getActiveSession()
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert before._jsparkSession.equals(after._jsparkSession)


HALFWAY = """
spark = session()
df = spark.createDataFrame([(1,), (2,)], "a int").selectExpr("a + 1 AS b")
expected = df_to_substrait(df)
started, outcomes = threading.Event(), []

def convert():
    for _ in range(2000):
        try:
            outcomes.append(df_to_substrait(df) == expected)
        except SubstraitSparkError as error:
            outcomes.append(str(error))
            return
        started.set()

threads = [threading.Thread(target=convert) for _ in range(4)]
for thread in threads:
    thread.start()
started.wait()
spark.stop()
for thread in threads:
    thread.join()
spark = session()
df = spark.createDataFrame([(1,), (2,)], "a int").selectExpr("a + 1 AS b")
ends = [outcome for outcome in outcomes if outcome is not True]
print(len(ends), all("was stopped: start one" in str(end) for end in ends), df_to_substrait(df) == expected)
spark.stop()
"""

FORGOTTEN = """
spark = session()
df = spark.createDataFrame([(1,), (2,)], "a int")
df_to_substrait(df)
spark._jsc.sc().dagScheduler().eventProcessLoop().stop()
thread = threading.Thread(target=lambda: print(refused(df)), daemon=True)
thread.start()
time.sleep(1)
print(thread.is_alive())
spark.stop()
thread.join(60)
print(thread.is_alive())
"""

LOST = """
spark = session()
df = spark.range(3)
first = df_to_substrait(df)
spark.stop()
print(refused(df))

spark = session()
assert df_to_substrait(spark.range(3)) == first
print(refused(df))

gateway = SparkContext._gateway
spark.stop()
gateway.shutdown()
if gateway.proc.stdin:
    gateway.proc.stdin.close()
gateway.proc.wait()
SparkContext._gateway = SparkContext._jvm = None
spark = session()
assert df_to_substrait(spark.range(3)) == first

gone = spark.range(4)
logging.disable(logging.ERROR)  # py4j logs that a connection is reset, if it finds out while it reads
SparkContext._gateway.proc.kill()
SparkContext._gateway.proc.wait()
print(refused(gone))
print(refused(lambda: sql_to_substrait(gone.sparkSession, "SELECT 1 AS a")))
print(refused(lambda: write_to_substrait(gone, path="file:/out/x")))
print(refused(lambda: expressions_to_substrait(gone, {"a": "id + 1"})))
print(refused(lambda: spark_engine.execute(first, gone.sparkSession)))
"""

LIVES = f"""
import logging, threading, time
from pyspark import SparkContext
from pyspark.sql import SparkSession
from substrait_spark import *
from substrait_spark.engines import spark as spark_engine

def session():
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    return builder.config("spark.log.level", "ERROR").getOrCreate()

def refused(what):
    try:
        what() if callable(what) else df_to_substrait(what)
    except UnsupportedSessionError as error:
        return str(error)
    return "no error"

{HALFWAY}
{FORGOTTEN}
{LOST}
"""
"""Sessions that end, one after the other in one process, because Spark takes long to start."""


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the lives say of how they ended."""
    environment = {**os.environ, "PYTHONPATH": str(Path(substrait_spark.__file__).parents[1])}
    ran = subprocess.run(
        [sys.executable, "-c", LIVES],
        cwd=tmp_path_factory.mktemp("lives"),
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    # PySpark's thread of accumulators may show a traceback of its own where Spark stops in the middle of a job.
    assert "substrait_spark" not in ran.stderr, ran.stderr[-3000:]
    return ran.stdout.splitlines()


@pytest.mark.slow
def test_stopped_while_threads_convert(ends: list[str]) -> None:
    assert ends[0] == "4 True True"


@pytest.mark.slow
def test_stopped_while_spark_forgets_a_job(ends: list[str]) -> None:
    waited, told, waits = ends[1:4]
    assert (waited, waits) == ("True", "False")
    assert told.startswith("The Spark session of this DataFrame was stopped")


@pytest.mark.slow
def test_stopped_restarted_and_lost(ends: list[str]) -> None:
    stopped, of_earlier, *lost = ends[4:]
    assert "was stopped: start one" in stopped
    assert "was stopped: start one" in of_earlier
    assert len(lost) == 5
    assert all("can't be reached any more" in each for each in lost), lost


def _interrupted(df: DataFrame, seconds: float) -> bool:
    """Whether a conversion was under way when SIGINT arrived, so many seconds after it began."""
    done = False
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        df_to_substrait(df, dialect="datafusion")
        done = True
        timer.join()
        time.sleep(0.5)
    except KeyboardInterrupt:
        return not done
    except SubstraitSparkError as error:  # before Spark 4, its handler may fail
        assert "when Ctrl-C interrupts Spark" in str(error)  # noqa: PT017 - whether it is raised hangs on the moment
        return True
    return False  # it arrived in a finalizer, which Python lets nothing out of


def test_interrupted_and_carried_on(spark: SparkSession) -> None:
    from substrait_spark.catalyst import reader

    df = spark.sql("SELECT " + ", ".join(f"k + {n} AS c{n}" for n in range(300)) + " FROM global_temp.t")
    expected = df_to_substrait(df, dialect="datafusion")
    began = time.perf_counter()
    reader.READERS.forget()  # so that the compiler is interrupted too
    df_to_substrait(df, dialect="datafusion")
    whole = time.perf_counter() - began
    interrupted = 0
    for step in range(16):
        reader.READERS.forget()
        interrupted += _interrupted(df, whole * step / 16)
        assert df_to_substrait(df, dialect="datafusion") == expected
    assert interrupted > 4
    assert assert_same_rows(df.select("c0", "c299")).rows.num_rows == 3


ASKED: dict[str, Callable[[DataFrame], Any]] = {
    "a DataFrame": df_to_substrait,
    "a statement": lambda df: sql_to_substrait(
        df.sparkSession, "CREATE TABLE t USING parquet AS SELECT :n + id AS n FROM range(3)", parameters={"n": "bigint"}
    ),
    "a write": lambda df: write_to_substrait(df, path="file:/out/t"),
    "expressions": lambda df: expressions_to_substrait(df, {"n": "id + 1"}),
    "a plan": lambda df: spark_engine.execute(df_to_substrait(df), df.sparkSession) is not None,
}


@pytest.mark.parametrize("name", ASKED)
def test_a_connection_may_be_closed_at_any_call(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Whenever py4j finds that it is closed, and raises, the JVM is asked once more."""
    df = spark.range(3)
    expected = ASKED[name](df)
    context: Any = spark.sparkContext
    client = context._gateway._gateway_client
    send = client.send_command
    sent = left = 0

    def failing(command: str, *arguments: Any, **others: Any) -> Any:
        nonlocal sent, left
        sent += 1
        if sent == left and not command.startswith("m\n"):  # let finalizers do their work
            raise Py4JNetworkError("Error while sending or receiving")
        return send(command, *arguments, **others)

    monkeypatch.setattr(client, "send_command", failing)
    ASKED[name](df)
    for left in range(1, sent):
        sent = 0
        assert ASKED[name](df) == expected, left


def test_an_interrupt_that_breaks_the_connection(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """What py4j raises while it handles the interrupt doesn't hide it."""
    df = spark.range(3)

    def interrupted(_: DataFrame) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise Py4JError("Gateway must be connected to send cancel cmd.")  # noqa: B904 - as py4j has it

    def failing(_: DataFrame) -> None:
        raise Py4JError("An error occurred while calling o1.read. Trace:\nno such method")

    def unanswered(_: DataFrame) -> None:
        raise Py4JError("An error occurred while calling o1.read")

    monkeypatch.setattr("substrait_spark.catalyst.reader._reader", interrupted)
    with pytest.raises(KeyboardInterrupt):
        df_to_substrait(df)
    monkeypatch.setattr("substrait_spark.catalyst.reader._reader", failing)
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with pytest.raises(SubstraitSparkError, match=r"failed inside the JVM: Py4JError"):
            df_to_substrait(df)
    monkeypatch.setattr("substrait_spark.catalyst.reader._reader", unanswered)
    with pytest.raises(SubstraitSparkError, match="when Ctrl-C interrupts Spark: convert the DataFrame again"):
        df_to_substrait(df)
    monkeypatch.undo()
    assert df_to_substrait(df)


def test_a_connection_that_an_interrupt_has_closed(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """The JVM is asked over another one, and said to be gone only where none reaches it."""
    from substrait_spark.catalyst import reader

    df = spark.range(3)
    expected = df_to_substrait(df)
    original, calls = reader._reader, []

    def broken(df: DataFrame) -> Any:
        calls.append(df)
        if len(calls) == 1:
            raise Py4JNetworkError("Error while sending or receiving")
        return original(df)

    monkeypatch.setattr("substrait_spark.catalyst.reader._reader", broken)
    assert df_to_substrait(df) == expected
    assert len(calls) == 2


@pytest.mark.parametrize(
    "error", [Py4JNetworkError("closed"), Py4JError("An error occurred. Trace:\nno"), OSError("closed")]
)
def test_a_session_that_stops_while_it_is_asked(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The JVM knows it before Python does, and whatever fails meanwhile, that is why."""
    df = spark.range(3)

    class Stopped:
        def sc(self) -> Stopped:
            return self

        def isStopped(self) -> bool:  # noqa: N802 - Spark's name
            return True

    def failing(_: DataFrame) -> Any:
        monkeypatch.setattr(spark.sparkContext, "_jsc", Stopped())
        raise error

    monkeypatch.setattr("substrait_spark.catalyst.reader._reader", failing)
    with pytest.raises(UnsupportedSessionError, match="was stopped: start one"):
        df_to_substrait(df)


def test_the_reader_survives_a_reload_of_its_module(spark: SparkSession) -> None:
    from substrait_spark.catalyst import reader

    before = df_to_substrait(spark.range(3))
    reader.READERS.forget()
    assert df_to_substrait(spark.range(3)) == before


# ---- memory


def _heap(spark: SparkSession) -> int:
    """Bytes in use in the JVM, after its collector has run."""
    jvm = spark._jvm
    assert jvm is not None
    runtime = jvm.java.lang.Runtime.getRuntime()
    gc.collect()
    used = []
    for _ in range(4):
        jvm.System.gc()
        time.sleep(0.1)
        used.append(runtime.totalMemory() - runtime.freeMemory())
    return int(min(used))


def test_nothing_is_kept_after_a_conversion(spark: SparkSession) -> None:
    frames = [
        spark.table("global_temp.t").selectExpr("k + 1 AS k", "s").where("k > 1"),
        spark.sql("SELECT s, count(*) AS n FROM global_temp.t GROUP BY s ORDER BY n"),
        spark.range(3).selectExpr("rand() AS r"),
    ]

    def convert(times: int) -> None:
        for number in range(times):
            check(frames[number % 3])
            check(frames[number % 3], dialect="datafusion")

    convert(60)
    heap = _heap(spark)
    tracemalloc.start()
    try:
        convert(30)
        gc.collect()
        objects, memory = len(gc.get_objects()), tracemalloc.get_traced_memory()[0]
        convert(120)
        gc.collect()
        assert len(gc.get_objects()) - objects < 120
        assert tracemalloc.get_traced_memory()[0] - memory < 240 * 200  # a plan of these takes thousands
    finally:
        tracemalloc.stop()
    assert _heap(spark) - heap < 300 * 4000


# ---- what is no DataFrame of a classic session


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda spark: None, r"not None \(show\(\) and write return None\)"),
        (lambda spark: F.col("a"), "not pyspark.sql.*Column"),
        (lambda spark: spark, "not pyspark.sql.*SparkSession"),
        (lambda spark: spark.range(1).groupBy("id"), "not pyspark.sql.group.GroupedData"),
        (lambda spark: spark.range(1).rdd, "not pyspark.*RDD"),
        (lambda spark: "SELECT 1", "Give a PySpark DataFrame, not str"),
        (lambda spark: DataFrame, "not type"),
    ],
)
def test_no_dataframe(spark: SparkSession, make: Callable[[SparkSession], Any], sentence: str) -> None:
    for convert in (df_to_substrait, check):
        with pytest.raises(SubstraitSparkError, match=sentence):
            convert(make(spark))


def test_pandas_and_arrow_tables() -> None:
    for table in (pd.DataFrame({"a": [1]}), pa.table({"a": [1]})):
        with pytest.raises(SubstraitSparkError, match=r"Pass it to spark.createDataFrame first"):
            df_to_substrait(table)


def test_streaming(spark: SparkSession) -> None:
    (problem,) = check(spark.readStream.format("rate").load().selectExpr("value + 1"))
    assert problem.reason == "it is a streaming DataFrame"
    assert "batch" in problem.hint


def test_commands_that_show_no_rows(spark: SparkSession) -> None:
    command = "CREATE OR REPLACE TEMP VIEW made AS SELECT 1"
    (problem,) = check(spark.sql(command))
    assert problem.catalyst_class == "CommandResult"
    assert "the result of a command (CreateViewCommand)" in problem.reason
    with pytest.raises(UnsupportedPlanError, match="result of a command"):
        df_to_substrait(spark.sql(command))


def test_commands_that_show_rows(spark: SparkSession) -> None:
    spark.sql("CREATE OR REPLACE TEMP VIEW made AS SELECT 1 AS a, 'x' AS b")
    for command in (
        "SHOW TABLES",
        "DESCRIBE made",
        "SHOW COLUMNS IN made",
        "SET spark.sql.ansi.enabled",
        "EXPLAIN SELECT 1",
    ):
        shown = spark.sql(command)
        assert_same_rows(shown)
        column = shown.columns[-1]
        assert_same_rows(shown.union(shown).groupBy(column).count())
        assert check(shown, stage="analyzed")
    # What needs the reader is compiled anew once the reader is.
    from substrait_spark.catalyst import reader

    reader.READERS.forget()
    assert check(shown, stage="analyzed")
    (problem,) = check(spark.sql("DESCRIBE FUNCTION abs"), inline_limit=0)
    assert "local rows, and inline_limit allows 0 in a plan" in problem.reason
    spark.catalog.dropTempView("made")


# ---- reports


def test_every_problem_is_reported_at_once(df: DataFrame) -> None:
    query = df.selectExpr("input_file_block_length() AS r", "spark_partition_id() AS p", "s").where("s > 'a'")
    joined = query.join(df.selectExpr("input_file_block_start() AS r"), "r")
    report = check(joined)
    found = {(problem.catalyst_class, problem.sql) for problem in report}
    assert found >= {
        ("InputFileBlockLength", "input_file_block_length()"),
        ("SparkPartitionID", "SPARK_PARTITION_ID()"),
    }
    assert "InputFileBlockStart" in {problem.catalyst_class for problem in report}
    by_class = {problem.catalyst_class: problem for problem in report}
    assert by_class["InputFileBlockLength"].path.endswith("Project")
    assert "Join / left: " in by_class["InputFileBlockLength"].path
    assert "Join / right: " in by_class["InputFileBlockStart"].path
    assert all(problem.reason and problem.hint for problem in report)
    with pytest.raises(UnsupportedPlanError) as raised:
        df_to_substrait(joined)
    assert [str(problem) for problem in raised.value.problems] == [str(problem) for problem in report]
    assert str(raised.value) == str(report)
    assert str(report).startswith(f"{len(report)} obstacles on the way")


def test_an_empty_report(df: DataFrame) -> None:
    report = check(df)
    assert report
    assert not list(report)
    assert str(report) == "The plan can be expressed in Substrait."
    assert report == Report()


def test_a_report_says_what_the_plan_needs_beyond_the_specification(spark: SparkSession) -> None:
    report = check(spark.sql("SELECT explode(split(uuid(), get_json_object(string(id), '$'))), id + 1 FROM range(3)"))
    functions, generate = report.beyond
    assert functions.startswith("get_json_object, split, uuid of extension:io.github.substrait-spark:")
    assert generate == "the message substrait_spark.Generate"
    assert all(need in str(report) for need in report.beyond)
    assert report
    assert not check(spark.sql("SELECT upper(string(id)) AS s, count(*) AS n FROM range(3) GROUP BY 1")).beyond


def test_a_query_that_spark_cannot_plan(spark: SparkSession) -> None:
    # The analysis succeeds, the optimizer evaluates the constant and fails, or leaves it to the execution.
    report = check(spark.sql("SELECT CAST('x' AS INT) AS i, k FROM global_temp.t"))
    assert report or "Spark" in str(report)


@since("4.0", "string_agg")
def test_a_query_that_ends_in_a_defect_of_sparks_optimizer(spark: SparkSession) -> None:
    texts = "string_agg(s, '') WITHIN GROUP (ORDER BY k)"
    df = spark.sql(f"SELECT {texts}, sum(DISTINCT k) FILTER (WHERE k > 1) FROM global_temp.t")
    try:
        df._jdf.queryExecution().optimizedPlan()
    except Py4JError:
        (problem,) = check(df)
        assert problem.reason.startswith("Spark itself can't plan it: java.lang.")
    else:
        pytest.skip("this version of Spark plans it")


def functions(df: DataFrame) -> Iterator[tuple[str, DataFrame]]:
    def named(value: Any) -> Any:
        return value

    def grouped(frame: Any) -> Any:
        return frame

    @pandas_udf("bigint")  # type: ignore[call-overload, untyped-decorator]
    def scalar(series: pd.Series) -> pd.Series:
        return series

    @pandas_udf("double")  # type: ignore[call-overload, untyped-decorator]
    def mean(series: pd.Series) -> float:
        return float(series.mean())

    yield "named", df.select(F.udf(named, "int")("k"))
    yield "scalar", df.select(scalar("k"))
    yield "mean", df.groupBy("s").agg(mean("k"))
    yield "mean", df.select(mean("k").over(Window.partitionBy("s")))
    yield "grouped", df.mapInPandas(grouped, "k int, s string")
    yield "grouped", df.mapInArrow(grouped, "k int, s string")
    yield "grouped", df.groupBy("s").applyInPandas(grouped, "k int, s string")
    yield "grouped", df.groupBy("s").cogroup(df.groupBy("s")).applyInPandas(lambda a, b: a, "k int, s string")
    df.sparkSession.udf.register("registered", named)
    yield "registered", df.selectExpr("registered(k)")
    yield "named", df.where(F.udf(named, "boolean")("k"))


@pytest.mark.parametrize("number", range(10))
def test_users_functions_are_named(df: DataFrame, number: int) -> None:
    name, query = list(functions(df))[number]
    report = check(query)
    assert not report
    wanted = "<lambda>" if number == 7 else name
    assert f"the Python function {wanted} runs in Spark only" in str(report)


def test_table_functions_are_named(spark: SparkSession) -> None:
    class Squares:
        def eval(self, n: int) -> Iterator[tuple[int]]:
            yield (n * n,)

    spark.udtf.register("squares", F.udtf(Squares, returnType="n int"))  # type: ignore[arg-type]
    queries = ("SELECT * FROM squares(3)", "SELECT id, n FROM range(3), LATERAL squares(CAST(id AS INT))")
    for query, stage in product(queries, ("optimized", "analyzed")):
        report = check(spark.sql(query), stage=stage)
        assert "the Python function squares runs in Spark only" in str(report)
        assert "a table function may keep state from row to row" in str(report)
        assert "functions=[" not in str(report)
    with pytest.raises(FunctionError, match="none of a kind that plans call: a table function may keep state"):
        check(spark.range(1), functions=[F.udtf(Squares, returnType="n int")])


@since("4.0", "a function written in SQL")
def test_functions_written_in_sql_are_their_body(spark: SparkSession, df: DataFrame) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY FUNCTION twice(x INT) RETURNS INT RETURN x + x")
    assert_same_rows(df.selectExpr("twice(k) AS t"))
    assert plan_of(df.selectExpr("twice(k) AS t"))


@pytest.mark.parametrize(
    ("policy", "expression", "exported"),
    [
        ("LEGACY", "date_format(DATE'2024-01-01' + id, 'y')", False),
        ("LEGACY", "to_date(CAST(id AS STRING), 'yyyy')", False),
        ("LEGACY", "unix_timestamp(CAST(id AS STRING), 'yyyy')", False),
        ("EXCEPTION", "try_to_timestamp(CAST(id AS STRING), 'yyyy')", False),
        ("EXCEPTION", "date_format(DATE'2024-01-01' + id, 'y')", True),
        ("CORRECTED", "try_to_timestamp(CAST(id AS STRING), 'yyyy')", True),
    ],
)
def test_sessions_with_the_patterns_of_older_sparks(
    spark: SparkSession, policy: str, expression: str, exported: bool
) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.legacy.timeParserPolicy", policy)
    report = check(session.sql(f"SELECT {expression} FROM (SELECT CAST(id AS INT) AS id FROM range(2))"))
    assert bool(report) == exported
    assert exported or f"timeParserPolicy={policy} changes what patterns mean" in str(report)


@pytest.mark.parametrize(
    ("setting", "value", "expression", "said"),
    [
        ("spark.sql.icu.caseMappings.enabled", "false", "initcap(CAST(id AS STRING))", "initcap_simple("),
        (
            "spark.sql.legacy.truncateForEmptyRegexSplit",
            "true",
            "split(CAST(id AS STRING), '', 2)",
            "split_truncating(",
        ),
        ("spark.sql.legacy.truncateForEmptyRegexSplit", "true", "split(CAST(id AS STRING), ',', 2)", "split("),
        ("spark.sql.jsonGenerator.ignoreNullFields", "false", "to_json(struct(id))", "'ignoreNullFields', 'false'"),
        (
            "spark.sql.columnNameOfCorruptRecord",
            "Bad",
            "from_json(CAST(id AS STRING), 'id INT')",
            "'columnNameOfCorruptRecord', 'Bad'",
        ),
    ],
)
def test_settings_that_plans_say(spark: SparkSession, setting: str, value: str, expression: str, said: str) -> None:
    session = spark.newSession()
    session.conf.set(setting, value)
    assert said in explain(df_to_substrait(session.sql(f"SELECT {expression} FROM range(2)")))


@pytest.mark.parametrize(
    ("setting", "value", "expression"),
    [
        ("spark.sql.json.enablePartialResults", "false", "from_json(CAST(id AS STRING), 'id INT')"),
        ("spark.sql.legacy.json.allowEmptyString.enabled", "true", "from_json(CAST(id AS STRING), 'id INT')"),
        ("spark.sql.legacy.nullValueWrittenAsQuotedEmptyStringCsv", "true", "to_csv(struct(id))"),
        ("spark.sql.legacy.timeParserPolicy", "LEGACY", "from_json(CAST(id AS STRING), 'd DATE')"),
    ],
)
def test_settings_that_plans_cannot_say(spark: SparkSession, setting: str, value: str, expression: str) -> None:
    session = spark.newSession()
    session.conf.set(setting, value)
    assert f"the setting {setting}={value} changes" in str(check(session.sql(f"SELECT {expression} FROM range(2)")))
