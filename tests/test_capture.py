"""Captured jobs: every kind of action and of write, what it wrote, and that the job notices nothing."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rows import canonical_rows, differences, other_session, spark_table
from substrait.plan_pb2 import Plan

from substrait_spark import (
    CapturedQuery,
    SubstraitSparkError,
    Target,
    UnsupportedSessionError,
    capture,
    check,
    conversion,
    df_to_substrait,
    explain,
)
from substrait_spark.catalyst import listener
from substrait_spark.catalyst.commands import WITHHELD, target
from substrait_spark.engines import datafusion
from substrait_spark.engines import spark as spark_engine
from substrait_spark.statements.captured import CapturedQueries


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sales: some without a shop, and some whose shop has no name."""
    folder = tmp_path_factory.mktemp("capture")
    rows = "(1, 'north', 2.5D), (2, 'south', 4.0D), (3, '', 1.0D), (4, NULL, 8.0D), (5, 'north', -0.0D)"
    spark.sql(f"SELECT * FROM VALUES {rows} AS t(id, shop, price)").write.parquet(str(folder / "sales"))
    return folder


@pytest.fixture
def sales(spark: SparkSession, folder: Path) -> DataFrame:
    return spark.read.parquet(str(folder / "sales")).where("id > 1")


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[None]:
    """Tables that a test makes don't outlive it."""
    yield
    for table in ("made", "there", "cheap", "dear", "grows"):
        spark.sql(f"DROP TABLE IF EXISTS {table}")


def listening(spark: SparkSession) -> list[str]:
    """The queues of events of Spark's."""
    jvm: Any = spark._jvm
    bus: Any = spark._jsc.sc().listenerBus()
    field = bus.getClass().getDeclaredField("queues")
    field.setAccessible(True)
    return [str(queue.name()) for queue in jvm.java.util.ArrayList(field.get(bus))]


def only(queries: CapturedQueries) -> CapturedQuery:
    (query,) = queries
    return query


def plan_in(query: CapturedQuery) -> Plan:
    assert query.plan is not None, query.head
    assert query.problems == ()
    return query.plan


def assert_rows(expected: DataFrame, query: CapturedQuery) -> None:
    """DataFusion gives the rows of a DataFrame for a captured plan."""
    actual = datafusion.execute(plan_in(query))
    assert actual.num_rows
    assert not differences(spark_table(expected), actual)


# ---- actions


def _from_cache(df: DataFrame) -> None:
    cached = df.groupBy("shop").sum().cache()
    cached.collect()
    cached.unpersist()


ACTIONS: dict[str, tuple[str, Callable[[DataFrame], Any], Callable[[DataFrame], DataFrame]]] = {
    "collect": ("collect", lambda df: df.collect(), lambda df: df),
    "toPandas": ("collect", lambda df: df.toPandas(), lambda df: df),
    "take": ("collect", lambda df: df.take(99), lambda df: df.limit(99)),
    "tail": ("tail", lambda df: df.tail(99), lambda df: df),
    "count": ("count", lambda df: df.count(), lambda df: df.groupBy().count()),
    "toLocalIterator": ("toLocalIterator", lambda df: list(df.toLocalIterator()), lambda df: df),
    "localCheckpoint": ("localCheckpoint", lambda df: df.localCheckpoint(), lambda df: df),
    "aggregate": ("collect", lambda df: df.groupBy("shop").sum().collect(), lambda df: df.groupBy("shop").sum()),
    "cached": ("collect", _from_cache, lambda df: df.groupBy("shop").sum()),
}


@pytest.mark.smoke
@pytest.mark.parametrize("name", ACTIONS)
def test_action(spark: SparkSession, sales: DataFrame, name: str) -> None:
    action, act, same = ACTIONS[name]
    with capture(spark, dialect="datafusion") as queries:
        act(sales)
    query = only(queries)
    assert query.action == action
    assert (query.target, query.error) == (None, None)
    assert_rows(same(sales), query)


def test_plans_are_those_of_the_data_frames(spark: SparkSession, sales: DataFrame) -> None:
    """Canonical and lowered, the same bytes; Spark runs the canonical ones."""
    df = sales.groupBy("shop").agg(F.count("*").alias("sold"), F.max("price").alias("most"))
    for dialect in (None, "datafusion"):
        with capture(spark, dialect=dialect) as queries:
            df.collect()
        assert plan_in(only(queries)) == df_to_substrait(df, dialect=dialect)
    with capture(spark) as queries:
        df.collect()
    assert not differences(
        spark_table(df), spark_table(spark_engine.execute(plan_in(only(queries)), other_session(spark)))
    )
    assert canonical_rows(df).num_rows


def test_cached_frames_and_their_parts(spark: SparkSession, sales: DataFrame) -> None:
    """The plan is of the query below the cache, also where another action reads it."""
    cached = sales.where("price > 0").cache()
    with capture(spark, dialect="datafusion") as queries:
        cached.count()
        cached.where("shop = 'south'").collect()
    cached.unpersist()
    assert [query.action for query in queries] == ["count", "collect"]
    assert_rows(sales.where("price > 0 AND shop = 'south'"), queries[1])


def test_show_and_commands_tell_what_stands_in_the_way(spark: SparkSession, sales: DataFrame) -> None:
    with capture(spark) as queries:
        sales.select(F.spark_partition_id()).collect()
        sales.createOrReplaceTempView("captured_view")
        spark.sql("SHOW TABLES").collect()
        spark.table("captured_view").count()
    spark.catalog.dropTempView("captured_view")
    names, view, command, shown, count = queries
    assert names.problems == check(sales.select(F.spark_partition_id())).problems
    assert "SparkPartitionID" in names.head
    assert [view.action, command.action] == ["command", "command"]
    assert view.problems[0].catalyst_class == "CreateViewCommand"
    assert "only what a command writes is a query" in view.head
    assert shown.action == "collect"
    assert plan_in(shown)
    assert plan_in(count)


# ---- writes

WRITES: dict[str, tuple[Callable[[SparkSession, DataFrame, str], Any], Target]] = {
    "save": (
        lambda _, df, path: df.write.parquet(path),
        Target(path="{path}", format="parquet", mode="errorifexists"),
    ),
    "save csv": (
        lambda _, df, path: df.write.mode("append").csv(path, header=True),
        Target(path="{path}", format="csv", mode="append"),
    ),
    "partitions": (
        lambda _, df, path: df.write.mode("overwrite").partitionBy("shop").parquet(path),
        Target(path="{path}", format="parquet", mode="overwrite", partitioned_by=("shop",)),
    ),
    "directory": (
        lambda spark, _, path: spark.sql(f"INSERT OVERWRITE DIRECTORY '{path}' USING parquet SELECT * FROM frame"),
        Target(path="{path}", format="parquet", mode="overwrite"),
    ),
    "saveAsTable": (
        lambda _, df, __: df.write.saveAsTable("made"),
        Target("spark_catalog.default.made", None, "parquet", "errorifexists"),
    ),
    "saveAsTable, again": (
        lambda _, df, __: df.write.mode("append").saveAsTable("there"),
        Target("spark_catalog.default.there", None, "parquet", "append"),
    ),
    "saveAsTable over": (
        lambda _, df, __: df.write.mode("overwrite").partitionBy("shop").bucketBy(2, "id").saveAsTable("made"),
        Target("spark_catalog.default.made", None, "parquet", "overwrite", ("shop",)),
    ),
    "insertInto": (
        lambda _, df, __: df.write.insertInto("there"),
        Target("spark_catalog.default.there", None, "parquet", "append"),
    ),
    "INSERT": (
        lambda spark, _, __: spark.sql("INSERT INTO there SELECT * FROM frame"),
        Target("spark_catalog.default.there", None, "parquet", "append"),
    ),
    "INSERT OVERWRITE": (
        lambda spark, _, __: spark.sql("INSERT OVERWRITE there SELECT * FROM frame"),
        Target("spark_catalog.default.there", None, "parquet", "overwrite"),
    ),
    "CTAS": (
        lambda spark, _, __: spark.sql("CREATE TABLE made USING orc AS SELECT * FROM frame"),
        Target("spark_catalog.default.made", None, "orc", "errorifexists"),
    ),
    "writeTo": (
        lambda _, df, __: df.writeTo("made").using("parquet").create(),
        Target("spark_catalog.default.made", None, "parquet", "errorifexists"),
    ),
}


@pytest.mark.smoke
@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("name", WRITES)
def test_write(spark: SparkSession, sales: DataFrame, tmp_path: Path, name: str) -> None:
    """The plan gives what was written, into which table or path, and how."""
    write, expected = WRITES[name]
    df = sales.selectExpr("id", "price * 2 AS price", "shop")
    spark.sql("CREATE TABLE there (id INT, price DOUBLE, shop STRING) USING parquet")
    df.createOrReplaceTempView("frame")
    path = str(tmp_path / "out")
    with capture(spark, dialect="datafusion", reads="files") as queries:
        write(spark, df, path)
    query = only(queries)
    uri = f"file://{path}"
    assert query.target == (expected._replace(path=uri) if expected.path else expected)
    assert (query.action, query.error) == ("save", None)
    reader = spark.read.schema(df.schema)
    written = (
        spark.table(expected.table)
        if expected.table
        else reader.csv(path, header=True)
        if expected.format == "csv"
        else reader.parquet(path)
    )
    if expected.format == "csv":  # which has no other mark for a null than the empty string
        written, df = written.fillna("", ["shop"]), df.fillna("", ["shop"])
        assert not differences(spark_table(df), spark_table(written))
        assert plan_in(query)
        return
    assert_rows(written.select("id", "price", "shop"), query)


@pytest.mark.usefixtures("tables")
def test_several_writes_of_one_statement(spark: SparkSession, folder: Path) -> None:
    spark.sql("CREATE TABLE cheap (id INT) USING parquet")
    spark.sql("CREATE TABLE dear (id INT, shop STRING) USING parquet")
    spark.read.parquet(str(folder / "sales")).createOrReplaceTempView("frame")
    with capture(spark, dialect="datafusion") as queries:
        spark.sql(
            "FROM frame INSERT INTO cheap SELECT id WHERE price < 2 INSERT INTO dear SELECT id, shop WHERE price >= 2"
        )
    cheap, dear = queries
    assert [query.target and query.target.table for query in queries] == [
        "spark_catalog.default.cheap",
        "spark_catalog.default.dear",
    ]
    assert_rows(spark.table("cheap"), cheap)
    assert_rows(spark.table("dear"), dear)


@pytest.mark.usefixtures("tables")
def test_writes_of_cached_frames(spark: SparkSession, sales: DataFrame) -> None:
    cached = sales.where("price > 0").cache()
    with capture(spark, dialect="datafusion") as queries:
        cached.write.saveAsTable("made")
    cached.unpersist()
    assert_rows(spark.table("made"), only(queries))


def test_a_source_that_takes_any_query(spark: SparkSession, sales: DataFrame) -> None:
    with capture(spark) as queries:
        sales.write.format("noop").mode("overwrite").save()
    assert only(queries).target == Target("noop-table", mode="overwrite")
    assert plan_in(only(queries)) == df_to_substrait(sales)


def test_no_target_tells_a_secret() -> None:
    found = target(
        {
            "class": "InsertIntoHadoopFsRelationCommand",
            "outputPath": "s3a://key:secret@bucket/out",
            "mode": "Append",
            "fileFormat": "parquet",
        }
    )
    assert found == Target(path=WITHHELD, format="parquet", mode="append")
    assert str(found) == f"path {WITHHELD} (parquet, append)"


def test_targets_of_other_catalogs() -> None:
    """Of commands that no catalog here takes."""
    replaced = target({"class": "ReplaceTableAsSelect", "name": ["lake", "a b", "t"], "partitioning": ["days(at)"]})
    assert replaced == Target('lake."a b".t', None, None, "replace", ("days(at)",))
    assert str(replaced) == 'table lake."a b".t (replace, partitioned by days(at))'
    hive = {"class": "InsertIntoHiveTable", "table": {"table": ["c", "d", "t"], "format": "hive", "partitions": ["p"]}}
    assert target({**hive, "overwrite": True}) == Target("c.d.t", None, "hive", "overwrite", ("p",))
    assert target({"class": "SaveIntoDataSourceCommand", "options": {"dbtable": "t"}, "mode": "Append"}) == Target(
        "t", mode="append"
    )
    assert target({"class": "AppendData", "table": "csv s3a://key:secret@bucket/t"}) == Target(WITHHELD, mode="append")
    assert target({"class": "WriteDelta", "table": "t"}) is None


# ---- what it meant when it ran


def test_settings_of_then(spark: SparkSession) -> None:
    """A setting that functions read as they run, changed between an action and the end of the block."""
    key = "spark.sql.legacy.castComplexTypesToString.enabled"
    df = spark.range(3).selectExpr("CAST(array(id) AS STRING) AS text")
    expected = []
    with capture(spark) as queries:
        for legacy in ("true", "false"):
            spark.conf.set(key, legacy)
            df = spark.range(3).selectExpr("CAST(array(id, NULL) AS STRING) AS text")
            expected.append((check(df).problems, df_to_substrait(df) if check(df) else None))
            df.collect()
    spark.conf.unset(key)
    assert [(query.problems, query.plan) for query in queries] == expected
    assert expected[0] != expected[1]


@pytest.mark.usefixtures("tables")
def test_files_of_then(spark: SparkSession) -> None:
    """A table that is written to after it was read, by which Spark's index of its files is refreshed."""
    spark.sql("CREATE TABLE grows USING parquet AS SELECT 1 AS id")
    counts = []
    with capture(spark, dialect="datafusion", reads="files") as queries:
        for _ in range(3):
            counts.append(spark.table("grows").collect())
            spark.sql("INSERT INTO grows SELECT max(id) + 1 FROM grows")
    reads = [query for query in queries if query.action == "collect"]
    found = [datafusion.execute(plan_in(query)).column("id").to_pylist() for query in reads]
    assert [sorted(ids) for ids in found] == [[1], [1, 2], [1, 2, 3]]
    assert [len(count) for count in counts] == [1, 2, 3]


# ---- the job notices nothing


def test_errors_of_the_job_are_the_job_s(spark: SparkSession, sales: DataFrame, tmp_path: Path) -> None:
    def job() -> None:
        sales.count()
        with contextlib.suppress(Exception):
            sales.selectExpr("CAST(raise_error('bad') AS INT) AS x").collect()
        with contextlib.suppress(Exception):
            sales.write.parquet(sales.inputFiles()[0])
        raise KeyError("mine")

    before = listening(spark)
    with pytest.raises(KeyError, match="mine"), capture(spark) as queries:
        job()
    assert listening(spark) == before
    count, failed, written = queries
    assert (count.action, count.error) == ("count", None)
    assert failed.plan is not None
    assert failed.error is not None
    assert "which failed" in failed.head
    assert written.target is not None
    assert written.error is not None
    assert "PATH_ALREADY_EXISTS" in written.error or "FileAlreadyExists" in written.error


def test_results_are_the_same(spark: SparkSession, sales: DataFrame) -> None:
    expected = sales.orderBy("id").collect()
    with capture(spark) as queries:
        assert sales.orderBy("id").collect() == expected
        assert sales.count() == len(expected)
    assert [query.action for query in queries] == ["collect", "count"]


def test_nothing_stays(spark: SparkSession, sales: DataFrame) -> None:
    before = listening(spark)
    with capture(spark) as queries:
        assert listening(spark) == [*before, "substrait-spark"]
        sales.count()
    assert listening(spark) == before
    sales.count()
    assert len(queries) == 1


def test_threads(spark: SparkSession, sales: DataFrame) -> None:
    def count(number: int) -> int:
        return sales.where(f"id <> {number}").count()

    with capture(spark) as queries, ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(count, range(12)))
    assert counts == [4, 4, 3, 3, 3, 3, *[4] * 6]
    plans = [df_to_substrait(sales.where(f"id <> {number}").groupBy().count()) for number in range(12)]
    assert sorted(map(str, plans)) == sorted(str(plan_in(query)) for query in queries)


def test_several_at_once(spark: SparkSession, sales: DataFrame) -> None:
    with capture(spark) as outer:
        sales.count()
        with capture(spark) as inner:
            sales.collect()
        sales.tail(1)
    assert [query.action for query in outer] == ["count", "collect", "tail"]
    assert [query.action for query in inner] == ["collect"]


def test_other_sessions_are_left_alone(spark: SparkSession, sales: DataFrame) -> None:
    other = spark.newSession()
    with capture(spark) as mine, capture(other) as others:
        other.range(3).collect()
        sales.count()
    assert [query.action for query in mine] == ["count"]
    assert [query.action for query in others] == ["collect"]


def test_read_within_the_block(spark: SparkSession, sales: DataFrame) -> None:
    with capture(spark) as queries:
        assert not queries
        sales.count()
        assert [query.action for query in queries] == ["count"]
        sales.collect()
        assert queries[-1].action == "collect"
    assert repr(queries) == "<2 captured queries: count, collect>"
    assert [query.action for query in queries[:1]] == ["count"]


def test_what_still_runs_is_not_there(spark: SparkSession, sales: DataFrame) -> None:
    """An action of another thread that began before the block, and one that ends after it."""
    slow = F.udf(lambda value: (__import__("time").sleep(2), value)[1], "int")
    before = threading.Thread(target=sales.limit(1).select(slow("id")).collect)
    after = threading.Thread(target=sales.limit(1).select(slow("id")).collect)
    before.start()
    _until_it_runs(spark)
    with capture(spark) as queries:
        before.join()
        sales.count()
        after.start()
        _until_it_runs(spark)
    after.join()
    assert [query.action for query in queries] == ["count"]


def _until_it_runs(spark: SparkSession) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not tracker.getActiveStageIds():
        threading.Event().wait(0.01)


# ---- failures of ours


def test_a_failure_of_ours_is_a_problem(spark: SparkSession, sales: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Any:
        raise RuntimeError("a defect")

    with capture(spark) as queries:
        sales.count()
        monkeypatch.setattr(conversion, "convert_as", failing)
    query = only(queries)
    assert query.plan is None
    assert query.problems[0].reason == "substrait_spark failed with RuntimeError"
    with capture(spark) as queries:
        sales.count()
        monkeypatch.setattr(listener.Listener, "taken", failing)
    assert [query.action for query in queries] == ["capture"]
    monkeypatch.setattr(listener.Listener, "__init__", failing)
    with capture(spark) as queries:
        assert sales.count() == 4
    assert "could not be listened to" in only(queries).head


def test_an_interrupt_leaves_nothing_behind(
    spark: SparkSession, sales: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    before = listening(spark)
    monkeypatch.setattr(conversion, "convert_as", interrupted)
    with pytest.raises(KeyboardInterrupt), capture(spark):
        sales.count()
    assert listening(spark) == before


def test_spark_that_is_late(spark: SparkSession, sales: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener.Listener, "is_told", lambda _: False)
    with capture(spark) as queries:
        sales.count()
    assert queries[-1].action == "capture"
    assert "Spark is late" in queries[-1].head


def test_what_can_not_be_captured(spark: SparkSession) -> None:
    class Remote:
        """Stands for pyspark.sql.connect.session.SparkSession, which needs grpc."""

    Remote.__module__ = "pyspark.sql.connect.session"
    given: Any
    for given, kind, said in (
        (Remote(), UnsupportedSessionError, "a Spark Connect session"),
        (None, SubstraitSparkError, "Give a SparkSession, not None"),
        (spark.range(1), SubstraitSparkError, "Give a SparkSession, not pyspark"),
    ):
        with pytest.raises(kind, match=said), capture(given):
            raise AssertionError("the block must not run")
    with pytest.raises(ValueError, match="reads must be one of"), capture(spark, reads="all"):
        raise AssertionError("the block must not run")


# ---- a session that stops, and whole scripts

STOPPED = """
import sys
from pyspark.sql import SparkSession
from substrait_spark import UnsupportedSessionError, capture, explain

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
with capture(spark) as queries:
    spark.range(3).where("id > 1").count()
    spark.createDataFrame([(1,)], "a int").collect()
    spark.stop()
assert [query.action for query in queries] == ["count", "collect"], queries
print(explain(queries[0].plan))
assert "The Spark session of this DataFrame was stopped" in queries[1].problems[0].reason, queries[1].problems
try:
    with capture(spark):
        raise AssertionError
except UnsupportedSessionError as error:
    print(error)
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
with capture(spark) as queries:
    spark.range(3).count()
assert [query.action for query in queries] == ["count"], queries
"""


def run(*command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.slow
def test_a_session_that_stops(tmp_path: Path) -> None:
    done = run(sys.executable, "-c", STOPPED, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Aggregate" in done.stdout
    assert "This Spark session was stopped: start one." in done.stdout


SCRIPT = """
import sys
from pyspark.sql import SparkSession

assert __name__ == "__main__"
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
days = spark.createDataFrame([("mon", 1), ("tue", 2)], "day string, n int")
days.createOrReplaceTempView("days")
spark.sql("SELECT day, n * 2 AS n FROM days").write.parquet(sys.argv[1])
spark.newSession().range(5).count()
spark.stop()
print("done")
if len(sys.argv) > 2:
    sys.exit(int(sys.argv[2])) if sys.argv[2].isdigit() else int(sys.argv[2])
"""


@pytest.mark.slow
def test_a_script(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(SCRIPT, "utf-8")
    (tmp_path / "plans").mkdir()
    for name in ("009-save.plan", "mine.txt"):
        (tmp_path / "plans" / name).touch()
    command = [sys.executable, "-m", "substrait_spark", "capture", "job.py", "-o", "plans", "-d", "datafusion"]
    done = run(*command, "--", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
    assert "3 queries, 2 plans in plans:" in done.stderr
    assert f"002 save to path file://{tmp_path}/out (parquet, errorifexists)" in done.stderr
    assert sorted(path.name for path in (tmp_path / "plans").iterdir()) == [
        "001-command.txt",
        "002-save.plan",
        "002-save.txt",
        "003-count.plan",
        "003-count.txt",
        "mine.txt",
    ]
    plan = Plan.FromString((tmp_path / "plans" / "002-save.plan").read_bytes())
    assert explain(plan).strip() in (tmp_path / "plans" / "002-save.txt").read_text("utf-8")
    written = pa.table({"day": ["mon", "tue"], "n": pa.array([2, 4], pa.int32())})
    assert datafusion.execute(plan).to_pydict() == written.to_pydict()

    done = run(*command, "--", "out2", "3", folder=tmp_path)
    assert done.returncode == 3
    assert (tmp_path / "plans" / "002-save.plan").exists()
    done = run(*command, "--", "out3", "x", folder=tmp_path)
    assert done.returncode == 1
    assert "ValueError: invalid literal" in done.stderr
    assert "runpy" not in done.stderr
    assert "2 plans in plans" in done.stderr


SCRIPT_OF_FUNCTIONS = """
import os
import sys
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

os.environ["PYSPARK_PYTHON"] = sys.executable
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.addPyFile("cleaning.py")
import cleaning

@udf("int")
def twice(n):
    return n * 2

def large(frames):
    for frame in frames:
        yield frame[frame["n"] > 2]

days = spark.createDataFrame([("mon ", 1), ("tue", 2)], "day string, n int")
days.select(cleaning.clean("day").alias("day"), twice("n").alias("n")).mapInPandas(large, "day string, n int").collect()
spark.stop()
"""


@pytest.mark.slow
def test_a_script_with_functions_of_its_own(tmp_path: Path) -> None:
    """Those of its modules, and those that it makes itself."""
    (tmp_path / "job.py").write_text(SCRIPT_OF_FUNCTIONS, "utf-8")
    (tmp_path / "cleaning.py").write_text(
        "from pyspark.sql.functions import udf\n\n\n@udf('string')\ndef clean(text):\n    return text.strip()\n",
        "utf-8",
    )
    command = [sys.executable, "-m", "substrait_spark", "capture", "job.py", "-o", "plans"]
    given = [word for name in ("job.py:twice", "cleaning:clean", "job.py:large") for word in ("--functions", name)]
    done = run(*command, *given, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "plans" / "001-collect.txt").read_text("utf-8")
    assert "twice($" in text
    assert "clean($" in text
    assert "substrait_spark.FlatMap large(" in text
    lacking = run(
        *command, *given[:2], "--functions", "cleaning.py:clean", "--functions", "job.py:small", folder=tmp_path
    )
    assert lacking.returncode == 1
    assert "--functions job.py:small: AttributeError" in lacking.stderr
