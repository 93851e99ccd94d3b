"""The local planner: one JVM for the process, and in it a session for each session of a server."""

from __future__ import annotations

import json
import logging
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from ..catalyst.compiler import JavaClass
from ..catalyst.failures import failure_text
from ..errors import Unsupported, UnsupportedSessionError
from .jvm import PlannerJvm
from .message import FORMATS, function_names, name_files, unknown_format
from .server import SESSION_CATALOG, Name, Server, Table

Made = TypeVar("Made")

logger = logging.getLogger(__name__)

_PLANNERS = JavaClass(__package__, "Planner")

LOCAL_SETTINGS = frozenset(
    """
    spark.sql.artifact. spark.sql.catalogImplementation spark.sql.defaultCatalog spark.sql.extensions
    spark.sql.runSQLOnFiles spark.sql.ui. spark.sql.queryExecutionListeners spark.sql.streaming. spark.sql.warehouse.dir
    spark.sql.hive. spark.sql.catalog.
    """.split()
)
"""Beginnings of the settings that say where the server keeps things, and nothing of what a query means."""

CATALOGS = "spark.sql.catalog."

EXTENSIONS = "spark.sql.extensions"

TIME_ZONE = "spark.sql.session.timeZone"

PROVIDERS = {"parquet": "parquet", "orc": "orc", "delta": "parquet"}
"""The formats whose nested columns Spark reads in part, and the built-in format that plans them so."""

OTHER_PROVIDER = "json"
"""What stands for tables of any other format: Spark reads whole columns of it, and columns of every type."""

DATASOURCES = "org.apache.spark.sql.execution.datasources."

BUILT_IN_FIRST = [4, 2]
"""The version of Spark from which on a registered function hides none of Spark's."""

TRIES = 3
"""How often a frame is planned while its tables change."""

NAMED_FILES = (
    "its SQL text names files, which only the server can list",
    "Read them by spark.read, and give the DataFrame to spark.sql by a name: spark.sql('… {files}', files=df).",
)

CHANGING = ("tables of the server change while it is planned", "Convert it again.")

PLANNER_GONE = "The JVM that plans Spark Connect frames has ended: convert the DataFrame again, which starts another."

REFUSED = {
    "a job": (
        "Spark runs a job over the data while it plans this, and the data are the server's",
        "Give pivot its values, and write what the query needs to know into it.",
    ),
    "the user": (
        "it asks for the current user, whom only the server knows",
        "Write the user's name into the query.",
    ),
    "the version": (
        "it asks for the version of the server's Spark, and another one is here",
        "Write the version into the query.",
    ),
    "time travel": ("it reads an earlier version of a table", "Read the table as it is now."),
}
"""By the answer of the local planner in place of a plan: the reason for users, and a hint."""

HARMLESS_EXTENSIONS = frozenset(
    """
    io.delta.sql.DeltaSparkSessionExtension
    org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions
    org.apache.spark.sql.hudi.HoodieSparkSessionExtension
    """.split()
)
"""Extensions of Spark that add statements for tables of one format, and leave queries as they are."""


class Planner:
    """Plans the frames of Connect sessions. Its JVM starts with the first one."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._jvm: PlannerJvm | None = None
        self._sessions: weakref.WeakKeyDictionary[Any, PlannerSession] = weakref.WeakKeyDictionary()

    def session(self, remote: Any, allow_version_mismatch: bool) -> PlannerSession:
        """The local session in which the frames of a server's session are planned."""
        with self._starting:
            planner_session = self._sessions.get(remote)
            if planner_session is None or not planner_session.jvm.runs:
                server = Server(remote)
                jvm = self._running()
                planner_session = self._sessions[remote] = PlannerSession(jvm, server, server.version)
        planner_session.require_version(allow_version_mismatch)
        return planner_session

    def _running(self) -> PlannerJvm:
        if self._jvm is None or not self._jvm.runs:
            logger.info("Starting a JVM that plans Spark Connect frames …")
            begun = time.monotonic()
            self._jvm = PlannerJvm()
            _PLANNERS.of(self._jvm.gateway)
            logger.info("The JVM that plans Spark Connect frames is there, after %.1f s.", time.monotonic() - begun)
        return self._jvm


PLANNER = Planner()


@dataclass(frozen=True)
class PlannerContext:
    """The local JVM as a classic session's SparkContext has it."""

    _gateway: Any
    _jsc: Any


class Stale(Exception):
    """A table or view has changed on the server since it was asked for: the frame has to be planned again."""


class Reconfigured(Exception):
    """The server's settings had changed, and are taken over now: the frame has to be planned again."""


@dataclass(frozen=True)
class Known:
    """What is known of a name of the server's: its table, and the columns that reading it gives."""

    table: Table
    columns: tuple[Any, ...]


class PlannerSession:
    """What stands in the local JVM for one session of a server: settings, current namespace, tables and views."""

    def __init__(self, jvm: PlannerJvm, server: Server, version: str) -> None:
        self.jvm = jvm
        self._server = server
        self._version = version
        self._planning = threading.RLock()
        planner = _PLANNERS.of(jvm.gateway)
        self.context = PlannerContext(jvm.gateway, planner.context())
        self._local = planner.session()
        self._settings: dict[str, str] | None = None
        self._default_zone = ""
        self._catalog = ""
        self._namespace: Name = ()
        self._known: dict[Name, Known] = {}
        self._temporary: set[Name] = set()

    def require_version(self, allow_mismatch: bool) -> None:
        """Raise UnsupportedSessionError where the local Spark is not of the server's minor version."""
        require_same_version(self.jvm.version, self._version, allow_mismatch=allow_mismatch)

    def converted(self, message: Any, convert: Callable[[Any], Made]) -> Made:
        """What `convert` makes of the local Dataset of a message.

        Raises Unsupported where only the server could plan it, UnsupportedSessionError where it doesn't answer.
        """
        reads = name_files(message)
        with self._planning, ThreadPoolExecutor(max_workers=2) as asking:
            for _ in range(TRIES):
                # Where nothing is known yet, everything is asked for now, and what fails then fails on the server as well.
                is_fresh = not self._catalog
                try:
                    return self._converted(message, reads, convert, asking)
                except Reconfigured:
                    continue
                except Stale:
                    pass
                except Unsupported:
                    if is_fresh:
                        raise
                self._forget()
        raise Unsupported(*CHANGING)

    def _converted(
        self, message: Any, reads: Sequence[tuple[str, Any]], convert: Callable[[Any], Made], asking: Executor
    ) -> Made:
        """The same, while the server tells whether what is known of it is true still. Raises Stale where it isn't."""
        settings = asking.submit(self._server.settings)
        is_fresh = not self._catalog
        if is_fresh:
            self._catalog, self._namespace = self._server.place()
            self._default_zone = self._server.default_of(TIME_ZONE)
            self._configure(settings.result())
        # Temporary views come and go.
        self._temporary.clear()
        self._call("forgetTemporaryViews")
        self._require_own_functions(message)
        for name, read in reads:
            self._show_files(name, read)
        dataset = self._planned(message.SerializeToString())
        holds = None if is_fresh else asking.submit(self._question())
        made = convert(dataset)
        if settings.result() != self._settings:
            self._configure(settings.result())
            raise Reconfigured
        if not (holds is None or holds.result()):
            raise Stale
        return made

    def _configure(self, settings: dict[str, str]) -> None:
        """Take over the server's settings."""
        require_known_extensions(settings.get(EXTENSIONS, ""))
        meant = {key: value for key, value in settings.items() if not key.startswith(tuple(LOCAL_SETTINGS))}
        catalogs = {key.removeprefix(CATALOGS) for key in settings if key.startswith(CATALOGS)}
        self._call(
            "configure",
            {TIME_ZONE: self._default_zone} | meant,
            [name for name in catalogs if "." not in name],
            self._catalog,
            list(self._namespace),
        )
        self._settings = settings

    def _planned(self, message: bytes) -> Any:
        learned: set[tuple[Name, Name]] = set()
        while True:
            answer = self._call("plan", message, self.jvm.version == self._version)
            if answer is not None and not isinstance(answer, str):
                return answer
            if answer is not None:
                raise Unsupported(*REFUSED[answer])
            asked = {name: self._written(name) for name in self._names("asked")}
            if not learned.isdisjoint(asked.items()):
                raise Stale
            learned.update(asked.items())
            self._learn(asked)

    def _require_own_functions(self, message: Any) -> None:
        """Refuse functions of the server's session that go by the name of one of Spark's: from 4.2 on, Spark's own goes first."""
        if [int(part) for part in self._version.split(".")[:2]] >= BUILT_IN_FIRST:
            return
        for name, java_class in self._server.functions(function_names(message)).items():
            if java_class is not None and not java_class.startswith("org.apache.spark.sql.catalyst."):
                raise Unsupported(
                    f"the function {name} is one that was registered in the server's session",
                    "Use Spark's own functions.",
                )

    def _show_files(self, name: str, read: Any) -> None:
        source = read.read.data_source
        schema, uris, size = self._server.files(read)
        format = source.format.lower() or self._server.default_of("spark.sql.sources.default")
        if format not in FORMATS:
            raise unknown_format(format)
        here = self._server.is_here
        if "basepath" in map(str.lower, source.options) and not here:
            raise Unsupported("the option basePath names a folder of the server's", "Read the files without it.")
        self._call(
            "files",
            name,
            DATASOURCES + FORMATS[format],
            schema,
            dict(source.options),
            list(source.paths),
            uris,
            size,
            here,
        )

    def _names(self, which: str) -> list[Name]:
        return [tuple(name) for name in json.loads(self._call(which))]

    def _learn(self, asked: Mapping[Name, Name]) -> None:
        """Ask the server what names are, as a query may have written them, and let a stand-in have each."""
        described = {name: self._described(name, written) for name, written in asked.items()}
        tables = {name: table for name, table in described.items() if table is not None}
        columns = dict(zip(tables, self._server.schemas(list(tables.values())), strict=True))
        sized = [table.name for table in tables.values() if table.view_text is None]
        sizes = dict(zip(sized, self._server.sizes(sized), strict=True))
        for name, table in tables.items():
            self._known[name] = Known(table, tuple(columns[name].fields))
            shown, schema = list(table.name), columns[name].json()
            if table.view_text is None:
                provider = PROVIDERS.get(table.provider.lower(), OTHER_PROVIDER)
                self._call("table", list(name), shown, schema, provider, list(table.partitions), sizes[table.name])
            else:
                self._call("view", list(name), shown, schema, table.view_text, dict(table.properties))

    def _described(self, name: Name, written: Name) -> Table | None:
        """The table or view that a name is; None where it is none, and the planner has been told what it is."""
        try:
            table = self._server.table(written, name)
        except Unsupported:
            if name[-2].lower() in FORMATS:
                raise Unsupported(*NAMED_FILES) from None
            raise
        if table.temporary:
            self._temporary.add(written)
            self._call("temporaryView", list(written), self._server.schema(written).json())
            return None
        asked, answered = ([part.lower() for part in parts] for parts in (name, table.name))
        if asked == [SESSION_CATALOG, *answered]:
            # What was taken for a namespace is a catalog.
            self._call("knows", table.name[0])
            return None
        if asked != answered:
            raise Stale
        return table

    def _written(self, name: Name) -> Name:
        """A name as a query may have it: as short as the server's current namespace lets it be."""
        last = name[-1:]
        if name == (self._catalog, *self._namespace, *last) and last not in self._temporary:
            return last
        # Whether the first part of `a.b` is a catalog or a namespace, only the server knows.
        return name[1:] if name[0] == SESSION_CATALOG and self._catalog == SESSION_CATALOG else name

    def _question(self) -> Callable[[], bool]:
        """What asks the server whether all that the last message was planned with is true still."""
        names_place = self._call("namesPlace")
        place = self._catalog, self._namespace
        names = self._names("found")
        known = [self._known[name] for name in names]
        relations = {self._written(name): each.table.name for name, each in zip(names, known, strict=True)}

        def holds() -> bool:
            if names_place and place != self._server.place():
                return False
            try:
                return not names or self._are_as_known(relations, known)
            except Unsupported:
                return False

        return holds

    def _are_as_known(self, relations: Mapping[Name, Name], known: Sequence[Known]) -> bool:
        views = [each.table for each in known if each.table.view_text is not None]
        columns = [column for each in known for column in each.columns]
        return columns == self._server.columns(relations) and all(
            self._server.table(view.name, view.name) == view for view in views
        )

    def _forget(self) -> None:
        """Forget everything: something has changed since it was asked for, or is hidden by a temporary view now."""
        self._catalog = ""
        self._known.clear()
        self._call("forget")

    def _call(self, method: str, *arguments: Any) -> Any:
        """Call the session in the JVM. What fails in Spark there is told as it is of a classic session."""
        from py4j.protocol import Py4JError, Py4JJavaError

        try:
            return getattr(self._local, method)(*arguments)
        except Py4JJavaError as error:
            failure: Exception = Unsupported(f"Spark itself can't plan it: {failure_text(error)}")
        except (Py4JError, OSError):
            failure = UnsupportedSessionError(PLANNER_GONE)
        # Here, where nothing is handled: the exception may hold what a message must not.
        raise failure


def require_same_version(here: str, there: str, *, allow_mismatch: bool) -> None:
    """Raise UnsupportedSessionError where the local Spark is not of the server's minor version."""
    minor = ".".join(there.split(".")[:2])
    if here.split(".")[:2] != there.split(".")[:2] and not allow_mismatch:
        raise UnsupportedSessionError(
            f"The server runs Spark {there}, and the Spark here is {here}: they may plan differently. "
            f"Install pyspark=={minor}.*, or set SPARK_HOME to a Spark {minor}; "
            "allow_version_mismatch=True takes the one that is here."
        )


def require_known_extensions(classes: str) -> None:
    """Raise Unsupported where extensions of the server's Spark may plan what Spark by itself would not."""
    for name in classes.split(","):
        if name.strip() and name.strip() not in HARMLESS_EXTENSIONS:
            raise Unsupported(
                f"the server's Spark is extended by {name.strip()}, which may change what a query means",
                "Convert it in a classic session that has the extension.",
            )
