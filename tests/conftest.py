"""What all tests share: a Spark session, the benchmarks' data, and the structural rules on every plan that is made."""

from __future__ import annotations

import fcntl
import gc
import itertools
import logging
import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import class_archive
import corpus
import lake_session
import pytest
import quick_spark
import slow
import tpc_data
import tpcds_data
from pyspark.sql import SparkSession
from substrait.plan_pb2 import Plan
from verdicts import COMPARED, Verdicts

from substrait_spark import conversion
from substrait_spark.catalyst.tree import Document
from substrait_spark.context import Context
from substrait_spark.conversion import emit_document, problems_of
from substrait_spark.errors import Problem
from substrait_spark.extensions import registry
from substrait_spark.plan.message import build
from substrait_spark.reading.plan import read_plan
from substrait_spark.testing import assert_well_formed
from substrait_spark.testing.conformance import departures

TIME_ZONE = "America/Los_Angeles"
"""A session time zone with daylight-saving time, so that a test which forgets the time zone fails."""

LONGEST = (
    "test_tpcds",
    "test_isthmus",
    "test_postgresql",
    "test_fuzz",
    "test_command_line",
    "test_functions aggregate",
    "test_jobs",
    "test_user_functions",
    "test_joins",
    "test_connect",
    "test_capture",
    "test_analyzed",
    "test_casts",
    "test_constants",
    "test_functions window",
)
"""The groups of tests that take longest."""


LAKES = Path(__file__).parent / "lakes"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--scale-factor", type=float, default=0.01, help="scale factor of the TPC-H data (default: 0.01)")
    parser.addoption(
        "--verdicts", type=Path, metavar="FOLDER", help="run the tests that use Spark, and count what comes of them"
    )
    parser.addoption("--quick", action="store_true", help="run only what needs no Spark")
    parser.addoption("--slow", action="store_true", help="run the slow tests, too (slow.py)")
    parser.addoption(
        "--part",
        type=_part,
        default="1/1",
        metavar="K/N",
        help="of a module's tests that use Spark, run each N-th from the K-th on (default: all)",
    )
    parser.addoption("--compiled", action="store_true", help="have Spark compile its queries, as users' sessions do")
    parser.addoption(
        "--lakes",
        type=Path,
        metavar="FOLDER",
        help="run the tests of lakes, with archives of Iceberg and Delta (make lakes)",
    )
    parser.addoption("--record", action="store_true", help="write anew what is recorded of Spark or of rewrites")
    parser.addoption("--screenshot", action="store_true", help="take the picture of a plan in docs/images anew")


def _part(text: str) -> tuple[int, int]:
    part, of = map(int, text.split("/"))
    if not 0 < part <= of:
        raise ValueError(text)
    return part, of


def pytest_configure(config: pytest.Config) -> None:
    quick_spark.use()
    if config.getoption("--slow"):
        slow.ask()
    if folder := config.getoption("--verdicts"):
        config.pluginmanager.register(Verdicts(folder))
    many = getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput")
    if many and not config.getoption("--quick") and not class_archive.PATH.exists():
        config.add_cleanup(class_archive.Making(quick_spark.COMPILED_ONCE).wait)  # JVMs that start before do without


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Tests of lakes need archives that no package brings."""
    return True if collection_path == LAKES and not config.getoption("--lakes") else None


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A quick run leaves out what needs Spark: it need not make the thousands of tests that this is with all its parameters."""
    if metafunc.config.getoption("--quick") and _needs_spark(metafunc.definition):
        node = metafunc.definition
        node.own_markers[:] = [mark for mark in node.own_markers if mark.name != "parametrize"]


def _group(nodeid: str) -> str:
    """What shares its preparation: the tests of one file; those of functions, of one family."""
    file, _, test = nodeid.rpartition("/")[2].partition(".py::")
    family = re.match(r"test_function\[(\w+)", test)
    return f"{file} {family[1]}" if family else file


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The groups that take longest begin first, lest one process waits for the other at the end."""
    left_out = {item for item in items if _is_left_out(item, config)}
    left_out |= _beside_part([item for item in items if item not in left_out], *config.getoption("--part"))
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: LONGEST.index(group) if (group := _group(item.nodeid)) in LONGEST else len(LONGEST))


def _is_left_out(item: pytest.Item, config: pytest.Config) -> bool:
    """Whether a test is not for this run: slow ones are asked for, and quick runs have no Spark."""
    is_slow = item.get_closest_marker("slow") is not None
    return (is_slow and not slow.asked()) or (_needs_spark(item) and config.getoption("--quick"))


def _beside_part(items: list[pytest.Item], part: int, of: int) -> set[pytest.Item]:
    """All but one of so many parts of each module's tests that use Spark."""
    modules = itertools.groupby(filter(_needs_spark, items), key=lambda item: item.path)
    return {item for _, tests in modules for number, item in enumerate(tests, 1) if (number - part) % of}


def _needs_spark(item: pytest.Item) -> bool:
    """Whether a test runs in a Spark session, or in a process that may start one."""
    starts = item.get_closest_marker("starts_spark") is not None
    return starts or not {"shared_session", "another_pytest"}.isdisjoint(getattr(item, "fixturenames", ()))


def pytest_collection_finish() -> None:
    """Python's collector needn't go through the thousands of tests again and again."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each group runs in one process."""
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = _group
    return scheduler


@pytest.fixture(scope="session", autouse=True)
def _every_plan_is_right() -> Iterator[None]:
    """Whatever plan the library makes in a test keeps the structural rules and its dialect, and calls known functions."""

    def built(*arguments: Any) -> Plan:
        plan = build(*arguments)
        assert_well_formed(plan)
        unknown = [entry.urn for entry in plan.extension_urns if not registry.is_known(entry.urn)]
        assert not unknown, f"no extension file has {unknown}"
        read = read_plan(plan)
        assert not read.problems
        assert read.root is not None
        assert build(read.root, read.names, *arguments[2:]) == plan, (
            "The plan that is read and written again is another."
        )
        return plan

    def emitted(context: Context, document: Document) -> Plan:
        plan = emit_document(context, document)
        if plan.relations and not context.problems:
            found = departures(plan, context.settings.dialect)
            assert not found, "The plan departs from its dialect:\n" + "\n".join(map(str, found))
        return plan

    def refused(*arguments: Any) -> list[Problem]:
        COMPARED["refused"] += 1
        return problems_of(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conversion, "build", built)
        patch.setattr(conversion, "emit_document", emitted)
        patch.setattr(conversion, "problems_of", refused)
        yield


@pytest.fixture(autouse=True)
def _no_rule_stumbles(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that meets what it does not know is a defect, though users are told of an unknown form.

    Tests of documents that Spark never writes are marked `stumbles`.
    """
    if request.node.get_closest_marker("stumbles"):
        return

    def failed(*told: Any) -> Any:
        raise AssertionError(f"a rule has stumbled: {told}") from (
            told[-1] if isinstance(told[-1], Exception) else None
        )

    for module, told in _tellers(len(sys.modules)):
        monkeypatch.setattr(module, told, failed)


@lru_cache(maxsize=1)
def _tellers(modules: int) -> list[tuple[ModuleType, str]]:
    """Where the library tells of what it does not know. They are as before while there are as many modules as before."""
    return [
        (module, told)
        for name, module in list(sys.modules.items())
        if name.startswith("substrait_spark.")
        for told in ("unknown_form", "broken_rewrite")
        if hasattr(module, told)
    ]


@pytest.fixture
def corpus_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements ask the cases that are there, where they would make them anew."""
    monkeypatch.setattr("substrait_spark.engines.measuring.measure.cases", corpus.cases)


@pytest.fixture(scope="session")
def shared_session(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Iterator[SparkSession]:
    """A small, quiet local session."""
    # Python workers must be of this version, whatever `python3` is on PATH.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # The session is for this machine alone; a laptop's name may not even resolve.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    directory = tmp_path_factory.mktemp("spark")
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("substrait_spark tests")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", f"-Dderby.system.home={directory / 'derby'}")
        .config("spark.log.level", "ERROR")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.python.daemon.module", "warm_daemon")
        .config("spark.executorEnv.PYTHONPATH", str(Path(__file__).parent))
        .config("spark.sql.session.timeZone", TIME_ZONE)
        # Spark 3.5 asks before it writes 1500, and before it reads that of a file that another program has written.
        .config("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED")
        .config("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED")
        .config("spark.sql.parquet.int96RebaseModeInWrite", "CORRECTED")
        .config("spark.sql.legacy.timeParserPolicy", "CORRECTED")  # as later releases have it
        .config("spark.sql.warehouse.dir", str(directory / "warehouse"))
    )
    archives = pytestconfig.getoption("--lakes")
    lakes = lake_session.settings(archives, directory) if archives else {}
    compiled = quick_spark.INTERPRETED if pytestconfig.getoption("--compiled") else {}
    for key, value in {**quick_spark.SETTINGS, **lakes}.items() - compiled.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    # Queries that raise are what some tests are about; pytest shows the exceptions that matter.
    session.sparkContext.setLogLevel("OFF")
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def spark(shared_session: SparkSession) -> Iterator[SparkSession]:
    """The shared session. A module leaves nothing in it, because which modules share it is by chance.

    A test that changes its settings puts them back.
    """
    # Spark keeps the active session by thread of the JVM, and py4j takes another thread once a test has closed its
    # connection. Making a DataFrame makes this session active again.
    shared_session.createDataFrame([], "a int")
    before = _settings(shared_session)
    yield shared_session
    after = _settings(shared_session)
    for key in after.keys() - before.keys():
        shared_session.conf.unset(key)
    for key, value in before.items() - after.items():
        shared_session.conf.set(key, value)
    shared_session.catalog.clearCache()
    shared_session._jsparkSession.sessionState().catalog().reset()


def _settings(session: SparkSession) -> dict[str, str]:
    return {row.key: row.value for row in session.sql("SET").collect() if row.key.startswith("spark.sql.")}


@pytest.fixture(params=["true", "false"], ids=["ansi", "legacy"])
def in_mode(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[SparkSession]:
    """Runs a test twice: in ANSI mode, and without it."""
    before = str(spark.conf.get("spark.sql.ansi.enabled"))
    spark.conf.set("spark.sql.ansi.enabled", request.param)
    yield spark
    spark.conf.set("spark.sql.ansi.enabled", before)


@pytest.fixture(scope="module")
def tpch(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """The folder of the TPC-H tables and queries. The tables are views of the session, which TPC-DS has too."""
    scale_factor = pytestconfig.getoption("--scale-factor")
    directory = _shared_root(tmp_path_factory) / f"tpch-{scale_factor:g}"
    _once(directory, lambda: tpc_data.generate("tpch", scale_factor, directory))
    tpc_data.register(spark, directory)
    return directory


@pytest.fixture(scope="module")
def tpcds(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> Path:
    """The folder of the TPC-DS tables, which are temporary views of the session, and queries, all of which find rows."""
    directory = _shared_root(tmp_path_factory) / "tpcds"
    _once(directory, lambda: tpcds_data.generate(directory))
    tpc_data.register(spark, directory)
    return directory


def _shared_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run's temporary folder, which pytest-xdist's workers share."""
    root = tmp_path_factory.getbasetemp()
    return root.parent if "PYTEST_XDIST_WORKER" in os.environ else root


def _once(directory: Path, make: Any) -> None:
    """Make a folder's content in one worker, while the others wait for it."""
    done = directory.with_name(directory.name + ".done")
    with directory.with_name(directory.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            make()
            done.touch()


@pytest.fixture
def another_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pytest that a test starts is no worker of ours, where syrupy reports nothing, and needs few plugins."""
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    # Hypothesis takes longer to import than such tests take.
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider -p no:hypothesispytest")
