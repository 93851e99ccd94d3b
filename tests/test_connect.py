"""Spark Connect: the plans of a classic session, from a server whose tables the planner never sees."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import connect_corpus
import pytest
import quick_spark
import slow
from connect_server import ConnectServer
from job_record import HERE
from pyspark.sql import SparkSession
from releases import RELEASE, since

from substrait_spark import UnsupportedSessionError, explain
from substrait_spark.connect.jvm import spark_home
from substrait_spark.connect.planner import require_same_version
from substrait_spark.connect.server import leaf_sizes, namespace_parts, quoted

pytestmark = since("4.0", "the planner in PySpark's jars")

SECRET = "hidden-in-the-url"


SETTINGS = {
    **quick_spark.SETTINGS,
    "spark.sql.catalog.other": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    "spark.sql.catalog.other.driver": "org.apache.derby.jdbc.EmbeddedDriver",
    "spark.sql.catalog.other.url": "jdbc:derby:memory:other;create=true",
}
"""The server's, which has another catalog beside Spark's own."""


class Outcome(NamedTuple):
    """What a process of its own has converted and was told, the log of its library, and what it has left."""

    plans: dict[str, bytes | str]
    answers: dict[str, str]
    log: str
    left: dict[str, Any]


@pytest.fixture(scope="module")
def folder(tpch: Path, tpcds: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all data that the queries read."""
    folder = tmp_path_factory.mktemp("connect")
    (folder / "tpch").symlink_to(tpch)
    (folder / "tpcds").symlink_to(tpcds)
    connect_corpus.write_files(folder)
    return folder


@pytest.fixture(scope="module")
def outcome(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcome]:
    """All queries and questions in a process that has a server for them, which is killed before the last question."""
    place = tmp_path_factory.mktemp("server")
    output = place / "outcome"
    server = ConnectServer(place, SETTINGS)
    try:
        url = f"sc://127.0.0.1:{server.port}/;x-token={SECRET}"
        asking = subprocess.Popen(
            [sys.executable, "-m", "connect_answers", url, str(folder), str(output)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert asking.stdout is not None
        line = asking.stdout.readline()
        server.kill()
        asking.communicate("go on\n" if line else None)
        assert asking.returncode == 0
        plans, answers, left = pickle.loads(output.read_bytes())  # noqa: S301
        yield Outcome(plans, answers, Path(f"{output}.log").read_text(encoding="utf-8"), left)
    finally:
        server.kill()


@pytest.fixture(scope="module")
def classic(spark: SparkSession, folder: Path) -> Iterator[dict[str, bytes | str]]:
    """The plans of all queries in a classic session."""
    session = spark.newSession()
    connect_corpus.make_tables(session, folder)
    yield connect_corpus.converted(session, folder)
    connect_corpus.drop_tables(session)


@pytest.mark.smoke
def test_same_bytes(outcome: Outcome, classic: dict[str, bytes | str]) -> None:
    assert outcome.plans.keys() == classic.keys()
    assert [name for name, plan in classic.items() if plan != outcome.plans[name]] == []
    assert len([plan for plan in classic.values() if isinstance(plan, bytes)]) > (200 if slow.asked() else 85)


TOLD = {
    "temporary view": "the temporary view 'of_session' is known to the Spark Connect server alone",
    "global temporary view": "the temporary view 'of_application' is known to the Spark Connect server alone",
    "pivot without values": "pivot without values asks the data for them",
    "transpose": "it has a table whose columns hang on the rows",
    "checkpoint": "it has rows that are kept on the server (a checkpoint)",
    "rows on the server": (
        "it has rows of a createDataFrame that are kept on the server"
        if RELEASE >= (4, 1)
        else "it has 300000 local rows"
    ),
    "stream": "it is a streaming DataFrame",
    "source": "a source of the format 'binaryFile' can't be read from a plan",
    "files in SQL": "its SQL text names files, which only the server can list",
    "user": "it asks for the current user, whom only the server knows",
    "no table": "[TABLE_OR_VIEW_NOT_FOUND]",
    "no column": "[UNRESOLVED_COLUMN.WITH_SUGGESTION]",
    "python functions": "the Python function <lambda> runs in Spark only",
    "an own function": "{'t': [6, 8]}",
    "an own function over batches": "{'id': [1, 3]}",
    "an own function over groups": "{'k': [0, 1], 'n': [3, 2]}",
    "another function": "the query calls another function <lambda> than the one that functions= has",
    "reads='files'": "the files of a server's table are not known here",
    "an expression": "Expression add($0:a, 1::i32)",
    "an expression over a schema": "Expression gt($0:a, 1::i32) -> r: boolean?",
    "no expressions": "DataFrame at expression 'none': Spark itself can't plan it",
    "a writer": "create_mode APPEND_IF_EXISTS output NO_OUTPUT",
    "nothing is written": "False",
    "a writer without a file system": "its path names no file system",
    "a writer over partitions": "dynamic_partitions: true",
    "a statement": "statements are analysed on the server",
    "requests for changed settings": "asked 2 times",
    "requests for a new table": "asked 5 times",
    # Before 4.2, also which functions are the session's own.
    "requests for new tables": f"asked {9 if RELEASE >= (4, 2) else 10} times",
    "requests for known tables": f"asked {3 if RELEASE >= (4, 2) else 4} times",
    "new tables": "lt(char_length($0:e), cast(3::i32 as i64))",
    "another catalog": 'Read other.APP."A b"',
    "current catalog": "'other'",
    "a table": "root [a]\n  Read spark_catalog.connect_forms.changing -> a: i32?\n",
    "hidden by a view": "the temporary view 'changing' is known to the Spark Connect server alone",
    "not hidden by a view": "root [a]\n  Read spark_catalog.connect_forms.changing -> a: i32?\n",
    "hidden no more": "root [a]\n  Read spark_catalog.connect_forms.changing -> a: i32?\n",
    "made anew": "root [a, b]",
    "dropped": "[TABLE_OR_VIEW_NOT_FOUND]",
    "a view": "root [a]\n  Read",
    "the view replaced": "negate",
    "ANSI true": "overflow=ERROR",
    "ANSI false": "spark_add",
    "time zone": "'Asia/Tokyo'",
    "another namespace": "'connect_tpch'",
    "only the namespace": "'connect_tpch'",
    "only the namespace again": "'connect_forms'",
    "threads": "True",
    "a new planner": "root [a]",
    "no server": "UnsupportedSessionError: The Spark Connect server doesn't answer",
}


SERVER_ALONE = ("is known to the Spark Connect server alone", "pivot without values asks the data for them")
"""Why there is no plan of some jobs."""


@pytest.mark.parametrize("question", TOLD)
def test_answers(outcome: Outcome, question: str) -> None:
    assert TOLD[question] in outcome.answers[question]


def test_rows_of_jobs(outcome: Outcome) -> None:
    """The rows of a job's plan in DataFusion are the server's, but for jobs that only the server can plan."""
    told = {name: outcome.answers[f"job {name}"] for name in HERE}
    refused = {name for name, answer in told.items() if any(reason in answer for reason in SERVER_ALONE)}
    assert [told[name] for name in HERE if name not in refused and not re.fullmatch(r"[1-9]\d* rows", told[name])] == []
    assert len(HERE) - len(refused) > (100 if slow.asked() else 30)


def test_page(outcome: Outcome) -> None:
    assert outcome.answers["the page"] == outcome.answers["the page says"]


def test_no_secret_and_no_trace(outcome: Outcome) -> None:
    assert "The JVM that plans Spark Connect frames is there" in outcome.log
    assert SECRET not in outcome.log
    assert not [plan for plan in outcome.plans.values() if SECRET in (plan if isinstance(plan, str) else repr(plan))]
    assert not [answer for answer in outcome.answers.values() if SECRET in answer]
    assert not Path(outcome.left["folder"]).exists()
    with pytest.raises(ProcessLookupError):
        os.kill(outcome.left["pid"], 0)


def test_versions() -> None:
    require_same_version("4.3.0", "4.3.2", allow_mismatch=False)
    require_same_version("4.3.0", "4.2.1", allow_mismatch=True)
    with pytest.raises(
        UnsupportedSessionError, match=r"runs Spark 4\.2\.1, .* here is 4\.3\.0.*Install pyspark==4\.2\.\*"
    ):
        require_same_version("4.3.0", "4.2.1", allow_mismatch=False)


def test_no_jars(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(UnsupportedSessionError, match="no jars of Spark 4 in SPARK_HOME"):
        spark_home()
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "spark-connect_2.13-4.2.1.jar").touch()
    assert spark_home() == (tmp_path, "4.2.1")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("a", ["a"]),
        ("a.b", ["a", "b"]),
        ("`a.b`.c", ["a.b", "c"]),
        ("`a``b`.`c`", ["a`b", "c"]),
        ("x.``````", ["x", "``"]),
    ],
)
def test_names(text: str, parts: list[str]) -> None:
    assert namespace_parts(text) == parts
    assert namespace_parts(quoted(tuple(parts))) == parts


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("Relation t[a#1] parquet, Statistics(sizeInBytes=1.5 KiB)", [1536]),
        ("Project, Statistics(sizeInBytes=2.0 B)\n+- Relation, Statistics(sizeInBytes=8.0 EiB)", [2**63 - 1]),
        ("Relation t[a#1] parquet, Statistics(sizeInBytes=3.0 B, rowCount=7)\n\n== Physical Plan ==\nScan", [3]),
        (
            """Join Cross, Statistics(sizeInBytes=9.0 B)
:- Project, Statistics(sizeInBytes=8.0 B)
:  +- Relation t[a#1] parquet, Statistics(sizeInBytes=2.0 B)
+- HiveTableRelation [`u`], Statistics(sizeInBytes=7.0 B)""",
            [2, 7],
        ),
        ("LocalRelation <empty>, Statistics(sizeInBytes=1.0 parsec)", [2**63 - 1]),
        ("what another server writes", []),
    ],
)
def test_sizes(text: str, sizes: list[int]) -> None:
    assert leaf_sizes(text) == sizes


def test_plans_are_plans(outcome: Outcome) -> None:
    from substrait.plan_pb2 import Plan

    plan = outcome.plans["connect_tpch.q1"]
    assert isinstance(plan, bytes)
    assert "Read spark_catalog.connect_tpch.lineitem" in explain(Plan.FromString(plan))
